"""WordIndex: the words of one language with their vectors, rarity and hubness.

The vector of a word of the index is made from its tokens and from the sentences that contain it
(words/contexts.py), that of any other word by the encoder, from its tokens alone.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import DamerauLevenshtein, Postfix

from index.arrays import Numbers, Vectors
from index.encoder.text_encoder import TextEncoder
from index.storage.index_manifest import IndexManifest
from index.storage.tables import read_array, read_table
from index.text.contrasts.meanings import Meanings
from index.text.normalisation import clean, lowered
from index.text.spelling import marked, respelled, spellings
from index.vectors.faiss import FaissIndex
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS, BySource, best_csls
from index.vectors.vector_index import VectorIndex
from index.words.vocabulary import by_frequency, training_words

WORD_COLUMNS = ("word", "count")
ID_INFIX = ":word:"  # an ID is the language, this, and the word
UNKNOWN_WORD = -1  # the row of a word that the index does not have
WORDS_CACHED = 1 << 12  # with the vectors that the encoder makes of them
# The cosine of words that mean the same: a third of the synonyms that we tried have it (photo, picture), of a
# thousand pairs of one kind (arm, shoulder) none but days and months, which contrasts know.
SAME_MEANING = 0.65
NO_SCORES, NO_BEST = np.zeros(0, np.float32), dict[str, NDArray[np.float32]]()
# Of letters at which words end alike: of pairs with a larger share hardly one in ten means the same.
LONGEST_ENDING = 0.4
LEAST_MISSPELLED = 5  # letters of a word with one mistake: silk is not milk misspelled


class WordIndex:
    """The words of one language; none for a language of the encoder that the index has no sentences in."""

    def __init__(
        self,
        language: str,
        encoder: TextEncoder,
        vectors: VectorIndex | None = None,
        vocabulary: Sequence[str] = (),
        counts: Sequence[int] = (),
        means: NDArray[np.float32] | None = None,
        sources: Sequence[str] = (),
        best: Mapping[str, NDArray[np.float32]] = NO_BEST,
    ) -> None:
        """`best`: language -> (count,) each word's highest CSLS score with the words of that language."""
        self.language, self.vectors = language, vectors
        self._encoder, self.spellings = encoder, vocabulary  # the word of each row
        self._counts = np.asarray(counts, np.int64)
        self._total = max(1, int(self._counts.sum()))
        self._rows = {word: row for row, word in enumerate(vocabulary)}
        self._means = BySource(np.zeros((0, 0), np.float32) if means is None else means, sources)
        # (count + 1,) how rare each word is; the last is for words outside the vocabulary, which count as
        # occurring once. If no listed word occurs in a sentence, all words are equally rare.
        occurrences = np.maximum(np.append(self._counts, 1), 1)
        self.rarities: NDArray[np.float32] = np.log1p(self._total / occurrences).astype(np.float32)
        self._crowding: dict[str, NDArray[np.float32]] = {}
        self._best = best
        self._encoded: dict[str, Vectors] = {}
        self._added: Vectors = np.zeros((0, encoder.dimension), np.float32)

    @classmethod
    def open(
        cls, folder: Path, language: str, manifest: IndexManifest, encoder: TextEncoder, threads: int = 1
    ) -> "WordIndex":
        """Open LANG.words.* of a verified version."""
        entry, sources = manifest.languages[language], manifest.sources(language)
        count, dimension, stem = entry.words, manifest.dimension, f"{language}.words"
        partners = manifest.partners
        best = read_array(folder / f"{stem}.best.npy", (count, len(partners)))
        table = read_table(folder / f"{stem}.arrow", WORD_COLUMNS, count, whole=True)
        return cls(
            language,
            encoder,
            FaissIndex.open(folder / f"{stem}.faiss", count, dimension, entry.word_search, threads),
            table.column("word").to_pylist(),
            table.column("count").to_pylist(),
            read_array(folder / f"{stem}.hubness.npy", (count, len(sources))),
            sources,
            dict(zip(partners, best.T, strict=True)),
        )

    @classmethod
    def taught(cls, language: str, encoder: TextEncoder) -> "WordIndex":
        """The words by which an encoder was taught a language: of others it knows the spelling alone."""
        counts = by_frequency(training_words(encoder.bundle, language))
        vectors = FaissIndex.of(encoder.word_vectors(list(counts), language))
        return cls(language, encoder, vectors, list(counts), list(counts.values()))

    def without_index(self, language: str) -> "WordIndex":
        """The words of a language that the index has none of."""
        return WordIndex(language, self._encoder)

    def with_words(self, spellings: Sequence[str]) -> "WordIndex":
        """This index with further words, in rows from `len` on, as if a sentence of the index had them."""
        more = copy(self)
        more.spellings = [*self.spellings, *spellings]
        more._added = self.vectors_of(spellings, np.full(len(spellings), UNKNOWN_WORD))  # noqa: SLF001
        return more

    def __len__(self) -> int:
        return len(self.spellings)

    def respelled(self, text: str) -> str:
        """A text that was typed without any marks with those that words have in this index.

        Where it has no words, in what the encoder has read. A word that is known as it is stays so.
        """
        if marked(text):
            return text

        def spelled(word: str) -> str | None:
            return None if word in self._rows or word in self.learned else self._typed.get(word)

        return respelled(text, self.language, spelled)

    @cached_property
    def _typed(self) -> Mapping[str, str]:
        """What is typed for words without their marks -> the most frequent of these."""
        return spellings(self._rows or self.learned, self.language)

    @cached_property
    def learned(self) -> Mapping[str, int]:
        """The words of this language in what the encoder learned from, with their numbers of occurrences."""
        known = self.meanings(self.language)
        return known.counts if known else {}

    def __contains__(self, word: str) -> bool:
        return fold(word) in self._rows

    def text(self, row: int) -> str:
        """The word of a row."""
        return self.spellings[row]

    def id(self, row: int) -> str:
        """The ID of a row."""
        return f"{self.language}{ID_INFIX}{self.text(row)}"

    def rows_of(self, spellings: Sequence[str]) -> Numbers:
        """(n,) the rows of folded words; UNKNOWN_WORD for those that are not in the vocabulary."""
        rows = [self._rows.get(word, UNKNOWN_WORD) for word in spellings]
        return np.array(rows, np.int64)

    def frequencies(self, spellings: Sequence[str]) -> NDArray[np.float64]:
        """(n,) each folded word's share of all words used in this language; NaN if it is not in the index."""
        rows = self.rows_of(spellings)
        if not len(self):
            return np.full(len(rows), np.nan)
        return np.where(rows == UNKNOWN_WORD, np.nan, self._counts[rows] / self._total)

    def vectors_of(self, spellings: Sequence[str], rows: Numbers) -> Vectors:
        """(n, d) unit vectors in the word space of folded words and their rows."""
        vectors = np.empty((len(rows), self._encoder.dimension), np.float32)
        known = rows != UNKNOWN_WORD
        if self.vectors is not None:
            vectors[known] = self.vectors.reconstruct(rows[known])
        vectors[~known] = self.encoded([spellings[place] for place in np.flatnonzero(~known).tolist()])
        return vectors

    def encoded(self, spellings: Sequence[str]) -> Vectors:
        """(n, d) unit vectors of folded words as the encoder makes them, whatever sentences contain them."""
        cached = self._encoded
        if missing := sorted({word for word in spellings if word not in cached}):
            encoded = self._encoder.word_vectors(missing, self.language)
            # A new dictionary, since other threads may be reading the old one.
            kept = (
                cached
                if len(cached) < WORDS_CACHED
                else {word: cached[word] for word in spellings if word in cached}
            )
            self._encoded = cached = {**kept, **dict(zip(missing, encoded, strict=True))}
        return np.array([cached[word] for word in spellings]).reshape(-1, self._encoder.dimension)

    def meanings(self, language: str) -> Meanings | None:
        """What the words of any language mean in English, by the encoder."""
        return self._encoder.meanings(language)

    def same_meaning(self, ones: Sequence[str], others: Sequence[str]) -> set[tuple[str, str]]:
        """The pairs of folded words, one of either, that mean the same, or are each other misspelled.

        By the vectors of the encoder alone: words that stand in the same sentences of an index, such as arm
        and leg, get alike there. But the encoder takes words that end alike (healthy, wealthy) for alike.
        """
        known, known_others = ([word for word in words if word in self._rows] for words in (ones, others))
        alike = self.encoded(known) @ self.encoded(known_others).T >= SAME_MEANING
        pairs = {(known[one], known_others[other]) for one, other in np.argwhere(alike).tolist()}
        pairs = {pair for pair in pairs if Postfix.normalized_similarity(*pair) <= LONGEST_ENDING}
        # The vector of a rare word says little: prednisone and prednisolone are two.
        rare, rare_others = ([word for word in words if word not in self._rows] for words in (ones, others))
        for pair in chain(product(rare, others), product(known, rare_others)):
            if min(map(len, pair)) >= LEAST_MISSPELLED and DamerauLevenshtein.distance(*pair) <= 1:
                pairs.add(pair)
        return pairs

    def vectors_at(self, rows: Numbers) -> Vectors:
        """(n, d) the unit vectors of rows."""
        if self.vectors is None:
            return np.zeros((0, self._encoder.dimension), np.float32)
        if not len(self.vectors):  # FAISS has no row to give
            return self._added[rows]
        vectors = self.vectors.reconstruct(np.minimum(rows, len(self.vectors) - 1))
        added = rows >= len(self.vectors)
        vectors[added] = self._added[rows[added] - len(self.vectors)]
        return vectors

    def means_from(self, source: str) -> NDArray[np.float32]:
        """(count,) each word's mean cosine to its nearest neighbours in `source`."""
        return self._means.seen_from(source)

    def crowding(self, rows: Numbers, other: str) -> NDArray[np.float32]:
        """(n,) each word's mean cosine to its nearest words in the `other` language, which CSLS subtracts.

        A word that the index does not have gets the mean over all its words.
        """
        if other not in self._crowding:
            means = np.zeros(0, np.float32) if self.vectors is None else self.means_from(other)
            self._crowding[other] = np.append(means, means.mean() if len(means) else 0).astype(np.float32)
        return self._crowding[other][rows]  # UNKNOWN_WORD is the last

    def best_scores(self, rows: Numbers, vectors: Vectors, other: "WordIndex") -> NDArray[np.float32]:
        """(n,) each word's highest CSLS score with the words that `other` has in the index, 0 at least.

        Searched for where no build has computed it, as for words that the index does not have.
        """
        if other.vectors is None:
            return np.zeros(len(rows), np.float32)
        known = self._best.get(other.language, NO_SCORES)
        scores = known[rows] if len(known) else np.zeros(len(rows), np.float32)
        missing = np.flatnonzero(rows == UNKNOWN_WORD) if len(known) else np.arange(len(rows))
        if len(missing):
            cosines, nearest = other.vectors.search(vectors[missing], CSLS_NEIGHBOURS)
            own = self.crowding(rows[missing], other.language)
            scores[missing] = best_csls(cosines, own, other.crowding(nearest, self.language))
        return scores


def fold(word: str) -> str:
    """Clean and lower-case a word, as vocabularies store it."""
    return lowered(clean(word))
