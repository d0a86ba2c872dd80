"""FaissIndex: the vectors of one language in one FAISS file, which is opened memory-mapped.

`faiss.index_factory` makes the index from a string, which is in the manifest. The last stage of the string
stores the vectors themselves, which re-rank the candidates found by codes.
"""

import re
from collections.abc import Sequence
from math import gcd, log2
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from index.arrays import Numbers, Vectors
from index.errors import DamagedError, UsageError
from index.storage.index_manifest import SearchSettings
from index.vectors.vector_index import by_cosine, drawn_rows

FLAT_ROWS = 4096  # up to here comparing with every vector is as fast
SCAN_ROWS = 1 << 17  # up to here reading every code is: 0.25 ms a query at 100,000 rows of 256 dimensions
WIDE = 256  # dimensions from which codes of four of them find what is near
TRAINING_ROWS, ROWS_A_LIST = 1 << 14, 128  # that codebooks are learned from, at least; and centroids
KMEANS_ROUNDS = 8
LEAST_LISTS, LEAST_K_FACTOR = 4, 4  # for neighbourhood means (decision 25)
# FAISS 1.15 multiplies by BLAS only above 128,000 queries times dimensions: ten times too late for a build.
faiss.cvar.distance_compute_blas_threshold = 1 << 12


def factory_string(count: int, dimension: int) -> str:
    """Choose the factory string for `count` vectors.

    Few vectors are all compared; of more, all 4-bit codes are scanned in registers (André et al. 2017); of
    many, only the codes of residuals in the lists whose centroids are near the query (Jégou et al. 2011,
    section 4). A code is of two dimensions; of four in a scan, where they are enough.
    """
    if count <= FLAT_ROWS:
        return "Flat"
    if count <= SCAN_ROWS:
        coded = 4 if dimension >= WIDE else 2
        return f"PQ{dimension // gcd(dimension, coded)}x4fs,RFlat"
    lists = 2 ** round(log2(count) / 2 - 1)
    return f"IVF{lists},PQ{dimension // gcd(dimension, 2)}x4fsr,Refine(SQfp16)"


class FaissIndex:
    """A VectorIndex over one file."""

    def __init__(self, index: Any, threads: int = 1) -> None:  # noqa: ANN401 (faiss is untyped)
        self._index, self._threads = index, threads
        self.dimension: int = index.d
        self._refined = isinstance(index, faiss.IndexRefine)
        lists = faiss.try_extract_index_ivf(index.base_index) if self._refined else None
        self.lists: int = lists.nlist if lists else 0

    @classmethod
    def open(
        cls, path: Path, count: int, dimension: int, settings: SearchSettings, threads: int = 1
    ) -> "FaissIndex":
        """Open a file whose checksum has been verified; DamagedError if it is not (count, dimension)."""
        try:
            # Vectors stay in pages of the file, which processes share; codes are copied into each process.
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except (RuntimeError, MemoryError) as error:
            raise DamagedError(f"{path}: FAISS cannot read it: build the index again") from error
        if index.metric_type != faiss.METRIC_INNER_PRODUCT or (index.ntotal, index.d) != (count, dimension):
            raise DamagedError(
                f"{path}: not {count} vectors of {dimension} dimensions: build the index again"
            )
        opened = cls(index, threads)
        opened.use(settings.parameters)
        try:
            opened.search(opened.reconstruct([0] if count else []), 1)
        except RuntimeError as error:
            raise DamagedError(f"{path}: FAISS cannot search it: build the index again") from error
        return opened

    @classmethod
    def of(cls, vectors: Vectors) -> "FaissIndex":
        """An index in memory that compares all of its (n, d) vectors."""
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return cls(index)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def use(self, parameters: str) -> None:
        """Set search parameters, as `faiss.ParameterSpace` reads them: "nprobe=8,k_factor_rf=4"."""
        space: Any = faiss.ParameterSpace()
        try:
            space.set_index_parameters(self._index, parameters)
        except RuntimeError as error:
            raise DamagedError(f"{parameters!r} are not parameters of this index: build it again") from error

    def use_least(self) -> None:
        """Set the parameters of searches that need no exact neighbours, as neighbourhood means do."""
        if self.lists:
            self.use(f"nprobe={min(LEAST_LISTS, self.lists)}")
        elif self._refined:
            self.use(f"k_factor_rf={LEAST_K_FACTOR}")

    def search(self, queries: Vectors, k: int, *, batched: bool = False) -> tuple[Vectors, Numbers]:
        k = min(k, len(self))
        if k == 0 or not len(queries):
            return np.zeros((len(queries), k), np.float32), np.zeros((len(queries), k), np.int64)
        # OpenMP keeps it for each calling thread. How a batch is divided would change its last bits.
        faiss.omp_set_num_threads(1 if batched else self._threads)
        cosines, rows = self._search(self._index, queries, k, batched or self._refined)
        if (short := rows[:, -1] < 0).any():  # the lists that were read have fewer than k rows
            every = faiss.downcast_index(self._index.refine_index)
            cosines[short], rows[short] = self._search(every, queries[short], k, batched)
        return by_cosine(cosines, rows)

    def _search(
        self,
        index: Any,  # noqa: ANN401 (FAISS is untyped)
        queries: Vectors,
        k: int,
        batched: bool,
    ) -> tuple[Vectors, Numbers]:
        queries = np.ascontiguousarray(queries, np.float32)
        if batched:
            cosines, rows = index.search(queries, k)
            return cosines, rows
        # One at a time: a batch is multiplied by BLAS, and a cosine would depend on the rest of the batch.
        cosines, rows = zip(*(index.search(query[None], k) for query in queries), strict=True)
        return np.concatenate(cosines), np.concatenate(rows)

    def reconstruct(self, rows: Sequence[int] | Numbers) -> Vectors:
        vectors: Vectors = self._index.reconstruct_batch(np.asarray(rows, np.int64))
        return vectors


def write_faiss(path: Path, vectors: Vectors, factory: str) -> None:
    """Write (n, d) unit vectors, perhaps memory-mapped, as the FAISS file that `factory` describes.

    The file depends on the vectors alone: training draws by a fixed seed, in one thread. Raises UsageError
    for a factory that FAISS does not know or cannot train on so few, OSError.
    """
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # the order of sums, and so the result, depends on their number
    try:
        index = faiss.index_factory(vectors.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        _train(index, vectors)
        index.add(np.ascontiguousarray(vectors, np.float32))
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].rpartition(": ")[2]
        raise UsageError(
            f"FAISS cannot make {factory!r} of {len(vectors)} vectors ({reason}): give another --factory"
        ) from error
    finally:
        faiss.omp_set_num_threads(threads)
    try:
        faiss.write_index(index, str(path))
    except RuntimeError as error:
        raise OSError(f"{path}: FAISS cannot write it ({error})") from error


def check_factory(factory: str) -> None:
    """UsageError for a string that FAISS does not know, or whose index would not keep the vectors."""
    if factory != "Flat" and not re.search(r",(RFlat|Refine\(SQfp16\))$", factory):
        raise UsageError(
            f"--factory {factory!r} keeps no vectors to rank by: end it in ,RFlat or ,Refine(SQfp16)"
        )


def _train(index: Any, vectors: Vectors) -> None:  # noqa: ANN401 (faiss is untyped)
    if index.is_trained:
        return
    wanted = TRAINING_ROWS
    if isinstance(index, faiss.IndexRefine):
        codes = faiss.downcast_index(index.base_index)
        if hasattr(codes, "pq"):
            codes.pq.cp.niter = KMEANS_ROUNDS
        if lists := faiss.try_extract_index_ivf(codes):
            lists.cp.niter = KMEANS_ROUNDS
            wanted = max(wanted, ROWS_A_LIST * lists.nlist)
    index.train(np.ascontiguousarray(vectors[drawn_rows(len(vectors), wanted)], np.float32))
