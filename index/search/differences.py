"""Differences: the words of a question that an answer does not cover, and those that the question lacks.

A word points towards the sentences that mean it. One that points towards its own sentence and not towards the
other is a difference, unless some word of the other means the same.
"""

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.ranking import SAME, Differences
from index.search.word_vectors import Sentence

APART = 0.3  # by which the cosine of a word to its own sentence is above that to the other
ALIKE = 0.45  # cosine from which on two words mean the same


def differences(question: Sentence, answer: Sentence, back: Vectors, there: Vectors) -> Differences:
    """What each has that the other has not; `there` is the question's vector in the space of the answer's
    words, `back` the answer's in that of the question's."""
    if not question.words or not answer.words:
        return SAME
    alike = question.vectors @ answer.vectors.T
    return Differences(
        _apart(question, back, alike.max(axis=1)),
        _apart(answer, there, alike.max(axis=0)),
    )


def _apart(sentence: Sentence, other: Vectors, alike: NDArray[np.float32]) -> tuple[str, ...]:
    distances = sentence.vectors @ (sentence.vector - other)
    rows = np.flatnonzero((distances > APART) & (alike < ALIKE)).tolist()
    return tuple(dict.fromkeys(_as_written(sentence.words[row], sentence.text) for row in rows))


def _as_written(word: str, text: str) -> str:
    place = text.lower().find(word)
    # Where lower case changes the length, places do not correspond.
    written = text[place : place + len(word)] if place >= 0 else word
    return written if written.lower() == word else word
