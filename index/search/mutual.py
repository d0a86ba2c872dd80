"""The rows of two languages that are nearest to each other, both ways from one product.

Comparing every row of a language with every row of another is most of what their neighbourhood means cost,
and a product of integers (screen.py) says as much of the columns as of the rows. It is made in tiles that
stay in the processor's cache; only what exceeds the highest products so far is looked at again.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import faiss
import numpy as np

from index.encoder.text_encoder import Vectors
from index.search.exact import SCREEN_ROWS, ExactIndex
from index.search.hubness import neighbourhood_means
from index.search.product import QUERY_LEVEL
from index.search.screen import Products, Screen, codes_of, query_codes, threshold
from index.search.vector_index import BLOCK, Rows, VectorIndex

MOST_ROWS = 200_000  # of a language: some 2 KB each are in memory
COLUMNS = 8192  # rows of the second language in a tile
BATCH = 64  # rows of the first
SPARE = 2  # rows that are compared exactly for one that is wanted
FEW = 32  # rows of the first, for one that is wanted, that tell what a column's highest product must exceed
FULL = 3  # times as many as are wanted are kept before the others are left out
LOWEST = np.int32(np.iinfo(np.int32).min)  # less than any product
MOST = 4  # times as many as are wanted of a row in a tile, where products are equal

Entries = tuple[Products, Products, Products]  # owners, others, their products


def mutual(first: ExactIndex, second: ExactIndex) -> bool:
    """Whether two languages are large enough for it, and not too large for the memory that it takes."""
    return not faiss.get_num_gpus() and all(
        SCREEN_ROWS < index.count <= MOST_ROWS for index in (first, second)
    )


def mutual_means(
    first: ExactIndex, second: ExactIndex, k: int, threads: int, progress: Callable[[int], None]
) -> tuple[Vectors, Vectors]:
    """(n,) and (m,): the mean cosine of each row to its k nearest in the other language, as
    `neighbourhood_means` of either index says where rounding leaves those among SPARE * k.

    `progress` is called with numbers of rows, n + m in all.
    """
    tiles = _Tiles(first, second, SPARE * k)
    of_first = Highest(np.full(first.count, LOWEST), SPARE * k)
    columns = np.empty((second.count, SPARE * k), np.int64)
    with ThreadPoolExecutor(threads, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        for starts in _doubling(range(0, second.count, COLUMNS)):
            # What is found does not depend on how many of them are looked at together.
            for start, (of_rows, found) in zip(
                starts, pool.map(partial(tiles.look, of_first.least), starts), strict=True
            ):
                of_first.add(of_rows)
                end = start + len(found)
                columns[start:end] = found
                progress(len(found) + first.count * end // second.count - first.count * start // second.count)
            of_first.settle()
        means = partial(_means, k=k, pool=pool)
        return means(first, second, of_first.others()), means(second, first, columns)


def _doubling(starts: Sequence[int]) -> Iterator[Sequence[int]]:
    """One of them, one, two, four and so on."""
    yield starts[:1]
    size = 1
    while size < len(starts):
        yield starts[size : 2 * size]
        size *= 2


def _means(own: ExactIndex, other: ExactIndex, rows: Rows, k: int, pool: ThreadPoolExecutor) -> Vectors:
    """The mean of each own row's k highest cosines to `rows` (n, more than k) of the other."""

    def of_block(start: int) -> Vectors:
        vectors = own.vectors(start, min(BLOCK, own.count - start))
        return neighbourhood_means(other.cosines(vectors, rows[start : start + BLOCK]), k)

    return np.concatenate(list(pool.map(of_block, range(0, own.count, BLOCK))))


class Highest:
    """For each of (owners,) the `wanted` others with the highest products, all of which exceed `least`."""

    def __init__(self, least: Products, wanted: int) -> None:
        self.least, self._wanted = least, wanted
        self._found: list[Entries] = []
        self._size = 0

    def add(self, entries: Entries) -> None:
        """Entries are owners, others and products."""
        self._found.append(entries)
        self._size += len(entries[0])
        if self._size > FULL * self._wanted * len(self.least):
            self.settle()

    def settle(self) -> None:
        """Leave out what is not among the highest, which from now on is what must be exceeded."""
        parts, self._found = self._found, []
        # A new one: tiles at work go on with what it was.
        self.least = self.least.copy()
        # Some owners at a time: to put all in order would take more memory than they do.
        for start in range(0, len(self.least), COLUMNS):
            own = _joined([_between(part, start, start + COLUMNS) for part in parts])
            kept, (owners, _, products) = _highest(own, self._wanted)
            self._found.append(kept)
            self.least[owners] = products
        self._size = sum(len(owners) for owners, _, _ in self._found)

    def others(self) -> Rows:
        """(owners, wanted), once there are so many of each."""
        self.settle()
        _, others, _ = _joined(self._found)
        return others.reshape(len(self.least), self._wanted).astype(np.int64)


def _joined(parts: Sequence[Entries]) -> Entries:
    owners, others, products = (np.concatenate(part) for part in zip(*parts, strict=True))
    return owners, others, products


def _between(entries: Entries, start: int, end: int) -> Entries:
    """Those of owners from `start` to before `end`."""
    owners, others, products = entries
    inside = (owners >= start) & (owners < end)
    return owners[inside], others[inside], products[inside]


def _highest(entries: Entries, wanted: int) -> tuple[Entries, Entries]:
    """The entries with the `wanted` highest products of each owner, by owner, and the last of each.

    Of equal products it does not matter which.
    """
    owners, others, products = entries
    order = np.argsort((owners.astype(np.int64) << 32) - products)
    counts = np.bincount(owners)
    ranks = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept, last = order[ranks < wanted], order[ranks == wanted - 1]
    return (owners[kept], others[kept], products[kept]), (owners[last], others[last], products[last])


class _Tiles:
    """Products of all rows of `first` with COLUMNS of `second` at a time."""

    def __init__(self, first: ExactIndex, second: ExactIndex, wanted: int) -> None:
        self._second, self._wanted = second, wanted
        self._largest = _largest(second)
        scale = QUERY_LEVEL / _largest(first)
        self._queries = np.concatenate([query_codes(rows, scale) for rows in first.blocks()])

    def look(self, least: Products, start: int) -> tuple[Entries, Rows]:
        """What exceeds `least` of the rows of `first`; the `wanted` rows of it for each column."""
        vectors = self._second.vectors(start, min(COLUMNS, self._second.count - start))
        screen = Screen(codes_of(vectors, self._largest))
        few = screen.multiply(self._queries[: FEW * self._wanted])
        columns = Highest(threshold(np.ascontiguousarray(few.T), self._wanted) - 1, self._wanted)
        found = []
        for begin in range(0, len(self._queries), BATCH):
            products = screen.multiply(self._queries[begin : begin + BATCH])
            bound = least[begin : begin + BATCH]
            if bound[0] == LOWEST:
                bound = threshold(products, self._wanted) - 1
            rows, others, values = _exceeding(products, bound[:, None])
            if len(rows) > MOST * self._wanted * len(products):
                (rows, others, values), _ = _highest((rows, others, values), self._wanted)
            found.append((rows + np.int32(begin), others + np.int32(start), values))
            rows, others, values = _exceeding(products, columns.least)
            columns.add((others, rows + np.int32(begin), values))
        return _joined(found), columns.others()


def _exceeding(products: Products, least: Products) -> Entries:
    """Rows, columns and products of a tile where these are higher."""
    places = np.flatnonzero(products > least)
    rows, columns = np.divmod(places, products.shape[1])
    return rows.astype(np.int32), columns.astype(np.int32), products.reshape(-1)[places]


def _largest(index: VectorIndex) -> float:
    """The largest value of a vector, whatever its sign; never 0."""
    return max(1e-12, *(float(np.abs(rows).max()) for rows in index.blocks()))
