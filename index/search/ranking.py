"""Ranking candidates by CSLS or ratio margin, answers with a confidence: sentences and words alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import Calibration, features, with_lengths
from index.encoder.vectors import Vectors
from index.search.hubness import NEIGHBOURS, csls_scores, neighbourhood_means, ratio
from index.search.vector_index import CANDIDATES, Rows, VectorIndex
from index.storage.index_manifest import Scoring

# "exact": the corpus translates this very text; "memory": nearly this text; "translation": found by vectors;
# "near": found by vectors, too unlikely to be a translation, and yet the same scene with other details.
MatchKind = Literal["exact", "memory", "translation", "near"]
# Rows (n, k) -> (n, k, 2) how far each question is covered by the answer, the answer by the question.
Coverage = Callable[[Rows], NDArray[np.float64]]
CONSIDERED = 10  # answers with the highest scores, among which confidence chooses


@dataclass(frozen=True)
class Original:
    """The sentence of the corpus that an answer from the translation memory is the translation of."""

    text: str
    id: str


@dataclass(frozen=True)
class Differences:
    """Words of the question that the answer does not cover, and words of the answer that the question lacks,
    as they are written there."""

    question: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


SAME = Differences()


@dataclass(frozen=True)
class Match:
    """One answer. `score` found it, `confidence` is the probability that it is a translation.

    "exact" and "memory" have an `original`, its `similarity` to the text (0 to 1), and that as their
    confidence; `penalties` name what lowered it. `in_vocabulary`: whether the word asked for is one of the
    index; None for sentences. `metadata` is what the corpus says, and never what we do. `row` is its place
    among its language's sentences; `differs` is known where it was asked for (Translator.compare).
    """

    text: str
    score: float
    confidence: float
    id: str
    cosine: float
    metadata: Mapping[str, Any] = field(default_factory=dict)
    match: MatchKind = "translation"
    similarity: float | None = None
    original: Original | None = None
    penalties: tuple[str, ...] = ()
    in_vocabulary: bool | None = None
    examples: tuple[str, ...] | None = None
    row: int = -1
    differs: Differences = SAME


@dataclass(frozen=True)
class Ranked:
    """The best k of n queries, (n, k) each, best first."""

    rows: Rows
    cosines: Vectors
    scores: Vectors
    confidences: NDArray[np.float64]

    def answers(self) -> list[list[tuple[int, float, float, float]]]:
        """For each query its (row, score, confidence, cosine), best first."""
        columns = (self.rows, self.scores, self.confidences, self.cosines)
        return [
            list(zip(*values, strict=True))
            for values in zip(*(column.tolist() for column in columns), strict=True)
        ]


@dataclass(frozen=True)
class Evidence:
    """What tells right answers beside scores: how long the questions are (n,), what says so of rows, as
    `confidence.with_lengths` wants it, and how far questions and rows cover each other (coverage.py)."""

    questions: NDArray[np.float64]
    of_rows: Callable[[Rows], NDArray[np.float64]]
    coverage: Coverage | None = None

    def extend(self, values: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """The features of the answers `rows` (n, k), (n k, 4) -> (n k, 6), or 8 with coverage."""
        lengths = self.of_rows(rows.ravel())
        values = with_lengths(values, np.repeat(self.questions, rows.shape[1]), lengths)
        if self.coverage is None:
            return values
        return np.column_stack([values, self.coverage(rows).reshape(len(values), -1)])


def candidates(index: VectorIndex, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
    """(n, d) unit queries -> cosines and rows (n, k or more), among which `rank` finds the k best."""
    return index.search(queries, max(CANDIDATES, k))


def rank(
    index: VectorIndex,
    means: NDArray[np.float32],
    queries: Vectors,
    k: int,
    calibration: Calibration,
    *,
    nearest: tuple[Vectors, Rows] | None = None,
    evidence: Evidence | None = None,
    scoring: Scoring = "csls",
) -> Ranked:
    """Rank the rows of `index` for (n, d) unit queries by `scoring` over the candidates nearest by cosine.

    `means` (count,): each row's mean cosine to its nearest neighbours in the language of the queries.
    `nearest`: what `candidates` gives, where that is known. With coverage the answers with the highest scores
    are ordered by confidence.
    """
    by_words = evidence is not None and evidence.coverage is not None
    # At least two candidates, so that the gap to the best other answer is known for k = 1.
    cosines, rows = candidates(index, queries, k) if nearest is None else nearest
    cosines, rows, scores, ranked = select(
        cosines, rows, means[rows], max(k, CONSIDERED if by_words else 2), scoring
    )
    # Confidence is always by CSLS, so that a calibration holds for either scoring.
    values = features(cosines, scores, gaps(scores), len(index))
    values = values if evidence is None else evidence.extend(values, rows)
    chances = calibration.probability(values).reshape(scores.shape)
    order = np.argsort(-chances, axis=1, kind="stable")[:, :k] if by_words else np.arange(k)[None]
    order = order[:, : rows.shape[1]]
    best = np.arange(len(rows))[:, None], order
    return Ranked(rows[best], cosines[best], ranked[best], chances[best])


def select(
    cosines: Vectors, rows: Rows, means: Vectors, k: int, scoring: Scoring = "csls"
) -> tuple[Vectors, Rows, Vectors, Vectors]:
    """(n, m) candidates, best first by cosine -> the k best: cosines, rows, CSLS, and what ranks them.

    `means` (n, m): each candidate's mean cosine to its nearest neighbours in the language of the query.
    """
    query_means = neighbourhood_means(cosines[:, :NEIGHBOURS])[:, None]
    scores = csls_scores(cosines, query_means, means)
    ranked = scores if scoring == "csls" else ratio(cosines, query_means, means)
    order = np.argsort(-ranked, axis=1, kind="stable")[:, :k]
    chosen = np.arange(len(order))[:, None], order
    return cosines[chosen], rows[chosen], scores[chosen], ranked[chosen]


def assess(
    index: VectorIndex,
    means: NDArray[np.float32],
    query: Vectors,
    rows: Sequence[int],
    calibration: Calibration,
    *,
    evidence: Evidence | None = None,
    scoring: Scoring = "csls",
) -> Ranked:
    """Score some rows for one query (1, d) as `rank` does, in the order given and with no gap to others."""
    numbers = np.asarray(rows, np.int64)[None]
    cosines = index.reconstruct(rows) @ query[0]
    mean = neighbourhood_means(index.search(query, CANDIDATES)[0])
    cosines = cosines[None]
    scores = csls_scores(cosines, mean, means[numbers])
    values = features(cosines, scores, np.zeros_like(scores), len(index))
    values = values if evidence is None else evidence.extend(values, numbers)
    ranked = scores if scoring == "csls" else ratio(cosines, mean, means[numbers])
    return Ranked(numbers, cosines, ranked, calibration.probability(values).reshape(scores.shape))


def gaps(scores: Vectors) -> Vectors:
    """(n, k) scores, best first -> how far each is above the best other answer (0 for an only answer)."""
    if scores.shape[1] < 2:
        return np.zeros_like(scores)
    gaps = scores - scores[:, :1]
    gaps[:, 0] = scores[:, 0] - scores[:, 1]
    return gaps
