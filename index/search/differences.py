"""Differences: which words of a question the answer leaves out, and which words the answer adds.

A word is a difference if its vector is clearly closer to its own sentence than to the other sentence, and no
word of the other sentence means the same.
"""

import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import Vectors
from index.search.ranking import NO_DIFFERENCES, Differences
from index.search.word_vectors import Sentence

MIN_MARGIN = 0.3  # cosine of a word with its own sentence, less that with the other sentence
SYNONYM_COSINE = 0.45  # two words with at least this cosine mean the same


def differences(
    question: Sentence, answer: Sentence, answer_vector: Vectors, question_vector: Vectors
) -> Differences:
    """Find the words of each sentence that the other one does not express.

    `answer_vector` (d,) is the answer in the word space of the question's language, `question_vector` (d,)
    the question in the word space of the answer's language.
    """
    if not question.words or not answer.words:
        return NO_DIFFERENCES
    cosines = question.vectors @ answer.vectors.T
    return Differences(
        _unexpressed(question, answer_vector, cosines.max(axis=1)),
        _unexpressed(answer, question_vector, cosines.max(axis=0)),
    )


def _unexpressed(sentence: Sentence, other: Vectors, nearest_cosines: NDArray[np.float32]) -> tuple[str, ...]:
    """Words of a sentence that the sentence with the vector `other` (d,) lacks.

    `nearest_cosines` (n,): each word's cosine with the most similar word of the other sentence.
    """
    margins = sentence.vectors @ (sentence.vector - other)
    rows = np.flatnonzero((margins > MIN_MARGIN) & (nearest_cosines < SYNONYM_COSINE)).tolist()
    return tuple(dict.fromkeys(_as_written(sentence.words[row], sentence.text) for row in rows))


def _as_written(word: str, text: str) -> str:
    """A lower-cased word of a text, spelled as in the text."""
    position = text.lower().find(word)
    written = text[position : position + len(word)] if position >= 0 else word
    # Lower-casing can change the length of a text; positions then do not correspond.
    return written if written.lower() == word else word
