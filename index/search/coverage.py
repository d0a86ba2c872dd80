"""Coverage: how much of one sentence the words of another cover.

Each word is scored by its nearest word in the other sentence, and a sentence's coverage is the mean of these
scores, weighted by how rare its words are. BERTScore (Zhang et al. 2020, section 3) does the same with
cosines; we use CSLS, because a word that is close to everything has a high cosine with every word.

A mean hides one word that is wrong: "a boy drinks milk" covers "a girl drinks milk" well. So what a sentence
lacks is measured, too: of the word whose best translation is furthest from all that the other sentence has,
how far.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import COVERAGE
from index.search.ranking import Coverage
from index.search.word_vectors import Words, WordVectors
from index.vectors.neighbourhoods import csls_scores
from index.vectors.vector_index import Rows


def coverage(
    asked: WordVectors, answered: WordVectors, questions: Sequence[str], text_of: Callable[[int], str]
) -> Coverage:
    """Return a function that measures the coverage between n questions and their answers.

    It takes the rows of the answers, (n, k), whose texts `text_of` returns, and gives (n, k, 4), as
    `calibration.COVERAGE` names them; 0 where either has no words. `asked` and `answered` are the word
    vectors of the two languages.
    """

    def measure(rows: Rows) -> NDArray[np.float64]:
        scores = np.zeros((*rows.shape, len(COVERAGE)))
        for number, question in enumerate(asked.words(questions).texts()):
            answers = answered.words([text_of(row) for row in rows[number].tolist()])
            similarities = csls_scores(
                question.vectors @ answers.vectors.T,
                asked.crowding(question.rows, answered.language)[:, None],
                answered.crowding(answers.rows, asked.language),
            )
            best = asked.best_scores(question, answered), answered.best_scores(answers, asked)
            scores[number] = _mutual_coverage(similarities, question, answers, *best)
        return scores

    return measure


def _mutual_coverage(
    similarities: NDArray[np.float32],
    question: Words,
    answers: Words,
    question_best: NDArray[np.float32],
    answers_best: NDArray[np.float32],
) -> NDArray[np.float64]:
    """(words of the question, words of all k answers) CSLS scores -> (k, features of COVERAGE).

    `question_best` and `answers_best`: each word's highest score with any word of the other language.
    """
    scores = np.zeros((len(answers.lengths), len(COVERAGE)))
    with_words = np.flatnonzero(answers.lengths)
    if not len(question.rows) or not len(with_words):
        return scores
    starts = (np.cumsum(answers.lengths) - answers.lengths)[with_words]
    nearest = np.maximum.reduceat(similarities, starts, axis=1)
    answers_nearest = similarities.max(axis=0)
    scores[with_words, 0] = question.rarities @ nearest / question.rarities.sum()
    weighted = np.add.reduceat(answers_nearest * answers.rarities, starts)
    scores[with_words, 1] = weighted / np.add.reduceat(answers.rarities, starts)
    scores[with_words, 2] = _lacking(nearest, question_best[:, None]).max(axis=0)
    scores[with_words, 3] = np.maximum.reduceat(_lacking(answers_nearest, answers_best), starts)
    return scores


def _lacking(nearest: NDArray[np.float32], best: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much the nearest word falls short of the best translation; 0 for words that have none."""
    return np.where(best > 0, np.maximum(best - np.maximum(nearest, 0), 0), 0)
