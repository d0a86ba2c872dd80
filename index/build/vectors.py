"""Stage of a build: the vectors of each language as a FAISS index, and each row's neighbourhood means.

It does the same for sentences (`suffix` "") and for words (".words").
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from index.build.job import Job, making, save_array
from index.encoder.vectors import Vectors
from index.progress import Progress
from index.storage.index_manifest import Scoring, SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, foreign_queries, nearest, tune, write_faiss
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, neighbourhood_means
from index.vectors.vector_index import ROWS_AT_A_TIME, VectorIndex

LEAST_ROWS = 256  # fewer cannot train every FAISS index that --factory may name
NEIGHBOURHOOD_LISTS = 4  # lists read for a neighbourhood mean, which needs no exact neighbours (decision 25)


@dataclass(frozen=True)
class SearchOptions:
    """How sentences are searched.

    factory: the string for `faiss.index_factory`; None: chosen by their number. scoring: what ranks them.
    store: the address of the Milvus that holds their vectors (milvus.py); None: files.
    """

    factory: str | None = None
    scoring: Scoring = "csls"
    store: str | None = None


DEFAULT_SEARCH = SearchOptions()


def write_indexes(
    job: Job, suffix: str, vectors: Mapping[str, Vectors], factory: str | None = None
) -> dict[str, SearchSettings]:
    """Write LANG{suffix}.faiss of each language's unit vectors (n, d), unless it exists; return the settings.

    Raises UsageError for a `factory` that FAISS does not know.
    """
    settings = {}
    for code, rows in vectors.items():
        requested = factory if len(rows) >= LEAST_ROWS else None
        settings[code] = SearchSettings(factory=requested or factory_string(*rows.shape))
        if not (path := job.path(f"{code}{suffix}.faiss")).exists():
            with making(path) as draft:
                write_faiss(draft, rows, settings[code].factory)
    if all(chosen.factory == "Flat" for chosen in settings.values()):
        return settings
    sizes = {code: len(rows) for code, rows in vectors.items()}
    indexes = {code: open_index(job, suffix, code, sizes[code], settings[code]) for code in sizes}
    for code, index in indexes.items():
        if settings[code].factory != "Flat":
            queries = foreign_queries(indexes, code)
            settings[code] = tune(index, settings[code], queries, nearest(vectors[code], queries))
    return settings


def open_index(job: Job, suffix: str, code: str, count: int, settings: SearchSettings) -> FaissIndex:
    """Open the index that `write_indexes` wrote for a language."""
    path = job.path(f"{code}{suffix}.faiss")
    return FaissIndex.open(path, count, job.encoder.dimension, settings, job.threads)


def write_neighbourhoods(
    job: Job, suffix: str, sizes: Mapping[str, int], settings: Mapping[str, SearchSettings], unit: str
) -> None:
    """Write LANG{suffix}.hubness.npy: each row's mean cosine to its nearest in each other language.

    `sizes`: the number of rows of each language; `unit`: the name of a row in the progress bar.
    """
    targets = {code: job.path(f"{code}{suffix}.hubness.npy") for code in sizes}
    missing = [code for code, _ in permutations(sizes, 2) if not targets[code].exists()]
    with Progress(sum(sizes[code] for code in missing), unit=unit, label="neighbourhoods") as bar:
        for code in (code for code in sizes if not targets[code].exists()):
            rows = open_index(job, suffix, code, sizes[code], settings[code])
            means = np.empty((sizes[code], len(sizes) - 1), np.float32)
            for column, other in enumerate(other for other in sizes if other != code):
                index = FaissIndex.open(
                    job.path(f"{other}{suffix}.faiss"), sizes[other], job.encoder.dimension, settings[other]
                )
                index.read_lists(NEIGHBOURHOOD_LISTS)
                start = 0
                for block in _means(rows, index, job.threads):
                    means[start : start + len(block), column] = block
                    start += len(block)
                    bar.advance(len(block))
            save_array(targets[code], means)


def _means(rows: VectorIndex, index: VectorIndex, threads: int) -> Iterator[Vectors]:
    """Yield the neighbourhood means of `rows` in `index`, block by block, computed in `threads` threads."""

    def of_block(start: int) -> Vectors:
        block = rows.reconstruct(range(start, min(start + ROWS_AT_A_TIME, len(rows))))
        return neighbourhood_means(index.search(block, CSLS_NEIGHBOURS)[0])

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(of_block, range(0, len(rows), ROWS_AT_A_TIME))
