"""Meanings: what words of a language without a file say, as their English translations do.

Mining found these: that tells a quarter to two thirds of opposites (docs/research.md), and calls at most
three translations in a hundred one.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from index.languages import has_spaces
from index.text.contrasts.lexicon import ASKED, DETAIL, DUTY, MOOD, NEGATION, PERSON, Said, said
from index.text.normalisation import words_of

ENGLISH = "en"
# What single words do not tell: "you" and "will" are often left out, and a sentence asks as a whole.
OF_SENTENCES = frozenset({MOOD, DUTY, ASKED, DETAIL, PERSON, "persons", "tense", "answer"})
LEAST_WEIGHT, LEAST_SHARE = 0.2, 0.6  # of the translations of a word that say the same
NEGATION_SHARE = 0.01  # of all words, of the one that negates: where none is so frequent, endings do


@dataclass(frozen=True)
class Meanings:
    """What the words of a language without a file say, by their English translations.

    `counts`: how often each word occurs; `translations`: word -> English words, with their weights.
    """

    language: str
    counts: Mapping[str, int]
    translations: Mapping[str, Mapping[str, float]]

    def values(self, word: str) -> list[tuple[str, str]]:
        """The axes and values that most of a word's translations say."""
        weights = self.translations.get(word, {})
        least = max(LEAST_WEIGHT, LEAST_SHARE * sum(weights.values()))
        found = Counter[tuple[str, str]]()
        for meaning, weight in weights.items():
            # Within a clause: "no" by itself is an answer.
            for axis, values in said(f"and {meaning}", ENGLISH).items():
                if axis not in OF_SENTENCES:
                    found.update(dict.fromkeys(((axis, value) for value in values), weight))
        return [value for value, weight in found.items() if weight >= least]

    @cached_property
    def negates(self) -> bool:
        """Whether a word negates, which is then seen: prefixes and endings of other words are not."""
        least = NEGATION_SHARE * sum(self.counts.values())
        frequent = (word for word, count in self.counts.items() if count >= least)
        return has_spaces(self.language) and any(
            (NEGATION, NEGATION) in self.values(word) for word in frequent
        )

    def said(self, text: str) -> Said:
        """What the words of a text say, and whether it asks."""
        found: dict[str, dict[str, list[str]]] = {}
        for word in words_of(text, self.language):
            for axis, value in self.values(word):
                found.setdefault(axis, {}).setdefault(value, []).append(word)
        return {**said(text, self.language), **found}
