"""Stage of a build: sentences that are the first answer to much that they have nothing to do with, damped.

Hubness by sentence: a row that many texts of other kinds find first is crowded, and CSLS learns so. Its
neighbourhood mean becomes at least its mean cosine to the ten nearest of those texts.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from index.build.job import Job, save_array
from index.build.probes import Probes
from index.search.hubness import neighbourhood_means
from index.search.ranking import select
from index.search.sentence_index import SentenceIndex
from index.search.vector_index import CANDIDATES

ASKED = 1000  # texts of other kinds, of each language that is asked
LEAST_TIMES = 5  # that a sentence is the first answer
TIMES_MEAN = 10  # and so many times as often as the mean of all sentences


def damp_attractors(
    job: Job, open_indexes: Callable[[], dict[str, SentenceIndex]], others: Mapping[str, Probes]
) -> dict[str, SentenceIndex]:
    """Raise the neighbourhood means of attractors in LANG.hubness.npy; the indexes with the raised ones."""
    undamped = {code: _undamped(job, code) for code in open_indexes()}
    for code, index in open_indexes().items():
        rows, means = attractors(index, code, others)
        damped = undamped[code].copy()
        damped[rows] = np.maximum(damped[rows], means[:, None])
        save_array(job.path(f"{code}.hubness.npy"), damped)
    return open_indexes()


def _undamped(job: Job, code: str) -> NDArray[np.float32]:
    """The means that the neighbourhoods alone gave, kept so that a build which goes on makes the same."""
    means, kept = job.path(f"{code}.hubness.npy"), job.part(f"{code}.undamped.npy")
    if kept.exists():
        save_array(means, np.load(kept, allow_pickle=False))
    else:
        save_array(kept, np.load(means, allow_pickle=False))
    undamped: NDArray[np.float32] = np.load(kept, allow_pickle=False)
    return undamped


def attractors(
    index: SentenceIndex, code: str, others: Mapping[str, Probes]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The rows that are the first answer to so many of the texts, and the mean cosine of each to the nearest
    of these."""
    asked = {source: probes for source, probes in others.items() if source != code}
    vectors, first = [], []
    for seed, (source, probes) in enumerate(asked.items()):
        chosen = probes.take(probes.draw(-(-ASKED // len(asked)), seed))
        nearest = index.vectors.search(chosen.vectors, CANDIDATES)
        _, rows, _, _ = select(*nearest, index.means_from(source)[nearest[1]], 1)
        vectors.append(chosen.vectors)
        first.append(rows[:, 0])
    if not first:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    rows, times = np.unique(np.concatenate(first), return_counts=True)
    hubs = rows[times >= max(LEAST_TIMES, TIMES_MEAN * sum(map(len, first)) / len(index))]
    if not len(hubs):
        return hubs, np.zeros(0, np.float32)
    return hubs, neighbourhood_means(index.vectors.reconstruct(hubs) @ np.concatenate(vectors).T)
