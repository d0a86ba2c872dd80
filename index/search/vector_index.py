"""VectorIndex: what the rest of the house asks of nearest-neighbour search, whichever engine does it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors

CANDIDATES = 32  # nearest by cosine that a ranking looks at: the recall of an index is measured for these
BLOCK = 1024  # rows at a time where many are searched or read: bounds the memory of a build

Rows = NDArray[np.int64]


class VectorIndex(Protocol):
    """(n, d) unit vectors, searched by cosine; opened for reading, never changed."""

    dimension: int

    def __len__(self) -> int: ...

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """(n, d) unit queries -> cosines and rows (n, min(k, len)), best first, ties to the lower row."""
        ...

    def reconstruct(self, rows: Sequence[int] | Rows) -> Vectors:
        """(n,) rows -> (n, d) their vectors, as they are compared."""
        ...


def drawn_rows(rows: int, count: int) -> Rows:
    """Up to `count` of so many rows, drawn evenly by a fixed seed, in order."""
    # Without `shuffle` the memory that it takes does not grow with the rows.
    random = np.random.default_rng(0)
    return np.sort(random.choice(rows, min(count, rows), replace=False, shuffle=False))


def by_cosine(cosines: Vectors, rows: Rows) -> tuple[Vectors, Rows]:
    """(n, k) neighbours in any order -> best first, ties to the lower row."""
    order = np.lexsort((rows, -cosines))
    return np.take_along_axis(cosines, order, axis=1), np.take_along_axis(rows, order, axis=1)


def recall(retrieved: Rows, wanted: Rows) -> float:
    """The share of `wanted` (n, k) that is in `retrieved` (n, m), row by row."""
    hits = sum(
        len(set(ours) & set(true)) for ours, true in zip(retrieved.tolist(), wanted.tolist(), strict=True)
    )
    return hits / max(1, wanted.size)
