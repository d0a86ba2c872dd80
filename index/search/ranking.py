"""Ranking: candidates ordered by CSLS or ratio margin, with a confidence; for sentences and words alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import Calibration, features, with_lengths
from index.encoder.vectors import Vectors
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, csls_scores, neighbourhood_means
from index.vectors.vector_index import CANDIDATE_COUNT, Rows, VectorIndex

# "exact": the corpus has a translation of this very text; "memory": of nearly this text; "translation": found
# by vectors; "near": found by vectors, too unlikely to be a translation, but the same scene in other details.
MatchKind = Literal["exact", "memory", "translation", "near"]
# The rows of answers (n, k) -> (n, k, 4): how question and answer cover each other (calibration.COVERAGE).
Coverage = Callable[[Rows], NDArray[np.float64]]
# The rows of answers (n, k) -> (n, k): which of them have other numbers than the question.
Contradiction = Callable[[Rows], NDArray[np.bool_]]
# Answers with the highest scores, which are then ordered by confidence (docs/decisions/0110).
ANSWERS_CONSIDERED = 5


@dataclass(frozen=True)
class Original:
    """The corpus sentence whose translation an answer from the translation memory is."""

    text: str
    id: str


@dataclass(frozen=True)
class Differences:
    """Words of the question that the answer lacks, and words of the answer that the question lacks.

    Spelled as in their own text.
    """

    question: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


NO_DIFFERENCES = Differences()


@dataclass(frozen=True)
class Match:
    """One answer, with the `score` that ranked it and the probability that it is a translation.

    An "exact" or "memory" match has an `original` and its `similarity` to the text (0 to 1), which is also
    its confidence; `penalties` name what lowered it. `in_vocabulary`: whether the index has the word that was
    asked for; None for sentences. `metadata` comes from the corpus. `row` is the answer's row in its
    language; `differs` is filled in by `Translator.compare`.
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
    differs: Differences = NO_DIFFERENCES


@dataclass(frozen=True)
class Ranked:
    """The best k of n queries, (n, k) each, best first."""

    rows: Rows
    cosines: Vectors
    scores: Vectors
    confidences: NDArray[np.float64]

    def answers(self) -> list[list[tuple[int, float, float, float]]]:
        """The (row, score, confidence, cosine) of each query's answers, best first."""
        columns = (self.rows, self.scores, self.confidences, self.cosines)
        return [
            list(zip(*values, strict=True))
            for values in zip(*(column.tolist() for column in columns), strict=True)
        ]


@dataclass(frozen=True)
class Evidence:
    """Evidence for right answers besides scores: lengths, and mutual coverage by words (coverage.py).

    `question_lengths` (n,) and the lengths that `row_lengths` gives for rows are as in
    `calibration.with_lengths`. With coverage, answers in `contradiction` to the question come last.
    """

    question_lengths: NDArray[np.float64]
    row_lengths: Callable[[Rows], NDArray[np.float64]]
    coverage: Coverage | None = None
    contradiction: Contradiction | None = None

    def extend(self, values: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """Add features to those of the answers `rows` (n, k): (n k, 4) -> (n k, 6), or 10 with coverage."""
        lengths = self.row_lengths(rows.ravel())
        values = with_lengths(values, np.repeat(self.question_lengths, rows.shape[1]), lengths)
        if self.coverage is None:
            return values
        return np.column_stack([values, self.coverage(rows).reshape(len(values), -1)])


def candidates(index: VectorIndex, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
    """Find the candidates among which `rank` chooses k: cosines and rows (n, k or more) for unit queries."""
    return index.search(queries, max(CANDIDATE_COUNT, k))


def rank(
    index: VectorIndex,
    means: NDArray[np.float32],
    queries: Vectors,
    k: int,
    calibration: Calibration,
    *,
    nearest: tuple[Vectors, Rows] | None = None,
    evidence: Evidence | None = None,
) -> Ranked:
    """Rank the rows of `index` nearest to (n, d) unit queries by CSLS, and return the best k.

    `means` (count,): each row's mean cosine to its nearest neighbours in the language of the queries.
    `nearest`: the result of `candidates`, if there is one already. With coverage, the answers with the
    highest scores are ordered by confidence.
    """
    by_words = evidence is not None and evidence.coverage is not None
    # At least two candidates, so that the gap to the best other answer is known for k = 1.
    cosines, rows = candidates(index, queries, k) if nearest is None else nearest
    cosines, rows, scores, ranked = select(
        cosines, rows, means[rows], max(k, ANSWERS_CONSIDERED if by_words else 2)
    )
    values = features(cosines, scores, gaps(scores), len(index))
    values = values if evidence is None else evidence.extend(values, rows)
    chances = calibration.probability(values).reshape(scores.shape)
    order = _by_chance(chances, rows, evidence)[:, :k] if by_words else np.arange(k)[None]
    order = order[:, : rows.shape[1]]
    best = np.arange(len(rows))[:, None], order
    return Ranked(rows[best], cosines[best], ranked[best], chances[best])


def _by_chance(chances: NDArray[np.float64], rows: Rows, evidence: Evidence | None) -> Rows:
    """(n, k) the order of answers by their chances, after those that contradict nothing."""
    if evidence is not None and evidence.contradiction is not None:
        chances = chances - evidence.contradiction(rows)
    return np.argsort(-chances, axis=1, kind="stable")


def select(cosines: Vectors, rows: Rows, means: Vectors, k: int) -> tuple[Vectors, Rows, Vectors, Vectors]:
    """Choose the best k of (n, m) candidates, given best first by cosine.

    Returns their cosines, rows, CSLS scores and ranking scores, (n, k) each.

    `means` (n, m): each candidate's mean cosine to its nearest neighbours in the language of the query.
    """
    query_means = neighbourhood_means(cosines[:, :CSLS_NEIGHBOURS])[:, None]
    scores = csls_scores(cosines, query_means, means)
    ranked = scores
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
) -> Ranked:
    """Score given rows for one query (1, d) as `rank` does, keeping their order; the gap to others is 0."""
    row_numbers = np.asarray(rows, np.int64)[None]
    cosines = index.reconstruct(rows) @ query[0]
    mean = neighbourhood_means(index.search(query, CANDIDATE_COUNT)[0])
    cosines = cosines[None]
    scores = csls_scores(cosines, mean, means[row_numbers])
    values = features(cosines, scores, np.zeros_like(scores), len(index))
    values = values if evidence is None else evidence.extend(values, row_numbers)
    ranked = scores
    return Ranked(row_numbers, cosines, ranked, calibration.probability(values).reshape(scores.shape))


def gaps(scores: Vectors) -> Vectors:
    """(n, k) scores, best first -> how far each is above the best other answer; 0 for a single answer."""
    if scores.shape[1] < 2:
        return np.zeros_like(scores)
    gaps = scores - scores[:, :1]
    gaps[:, 0] = scores[:, 0] - scores[:, 1]
    return gaps
