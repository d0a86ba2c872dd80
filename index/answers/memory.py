"""Translation memory: a text that equals a sentence of the index, or means the same, gets its translation.

The text is compared with the sentences of its own language whose vectors are nearest. Those that mean the
same are found by the evidence of all sentences (evidence.py), which one language makes surer than two. Those
that are nearly the same text are found by their characters, ignoring tags, case and punctuation, and
treating all numbers and all placeholders as equal. Similarity is 1 - Levenshtein distance / length of the
longer text, minus a penalty for each kind of difference that the comparison ignored.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from rapidfuzz.distance import Levenshtein

from index.answers.answer import Answer
from index.answers.candidates import Candidates
from index.answers.evidence import Questions
from index.answers.guard import contrasting
from index.answers.sentence_features import number_codes
from index.answers.sentence_index import SentenceIndex
from index.answers.word_index import WordIndex
from index.confidence import MIN_CONFIDENCE
from index.confidence.models import Confidence
from index.text.contrasts.contrast import UNREAD, Contrast
from index.text.contrasts.lexicon import known_languages
from index.text.normalisation import CharacterTable, words_of
from index.text.number_words import contradict, numbers_in
from index.text.placeables import KINDS, marks, put_back, skeleton, without_tags

MEMORY_CANDIDATES = 16  # sentences of the source language compared with the text
MIN_SIMILARITY = 0.7  # the default of most CAT tools
THE_VERY_TEXT = 0.9  # similarity from which a text comes before those that are likely to mean the same
LEAST_CHANCE = 0.03  # of a sentence that may mean the same: the asker reads it
LEAST_COMPARED = 0.1  # the chance of one that is compared word by word, which takes longer
MAX_INEXACT = 0.99  # similarity of texts that are not identical

Penalty = Literal["tags", "placeholders", "numbers", "case", "punctuation"]
MATCH_PENALTIES: dict[Penalty, float] = {
    "tags": 0.02,
    "placeholders": 0.02,
    "numbers": 0.02,
    "case": 0.01,
    "punctuation": 0.01,
}


@dataclass(frozen=True)
class Likeness:
    """The similarity of two texts, 0 to 1, and the penalties that are included in it."""

    similarity: float
    penalties: tuple[Penalty, ...] = ()


@dataclass(frozen=True)
class Remembered:
    """A sentence that may say what a text says, by its row, and one that translates it.

    `text`: that translation, with the tags, placeholders and numbers of the question. `strength`: by which
    such sentences are ordered. `likeness`: None unless its similarity is MIN_SIMILARITY. `contrasts`: what
    it says otherwise.
    """

    original: int
    row: int
    text: str
    strength: float
    confidence: float
    likeness: Likeness | None
    contrasts: Sequence[Contrast]


class Comparison:
    """A cleaned text, prepared to be compared with many others."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._skeleton = skeleton(text)
        self._folded = _fold(self._skeleton)

    def with_text(self, other: str, *, same_numbers: bool = False) -> Likeness | None:
        """Compare with another cleaned text; None if the similarity is below MIN_SIMILARITY.

        `same_numbers`: those that one has in figures are words in the other.
        """
        if other == self.text:
            return Likeness(1.0)
        other_skeleton = skeleton(other)
        folded = _fold(other_skeleton)
        pair = (self._folded, folded) if self._folded and folded else (self.text, other)
        similarity = Levenshtein.normalized_similarity(*pair, score_cutoff=MIN_SIMILARITY)
        if similarity < MIN_SIMILARITY:
            return None
        penalties = tuple(self._penalties(other, other_skeleton, same_numbers))
        similarity = min(similarity - sum(MATCH_PENALTIES[name] for name in penalties), MAX_INEXACT)
        return Likeness(similarity, penalties) if similarity >= MIN_SIMILARITY else None

    def _penalties(self, other: str, other_skeleton: str, same_numbers: bool) -> Iterator[Penalty]:
        if self._skeleton is not self.text or other_skeleton is not other:
            for kind in KINDS:
                same = same_numbers and kind == "numbers"
                if not same and marks(self.text, kind) != marks(other, kind):
                    yield kind
        pair = _without_punctuation(self._skeleton), _without_punctuation(other_skeleton)
        if Levenshtein.distance(*pair) > Levenshtein.distance(*(words.casefold() for words in pair)):
            yield "case"
        if self._skeleton.translate(_PUNCTUATION) != other_skeleton.translate(_PUNCTUATION):
            yield "punctuation"


@dataclass(frozen=True)
class _Likely:
    """A sentence that may say what a question says, by its row, and how sure that is."""

    row: int
    chance: float
    strength: float
    likeness: Likeness | None
    contradicts: bool  # by its numbers

    @property
    def may_agree(self) -> bool:
        return self.likeness is not None or self.chance >= LEAST_COMPARED


@dataclass(frozen=True)
class Memory:
    """The sentences of a language that those of `target` translate, and the words of that language."""

    sentences: SentenceIndex
    target: SentenceIndex
    words: WordIndex
    confidence: Confidence

    def of_questions(
        self, asked: Questions, table: Candidates, most: int, *, alike_alone: bool = False
    ) -> list[list[Remembered]]:
        """Choose for each question translated sentences of its language in `table`.

        `table` has the column `chance`, that a sentence means the same. The `most` strongest are chosen, and
        some more if these all say something else. With `alike_alone`, only those that are nearly the same
        text.
        """
        return [
            self._chosen(asked, question, self._likely(asked, question, table, places, alike_alone), most)
            for question, places in enumerate(table.by_question())
        ]

    def _likely(
        self, asked: Questions, question: int, table: Candidates, places: Sequence[int], alike_alone: bool
    ) -> list[_Likely]:
        """Those of a question's candidates that may mean the same, strongest first."""
        comparison, found = Comparison(asked.texts[question]), list[_Likely]()
        numbers, of_row = asked.numbers[question], self.sentences.features.numbers_of
        for place in places:
            row, chance = int(table["row"][place]), float(table["chance"][place])
            same_numbers = bool(numbers) and _but_one(numbers) == _but_one(of_row(row))
            likeness = comparison.with_text(self.sentences.text(row), same_numbers=same_numbers)
            if likeness or (chance >= LEAST_CHANCE and not alike_alone):
                by_text = likeness and (alike_alone or likeness.similarity >= THE_VERY_TEXT)
                strength = likeness.similarity if likeness and by_text else chance
                found.append(_Likely(row, chance, strength, likeness, bool(table["contradicts"][place])))
        return sorted(found, key=lambda one: (-one.strength, one.row))

    def _chosen(
        self, asked: Questions, question: int, likely: Sequence[_Likely], most: int
    ) -> list[Remembered]:
        """The translations of the strongest, with what they say otherwise than the question."""
        remembered, chosen, agrees = list[Remembered](), 0, False
        for one in likely:
            if chosen >= most and (agrees or not one.may_agree):
                break
            if translations := self.sentences.translations(one.row, self.target):
                contrasts = self._contrasts(asked, question, one, shown=chosen < most)
                found = [self._remembered(asked, question, one, row, contrasts) for row in translations]
                remembered += found
                chosen += 1
                agrees |= any(own.confidence >= MIN_CONFIDENCE for own in found)
        return remembered

    def _remembered(
        self,
        asked: Questions,
        question: int,
        likely: _Likely,
        row: int,
        contrasts: Sequence[Contrast] | None,
    ) -> Remembered:
        """A likely sentence with one of its translations, and how sure that is; None: it was not compared."""
        original, translation = self.sentences.text(likely.row), self.target.text(row)
        # A sentence of its own language that means the same is no translation.
        own, likeness = self.target is self.sentences, likely.likeness
        text = translation if own else put_back(asked.texts[question], original, translation)
        contradicts = likely.contradicts
        if likeness and "numbers" in likeness.penalties:
            # Other figures are put into the answer, other words for numbers are not.
            in_figures = without_tags(put_back(asked.texts[question], original, original))
            numbers = number_codes(in_figures, words_of(in_figures, asked.language), asked.language)
            contradicts = text == translation or contradict(asked.numbers[question], numbers)
        similarity = likeness.similarity if likeness else None
        agrees = contrasts is not None and not contrasts and not contradicts
        confidence = self.confidence.of_remembered(likely.chance, similarity, agrees=agrees)
        return Remembered(likely.row, row, text, likely.strength, confidence, likeness, contrasts or ())

    def _contrasts(
        self, asked: Questions, question: int, likely: _Likely, *, shown: bool
    ) -> Sequence[Contrast] | None:
        """What a sentence says otherwise, if not `shown` the first of it; None if it is too unlikely.

        In a language without a file, any other words might.
        """
        if not likely.may_agree:
            return None
        text, language = self.sentences.text(likely.row), asked.language
        if text == asked.texts[question]:
            return ()
        every = contrasting(asked, question, text, language, self.words)
        found = list(every if shown else islice(every, 1))
        if found or language in known_languages():
            return found
        own_words = words_of(asked.bare[question], language)
        return () if own_words == words_of(without_tags(text), language) else (Contrast(UNREAD),)


def repeats(text: str, answer: Answer, languages: tuple[str, str]) -> bool:
    """Whether an answer has the tags, placeholders and numbers of a text, in figures or words.

    As a translation of these, or since its original has the same in the same order: `3 pm` may be `15 Uhr`.
    `languages`: of the text and the answer.
    """
    original = answer.original.text if answer.original else answer.text
    own, of_original, of_answer = (
        (marks(some, "tags", "placeholders"), numbers_in(some, words, code))
        for some, code in zip((text, original, answer.text), (languages[0], *languages), strict=True)
        for words in [words_of(some, code)]
    )
    return own == of_original or (sorted(own[0]), own[1]) == (sorted(of_answer[0]), of_answer[1])


def _but_one(numbers: Counter[int]) -> Counter[int]:
    """Numbers but one, which in words is an article."""
    return Counter({number: count for number, count in numbers.items() if number != 1})


_PUNCTUATION = CharacterTable(lambda sign: sign if unicodedata.category(sign)[0] in "PS" else None)
_WORDS = CharacterTable(lambda character: None if _PUNCTUATION[ord(character)] else character)


def _without_punctuation(text: str) -> str:
    return " ".join(text.translate(_WORDS).split())


def _fold(text: str) -> str:
    return _without_punctuation(text).casefold()
