"""Ranking candidates by CSLS and turning them into answers with a confidence: sentences and words alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.confidence import Calibration, features
from index.encoder import Vectors
from index.hubness import NEIGHBOURS, neighbourhood_means
from index.search import Rows, VectorIndex

CANDIDATES = 100  # nearest by cosine, re-ranked by CSLS


@dataclass(frozen=True)
class Match:
    """One answer. `score` ranked it (CSLS), `confidence` is the probability that it is a translation."""

    text: str
    score: float
    confidence: float
    id: str
    cosine: float
    metadata: Mapping[str, Any] = field(default_factory=dict)


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


def rank(
    index: VectorIndex, means: NDArray[np.float32], queries: Vectors, k: int, calibration: Calibration
) -> Ranked:
    """Rank the rows of `index` for (n, d) unit queries by CSLS over the candidates nearest by cosine.

    `means` (count,): each row's mean cosine to its nearest neighbours in the language of the queries.
    """
    # At least two candidates, so that the gap to the best other answer is known for k = 1.
    cosines, rows = index.search(queries, max(CANDIDATES, k))
    query_means = neighbourhood_means(cosines[:, :NEIGHBOURS])[:, None]
    scores = 2 * cosines - query_means - means[rows]
    order = np.argsort(-scores, axis=1, kind="stable")[:, : max(k, 2)]
    best = np.arange(len(order))[:, None], order
    cosines, rows, scores = cosines[best], rows[best], scores[best]
    chances = calibration.probability(features(cosines, scores, _gaps(scores), index.count)).reshape(
        scores.shape
    )
    return Ranked(rows[:, :k], cosines[:, :k], scores[:, :k], chances[:, :k])


def assess(
    index: VectorIndex,
    means: NDArray[np.float32],
    query: Vectors,
    rows: Sequence[int],
    calibration: Calibration,
) -> Ranked:
    """Score some rows for one query (1, d) as `rank` does, in the order given and with no gap to others."""
    found = np.asarray(rows, np.int64)[None]
    cosines = np.concatenate([index.vectors(row, 1) for row in rows]) @ query[0]
    nearest = index.search(query, NEIGHBOURS)[0]
    scores = 2 * cosines - neighbourhood_means(nearest) - means[found[0]]
    cosines, scores = cosines[None], scores[None]
    chances = calibration.probability(features(cosines, scores, np.zeros_like(scores), index.count))
    return Ranked(found, cosines, scores, chances.reshape(scores.shape))


def _gaps(scores: Vectors) -> Vectors:
    """(n, k) scores, best first -> how far each is above the best other answer (0 for an only answer)."""
    if scores.shape[1] < 2:
        return np.zeros_like(scores)
    gaps = scores - scores[:, :1]
    gaps[:, 0] = scores[:, 0] - scores[:, 1]
    return gaps
