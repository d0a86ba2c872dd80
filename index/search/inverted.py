"""InvertedIndex: vectors in lists around centroids, as 4-bit codes in front of 16-bit vectors.

A row is its list's centroid plus a residual, of which each two dimensions are one of 16 points (Jégou et al.
2011, section 4; André et al. 2017 for the layout that is scanned in registers). A query reads the codes of
the lists nearest to it, more where many are about as near, and the best of them are compared by their
16-bit vectors.

LANG.faiss       centroids and codebooks, no row
LANG.lists       the length of each list (int64), then for each its codes and its rows (int64)
LANG.vectors.npy (n, d) float16

The last two are memory-mapped. FAISS itself would read the codes into every process.
"""

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import Vectors
from index.errors import DamagedError
from index.search.screen import ROW_LEVEL, Screen, codes_of
from index.search.structure import Structure
from index.search.vector_index import BLOCK, Rows, VectorIndex, view
from index.text.pre_tokens import slices

POINTS = 32  # for training, a list
LEAST_POINTS = 20_000  # for training, in all
MOST_POINTS = 1 << 16  # of which k-means takes twice the memory; 16 a list find as much as 32
ROUNDS = 8  # of k-means
FACTOR = 2  # candidates for each answer asked for
# Lists read for neighbourhood means. Half-way between these and exact ones lies little (docs/decisions/0026).
NEIGHBOUR_PROBES = 4
ASSIGNED = 256  # rows given to lists at a time: the products stay in the processor's cache
MARGIN = (
    0.02  # of cosines by integers: the exactly nearest of 32,768 captions was never further from the first
)
# FAISS's way of scanning that keeps candidates in a reservoir, not a heap, on one thread: a query of some
# hundred candidates takes two thirds to four fifths of the time of its own choice, with the same answers.
RESERVOIR = 13
SORTED = 1 << 16  # rows sorted at a time
PACKED = 32  # rows that FAISS packs together
ALIGNED = 64  # bytes

Halves = NDArray[np.float16]


class InvertedIndex(VectorIndex):
    """Vectors as 16-bit floats; cosines are exact for these, neighbourhood means are estimates."""

    def __init__(self, index: Any, lists: Any, rows: Halves, structure: Structure) -> None:  # noqa: ANN401
        self._index, self._lists, self._rows = index, lists, rows
        index.implem = RESERVOIR
        self._centroids = index.quantizer.reconstruct_n(0, structure.lists)
        self._ranking = faiss.IndexRefine(index, _view(rows))
        self.use(structure)
        self._near = _probing(min(NEIGHBOUR_PROBES, structure.lists))
        self.count, self.dimension = rows.shape

    @classmethod
    def open(cls, path: Path, count: int, dimension: int, structure: Structure) -> "InvertedIndex":
        """Open files whose checksums have been verified; DamagedError if they do not belong together."""
        try:
            index: Any = faiss.read_index(str(path))
        except RuntimeError as error:
            raise DamagedError(f"{path}: FAISS cannot read it: build the index again") from error
        fits = isinstance(index, faiss.IndexIVFPQFastScan) and index.metric_type == faiss.METRIC_INNER_PRODUCT
        if not fits or (index.nlist, index.d, index.ntotal) != (structure.lists, dimension, 0):
            raise DamagedError(
                f"{path}: not {structure.lists} lists of {dimension} dimensions: build the index again"
            )
        lists = _open_lists(path.with_suffix(".lists"), index, count)
        rows = _open_rows(path.with_suffix(".vectors.npy"), (count, dimension))
        return cls(index, lists, rows, structure)

    def use(self, structure: Structure) -> None:
        """Read so many lists and compare so many candidates from now on."""
        self._probes, self._reach = structure.probes, structure.reach
        self._candidates = structure.candidates

    def gaps(self, queries: Vectors) -> Vectors:
        """(n, d) -> (n, lists): by how much each list's centroid is further from a query than the nearest."""
        cosines = queries @ self._centroids.T
        found: Vectors = cosines.max(axis=1, keepdims=True) - cosines
        return found

    def lists_of(self, rows: Rows) -> Rows:
        """The list of each of some rows."""
        quantizer, starts = _Quantizer(self._centroids), range(0, len(rows), ASSIGNED)
        parts = [
            quantizer.lists(self._rows[rows[start : start + ASSIGNED]].astype(np.float32)) for start in starts
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def candidates(self, query: Vectors, wanted: int) -> Rows:
        """(d,) -> `wanted` rows, the one most like it by its code first; -1 where there are no more."""
        rows: Rows = self._index.search(query[None], wanted, params=_probing(self._probed(query)))[1][0]
        return rows

    def vectors(self, start: int = 0, count: int | None = None) -> Vectors:
        end = self.count if count is None else start + count
        return self._rows[start:end].astype(np.float32)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        if (k := min(k, self.count)) == 0 or not len(queries):
            return np.zeros((len(queries), k), np.float32), np.zeros((len(queries), k), np.int64)
        # One at a time: which of two equal codes FAISS keeps depends on how many it is asked for at once.
        found = [self._one(query, k) for query in np.ascontiguousarray(queries, np.float32)]
        return np.stack([cosines for cosines, _ in found]), np.stack([rows for _, rows in found])

    def _one(self, query: Vectors, k: int) -> tuple[Vectors, Rows]:
        """(d,) -> cosines and rows (k,)."""
        wanted = min(max(FACTOR * k, self._candidates), self.count)
        cosines, rows = self._ranked(query, wanted, self._probed(query))
        if len(rows) < k:
            cosines, rows = self._ranked(query, wanted, len(self._centroids))
        # Ties to the lower row.
        order = np.lexsort((rows, -cosines))[:k]
        return cosines[order], rows[order]

    def _ranked(self, query: Vectors, wanted: int, probes: int) -> tuple[Vectors, Rows]:
        """Exact cosines and rows of those most like a query by their codes."""
        # Each row by itself and not by BLAS: a cosine does not depend on the other candidates.
        parameters: Any = faiss.IndexRefineSearchParameters()
        parameters.k_factor, parameters.base_index_params = 1, _probing(probes)
        cosines, rows = self._ranking.search(query[None], wanted, params=parameters)
        there = rows[0] >= 0
        return cosines[0][there], rows[0][there]

    def _probed(self, query: Vectors) -> int:
        """How many lists are read for a query: those nearly as near as the nearest."""
        if self._reach is None:
            return self._probes
        cosines = self._centroids @ query
        return min(int((cosines >= cosines.max() - self._reach).sum()), self._probes)

    def neighbourhood_means(self, queries: Vectors, k: int) -> Vectors:
        if self.count == 0:
            return np.zeros(len(queries), np.float32)
        queries = np.ascontiguousarray(queries, np.float32)
        cosines, rows = self._index.search(queries, min(k, self.count), params=self._near)
        there = rows >= 0
        means: Vectors = np.where(there, cosines, 0).sum(1, dtype=np.float64) / np.maximum(there.sum(1), 1)
        return means.astype(np.float32)


def _probing(lists: int) -> Any:  # noqa: ANN401 (faiss is untyped)
    parameters: Any = faiss.SearchParametersIVF()
    parameters.nprobe = lists
    return parameters


def _view(rows: Halves) -> Any:  # noqa: ANN401 (faiss is untyped)
    """What compares rows that lie elsewhere in memory."""
    index: Any = faiss.IndexScalarQuantizer(
        rows.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    view(index, rows)
    return index


def _blocks(index: Any) -> Any:  # noqa: ANN401 (faiss is untyped)
    """The lists of an index that FAISS has in memory."""
    return faiss.downcast_InvertedLists(index.invlists)


def _open_rows(path: Path, shape: tuple[int, int]) -> Halves:
    try:
        rows: Halves = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DamagedError(f"{path}: not a numpy array: build the index again") from error
    if rows.shape != shape or rows.dtype != np.float16:
        raise DamagedError(f"{path}: not float16 of shape {shape}: build the index again")
    return rows


def _open_lists(path: Path, index: Any, count: int) -> Any:  # noqa: ANN401 (faiss is untyped)
    """Map the file of lists and give it to `index`."""
    sizes = np.fromfile(path, np.int64, count=index.nlist)
    code = _blocks(index).block_size // PACKED
    capacities = _packed(sizes)
    offsets = _header(index.nlist) + np.concatenate([[0], np.cumsum(capacities * (code + 8))])
    if len(sizes) != index.nlist or (sizes < 0).any() or sizes.sum() != count:
        raise DamagedError(f"{path}: not the lists of {count} rows: build the index again")
    if path.stat().st_size != offsets[-1]:
        raise DamagedError(f"{path}: its lists do not end where it does: build the index again")
    lists: Any = faiss.OnDiskInvertedLists()
    lists.nlist, lists.code_size = index.nlist, code
    lists.filename, lists.totsize = str(path), int(offsets[-1])
    lists.read_only, lists.prefetch_nthread = True, 0
    for size, capacity, offset in zip(
        sizes.tolist(), capacities.tolist(), offsets[:-1].tolist(), strict=True
    ):
        one = faiss.OnDiskOneList()
        one.size, one.capacity, one.offset = size, capacity, offset
        lists.lists.push_back(one)
    lists.do_mmap()
    index.replace_invlists(lists, False)
    index.ntotal = count
    return lists


def _packed(sizes: Rows) -> Rows:
    packed: Rows = -(-sizes // PACKED) * PACKED
    return packed


def _header(lists: int) -> int:
    return -(-lists * 8 // ALIGNED) * ALIGNED


def write_inverted(path: Path, vectors: Vectors, lists: int) -> None:
    """Write (n, d) unit vectors, perhaps memory-mapped, as `path` (LANG.faiss), LANG.lists, LANG.vectors.npy.

    Needs memory for BLOCK rows, the training rows and the largest list.
    """
    halves = path.with_suffix(".vectors.npy")
    rows = np.lib.format.open_memmap(halves, mode="w+", dtype=np.float16, shape=vectors.shape)
    with halves.open("r+b") as file:
        _reserve(file, halves.stat().st_size)
    for start in range(0, len(rows), BLOCK):
        rows[start : start + BLOCK] = vectors[start : start + BLOCK]
    rows.flush()
    # One thread: the order of a sum would depend on their number.
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    centroids, index = train(rows, lists)
    faiss.omp_set_num_threads(threads)
    _write_lists(path.with_suffix(".lists"), index, centroids, rows)
    try:
        faiss.write_index(index, str(path))
    except RuntimeError as error:
        raise OSError(f"{path}: FAISS cannot write it ({error})") from error


def train(rows: Halves, lists: int) -> tuple[Vectors, Any]:
    """(n, d) rows -> centroids (lists, d) and an empty index around them, learned from a sample."""
    dimension = rows.shape[1]
    wanted = min(max(LEAST_POINTS, POINTS * lists), max(MOST_POINTS, lists))
    drawn = np.random.default_rng(0).choice(len(rows), min(wanted, len(rows)), replace=False, shuffle=False)
    drawn.sort()
    sample = rows[drawn].astype(np.float32)
    means = faiss.Kmeans(
        dimension,
        lists,
        niter=ROUNDS,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=wanted,
        gpu=faiss.get_num_gpus() > 0,
    )
    means.train(sample)
    centroids = np.asarray(means.centroids, np.float32)
    index = _empty(centroids, dimension)
    index.train(sample[:: max(1, len(sample) // LEAST_POINTS)])
    return centroids, index


def _empty(centroids: Vectors, dimension: int) -> Any:  # noqa: ANN401 (faiss is untyped)
    around = faiss.IndexFlatIP(dimension)
    around.add(centroids)
    pieces = dimension // 2 if dimension % 2 == 0 else dimension
    index = faiss.IndexIVFPQFastScan(around, dimension, len(centroids), pieces, 4, faiss.METRIC_INNER_PRODUCT)
    index.by_residual = True
    index.pq.cp.min_points_per_centroid = 1
    index.pq.cp.niter = ROUNDS
    return index


def _write_lists(path: Path, index: Any, centroids: Vectors, rows: Halves) -> None:  # noqa: ANN401
    """Write each list as FAISS packs it, one in memory at a time."""
    sizes, order = _sorted(centroids, rows, path.parent)
    # A copy with one list, whose centroid changes: adding to it assigns nothing again.
    packer = _empty(centroids[:1], rows.shape[1])
    faiss.copy_array_to_vector(faiss.vector_to_array(index.pq.centroids), packer.pq.centroids)
    packer.is_trained = True
    # The same codes in two thirds of the time.
    packer.pq.sync_transposed_centroids()
    with path.open("wb") as file:
        file.write(sizes.tobytes().ljust(_header(len(sizes)), b"\0"))
        for centroid, own in zip(centroids, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
            own = np.array(own)
            if len(own):
                file.write(_pack(packer, centroid, rows[own].astype(np.float32)))
                file.write(np.pad(own, (0, -len(own) % PACKED), constant_values=-1).tobytes())


class _Quantizer:
    """The nearest centroid of rows, found in half the time that products of floats take.

    Integer products say which centroids may be it; where there are several, they are compared exactly.
    """

    def __init__(self, centroids: Vectors) -> None:
        self._centroids = centroids
        largest = max(float(np.abs(centroids).max()), 1e-12)
        self._screen, self._margin = Screen(codes_of(centroids, largest)), MARGIN * ROW_LEVEL / largest

    def lists(self, rows: Vectors) -> Rows:
        """(n, d) -> (n,)."""
        products, scale = self._screen.products(rows)
        found: Rows = products.argmax(axis=1)
        least = products[np.arange(len(found)), found] - np.ceil(self._margin * scale).astype(np.int32)
        near, lists = np.divmod(np.flatnonzero(products >= least[:, None]), products.shape[1])
        several = np.bincount(near)[near] > 1
        near, lists = near[several], lists[several]
        if len(near):
            cosines = np.einsum("nd,nd->n", rows[near], self._centroids[lists])
            highest = np.maximum.reduceat(cosines, np.flatnonzero(np.diff(near, prepend=-1)))
            own = np.cumsum(np.diff(near, prepend=near[0]) > 0)
            # In reverse: the first of equal ones stays.
            best = np.flatnonzero(cosines == highest[own])[::-1]
            found[near[best]] = lists[best]
        return found


def _sorted(centroids: Vectors, rows: Halves, folder: Path) -> tuple[Rows, Rows]:
    """How many rows each list has, and all rows, list by list, in a file without a name."""
    with TemporaryFile(dir=folder) as numbers, TemporaryFile(dir=folder) as places:
        _reserve(numbers, 4 * len(rows))
        _reserve(places, 8 * len(rows))
        nearest = np.memmap(numbers, np.int32, "w+", shape=len(rows))
        quantizer, sizes = _Quantizer(centroids), np.zeros(len(centroids), np.int64)
        for start in range(0, len(rows), ASSIGNED):
            found = quantizer.lists(rows[start : start + ASSIGNED].astype(np.float32))
            nearest[start : start + ASSIGNED] = found
            # Here, since of all rows at once numpy would copy their lists into memory.
            sizes += np.bincount(found, minlength=len(sizes))
        order = np.memmap(places, np.int64, "w+", shape=len(rows))
        free = np.cumsum(sizes) - sizes
        for start in range(0, len(rows), SORTED):
            own = nearest[start : start + SORTED]
            by_list = np.argsort(own, kind="stable")
            counts = np.bincount(own, minlength=len(sizes))
            order[slices(free, counts)] = start + by_list
            free += counts
        return sizes, order


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the space of a file that will be mapped. OSError where a disk has none: later it would kill us."""
    os.posix_fallocate(file.fileno(), 0, size)


def _pack(packer: Any, centroid: Vectors, rows: Vectors) -> bytes:  # noqa: ANN401 (faiss is untyped)
    packer.reset()
    packer.quantizer.reset()
    packer.quantizer.add(centroid[None])
    packer.add(rows)
    lists = _blocks(packer)
    size = -(-len(rows) // PACKED) * lists.block_size
    return bytes(faiss.rev_swig_ptr(lists.get_codes(0), size).tobytes())
