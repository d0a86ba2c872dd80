"""Stage of a build: the vectors of each language as a FAISS index, and each row's neighbourhood means.

Vector indexes are the same for sentences (`suffix` "") and for words (".words").
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from index.arrays import Numbers, Vectors
from index.build.encoding import BuildJob
from index.build.reading import vectors_of
from index.progress import Progress
from index.storage.index_manifest import IndexManifest, SearchSettings
from index.vectors.faiss import FaissIndex, factory_string, write_faiss
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, best_csls, neighbourhood_means
from index.vectors.tuning import foreign_queries, nearest, recall, tune
from index.vectors.vector_index import ROWS_AT_A_TIME

LEAST_ROWS = 256  # fewer cannot train every FAISS index that --factory may name


def write_indexes(
    job: BuildJob, suffix: str, vectors: Mapping[str, Vectors], factory: str | None = None
) -> dict[str, SearchSettings]:
    """Write LANG{suffix}.faiss of each language's unit vectors (n, d); return the settings.

    Raises UsageError for a `factory` that FAISS does not know.
    """
    settings = {}
    for code, rows in vectors.items():
        requested = factory if len(rows) >= LEAST_ROWS else None
        settings[code] = SearchSettings(factory=requested or factory_string(*rows.shape))
        write_faiss(job.work / f"{code}{suffix}.faiss", rows, settings[code].factory)
    if all(chosen.factory == "Flat" for chosen in settings.values()):
        return settings
    indexes = _opened(job, suffix, {code: len(rows) for code, rows in vectors.items()}, settings)
    for code, index in indexes.items():
        if settings[code].factory != "Flat":
            queries = foreign_queries(indexes, code)
            settings[code] = tune(index, settings[code], queries, nearest(vectors[code], queries))
    return settings


def _opened(
    job: BuildJob, suffix: str, sizes: Mapping[str, int], settings: Mapping[str, SearchSettings]
) -> dict[str, FaissIndex]:
    """Open the indexes that `write_indexes` wrote, of so many rows."""
    paths = {code: job.work / f"{code}{suffix}.faiss" for code in sizes}
    return {
        code: FaissIndex.open(paths[code], size, job.encoder.dimension, settings[code], job.threads)
        for code, size in sizes.items()
    }


def write_neighbourhoods(
    job: BuildJob, suffix: str, sizes: Mapping[str, int], settings: Mapping[str, SearchSettings], *, own: bool
) -> None:
    """Write LANG{suffix}.hubness.npy and LANG{suffix}.best.npy, of sentences or of words.

    The former has each row's mean cosine to its nearest in each other language, the latter its highest CSLS
    score with these; and with its `own` language, if there are others. `sizes`: the rows of each language.
    """
    opened = _opened(job, suffix, sizes, settings)
    for index in opened.values():
        index.use_least()
    # Language -> other language -> a value for each row.
    means, best = ({code: dict[str, NDArray[np.float32]]() for code in sizes} for _ in range(2))
    searches = len(sizes) - (not own)
    with Progress(sum(sizes.values()) * searches, unit="rows", label="neighbourhoods") as bar:

        def nearest_to(code: str, other: str) -> tuple[Vectors, Numbers]:
            blocks = _nearest(opened[code], opened[other], CSLS_NEIGHBOURS, job.threads)
            cosines, rows = map(np.concatenate, zip(*blocks, strict=True))
            bar.advance(len(rows))
            return cosines, rows

        for pair in combinations(sizes, 2):
            found = {(code, other): nearest_to(code, other) for code, other in (pair, pair[::-1])}
            for (code, other), (cosines, _) in found.items():
                means[code][other] = neighbourhood_means(cosines)
            for (code, other), (cosines, rows) in found.items():
                best[code][other] = best_csls(cosines, means[code][other], means[other][code][rows])
        for code in sizes if own and len(sizes) > 1 else ():
            overall = np.mean(list(means[code].values()), axis=0)
            cosines, rows = nearest_to(code, code)
            best[code][code] = best_csls(cosines, overall, overall[rows])
    for name, columns in (("hubness", means), ("best", best)):
        for code, size in sizes.items():
            table = [columns[code][other] for other in sizes if other in columns[code]]
            values = np.array(table, np.float32).reshape(-1, size).T
            np.save(job.work / f"{code}{suffix}.{name}.npy", values, allow_pickle=False)


def _nearest(rows: FaissIndex, index: FaissIndex, k: int, threads: int) -> Iterator[tuple[Vectors, Numbers]]:
    """Yield the cosines and rows in `index` nearest to blocks of `rows`, found in `threads` threads."""

    def of_block(start: int) -> tuple[Vectors, Numbers]:
        block = rows.reconstruct(range(start, min(start + ROWS_AT_A_TIME, len(rows))))
        return index.search(block, k, batched=True)

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(of_block, range(0, max(1, len(rows)), ROWS_AT_A_TIME))


def move_to_store(job: BuildJob, manifest: IndexManifest) -> IndexManifest:
    """Move the sentence vectors of a version from LANG.faiss into Milvus; return the manifest that says so.

    Raises StoreError.
    """
    from index.vectors.milvus import MilvusIndex, write_milvus  # pymilvus is an extra

    store, factory = manifest.options.store or "", manifest.options.factory
    sizes = {code: entry.sentences for code, entry in manifest.languages.items()}
    opened = _opened(job, "", sizes, {code: entry.search for code, entry in manifest.languages.items()})
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
        (job.work / f"{code}.faiss").unlink()
    return manifest.model_copy(update={"languages": languages})
