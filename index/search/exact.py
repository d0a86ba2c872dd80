"""ExactIndex: 8-bit codes in front of the exact vectors, in one file.

A query alone is bound by memory bandwidth, many by arithmetic: codes need a quarter of either. So rows are
screened by codes (screen.py), some more than are asked for, and only those are compared exactly.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from index.encoder.text_encoder import Vectors
from index.errors import DamagedError
from index.search.screen import Screen, codes_of
from index.search.vector_index import BLOCK, Rows, VectorIndex, best, view

SCREEN_ROWS = 4096  # fewer rows than this are searched exactly
LEVELS = 127  # the largest code in the file
SIGN = 128  # what FAISS adds to a signed code
SPARE = 32  # rows that are compared exactly beside those asked for, at least


class ExactIndex(VectorIndex):
    """Vectors as they were written; `neighbourhood_means` are exact, too."""

    def __init__(self, index: Any) -> None:  # noqa: ANN401 (faiss is untyped)
        self._index = index
        self._codes: Any = faiss.downcast_index(index.base_index)
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
        return best(*self.nearest(queries, k), min(k, self.count))

    def nearest(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """Rows are in order; -1 for none, whose cosine is -inf."""
        if (k := min(k, self.count)) == 0:
            return np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
        queries = np.ascontiguousarray(queries, np.float32)
        rows = self._candidates(queries, k)
        return self.cosines(queries, rows), rows

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """(n, d) unit queries and (n, m) rows for each -> (n, m); -inf for row -1, which is none."""
        cosines = np.empty(rows.shape, np.float32)
        # One pair at a time, so that a cosine does not depend on what else is asked in the batch.
        pointers = [faiss.swig_ptr(values) for values in (queries, cosines, rows)]
        self._exact.compute_distance_subset(len(rows), pointers[0], rows.shape[1], *pointers[1:])
        return cosines

    def _candidates(self, queries: Vectors, k: int) -> Rows:
        """(n, d) -> (n, k or more) rows in order, the k nearest among them."""
        if self.count <= SCREEN_ROWS:
            return np.sort(self._exact.search(queries, k)[1], axis=1)
        return self._screen.rows(queries, min(k + max(k // 4, SPARE), self.count))

    @cached_property
    def _screen(self) -> Screen:
        """Made when it is needed: what is built or changed is read by rows alone."""
        codes = np.empty((self.count, self.dimension), np.int8)
        for start in range(0, self.count, BLOCK):
            block = self._codes.reconstruct_n(start, min(BLOCK, self.count - start))
            codes[start : start + BLOCK] = codes_of(block, LEVELS)
        return Screen(codes, faiss.omp_get_max_threads())

    @cached_property
    def _every(self) -> Any:  # noqa: ANN401 (faiss is untyped)
        """What compares many queries with every row: a copy on the GPUs."""
        return faiss.index_cpu_to_all_gpus(self._exact)

    def neighbourhood_means(self, queries: Vectors, k: int) -> Vectors:
        if self.count == 0:
            return np.zeros(len(queries), np.float32)
        # By the screen in half the time of a product of floats; a GPU needs none.
        searched = self._every.search if faiss.get_num_gpus() else self.search
        nearest = searched(np.ascontiguousarray(queries), min(k, self.count))[0]
        means: Vectors = nearest.mean(axis=1, dtype=np.float64).astype(np.float32)
        return means


def write_exact(path: Path, vectors: Vectors) -> None:
    """Write (n, d) unit vectors, perhaps memory-mapped, as a FAISS file that ExactIndex opens."""
    dimension = vectors.shape[1]
    screen = faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    exact = faiss.IndexFlatIP(dimension)
    rows = np.ascontiguousarray(vectors, np.float32)
    codes = np.empty(rows.shape, np.uint8)
    # One scale for all rows keeps the order of inner products.
    scale = LEVELS / max(float(rows.max(initial=0)), -float(rows.min(initial=0)), 1e-12)
    for start in range(0, len(rows), BLOCK):
        codes[start : start + BLOCK] = np.rint(rows[start : start + BLOCK] * scale) + SIGN
    for index, values in ((exact, rows), (screen, codes)):
        view(index, values)
    try:
        faiss.write_index(faiss.IndexRefine(screen, exact), str(path))
    except RuntimeError as error:
        raise OSError(f"{path}: FAISS cannot write it ({error})") from error
