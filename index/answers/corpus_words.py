"""Corpus words: a question in the words that the sentences of an index have for what it says.

An encoder that has read too little does not know that a tap is a faucet. Where the file of a language says so
(text/contrasts), a word that no sentence has is read as the one that they have.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from rapidfuzz.distance import Postfix

from index.answers.sentence_features import Features
from index.answers.word_index import UNKNOWN_WORD, WordIndex
from index.languages import has_spaces
from index.text.contrasts.lexicon import JOINT, lexicon_of
from index.text.contrasts.wording import says, synonyms, with_phrases
from index.text.normalisation import QUESTION_MARK, words_of
from index.text.number_words import in_words

MOST_KEPT = 1 << 12  # words of which it is known what the corpus has for them


class CorpusWords:
    """The words of the sentences of one language."""

    def __init__(self, words: WordIndex, features: Features) -> None:
        self.language = words.language
        self._words, self._features = words, features
        self._found: dict[str, str] = {}

    def read(self, text: str) -> str:
        """A text as it is encoded: figures and words that the corpus lacks as those that it has for them."""
        text = in_words(text, self.language, lambda word: self._counts.get(word, 0))
        if not lexicon_of(self.language).same:
            return text
        units = with_phrases(words_of(text, self.language), self.language)
        read = [self._read(unit) for unit in units]
        if read == units:
            return text
        asks = "?" if QUESTION_MARK.search(text) else ""
        between = " " if has_spaces(self.language) else ""
        return between.join(word.replace(JOINT, between) for word in read) + asks

    def _read(self, unit: str) -> str:
        if unit in self._counts or not says(unit, self.language):
            return unit
        if (found := self._found.get(unit)) is None:
            phrase = unit.split(JOINT)
            found = unit if len(phrase) > 1 and self._has(phrase) else self._same(unit)
            if len(self._found) >= MOST_KEPT:
                self._found = {}  # a new one, since other threads may be reading the old one
            self._found[unit] = found
        return found

    def _has(self, phrase: Sequence[str]) -> bool:
        """Whether a sentence has these words, one after another."""
        corpus, rows = self._features.words, self._words.rows_of(phrase)
        begins = corpus[: max(0, len(corpus) + 1 - len(rows))] == rows[0]
        for place, row in enumerate(rows[1:], start=1):
            begins &= corpus[place : len(begins) + place] == row
        return bool(begins.any()) and UNKNOWN_WORD not in rows

    def _same(self, unit: str) -> str:
        """The word of the corpus that means the same, the most frequent that ends alike; or the phrase."""
        lists = synonyms(unit, self.language)
        known = (word for words in lists for word in filter(words.fullmatch, self._counts))
        phrases = (word for words in lists for word in words.pattern.split("|") if JOINT in word)
        other = next((phrase for phrase in phrases if self._has(phrase.split(JOINT))), unit)
        return max(
            known, key=lambda word: (Postfix.similarity(word, unit), self._counts[word]), default=other
        )

    @cached_property
    def _counts(self) -> dict[str, int]:
        """How often each word occurs in the sentences."""
        occurrences = np.bincount(self._features.words, minlength=len(self._words))
        rows = np.flatnonzero(occurrences)
        return dict(zip(map(self._words.text, rows.tolist()), occurrences[rows].tolist(), strict=True))
