"""Differences: the words of a question that an answer does not cover, and those that the question lacks.

A word points towards the sentences that mean it. One that points towards its own sentence and not towards the
other is a difference, unless some word of the other means the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.search.ranking import SAME, Differences
from index.search.word_index import WordIndex
from index.text.normalisation import words

APART = 0.3  # by which the cosine of a word to its own sentence is above that to the other
ALIKE = 0.45  # cosine from which on two words mean the same
PARTS_CACHED = 1 << 14  # pieces of text between spaces, whose words are kept


@dataclass(frozen=True)
class WordVectors:
    """The words of sentences in one language: row i of `vectors` (n, d) is that of `places` word i."""

    index: WordIndex | None
    vectors: Vectors
    places: dict[str, int]

    @classmethod
    def of(
        cls, sentences: Sequence[Sequence[str]], language: str, index: WordIndex | None, encoder: TextEncoder
    ) -> "WordVectors":
        """Vectors of the words of sentences: the index's own, the encoder's for words unknown to it."""
        every = dict.fromkeys(word for sentence in sentences for word in sentence)
        places = {word: row for row, word in enumerate(every)}
        rows = [None if index is None else index.row_of(word) for word in places]
        vectors = np.zeros((len(places), encoder.dimension), np.float32)
        known = [place for place, row in enumerate(rows) if row is not None]
        if index is not None and known:
            vectors[known] = index.vectors.reconstruct([row for row in rows if row is not None])
        if unknown := [word for word, row in zip(places, rows, strict=True) if row is None]:
            found = encoder.word_vectors(unknown, language)
            vectors[[places[word] for word in unknown]] = found if index is None else found @ index.rotation
        return cls(index, vectors, places)

    def take(self, sentence: Sequence[str]) -> Vectors:
        """The vectors of a sentence's words."""
        return self.vectors[[self.places[word] for word in sentence]]

    def turned(self, vector: Vectors) -> Vectors:
        """A vector of the space of sentences in that of these words."""
        return vector if self.index is None else vector @ self.index.rotation


def words_of(text: str, language: str) -> list[str]:
    """The lower-cased words of a text, in order."""
    return [word for part in text.split(" ") for word in _words_in(part, language)]


@lru_cache(PARTS_CACHED)
def _words_in(part: str, language: str) -> tuple[str, ...]:
    return tuple(words(part, language))


def differences(
    question: tuple[str, list[str], Vectors],
    answer: tuple[str, list[str], Vectors],
    source: WordVectors,
    target: WordVectors,
) -> Differences:
    """What each of two sentences has that the other has not: their text, their words, their vector (d,)."""
    if not question[1] or not answer[1]:
        return SAME
    asked, answered = source.take(question[1]), target.take(answer[1])
    alike = asked @ answered.T
    between = question[2] - answer[2]
    return Differences(
        _apart(question, asked @ source.turned(between), alike.max(axis=1)),
        _apart(answer, answered @ target.turned(-between), alike.max(axis=0)),
    )


def _apart(
    sentence: tuple[str, list[str], Vectors], distances: NDArray[np.float32], alike: NDArray[np.float32]
) -> tuple[str, ...]:
    rows = np.flatnonzero((distances > APART) & (alike < ALIKE)).tolist()
    return tuple(dict.fromkeys(_as_written(sentence[1][row], sentence[0]) for row in rows))


def _as_written(word: str, text: str) -> str:
    place = text.lower().find(word)
    # Where lower case changes the length, places do not correspond.
    written = text[place : place + len(word)] if place >= 0 else word
    return written if written.lower() == word else word
