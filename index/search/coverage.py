"""Coverage: how far a sentence has words for those of another.

Each word looks for the one of the other sentence that is nearest by CSLS; a sentence is covered by the mean
over its words, the rare ones weighing more. So does BERTScore (Zhang et al. 2020, section 3), by cosines, of
which a word that is near everything has high ones to all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.ranking import Coverage
from index.search.vector_index import Rows
from index.search.word_vectors import WordVectors, words_of

AT_ONCE = 16  # questions: all words of these meet all words of their answers
KINDS = 2


def coverage(
    asked: WordVectors, answered: WordVectors, questions: Sequence[str], text_of: Callable[[int], str]
) -> Coverage:
    """Questions (n) and what gives the text of a row -> rows (n, k) -> (n, k, 2): how far each question is
    covered by the answer, and the answer by the question; 0 where either has no word."""

    def of_rows(rows: Rows) -> NDArray[np.float64]:
        found = np.zeros((*rows.shape, KINDS))
        for start in range(0, len(questions), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            answers = [[text_of(row) for row in line] for line in rows[part].tolist()]
            _cover(asked, answered, questions[part], answers, found[part])
        return found

    return of_rows


@dataclass(frozen=True)
class _Words:
    """Different words and their numbers; vectors (u, d), what CSLS takes off (u,), rarities (u,)."""

    numbers: dict[str, int]
    vectors: Vectors
    crowding: NDArray[np.float32]
    rarities: NDArray[np.float32]

    @classmethod
    def of(cls, space: WordVectors, other: str, rows: Sequence[Sequence[str]]) -> "_Words":
        every = list(dict.fromkeys(word for row in rows for word in row))
        known = space.known(every)
        words = [known[word] for word in every]
        return cls(
            {word: number for number, word in enumerate(every)},
            np.stack([word.vector for word in words]),
            space.crowding(words, other),
            np.array([word.rarity for word in words], np.float32),
        )

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.numbers[word] for word in words], np.int64)


def _cover(
    asked: WordVectors,
    answered: WordVectors,
    questions: Sequence[str],
    answers: Sequence[Sequence[str]],
    found: NDArray[np.float64],
) -> None:
    """Fill `found` (n, k, 2)."""
    question_words = [words_of(text, asked.language) for text in questions]
    answer_words = [[words_of(text, answered.language) for text in row] for row in answers]
    every = [words for row in answer_words for words in row]
    if not any(question_words) or not any(every):
        return
    questions_known = _Words.of(asked, answered.language, question_words)
    answers_known = _Words.of(answered, asked.language, every)
    nearness = 2 * questions_known.vectors @ answers_known.vectors.T
    nearness -= questions_known.crowding[:, None] + answers_known.crowding
    for number, words in enumerate(question_words):
        places = [place for place, row in enumerate(answer_words[number]) if row]
        if not words or not places:
            continue
        rows = questions_known.rows(words)
        columns = [answers_known.rows(answer_words[number][place]) for place in places]
        starts = np.cumsum([0, *map(len, columns[:-1])])
        flat = np.concatenate(columns)
        scores = nearness[np.ix_(rows, flat)]
        weights = questions_known.rarities[rows]
        covered = weights @ np.maximum.reduceat(scores, starts, axis=1) / weights.sum()
        weights = answers_known.rarities[flat]
        back = np.add.reduceat(scores.max(axis=0) * weights, starts) / np.add.reduceat(weights, starts)
        found[number, places] = np.column_stack([covered, back])
