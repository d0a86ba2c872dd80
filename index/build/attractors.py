"""Stage of a build: lowers the scores of attractors, sentences that come first for many unrelated texts.

An attractor is a hub that the neighbourhoods within the index do not show. Its neighbourhood mean, which CSLS
subtracts, is raised to its mean cosine to the ten nearest of the unrelated texts.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from index.answers.candidates import nearest, ranked
from index.answers.sentence_index import SentenceIndex
from index.build.job import Job, save_array
from index.build.probes import Probes
from index.vectors.neighbourhoods import neighbourhood_means

PROBES_PER_LANGUAGE = 1000  # texts of other kinds, for each language of answers
# An attractor is the first answer to at least so many of these, and so many times as many as the average.
LEAST_ANSWERED, TIMES_AVERAGE = 5, 10


def damp_attractors(
    job: Job, open_indexes: Callable[[], dict[str, SentenceIndex]], others: Mapping[str, Probes]
) -> dict[str, SentenceIndex]:
    """Raise the neighbourhood means of attractors in LANG.hubness.npy, and return the indexes reopened."""
    undamped = {code: _undamped(job, code) for code in open_indexes()}
    for code, index in open_indexes().items():
        rows, means = attractors(index, code, others)
        damped = undamped[code].copy()
        damped[rows] = np.maximum(damped[rows], means[:, None])
        save_array(job.path(f"{code}.hubness.npy"), damped)
    return open_indexes()


def _undamped(job: Job, code: str) -> NDArray[np.float32]:
    """The means before damping, kept in a file so that a resumed build computes the same."""
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
    """Find the attractors of a language: their rows (n,), and the mean cosine of each to the nearest texts.

    `others`: texts of other kinds, by language.
    """
    questions = {source: probes for source, probes in others.items() if source != code}
    vectors, first_answers = [], []
    for seed, (source, probes) in enumerate(questions.items()):
        chosen = probes.take(probes.draw(-(-PROBES_PER_LANGUAGE // len(questions)), seed))
        cosines, neighbours = nearest(index.vectors, chosen.vectors, 1)
        vectors.append(chosen.vectors)
        first_answers.append(ranked(cosines, neighbours, index.means_from(source)[neighbours], 1)["row"])
    if not first_answers:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    rows, counts = np.unique(np.concatenate(first_answers), return_counts=True)
    average = sum(map(len, first_answers)) / len(index)
    hubs = rows[counts >= max(LEAST_ANSWERED, TIMES_AVERAGE * average)]
    if not len(hubs):
        return hubs, np.zeros(0, np.float32)
    return hubs, neighbourhood_means(index.vectors.reconstruct(hubs) @ np.concatenate(vectors).T)
