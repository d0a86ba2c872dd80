"""Searching unit vectors by cosine: what every structure can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import Vectors

BLOCK = 1024  # queries at a time where many are searched: bounds the memory of a build

Rows = NDArray[np.int64]


class VectorIndex(ABC):
    """(n, d) unit vectors on disk, searched by cosine. Opened memory-mapped; never changed."""

    count: int
    dimension: int

    @abstractmethod
    def vectors(self, start: int = 0, count: int | None = None) -> Vectors:
        """Rows start to start + count, as they are compared."""

    @abstractmethod
    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """(n, d) unit queries -> cosines and rows (n, min(k, count)), best first, ties to the lower row."""

    def nearest(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """As `search`, but perhaps more than k, and in any order in which `best` finds the same k."""
        return self.search(queries, k)

    @abstractmethod
    def neighbourhood_means(self, queries: Vectors, k: int) -> Vectors:
        """(n, d) unit queries -> (n,) mean cosine to the k nearest rows (all rows where there are fewer)."""

    def blocks(self) -> Iterator[Vectors]:
        """All rows, BLOCK at a time."""
        for start in range(0, self.count, BLOCK):
            yield self.vectors(start, min(BLOCK, self.count - start))

    def sample(self, count: int, seed: int = 0) -> tuple[Rows, Vectors]:
        """Up to `count` rows drawn evenly: their numbers, in order, and their vectors."""
        rows = np.sort(np.random.default_rng(seed).permutation(self.count)[:count])
        found = [self.vectors(int(row), 1) for row in rows]
        return rows, np.concatenate([np.zeros((0, self.dimension), np.float32), *found])


def best(cosines: Vectors, rows: Rows, k: int) -> tuple[Vectors, Rows]:
    """(n, m) candidates, rows in order -> the k best, best first, ties to the lower row."""
    # A stable sort breaks ties by row, since the rows are in order.
    chosen = np.arange(len(rows))[:, None], np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return cosines[chosen], rows[chosen]


def view(index: Any, rows: NDArray[Any]) -> None:  # noqa: ANN401 (faiss is untyped)
    """Give a FAISS index the rows (n, d), as it codes them, that lie elsewhere in memory and stay there.

    FAISS has such views for its own mapped files.
    """
    if not len(rows):
        return
    codes = index.codes
    codes.is_owned = False
    codes.view_data = codes.c_ptr = faiss.swig_ptr(rows.view(np.uint8).reshape(-1))
    codes.view_size = codes.c_size = rows.nbytes
    index.ntotal = len(rows)
