"""VectorIndex: the interface of nearest-neighbour search, whichever engine implements it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from index.arrays import Numbers, Vectors

CANDIDATE_COUNT = 32  # nearest rows that are ranked, and for which the recall of an index is measured
ROWS_AT_A_TIME = 1024  # rows at a time where many are searched or read: bounds the memory of a build


class VectorIndex(Protocol):
    """Read-only (n, d) unit vectors that can be searched by cosine."""

    dimension: int

    def __len__(self) -> int: ...

    def search(self, queries: Vectors, k: int, *, batched: bool = False) -> tuple[Vectors, Numbers]:
        """Find the nearest rows to (n, d) unit queries: cosines and rows, (n, min(k, len)) each.

        Best first; of equal cosines the lower row comes first. `batched` is for many queries of a build: it
        is faster, and the last bit of a cosine may then depend on the other queries.
        """
        ...

    def reconstruct(self, rows: Sequence[int] | Numbers) -> Vectors:
        """The vectors (n, d) of the given rows, as they are compared with queries."""
        ...


def drawn_rows(rows: int, count: int) -> Numbers:
    """Draw up to `count` of the numbers below `rows`, uniformly by a fixed seed, in ascending order."""
    # Without `shuffle`, memory does not grow with the number of rows.
    random = np.random.default_rng(0)
    return np.sort(random.choice(rows, min(count, rows), replace=False, shuffle=False))


def by_cosine(cosines: Vectors, rows: Numbers) -> tuple[Vectors, Numbers]:
    """Sort neighbours, cosines and rows of (n, k) each, best first; of equal cosines the lower row first."""
    order = np.arange(len(rows))[:, None], np.lexsort((rows, -cosines))
    return cosines[order], rows[order]
