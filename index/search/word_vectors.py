"""The words of sentences: their vectors, how rare they are, how crowded it is around them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.search.word_index import WordIndex
from index.text.normalisation import words

PARTS_CACHED = 1 << 14  # pieces of text between spaces, whose words are kept
TEXTS_CACHED = 1 << 13  # whose words are kept
WORDS_CACHED = 1 << 13  # of a language that are kept


@dataclass(frozen=True)
class Word:
    """A unit vector (d,) in the space of words, how rare the word is, and its row in the index, if any."""

    vector: Vectors
    rarity: float
    row: int | None


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
        self.language, self._index, self._encoder = language, index, encoder
        # No memory map: numpy takes longer for each operation on one.
        self._rotation = None if index is None else np.array(index.rotation)
        self._kept: dict[str, Word] = {}
        self._crowding: dict[str, tuple[NDArray[np.float32], float]] = {}

    def sentences(self, texts: Sequence[str], vectors: Vectors) -> list[Sentence]:
        """Texts and their vectors (n, d) in the space of sentences, with their words."""
        rows = [words_of(text, self.language) for text in texts]
        known = self.known({word for row in rows for word in row})
        turned = self.turned(vectors)
        empty = np.zeros((0, self._encoder.dimension), np.float32)
        return [
            Sentence(text, row, np.stack([known[word].vector for word in row]) if row else empty, vector)
            for text, row, vector in zip(texts, rows, turned, strict=True)
        ]

    def turned(self, vectors: Vectors) -> Vectors:
        """Vectors (n, d) of the space of sentences in that of this language's words."""
        return vectors if self._rotation is None else vectors @ self._rotation

    def known(self, wanted: Collection[str]) -> dict[str, Word]:
        """What is known of some words."""
        kept = self._kept
        known = {word: kept[word] for word in wanted if word in kept}
        if missing := sorted(set(wanted) - known.keys()):
            found = dict(zip(missing, self._look_up(missing), strict=True))
            known |= found
            if len(self._kept) > WORDS_CACHED:
                self._kept = {}  # another dictionary rather than fewer entries: threads may be reading
            self._kept.update(found)
        return known

    def crowding(self, words: Sequence[Word], other: str) -> NDArray[np.float32]:
        """(n,) the mean cosine of each word to the nearest words of the `other` language, which CSLS takes
        off; the mean over all words for one that the index does not know."""
        if self._index is None:
            return np.zeros(len(words), np.float32)
        if other not in self._crowding:
            means = np.array(self._index.means_from(other))
            self._crowding[other] = means, float(means.mean()) if len(means) else 0.0
        means, mean = self._crowding[other]
        return np.array([mean if word.row is None else means[word.row] for word in words], np.float32)

    def _look_up(self, missing: Sequence[str]) -> list[Word]:
        rows = [None if self._index is None else self._index.row_of(word) for word in missing]
        vectors = np.empty((len(missing), self._encoder.dimension), np.float32)
        held = [place for place, row in enumerate(rows) if row is not None]
        strange = [place for place, row in enumerate(rows) if row is None]
        if self._index is not None and held:
            vectors[held] = self._index.vectors.reconstruct([row for row in rows if row is not None])
        if strange:
            found = self._encoder.word_vectors([missing[place] for place in strange], self.language)
            vectors[strange] = self.turned(found)
        rarity = (lambda _: 1.0) if self._index is None else self._index.rarity
        return [
            Word(vector, rarity(word), row) for word, vector, row in zip(missing, vectors, rows, strict=True)
        ]


@lru_cache(TEXTS_CACHED)
def words_of(text: str, language: str) -> tuple[str, ...]:
    """The lower-cased words of a text, in order."""
    return tuple(word for part in text.split(" ") for word in _words_in(part, language))


@lru_cache(PARTS_CACHED)
def _words_in(part: str, language: str) -> tuple[str, ...]:
    return tuple(words(part, language))
