"""Stage of a build: what sentences are searched by, and how crowded the surroundings of each are."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path

import faiss
import numpy as np

from index.build.job import Job, making, save_array
from index.encoder.text_encoder import Vectors
from index.progress import Progress
from index.search.exact import ExactIndex
from index.search.hubness import NEIGHBOURS, Scoring
from index.search.inverted import InvertedIndex
from index.search.mutual import mutual, mutual_means
from index.search.structure import EXACT, EXTENSIONS, Kind, Structure, choose
from index.search.tuning import foreign_queries, tune
from index.search.vector_index import BLOCK
from index.search.vectors import VectorIndex, open_vectors, write_vectors
from index.storage.tables import read_array
from index.storage.versions import LanguageEntry


@dataclass(frozen=True)
class Searching:
    """How sentences shall be searched: `kind` of structure (None: by their number), and what ranks them.

    `store`: where Milvus is that has their vectors (milvus.py), None: files.
    """

    kind: Kind | None = None
    scoring: Scoring = "csls"
    store: str | None = None


CHOSEN = Searching()


def write_structure(job: Job, code: str, vectors: Vectors, kind: Kind | None = None) -> Structure:
    """Write LANG.faiss of (n, d) unit vectors (memory-mapped where they are many), unless it is there."""
    structure = choose(len(vectors), kind)
    targets = [job.path(f"{code}.{extension}") for extension in EXTENSIONS[structure.kind]]
    if not targets[-1].exists():
        with ExitStack() as stack:
            # Left in reverse: the last target takes its place when the others have theirs.
            drafts = [stack.enter_context(making(target)) for target in reversed(targets)]
            write_vectors(drafts[0], vectors, structure)
    return structure


def tune_structures(job: Job, entries: Mapping[str, LanguageEntry]) -> dict[str, LanguageEntry]:
    """The entries with structures that read as much as finds what they should."""
    if all(entry.structure == EXACT for entry in entries.values()):
        return dict(entries)
    opened = {
        code: open_vectors(
            job.path(f"{code}.faiss"), entry.sentences, job.encoder.dimension, job.threads, entry.structure
        )
        for code, entry in entries.items()
    }
    tuned = dict(entries)
    for code, index in opened.items():
        if isinstance(index, InvertedIndex):
            structure = tune(index, entries[code].structure, foreign_queries(opened, code))
            tuned[code] = entries[code].model_copy(update={"structure": structure})
    return tuned


def write_neighbourhoods(
    job: Job,
    suffix: str,
    sizes: Mapping[str, int],
    unit: str,
    structures: Mapping[str, Structure] | None = None,
) -> None:
    """Write each language's mean similarity to its nearest neighbours in each other language.

    `suffix` is "" for sentences, ".words" for words; `sizes` the rows of each language's vectors and
    `structures` what searches them (all compared where it does not say).
    """

    def opened(code: str) -> VectorIndex:
        path, structure = job.path(f"{code}{suffix}.faiss"), (structures or {}).get(code, EXACT)
        return open_vectors(path, sizes[code], job.encoder.dimension, job.threads, structure)

    targets = {code: job.path(f"{code}{suffix}.hubness.npy") for code in sizes}
    kept = {pair: job.part(f"{'.'.join(pair)}{suffix}.means.npy") for pair in permutations(sizes, 2)}
    left = [one for (one, _), path in kept.items() if not (targets[one].exists() or path.exists())]
    with Progress(sum(sizes[one] for one in left), unit=unit, label="neighbourhoods") as bar:
        for code in (code for code in sizes if not targets[code].exists()):
            # Each is opened when it is its turn: what an exact search makes in memory is let go afterwards.
            own = opened(code)
            means = np.empty((own.count, len(sizes) - 1), np.float32)
            for column, other in enumerate(other for other in sizes if other != code):
                both = kept[code, other], kept[other, code]
                means[:, column] = _means(own, partial(opened, other), both, bar, job.threads)
            save_array(targets[code], means)


def _means(
    own: VectorIndex, opened: Callable[[], VectorIndex], kept: tuple[Path, Path], bar: Progress, threads: int
) -> Vectors:
    """(n,) the means of a language's rows in another; where both ways are found at once, both are kept."""
    if kept[0].exists():
        return read_array(kept[0], (own.count,))
    other = opened()
    if not (isinstance(own, ExactIndex) and isinstance(other, ExactIndex) and mutual(own, other)):
        return _one_way(own, other, bar, threads)
    found = mutual_means(own, other, NEIGHBOURS, threads, bar.advance)
    for path, means in zip(kept, found, strict=True):
        save_array(path, means)
    return found[0]


def _one_way(rows: VectorIndex, other: VectorIndex, bar: Progress, threads: int) -> Vectors:
    """(n,) the means of the rows in another language."""

    def of_block(start: int) -> Vectors:
        return other.neighbourhood_means(rows.vectors(start, min(BLOCK, rows.count - start)), NEIGHBOURS)

    means = np.empty(rows.count, np.float32)
    starts = range(0, rows.count, BLOCK)
    # A block in one thread, as many blocks as threads: the order of FAISS's sums depends on its threads.
    workers = 1 if faiss.get_num_gpus() else threads
    with ThreadPoolExecutor(workers, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        for start, found in zip(starts, pool.map(of_block, starts), strict=True):
            means[start : start + len(found)] = found
            bar.advance(len(found))
    return means
