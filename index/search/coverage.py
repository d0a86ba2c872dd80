"""Coverage: how much of one sentence the words of another cover.

Each word is scored by its nearest word in the other sentence, and a sentence's coverage is the mean of these
scores, weighted by how rare its words are. BERTScore (Zhang et al. 2020, section 3) does the same with
cosines; we use CSLS, because a word that is close to everything has a high cosine with every word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.ranking import Coverage
from index.search.vector_index import Rows
from index.search.word_vectors import WordVectors, words_of

QUESTIONS_AT_ONCE = 16  # one matrix compares all their words with all the words of their answers
DIRECTIONS = 2  # the question covered by the answer, the answer covered by the question


def coverage(
    asked: WordVectors, answered: WordVectors, questions: Sequence[str], text_of: Callable[[int], str]
) -> Coverage:
    """Return a function that measures the coverage between n questions and their answers.

    It takes the rows of the answers, (n, k), whose texts `text_of` returns, and gives (n, k, 2): how much of
    the question the answer covers, and how much of the answer the question covers; 0 where either has no
    words. `asked` and `answered` are the word vectors of the two languages.
    """

    def measure(rows: Rows) -> NDArray[np.float64]:
        scores = np.zeros((*rows.shape, DIRECTIONS))
        for start in range(0, len(questions), QUESTIONS_AT_ONCE):
            block = slice(start, start + QUESTIONS_AT_ONCE)
            answers = [[text_of(row) for row in line] for line in rows[block].tolist()]
            _measure_block(asked, answered, questions[block], answers, scores[block])
        return scores

    return measure


@dataclass(frozen=True)
class _DistinctWords:
    """The u distinct words of some texts, numbered: vectors (u, d), CSLS penalties (u,), rarities (u,)."""

    numbers: dict[str, int]
    vectors: Vectors
    crowding: NDArray[np.float32]
    rarities: NDArray[np.float32]

    @classmethod
    def of(cls, space: WordVectors, other: str, texts: Sequence[Sequence[str]]) -> "_DistinctWords":
        spellings = list(dict.fromkeys(word for text in texts for word in text))
        by_spelling = space.look_up(spellings)
        words = [by_spelling[spelling] for spelling in spellings]
        return cls(
            {spelling: number for number, spelling in enumerate(spellings)},
            np.stack([word.vector for word in words]),
            space.crowding(words, other),
            np.array([word.rarity for word in words], np.float32),
        )

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.numbers[word] for word in words], np.int64)


def _measure_block(
    asked: WordVectors,
    answered: WordVectors,
    questions: Sequence[str],
    answers: Sequence[Sequence[str]],
    scores: NDArray[np.float64],
) -> None:
    """Write the coverage of a block of questions and answers into `scores` (n, k, 2)."""
    question_words = [words_of(text, asked.language) for text in questions]
    answer_words = [[words_of(text, answered.language) for text in row] for row in answers]
    all_answers = [words for row in answer_words for words in row]
    if not any(question_words) or not any(all_answers):
        return
    in_questions = _DistinctWords.of(asked, answered.language, question_words)
    in_answers = _DistinctWords.of(answered, asked.language, all_answers)
    csls = 2 * in_questions.vectors @ in_answers.vectors.T
    csls -= in_questions.crowding[:, None] + in_answers.crowding
    for number, words in enumerate(question_words):
        places = [place for place, row in enumerate(answer_words[number]) if row]
        if not words or not places:
            continue
        rows = in_questions.rows(words)
        columns_by_answer = [in_answers.rows(answer_words[number][place]) for place in places]
        starts = np.cumsum([0, *map(len, columns_by_answer[:-1])])
        columns = np.concatenate(columns_by_answer)
        similarities = csls[np.ix_(rows, columns)]
        weights = in_questions.rarities[rows]
        question_covered = weights @ np.maximum.reduceat(similarities, starts, axis=1) / weights.sum()
        weights = in_answers.rarities[columns]
        weighted = np.add.reduceat(similarities.max(axis=0) * weights, starts)
        answer_covered = weighted / np.add.reduceat(weights, starts)
        scores[number, places] = np.column_stack([question_covered, answer_covered])
