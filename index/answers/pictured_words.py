"""Words compared by pictures: those of a language that has no corpus, or that was taught afterwards.

No sentences say what such a word means, so it is compared with what the encoder makes of the other word's
tokens, not with the vector that contexts gave it. Two words mean the same if they look like the same
pictograms. With p(pictogram | word) the softmax of a word's cosines, divided by TEMPERATURE, the score is

    TEMPERATURE * log(sum over pictograms of p(pictogram | question) p(pictogram | answer))
    + OWN_WEIGHT * (2 cosine - the answer's mean cosine to its nearest pictograms)

`python -m benchmarks.pictured_words` measures it (docs/research.md).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.answers.candidates import ANSWERS_CONSIDERED, Candidates, gaps
from index.answers.word_index import WordIndex
from index.arrays import Vectors
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means

TEMPERATURE = 0.07
OWN_WEIGHT = 0.05  # of the words' own cosines: 0 finds no word that is not seen in pictures
WORDS_CONSIDERED = 256  # nearest by the vectors of the index
LEAST_SHARED = 1e-12


def pictured_candidates(
    words: Sequence[str], asked: WordIndex, index: WordIndex, pictograms: Vectors, k: int
) -> Candidates:
    """The candidates for folded words, the k or more best, with all evidence; `csls`: without pictures.

    `pictograms` (p, d): their unit vectors.
    """
    assert index.vectors is not None
    questions = asked.encoded(words)
    _, rows = index.vectors.search(questions, max(WORDS_CONSIDERED, k))
    distinct, places = np.unique(rows, return_inverse=True)
    answers = index.encoded([index.text(row) for row in distinct.tolist()])
    seen = answers @ pictograms.T
    shared = _softmax(questions @ pictograms.T) @ _softmax(seen).T
    cosines = questions @ answers.T
    means = neighbourhood_means(seen)
    csls = csls_scores(cosines, np.zeros(1), means)
    scores = TEMPERATURE * np.log(np.maximum(shared, LEAST_SHARED)) + OWN_WEIGHT * csls
    places = places.reshape(rows.shape)
    order = np.argsort(-np.take_along_axis(scores, places, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(places, order[:, : max(ANSWERS_CONSIDERED, k)], axis=1)
    chosen = np.repeat(np.arange(len(words)), best.shape[1]), best.ravel()
    columns: dict[str, NDArray[Any]] = {"question": chosen[0], "row": distinct[chosen[1]]}
    columns |= {"cosine": cosines[chosen], "csls": csls[chosen], "score": scores[chosen]}
    columns["gap"] = gaps(columns["question"], columns["score"])
    columns["learned"] = np.array([word in asked.learned for word in words], float)[chosen[0]]
    return Candidates(len(words), columns, np.zeros(len(words), np.float32))


def _softmax(cosines: Vectors) -> Vectors:
    """(n, pictograms) how likely each is what a word looks like."""
    powers = np.exp((cosines - cosines.max(axis=1, keepdims=True)) / TEMPERATURE)
    likely: Vectors = powers / powers.sum(axis=1, keepdims=True)
    return likely
