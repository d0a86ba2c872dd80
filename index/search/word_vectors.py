"""Word vectors: the words of texts with their vectors, rarity and hubness, for comparing sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.search.word_index import WordIndex
from index.text.normalisation import words
from index.vectors.neighbourhoods import csls_scores
from index.vectors.vector_index import CANDIDATE_COUNT, Rows

PRE_TOKENS_CACHED = 1 << 14  # whose words are remembered
TEXTS_CACHED = 1 << 13  # whose words are remembered
UNKNOWN_CACHED = 1 << 12  # words of a language that the index does not have, with their vectors
UNKNOWN_WORD = -1  # the row of a word that the index does not have


@dataclass(frozen=True)
class Words:
    """The w words of n texts, text by text, in order.

    `vectors` (w, d): unit vectors in the word space; `rarities` (w,); `rows` (w,) in the word index, or
    UNKNOWN_WORD; `lengths` (n,): the number of words of each text.
    """

    vectors: Vectors
    rarities: NDArray[np.float32]
    rows: Rows
    lengths: NDArray[np.int64]

    def texts(self) -> list["Words"]:
        """The words of each text."""
        ends = np.cumsum(self.lengths).tolist()
        lengths = self.lengths.tolist()
        slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        return [
            Words(self.vectors[part], self.rarities[part], self.rows[part], self.lengths[number, None])
            for number, part in enumerate(slices)
        ]


@dataclass(frozen=True)
class Sentence:
    """A text with its lower-cased words; `vectors` (n, d) are the words', `vector` (d,) is the text's.

    All vectors are in the word space of the text's language.
    """

    text: str
    words: Sequence[str]
    vectors: Vectors
    vector: Vectors


class WordVectors:
    """The vectors of one language's words: from the index, or from the encoder for words it does not have."""

    def __init__(self, language: str, index: WordIndex | None, encoder: TextEncoder) -> None:
        self.language, self._index, self._encoder = language, index, encoder
        # A copy in memory: every numpy operation is slower on a memory map.
        self._rotation = None if index is None else np.array(index.rotation)
        self._rarities = np.ones(1, np.float32) if index is None else index.rarities
        self._crowding: dict[str, NDArray[np.float32]] = {}
        self._best: dict[str, NDArray[np.float32]] = {}
        self._unknown: dict[str, Vectors] = {}

    def sentences(self, texts: Sequence[str], vectors: Vectors) -> list[Sentence]:
        """Divide texts into words and look these up; `vectors` (n, d) are the texts' sentence vectors."""
        spellings = [words_of(text, self.language) for text in texts]
        rotated = self.to_word_space(vectors)
        return [
            Sentence(text, words, looked_up.vectors, vector)
            for text, words, looked_up, vector in zip(
                texts, spellings, self._look_up(spellings).texts(), rotated, strict=True
            )
        ]

    def to_word_space(self, vectors: Vectors) -> Vectors:
        """Rotate sentence vectors (n, d) into the space of this language's words."""
        return vectors if self._rotation is None else vectors @ self._rotation

    def words(self, texts: Sequence[str]) -> Words:
        """Divide texts into words and look these up."""
        return self._look_up([words_of(text, self.language) for text in texts])

    def indexed(self, rows: Rows) -> Words:
        """The words of these rows of the index, each a text; there must be an index."""
        assert self._index is not None
        vectors = self._index.vectors.reconstruct(rows)
        return Words(vectors, self._rarities[rows], rows, np.ones(len(rows), np.int64))

    def crowding(self, rows: Rows, other: str) -> NDArray[np.float32]:
        """(n,) each word's mean cosine to its nearest words in the `other` language, which CSLS subtracts.

        A word that the index does not have gets the mean over all its words.
        """
        if other not in self._crowding:
            means = np.zeros(0, np.float32) if self._index is None else self._index.means_from(other)
            self._crowding[other] = np.append(means, means.mean() if len(means) else 0).astype(np.float32)
        return self._crowding[other][rows]  # UNKNOWN_WORD is the last

    def best_scores(self, words: Words, other: "WordVectors") -> NDArray[np.float32]:
        """(w,) each word's highest CSLS score with the words that `other` has in the index, 0 at least."""
        if other._index is None:
            return np.zeros(len(words.rows), np.float32)
        if other.language not in self._best:
            self._best[other.language] = np.full(len(self._rarities), np.nan, np.float32)
        known = self._best[other.language]
        scores = known[words.rows]
        missing = np.flatnonzero(np.isnan(scores))
        if len(missing):
            vectors, rows = words.vectors[missing], words.rows[missing]
            cosines, nearest = other._index.vectors.search(vectors, CANDIDATE_COUNT)
            crowding = self.crowding(rows, other.language)[:, None]
            found = csls_scores(cosines, crowding, other.crowding(nearest, self.language))
            scores[missing] = best = found.max(axis=1, initial=0)
            in_index = rows != UNKNOWN_WORD
            known[rows[in_index]] = best[in_index]
        return scores

    def _look_up(self, texts: Sequence[Sequence[str]]) -> Words:
        """Find words by their lower-cased spellings."""
        spellings = [word for text in texts for word in text]
        row_of = (lambda _: None) if self._index is None else self._index.row_of
        rows = np.array(
            [UNKNOWN_WORD if (row := row_of(word)) is None else row for word in spellings], np.int64
        )
        vectors = np.empty((len(rows), self._encoder.dimension), np.float32)
        unknown = rows == UNKNOWN_WORD
        if self._index is not None:
            vectors[~unknown] = self._index.vectors.reconstruct(rows[~unknown])
        for place in np.flatnonzero(unknown).tolist():
            vectors[place] = self._vector_of_unknown(spellings[place])
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return Words(vectors, self._rarities[rows], rows, lengths)

    def _vector_of_unknown(self, spelling: str) -> Vectors:
        """(d,) the vector of a word that the index does not have."""
        vector = self._unknown.get(spelling)
        if vector is None:
            encoded = self._encoder.word_vectors([spelling], self.language)
            vector = self.to_word_space(encoded)[0]
            if len(self._unknown) >= UNKNOWN_CACHED:
                self._unknown = {}  # a new dictionary, since other threads may be reading the old one
            self._unknown[spelling] = vector
        return vector


@lru_cache(TEXTS_CACHED)
def words_of(text: str, language: str) -> tuple[str, ...]:
    """The lower-cased words of a text, in order."""
    return tuple(word for pre_token in text.split(" ") for word in _words_in(pre_token, language))


@lru_cache(PRE_TOKENS_CACHED)
def _words_in(pre_token: str, language: str) -> tuple[str, ...]:
    return tuple(words(pre_token, language))
