"""ExactIndex: an 8-bit screen in front of the exact vectors, in one file.

A single query is bound by memory bandwidth: exact search reads 4 d bytes a row. So a query first reads the
8-bit codes (a quarter of that), keeps twice as many rows as asked for, and only those are compared exactly.
Larger batches are bound by arithmetic instead and go straight to the exact vectors (BLAS).
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from index.encoder import Vectors
from index.errors import DamagedError
from index.search import BLOCK, Rows, VectorIndex, best

SCREEN_FACTOR = 2
SCREEN_ROWS = 4096  # fewer rows than this are searched exactly
SCREEN_QUERIES = 16  # more queries than this are searched exactly


class ExactIndex(VectorIndex):
    """Vectors as they were written; `neighbourhood_means` are exact, too."""

    def __init__(self, index: Any) -> None:  # noqa: ANN401 (faiss is untyped)
        self._index = index
        self._screen: Any = faiss.downcast_index(index.base_index)
        self._exact: Any = faiss.downcast_index(index.refine_index)
        self.count = index.ntotal
        self.dimension = index.d

    @classmethod
    def open(cls, path: Path, count: int, dimension: int) -> "ExactIndex":
        """Open a file whose checksum has been verified; DamagedError if it is not (count, dimension)."""
        try:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise DamagedError(f"{path}: FAISS cannot read it: build the index again") from error
        fits = isinstance(index, faiss.IndexRefine) and index.metric_type == faiss.METRIC_INNER_PRODUCT
        if not fits or (index.ntotal, index.d) != (count, dimension):
            raise DamagedError(
                f"{path}: not {count} vectors of {dimension} dimensions: build the index again"
            )
        return cls(index)

    def vectors(self, start: int = 0, count: int | None = None) -> Vectors:
        rows: Vectors = self._exact.reconstruct_n(start, self.count - start if count is None else count)
        return rows

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        if (k := min(k, self.count)) == 0:
            return np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
        queries = np.ascontiguousarray(queries, np.float32)
        screened = self.count > SCREEN_ROWS and len(queries) < SCREEN_QUERIES
        rows = np.sort(self._screened(queries, k) if screened else self._exact.search(queries, k)[1], axis=1)
        cosines = np.empty(rows.shape, np.float32)
        # One pair at a time, so that a cosine does not depend on what else is asked in the batch.
        pointers = [faiss.swig_ptr(values) for values in (queries, cosines, rows)]
        self._exact.compute_distance_subset(len(rows), pointers[0], rows.shape[1], *pointers[1:])
        return best(cosines, rows, k)

    def _screened(self, queries: Vectors, k: int) -> Rows:
        # FAISS compares 8-bit codes with the query cut to integers: scale it to use the whole range.
        largest = np.maximum(np.abs(queries).max(axis=1, keepdims=True), 1e-12)
        scaled = np.rint(queries * (127 / largest))
        rows: Rows = self._screen.search(scaled, min(SCREEN_FACTOR * k, self.count))[1]
        return rows

    @cached_property
    def _every(self) -> Any:  # noqa: ANN401 (faiss is untyped)
        """What compares many queries with every row: a copy on the GPUs where FAISS has any."""
        return faiss.index_cpu_to_all_gpus(self._exact) if faiss.get_num_gpus() else self._exact

    def neighbourhood_means(self, queries: Vectors, k: int) -> Vectors:
        if self.count == 0:
            return np.zeros(len(queries), np.float32)
        nearest = self._every.search(np.ascontiguousarray(queries), min(k, self.count))[0]
        means: Vectors = nearest.mean(axis=1, dtype=np.float64).astype(np.float32)
        return means


def write_exact(path: Path, vectors: Vectors) -> None:
    """Write (n, d) unit vectors as a FAISS file that ExactIndex opens."""
    dimension = vectors.shape[1]
    screen = faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    exact = faiss.IndexFlatIP(dimension)
    # One scale for all rows keeps the order of inner products.
    scale = 127 / max(float(np.abs(vectors).max(initial=0)), 1e-12)
    for start in range(0, len(vectors), BLOCK):
        block = np.ascontiguousarray(vectors[start : start + BLOCK])
        exact.add(block)
        screen.add(np.rint(block * scale))
    try:
        faiss.write_index(faiss.IndexRefine(screen, exact), str(path))
    except RuntimeError as error:
        raise OSError(f"{path}: FAISS cannot write it ({error})") from error
