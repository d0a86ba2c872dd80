"""Stage of a build: the vectors of each language as a FAISS index, and each row's neighbourhood means.

It does the same for sentences (`suffix` "") and for words (".words").
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from index.build.job import Job, save_array
from index.build.reading import vectors_of
from index.encoder.vectors import Vectors
from index.progress import Progress
from index.storage.index_manifest import IndexManifest, SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, foreign_queries, nearest, tune, write_faiss
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, neighbourhood_means
from index.vectors.vector_index import ROWS_AT_A_TIME, recall

LEAST_ROWS = 256  # fewer cannot train every FAISS index that --factory may name
NEIGHBOURHOOD_LISTS = 4  # lists read for a neighbourhood mean, which needs no exact neighbours (decision 25)


def write_indexes(
    job: Job, suffix: str, vectors: Mapping[str, Vectors], factory: str | None = None
) -> dict[str, SearchSettings]:
    """Write LANG{suffix}.faiss of each language's unit vectors (n, d); return the settings.

    Raises UsageError for a `factory` that FAISS does not know.
    """
    settings = {}
    for code, rows in vectors.items():
        requested = factory if len(rows) >= LEAST_ROWS else None
        settings[code] = SearchSettings(factory=requested or factory_string(*rows.shape))
        write_faiss(job.path(f"{code}{suffix}.faiss"), rows, settings[code].factory)
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
    opened = {code: open_index(job, suffix, code, count, settings[code]) for code, count in sizes.items()}
    for index in opened.values():
        index.read_lists(NEIGHBOURHOOD_LISTS)
    with Progress(sum(sizes.values()) * (len(sizes) - 1), unit=unit, label="neighbourhoods") as bar:
        for code, rows in opened.items():
            means = np.zeros((len(rows), len(sizes) - 1), np.float32)
            for column, other in enumerate(index for found, index in opened.items() if found != code):
                start = 0
                for block in _means(rows, other, job.threads):
                    means[start : start + len(block), column] = block
                    start += len(block)
                    bar.advance(len(block))
            save_array(job.path(f"{code}{suffix}.hubness.npy"), means)


def _means(rows: FaissIndex, index: FaissIndex, threads: int) -> Iterator[Vectors]:
    """Yield the neighbourhood means of `rows` in `index`, block by block, computed in `threads` threads."""

    def of_block(start: int) -> Vectors:
        block = rows.reconstruct(range(start, min(start + ROWS_AT_A_TIME, len(rows))))
        return neighbourhood_means(index.search(block, CSLS_NEIGHBOURS, batched=True)[0])

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(of_block, range(0, len(rows), ROWS_AT_A_TIME))


def move_to_store(job: Job, manifest: IndexManifest) -> IndexManifest:
    """Move the sentence vectors of a version from LANG.faiss into Milvus; return the manifest that says so.

    Raises StoreError.
    """
    from index.vectors.milvus import MilvusIndex, write_milvus  # pymilvus is an extra

    store, factory = manifest.options.store or "", manifest.options.factory
    sizes = {code: entry.sentences for code, entry in manifest.languages.items()}
    opened = {
        code: open_index(job, "", code, sizes[code], entry.search)
        for code, entry in manifest.languages.items()
    }
    languages = {}
    for code, entry in manifest.languages.items():
        vectors, queries = vectors_of(job, code, sizes[code]), foreign_queries(opened, code)
        search = write_milvus(vectors, code, store, factory, job.work.parent)
        index, wanted = MilvusIndex(store, sizes[code], manifest.dimension, search), nearest(vectors, queries)
        search = search.model_copy(
            update={"recall": recall(index.search(queries, wanted.shape[1])[1], wanted)}
        )
        languages[code] = entry.model_copy(update={"search": search})
    for code in languages:
        job.path(f"{code}.faiss").unlink()
    return manifest.model_copy(update={"languages": languages})
