"""Stage of a build: what sentences are searched by, and how crowded the surroundings of each are."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder import Vectors
from index.hubness import NEIGHBOURS, Scoring
from index.inverted import InvertedIndex
from index.job import Job, making, save_array
from index.progress import Progress
from index.search import BLOCK
from index.structure import EXACT, EXTENSIONS, Kind, Structure, choose
from index.tuning import foreign_queries, tune
from index.vectors import VectorIndex, open_vectors, write_vectors
from index.versions import LanguageEntry


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

    total = sum(sizes.values()) * (len(sizes) - 1)
    with Progress(total, unit=unit, label="neighbourhoods") as bar:
        for code, size in sizes.items():
            # Each is opened when it is its turn: what an exact search makes in memory is let go afterwards.
            others = [partial(opened, other) for other in sizes if other != code]
            target = job.path(f"{code}{suffix}.hubness.npy")
            if target.exists():
                bar.advance(size * len(others))
            else:
                save_array(target, _neighbourhoods(opened(code), others, bar, job.threads))


def _neighbourhoods(
    rows: VectorIndex, others: Sequence[Callable[[], VectorIndex]], bar: Progress, threads: int
) -> NDArray[np.float32]:
    """(n, languages) float32."""

    def of_block(other: VectorIndex, start: int) -> Vectors:
        return other.neighbourhood_means(rows.vectors(start, min(BLOCK, rows.count - start)), NEIGHBOURS)

    means = np.empty((rows.count, len(others)), np.float32)
    starts = range(0, rows.count, BLOCK)
    # A block in one thread, as many blocks as threads: the order of FAISS's sums depends on its threads.
    workers = 1 if faiss.get_num_gpus() else threads
    with ThreadPoolExecutor(workers, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        for column, other in enumerate(others):
            blocks = pool.map(partial(of_block, other()), starts)
            for start, found in zip(starts, blocks, strict=True):
                means[start : start + len(found), column] = found
                bar.advance(len(found))
    return means
