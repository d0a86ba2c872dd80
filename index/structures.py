"""Stage of a build: what sentences are searched by, and how crowded the surroundings of each are."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from index.encoder import Vectors
from index.hubness import NEIGHBOURS
from index.job import Job, making, save_array
from index.progress import Progress
from index.vectors import VectorIndex, open_vectors, write_vectors


def write_structure(job: Job, code: str, vectors: Vectors) -> None:
    """Write LANG.faiss of (n, d) unit vectors (memory-mapped where they are many), unless it is there."""
    target = job.path(f"{code}.faiss")
    if not target.exists():
        with making(target) as draft:
            write_vectors(draft, vectors)


def write_neighbourhoods(job: Job, suffix: str, sizes: Mapping[str, int], unit: str) -> None:
    """Write each language's mean similarity to its nearest neighbours in each other language.

    `suffix` is "" for sentences, ".words" for words; `sizes` the rows of each language's vectors.
    """
    opened = {
        code: open_vectors(job.path(f"{code}{suffix}.faiss"), size, job.encoder.dimension, job.threads)
        for code, size in sizes.items()
    }
    total = sum(sizes.values()) * (len(sizes) - 1)
    with Progress(total, unit=unit, label="neighbourhoods") as bar:
        for code, rows in opened.items():
            others = [other for name, other in opened.items() if name != code]
            target = job.path(f"{code}{suffix}.hubness.npy")
            if target.exists():
                bar.advance(rows.count * len(others))
            else:
                save_array(target, _neighbourhoods(rows, others, bar))


def _neighbourhoods(rows: VectorIndex, others: list[VectorIndex], bar: Progress) -> NDArray[np.float32]:
    """(n, languages) float32."""
    means = np.empty((rows.count, len(others)), np.float32)
    done = 0
    for block in rows.blocks():
        for column, other in enumerate(others):
            means[done : done + len(block), column] = other.neighbourhood_means(block, NEIGHBOURS)
            bar.advance(len(block))
        done += len(block)
    return means
