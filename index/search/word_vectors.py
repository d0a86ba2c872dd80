"""Word vectors: the words of sentences with their vectors, rarity and hubness, for comparing sentences."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import TextEncoder
from index.encoder.vectors import Vectors
from index.search.word_index import WordIndex
from index.text.normalisation import words

PRE_TOKENS_CACHED = 1 << 14  # whose words are remembered
TEXTS_CACHED = 1 << 13  # whose words are remembered
WORDS_CACHED = 1 << 13  # of a language, with their vectors


@dataclass(frozen=True)
class Word:
    """A word's unit vector (d,) in the word space, its rarity, and its row; None if not in the index."""

    vector: Vectors
    rarity: float
    row: int | None


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
        self._cache: dict[str, Word] = {}
        self._crowding: dict[str, tuple[NDArray[np.float32], float]] = {}

    def sentences(self, texts: Sequence[str], vectors: Vectors) -> list[Sentence]:
        """Divide texts into words and look these up; `vectors` (n, d) are the texts' sentence vectors."""
        words_by_text = [words_of(text, self.language) for text in texts]
        by_spelling = self.look_up({word for words in words_by_text for word in words})
        no_words = np.zeros((0, self._encoder.dimension), np.float32)
        return [
            Sentence(
                text,
                words,
                np.stack([by_spelling[word].vector for word in words]) if words else no_words,
                vector,
            )
            for text, words, vector in zip(texts, words_by_text, self.to_word_space(vectors), strict=True)
        ]

    def to_word_space(self, vectors: Vectors) -> Vectors:
        """Rotate sentence vectors (n, d) into the space of this language's words."""
        return vectors if self._rotation is None else vectors @ self._rotation

    def look_up(self, spellings: Collection[str]) -> dict[str, Word]:
        """Find words by their lower-cased spellings."""
        cache = self._cache
        words = {spelling: cache[spelling] for spelling in spellings if spelling in cache}
        if missing := sorted(set(spellings) - words.keys()):
            new_words = dict(zip(missing, self._read(missing), strict=True))
            words |= new_words
            if len(self._cache) > WORDS_CACHED:
                self._cache = {}  # a new dictionary, since other threads may be reading the old one
            self._cache.update(new_words)
        return words

    def crowding(self, words: Sequence[Word], other: str) -> NDArray[np.float32]:
        """(n,) each word's mean cosine to its nearest words in the `other` language, which CSLS subtracts.

        A word that the index does not have gets the mean over all its words.
        """
        if self._index is None:
            return np.zeros(len(words), np.float32)
        if other not in self._crowding:
            means = np.array(self._index.means_from(other))
            self._crowding[other] = means, float(means.mean()) if len(means) else 0.0
        means, mean = self._crowding[other]
        return np.array([mean if word.row is None else means[word.row] for word in words], np.float32)

    def _read(self, spellings: Sequence[str]) -> list[Word]:
        rows = [None if self._index is None else self._index.row_of(spelling) for spelling in spellings]
        vectors = np.empty((len(spellings), self._encoder.dimension), np.float32)
        indexed = [position for position, row in enumerate(rows) if row is not None]
        unknown = [position for position, row in enumerate(rows) if row is None]
        if self._index is not None and indexed:
            vectors[indexed] = self._index.vectors.reconstruct([row for row in rows if row is not None])
        if unknown:
            encoded = self._encoder.word_vectors([spellings[place] for place in unknown], self.language)
            vectors[unknown] = self.to_word_space(encoded)
        rarity = (lambda _: 1.0) if self._index is None else self._index.rarity
        return [
            Word(vector, rarity(spelling), row)
            for spelling, vector, row in zip(spellings, vectors, rows, strict=True)
        ]


@lru_cache(TEXTS_CACHED)
def words_of(text: str, language: str) -> tuple[str, ...]:
    """The lower-cased words of a text, in order."""
    return tuple(word for pre_token in text.split(" ") for word in _words_in(pre_token, language))


@lru_cache(PRE_TOKENS_CACHED)
def _words_in(pre_token: str, language: str) -> tuple[str, ...]:
    return tuple(words(pre_token, language))
