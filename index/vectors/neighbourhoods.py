"""Hubness: some points are near everything, which CSLS corrects for (Lample et al. 2018b, section 2.3).

CSLS(x, y) = 2 cos(x, y) - r(x) - r(y), where r is a point's mean cosine to its k nearest neighbours
in the other language.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

CSLS_NEIGHBOURS = 10


def neighbourhood_means(similarities: NDArray[np.floating], k: int = CSLS_NEIGHBOURS) -> NDArray[np.float32]:
    """(n, m) cosines -> (n,) the mean of each row's k highest; of all m if m < k, 0 if m = 0."""
    rows, columns = similarities.shape
    if columns == 0:
        return np.zeros(rows, np.float32)
    if columns > k:
        similarities = np.partition(similarities, columns - k, axis=1)[:, columns - k :]
    # Sorted, so that the rounding of the mean does not depend on the order of the columns.
    means: NDArray[np.float32] = (
        np.sort(similarities, axis=1).mean(axis=1, dtype=np.float64).astype(np.float32)
    )
    return means


class BySource:
    """A value of each row of a language for each other language, such as its mean cosine to the nearest."""

    def __init__(self, values: NDArray[np.float32], sources: Sequence[str]) -> None:
        """Take the values (rows, sources), a column for each language of `sources`."""
        self._values = values
        self._by_source = dict(zip(sources, values.T, strict=True))

    def seen_from(self, source: str) -> NDArray[np.float32]:
        """(rows,) the values for queries in `source`; for another language, the mean over all sources.

        0 if there are no sources.
        """
        values = self._by_source.get(source)
        return self._overall if values is None else values

    @cached_property
    def _overall(self) -> NDArray[np.float32]:
        rows = len(self._values)
        means: NDArray[np.float32] = (
            self._values.mean(axis=1) if self._by_source else np.zeros(rows, np.float32)
        )
        return means


def csls_scores(
    cosines: NDArray[np.floating], queries: NDArray[np.floating], rows: NDArray[np.floating]
) -> NDArray[np.float32]:
    """CSLS scores from cosines and the neighbourhood means of queries and rows, whose shapes broadcast."""
    scores: NDArray[np.float32] = (2 * cosines - queries - rows).astype(np.float32, copy=False)
    return scores


def best_csls(
    cosines: NDArray[np.floating], queries: NDArray[np.floating], rows: NDArray[np.floating]
) -> NDArray[np.float32]:
    """(n,) the highest CSLS score of each query with its CSLS_NEIGHBOURS nearest rows, 0 at least.

    `cosines` (n, k) to these rows; neighbourhood means of queries (n,) and of these rows (n, k).
    """
    best: NDArray[np.float32] = csls_scores(cosines, queries[:, None], rows).max(axis=1, initial=0)
    return best


def csls(similarities: NDArray[np.floating], k: int = CSLS_NEIGHBOURS) -> NDArray[np.float32]:
    """(n, m) cosines between all sentences of two languages -> (n, m) CSLS scores."""
    queries, rows = (neighbourhood_means(cosines, k) for cosines in (similarities, similarities.T))
    return csls_scores(similarities, queries[:, None], rows)
