"""Translation memory: a text that is (nearly) a sentence of the index is answered by its own target.

The sentences nearest by vector are compared as text, without tags, case and punctuation and with every number
and placeholder alike: similarity is 1 less the Levenshtein distance over the length of the longer one, less a
penalty for each kind of difference that this leaves out.
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

CANDIDATES = 16  # sentences of the source language compared with the text
MIN_SIMILARITY = 0.7  # the default of most CAT tools
MAX_INEXACT = 0.99  # of texts that are not the same

Penalty = Literal["tags", "placeholders", "numbers", "case", "punctuation"]
PENALTIES: dict[Penalty, float] = {
    "tags": 0.02,
    "placeholders": 0.02,
    "numbers": 0.02,
    "case": 0.01,
    "punctuation": 0.01,
}


@dataclass(frozen=True)
class Likeness:
    """How alike two texts are, 0 to 1, and what was taken off for differences that are not counted."""

    similarity: float
    penalties: tuple[Penalty, ...] = ()


class Comparison:
    """A text to compare with others."""

    def __init__(self, text: str) -> None:
        self.text = clean(text)
        self._placeables = placeables(self.text)
        self._skeleton = skeleton(self.text)
        self._folded = _fold(self._skeleton)

    def with_text(self, other: str) -> Likeness | None:
        """How alike the other text is; None below MIN_SIMILARITY."""
        other = clean(other)
        if other == self.text:
            return Likeness(1.0)
        bare = skeleton(other)
        folded = _fold(bare)
        mine, others = (self._folded, folded) if self._folded and folded else (self.text, other)
        similarity = Levenshtein.normalized_similarity(mine, others, score_cutoff=MIN_SIMILARITY)
        if similarity < MIN_SIMILARITY:
            return None
        penalties = tuple(self._penalties(other, bare))
        similarity = min(similarity - sum(PENALTIES[name] for name in penalties), MAX_INEXACT)
        return Likeness(similarity, penalties) if similarity >= MIN_SIMILARITY else None

    def _penalties(self, other: str, bare: str) -> Iterator[Penalty]:
        if self._placeables or bare is not other:
            others = placeables(other)
            for kind in ("tags", "placeholders", "numbers"):
                if _of_kind(self._placeables, kind) != _of_kind(others, kind):
                    yield kind
        mine, theirs = _without_punctuation(self._skeleton), _without_punctuation(bare)
        if Levenshtein.distance(mine, theirs) > Levenshtein.distance(mine.casefold(), theirs.casefold()):
            yield "case"
        if _punctuation(self._skeleton) != _punctuation(bare):
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
    """Merge what the translations in `source_index` say with the `answers` in `target`, k in all.

    Such a match is "exact" or "memory": it has an original, and that one's similarity is its confidence.
    Exact ones come first, the others in the order of confidence.
    """
    remembered = remember(source_index, target, texts, vectors, source)
    return [_merged(own, matches, k) for own, matches in zip(remembered, answers, strict=True)]


def remember(
    source_index: SentenceIndex,
    target: SentenceIndex,
    texts: Sequence[str],
    vectors: Vectors,
    source: str,
) -> list[list[Match]]:
    """For each text the targets in `target` of the sentence that is most like it, the nearest first; [] for
    none. `vectors` (n, d) are those of the texts."""
    if source_index.groups is None or target.groups is None or not len(texts):
        return [[] for _ in texts]
    nearest = source_index.vectors.search(vectors, CANDIDATES)[1].tolist()
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
    """Likeness and row of those that are alike, the most alike first."""
    comparison = Comparison(text)
    compared = ((comparison.with_text(source_index.text(row)), row) for row in rows)
    alike = [(likeness, row) for likeness, row in compared if likeness is not None]
    return sorted(alike, key=lambda pair: (-pair[0].similarity, pair[1]))


def _merged(remembered: list[Match], matches: Sequence[Match], k: int) -> list[Match]:
    """Each target once, as the more confident of what memory and encoder say of it."""
    if not remembered:
        return list(matches[:k])
    by_id = {match.id: match for match in matches}
    ours = [
        match
        for match in remembered
        if match.match == "exact" or match.id not in by_id or match.confidence >= by_id[match.id].confidence
    ]
    known = {match.id for match in ours}
    merged = [*ours, *(match for match in matches if match.id not in known)]
    merged.sort(key=lambda match: (match.match != "exact", -match.confidence))
    return merged[:k]


def _of_kind(parts: Sequence[Placeable], kind: str) -> list[str]:
    return [placeable.text for placeable in parts if placeable.kind == kind]


class _Table(dict[int, str | None]):
    """For str.translate: drops punctuation and symbols, or all but these."""

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
