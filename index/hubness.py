"""Hubness: some points are near everything; CSLS takes that back (Lample et al. 2018b, section 2.3).

CSLS(x, y) = 2 cos(x, y) - r(x) - r(y), where r is a point's mean cosine to its k nearest neighbours
in the other language.
"""

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


def csls(similarities: NDArray[np.floating], k: int = NEIGHBOURS) -> NDArray[np.float32]:
    """(n, m) cosines between two languages -> (n, m) CSLS scores."""
    rows = neighbourhood_means(similarities, k)
    columns = neighbourhood_means(similarities.T, k)
    return (2 * similarities - rows[:, None] - columns[None, :]).astype(np.float32)
