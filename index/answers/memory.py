"""Translation memory: a text that (nearly) equals a sentence of the index gets that sentence's translation.

The text is compared with the sentences whose vectors are nearest, ignoring tags, case and punctuation, and
treating all numbers and all placeholders as equal. Similarity is 1 - Levenshtein distance / length of the
longer text, minus a penalty for each kind of difference that the comparison ignored.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Levenshtein

from index.answers.sentence_index import SentenceIndex
from index.encoder.vectors import Vectors
from index.text.placeables import Placeable, placeables, skeleton

MEMORY_CANDIDATES = 16  # sentences of the source language compared with the text
MIN_SIMILARITY = 0.7  # the default of most CAT tools
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
    """The sentence most like a text, by its row, and the rows of its translations."""

    likeness: Likeness
    original: int
    translations: list[int]


class Comparison:
    """A cleaned text, prepared to be compared with many others."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._placeables = placeables(text)
        self._skeleton = skeleton(text)
        self._folded = _fold(self._skeleton)

    def with_text(self, other: str) -> Likeness | None:
        """Compare with another cleaned text; None if the similarity is below MIN_SIMILARITY."""
        if other == self.text:
            return Likeness(1.0)
        other_skeleton = skeleton(other)
        folded = _fold(other_skeleton)
        pair = (self._folded, folded) if self._folded and folded else (self.text, other)
        similarity = Levenshtein.normalized_similarity(*pair, score_cutoff=MIN_SIMILARITY)
        if similarity < MIN_SIMILARITY:
            return None
        penalties = tuple(self._penalties(other, other_skeleton))
        similarity = min(similarity - sum(MATCH_PENALTIES[name] for name in penalties), MAX_INEXACT)
        return Likeness(similarity, penalties) if similarity >= MIN_SIMILARITY else None

    def _penalties(self, other: str, other_skeleton: str) -> Iterator[Penalty]:
        if self._placeables or other_skeleton is not other:
            other_placeables = placeables(other)
            for kind in ("tags", "placeholders", "numbers"):
                if _of_kind(self._placeables, kind) != _of_kind(other_placeables, kind):
                    yield kind
        pair = _without_punctuation(self._skeleton), _without_punctuation(other_skeleton)
        if Levenshtein.distance(*pair) > Levenshtein.distance(*(words.casefold() for words in pair)):
            yield "case"
        if _punctuation(self._skeleton) != _punctuation(other_skeleton):
            yield "punctuation"


def remember(
    memory: SentenceIndex | None, target: SentenceIndex, texts: Sequence[str], vectors: Vectors
) -> list[Remembered | None]:
    """Find, for each cleaned text, the sentence of its language most like it that `target` translates.

    None for a text without a similar sentence. `vectors` (n, d) are those of the texts.
    """
    if memory is None or memory.groups is None or target.groups is None or not texts:
        return [None] * len(texts)
    nearest = memory.vectors.search(vectors, MEMORY_CANDIDATES)[1].tolist()
    return [_remembered(memory, target, text, rows) for text, rows in zip(texts, nearest, strict=True)]


def _remembered(
    memory: SentenceIndex, target: SentenceIndex, text: str, rows: Sequence[int]
) -> Remembered | None:
    comparison = Comparison(text)
    compared = ((comparison.with_text(memory.text(row)), row) for row in rows)
    alike = [(likeness, row) for likeness, row in compared if likeness is not None]
    for likeness, row in sorted(alike, key=lambda pair: (-pair[0].similarity, pair[1])):
        if translations := memory.translations(row, target):
            return Remembered(likeness, row, translations)
    return None


def _of_kind(parts: Sequence[Placeable], kind: str) -> list[str]:
    return [placeable.text for placeable in parts if placeable.kind == kind]


class _Table(dict[int, str | None]):
    """A table for str.translate that drops punctuation and symbols or, if `keep`, everything else."""

    def __init__(self, *, keep: bool) -> None:
        super().__init__()
        self._keep = keep

    def __missing__(self, code: int) -> str | None:
        punctuation = unicodedata.category(chr(code))[0] in "PS"
        self[code] = chr(code) if punctuation == self._keep else None
        return self[code]


_WORDS, _PUNCTUATION = _Table(keep=False), _Table(keep=True)


def _without_punctuation(text: str) -> str:
    return " ".join(text.translate(_WORDS).split())


def _punctuation(text: str) -> str:
    return text.translate(_PUNCTUATION)


def _fold(text: str) -> str:
    return _without_punctuation(text).casefold()
