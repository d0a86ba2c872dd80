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
VECTORS_CACHED = 1 << 13  # words of a language whose vectors are kept


@dataclass(frozen=True)
class Sentence:
    """A text, its words in lower case, their vectors (n, d), and its own (d,) in the space of words."""

    text: str
    words: Sequence[str]
    vectors: Vectors
    vector: Vectors


class WordVectors:
    """The vectors of one language's words: the index's own, the encoder's for words that it does not know."""

    def __init__(self, language: str, index: WordIndex | None, encoder: TextEncoder) -> None:
        self._language, self._index, self._encoder = language, index, encoder
        # No memory map: numpy takes longer for each operation on one.
        self._rotation = None if index is None else np.array(index.rotation)
        self._kept: dict[str, Vectors] = {}

    def sentences(self, texts: Sequence[str], vectors: Vectors) -> list[Sentence]:
        """Texts and their vectors (n, d) in the space of sentences, with their words."""
        rows = [words_of(text, self._language) for text in texts]
        known = self._vectors({word for row in rows for word in row})
        turned = self.turned(vectors)
        empty = np.zeros((0, self._encoder.dimension), np.float32)
        return [
            Sentence(text, row, np.stack([known[word] for word in row]) if row else empty, vector)
            for text, row, vector in zip(texts, rows, turned, strict=True)
        ]

    def turned(self, vectors: Vectors) -> Vectors:
        """Vectors (n, d) of the space of sentences in that of this language's words."""
        return vectors if self._rotation is None else vectors @ self._rotation

    def _vectors(self, wanted: set[str]) -> dict[str, Vectors]:
        known = {word: vector for word in wanted if (vector := self._kept.get(word)) is not None}
        if missing := sorted(wanted - known.keys()):
            found = dict(zip(missing, self._look_up(missing), strict=True))
            known |= found
            if len(self._kept) > VECTORS_CACHED:
                self._kept = {}  # another dictionary rather than fewer entries: threads may be reading
            self._kept.update(found)
        return known

    def _look_up(self, missing: Sequence[str]) -> Vectors:
        rows = [None if self._index is None else self._index.row_of(word) for word in missing]
        vectors = np.empty((len(missing), self._encoder.dimension), np.float32)
        held = [place for place, row in enumerate(rows) if row is not None]
        strange = [place for place, row in enumerate(rows) if row is None]
        if self._index is not None and held:
            vectors[held] = self._index.vectors.reconstruct([row for row in rows if row is not None])
        if strange:
            found = self._encoder.word_vectors([missing[place] for place in strange], self._language)
            vectors[strange] = self.turned(found)
        return vectors


def words_of(text: str, language: str) -> list[str]:
    """The lower-cased words of a text, in order."""
    return [word for part in text.split(" ") for word in _words_in(part, language)]


@lru_cache(PARTS_CACHED)
def _words_in(part: str, language: str) -> tuple[str, ...]:
    return tuple(words(part, language))


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
