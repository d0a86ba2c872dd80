"""Coverage: how much of one sentence the words of another cover.

Each word is scored by its nearest word in the other sentence, and a sentence's coverage is the mean of these
scores, weighted by how rare its words are. BERTScore (Zhang et al. 2020, section 3) does the same with
cosines; we use CSLS, because a word that is close to everything has a high cosine with every word.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.search.hubness import csls_scores
from index.search.ranking import Coverage
from index.search.vector_index import Rows
from index.search.word_vectors import Words, WordVectors

COVERAGE_DIRECTIONS = 2  # the question covered by the answer, the answer covered by the question


def coverage(
    asked: WordVectors, answered: WordVectors, questions: Sequence[str], text_of: Callable[[int], str]
) -> Coverage:
    """Return a function that measures the coverage between n questions and their answers.

    It takes the rows of the answers, (n, k), whose texts `text_of` returns, and gives (n, k, 2): how much of
    the question the answer covers, and how much of the answer the question covers; 0 where either has no
    words. `asked` and `answered` are the word vectors of the two languages.
    """

    def measure(rows: Rows) -> NDArray[np.float64]:
        scores = np.zeros((*rows.shape, COVERAGE_DIRECTIONS))
        for number, question in enumerate(asked.words(questions).texts()):
            answers = answered.words([text_of(row) for row in rows[number].tolist()])
            similarities = csls_scores(
                question.vectors @ answers.vectors.T,
                asked.crowding(question.rows, answered.language)[:, None],
                answered.crowding(answers.rows, asked.language),
            )
            scores[number] = _mutual_coverage(similarities, question, answers)
        return scores

    return measure


def _mutual_coverage(
    similarities: NDArray[np.float32], question: Words, answers: Words
) -> NDArray[np.float64]:
    """(words of the question, words of all k answers) CSLS scores -> (k, COVERAGE_DIRECTIONS)."""
    scores = np.zeros((len(answers.lengths), COVERAGE_DIRECTIONS))
    with_words = np.flatnonzero(answers.lengths)
    if not len(question.rows) or not len(with_words):
        return scores
    starts = (np.cumsum(answers.lengths) - answers.lengths)[with_words]
    nearest = np.maximum.reduceat(similarities, starts, axis=1)
    scores[with_words, 0] = question.rarities @ nearest / question.rarities.sum()
    weighted = np.add.reduceat(similarities.max(axis=0) * answers.rarities, starts)
    scores[with_words, 1] = weighted / np.add.reduceat(answers.rarities, starts)
    return scores
