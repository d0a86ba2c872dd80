"""Stage of a build: lowers the scores of attractors, sentences that come first for many unrelated texts.

An attractor is a hub that the neighbourhoods within the index do not show. Its neighbourhood mean, which CSLS
subtracts, is raised to its mean cosine to the ten nearest of the unrelated texts.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from index.answers.candidates import ranked
from index.answers.sentence_index import SentenceIndex
from index.build.probes import Pair, Probes
from index.vectors.neighbourhoods import neighbourhood_means

# An attractor is the first answer to at least so many of these, and so many times as many as the average.
LEAST_ANSWERED, TIMES_AVERAGE = 5, 10


def damped(
    index: SentenceIndex, means: NDArray[np.float32], others: Mapping[Pair, Probes]
) -> NDArray[np.float32]:
    """Raise the neighbourhood means (rows, sources) of a language's attractors."""
    hubs, nearness = attractors(index, others)
    raised = np.array(means)
    raised[hubs] = np.maximum(raised[hubs], nearness[:, None])
    return raised


def attractors(
    index: SentenceIndex, others: Mapping[Pair, Probes]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the attractors of a language: their rows (n,), and the mean cosine of each to the nearest texts.

    `others`: texts of other kinds.
    """
    questions = {pair[0]: probes for pair, probes in others.items() if pair[1] == index.language}
    first_answers = [
        ranked(probes.cosines, probes.rows, index.means_from(source)[probes.rows], 1)["row"]
        for source, probes in questions.items()
    ]
    if not first_answers:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    rows, counts = np.unique(np.concatenate(first_answers), return_counts=True)
    average = sum(map(len, first_answers)) / len(index)
    hubs = rows[counts >= max(LEAST_ANSWERED, TIMES_AVERAGE * average)]
    if not len(hubs):
        return hubs, np.zeros(0, np.float32)
    vectors = np.concatenate([probes.vectors for probes in questions.values()])
    return hubs, neighbourhood_means(index.vectors.reconstruct(hubs) @ vectors.T)
