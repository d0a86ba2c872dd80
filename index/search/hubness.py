"""Hubness: some points are near everything; CSLS takes that back (Lample et al. 2018b, section 2.3).

CSLS(x, y) = 2 cos(x, y) - r(x) - r(y), where r is a point's mean cosine to its k nearest neighbours
in the other language. The ratio margin (Artetxe and Schwenk 2019, equation 2) is 2 cos(x, y) / (r(x) + r(y)).
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

NEIGHBOURS = 10


def neighbourhood_means(similarities: NDArray[np.floating], k: int = NEIGHBOURS) -> NDArray[np.float32]:
    """(n, m) cosines -> (n,) mean of each row's k highest; of all m where m < k, 0 where m = 0."""
    rows, columns = similarities.shape
    if columns == 0:
        return np.zeros(rows, np.float32)
    if columns > k:
        similarities = np.partition(similarities, columns - k, axis=1)[:, columns - k :]
    # Sorted first: the same mean whatever the order of the columns was.
    means: NDArray[np.float32] = (
        np.sort(similarities, axis=1).mean(axis=1, dtype=np.float64).astype(np.float32)
    )
    return means


class NeighbourhoodMeans:
    """How crowded it is around each row of a language, seen from each of the languages `sources`."""

    def __init__(self, means: NDArray[np.float32], sources: Sequence[str]) -> None:
        """`means` are the rows' neighbourhood means, (rows, sources)."""
        self._means = means
        self._of = dict(zip(sources, means.T, strict=True))

    def seen_from(self, source: str) -> NDArray[np.float32]:
        """(rows,) means; for a language that is none of `sources` the mean over them, 0 without any."""
        means = self._of.get(source)
        return self._overall if means is None else means

    @cached_property
    def _overall(self) -> NDArray[np.float32]:
        rows = len(self._means)
        means: NDArray[np.float32] = self._means.mean(axis=1) if self._of else np.zeros(rows, np.float32)
        return means


def csls_scores(
    cosines: NDArray[np.floating], queries: NDArray[np.floating], rows: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Cosines and both sides' neighbourhood means, of shapes that go together -> CSLS scores."""
    scores: NDArray[np.float32] = (2 * cosines - queries - rows).astype(np.float32, copy=False)
    return scores


def csls(similarities: NDArray[np.floating], k: int = NEIGHBOURS) -> NDArray[np.float32]:
    """(n, m) cosines between all of two languages -> (n, m) CSLS scores."""
    queries, rows = (neighbourhood_means(cosines, k) for cosines in (similarities, similarities.T))
    return csls_scores(similarities, queries[:, None], rows)


def ratio(
    cosines: NDArray[np.floating], queries: NDArray[np.floating], rows: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Cosines and both sides' neighbourhood means, of shapes that go together -> ratio margins."""
    # Means near zero or below it are those of points without neighbours: they get no bonus for it.
    return (2 * cosines / np.maximum(queries + rows, 1e-3)).astype(np.float32)


def skewness(scores: NDArray[np.floating], k: int = NEIGHBOURS) -> float:
    """(n, m) scores -> skewness of how often each column is among the k best of a row.

    Radovanović et al. 2010, equation 1: E[(N - mean)^3] / deviation^3; 0 where all occur equally often.
    """
    columns = scores.shape[1]
    if not scores.size or columns <= k:
        return 0.0
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    occurrences = np.bincount(best.ravel(), minlength=columns).astype(np.float64)
    occurrences -= occurrences.mean()
    spread = float(np.sqrt((occurrences**2).mean()))
    return float((occurrences**3).mean() / spread**3) if spread > 0 else 0.0
