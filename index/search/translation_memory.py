"""Translation memory: a text that (nearly) equals a sentence of the index gets that sentence's translation.

The text is compared with the sentences whose vectors are nearest, ignoring tags, case and punctuation, and
treating all numbers and all placeholders as equal. Similarity is 1 - Levenshtein distance / length of the
longer text, minus a penalty for each kind of difference that the comparison ignored.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz.distance import Levenshtein

from index.encoder.vectors import Vectors
from index.search.ranking import Match, Original
from index.search.sentence_index import SentenceIndex
from index.text.normalisation import clean
from index.text.placeables import Placeable, placeables, put_back, skeleton

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


class Comparison:
    """A text, prepared to be compared with many others."""

    def __init__(self, text: str) -> None:
        self.text = clean(text)
        self._placeables = placeables(self.text)
        self._skeleton = skeleton(self.text)
        self._folded = _fold(self._skeleton)

    def with_text(self, other: str) -> Likeness | None:
        """Compare with another text; None if the similarity is below MIN_SIMILARITY."""
        other = clean(other)
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


def recall(
    source_index: SentenceIndex,
    target: SentenceIndex,
    texts: Sequence[str],
    vectors: Vectors,
    source: str,
    answers: Sequence[list[Match]],
    k: int,
) -> list[list[Match]]:
    """Merge the matches of the translation memory into the `answers` found by vectors, k for each text.

    A memory match is "exact" or "memory": its confidence is the similarity of the text to its original. Exact
    matches come first, the others in the order of confidence.
    """
    memories = remember(source_index, target, texts, vectors, source)
    return [_merged(remembered, matches, k) for remembered, matches in zip(memories, answers, strict=True)]


def remember(
    source_index: SentenceIndex,
    target: SentenceIndex,
    texts: Sequence[str],
    vectors: Vectors,
    source: str,
) -> list[list[Match]]:
    """Find, for each text, the translations in `target` of the sentence most similar to it, best first.

    [] for a text without a similar sentence. `vectors` (n, d) are those of the texts.
    """
    if source_index.groups is None or target.groups is None or not len(texts):
        return [[] for _ in texts]
    nearest = source_index.vectors.search(vectors, MEMORY_CANDIDATES)[1].tolist()
    return [
        _remembered(source_index, target, text, vectors[row : row + 1], source, nearest[row])
        for row, text in enumerate(texts)
    ]


def _remembered(
    source_index: SentenceIndex,
    target: SentenceIndex,
    text: str,
    query: Vectors,
    source: str,
    nearest: Sequence[int],
) -> list[Match]:
    if source_index.groups is None or target.groups is None:
        return []
    for likeness, row in _alike(source_index, text, nearest):
        if rows := target.groups.rows(source_index.groups.of(row)):
            original = source_index.sentence(row)
            matches = [
                replace(
                    match,
                    text=put_back(text, original.text, match.text),
                    confidence=likeness.similarity,
                    match="exact" if likeness.similarity == 1 else "memory",
                    similarity=likeness.similarity,
                    penalties=likeness.penalties,
                    original=Original(original.text, original.id),
                )
                for match in target.assess(query, rows, source, text)
            ]
            return sorted(matches, key=lambda match: -match.score)
    return []


def _alike(source_index: SentenceIndex, text: str, rows: Sequence[int]) -> list[tuple[Likeness, int]]:
    """The likeness and row of each sentence similar to the text, the most similar first."""
    comparison = Comparison(text)
    compared = ((comparison.with_text(source_index.text(row)), row) for row in rows)
    alike = [(likeness, row) for likeness, row in compared if likeness is not None]
    return sorted(alike, key=lambda pair: (-pair[0].similarity, pair[1]))


def _merged(remembered: list[Match], matches: Sequence[Match], k: int) -> list[Match]:
    """The best k matches, each target once: from memory or from vectors, whichever is more confident."""
    if not remembered:
        return list(matches[:k])
    by_id = {match.id: match for match in matches}
    preferred = [
        match
        for match in remembered
        if match.match == "exact" or match.id not in by_id or match.confidence >= by_id[match.id].confidence
    ]
    preferred_ids = {match.id for match in preferred}
    merged = [*preferred, *(match for match in matches if match.id not in preferred_ids)]
    merged.sort(key=lambda match: (match.match != "exact", -match.confidence))
    return merged[:k]


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
