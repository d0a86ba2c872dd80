"""The words of languages, and which translate each other, as probable pairs of sentences say.

An encoder that was trained on a mined pair finds it again, right or wrong. What other pairs say of its words
does not depend on it. Near candidates that are wrong still share words, so that words are learned before most
sentences have found their translation. Words are compared by their stems: most inflected forms occur once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from index.encoder.vectors import unit

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]

LEAST_OCCURRENCES, MOST_WORDS = 2, 9000  # of a language's words, and of its stems
STEM_LETTERS = 5  # a word's first letters: enough to align inflected forms (Fraser and Marcu 2005 take four)
STEM_SYLLABLES = 2  # in Hangul, whose letters are syllables
HANGUL = ("가", "힣")
FOLDS = 2  # of sentences: each is compared by what the pairs of the others teach
ROUNDS = 5  # of expectation and maximisation
LEAST_COUNT = 0.4  # subtracted from expected counts: one pair alone teaches next to nothing
SMOOTHING = 1.0  # added to a word's occurrences
CHANCE = 0.1  # the weight of a word's frequency against its translations
MOST_IN_SENTENCE = 10  # units of a sentence that are compared: the rarest
TRANSLATED_WIDTH = 192  # of the vectors by which sentences with the same translations are found
BLOCK = 2000  # sentences compared at a time


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language's sentences, or their stems, the most frequent first.

    rows: of each sentence the numbers of its words, in order; rare words have the last number, `len(names)`.
    rarity: (words,) log of sentences per occurrence.
    """

    names: list[str]
    rows: list[Numbers]
    rarity: Weights

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> "Vocabulary":
        """List the words of sentences that occur LEAST_OCCURRENCES times, MOST_WORDS at most."""
        counts = Counter(chain.from_iterable(sentences)).most_common(MOST_WORDS)
        kept = {name: count for name, count in counts if count >= LEAST_OCCURRENCES}
        number = {name: place for place, name in enumerate(kept)}
        rows = [np.asarray([number.get(w, len(kept)) for w in words], np.int64) for words in sentences]
        rarity = np.log(np.maximum(1, len(sentences) / np.asarray([*kept.values(), 1][: len(kept)] or [1])))
        return cls(list(kept), rows, rarity[: len(kept)])

    def bags(self, rows: Sequence[Numbers]) -> "Bags":
        """The distinct words of sentences, given as numbers."""
        return bags(rows, self.rarity)


def stem(word: str) -> str:
    """The first letters of a word, whatever its inflection."""
    return word[: STEM_SYLLABLES if HANGUL[0] <= word[0] <= HANGUL[1] else STEM_LETTERS]


@dataclass(frozen=True)
class Bags:
    """The distinct words of sentences (n, MOST_IN_SENTENCE), filled up with the number of words.

    rarity: (words + 1,) log of sentences per occurrence; 0 for what fills up.
    """

    words: NDArray[np.int32]
    rarity: Vectors

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.rarity) - 1

    @cached_property
    def matrix(self) -> csr_array:
        """(n, words) 1 where a sentence has the word."""
        is_word = self.words < self.size
        ends = np.append(0, is_word.sum(axis=1).cumsum())
        return csr_array(
            (np.ones(ends[-1], np.float32), self.words[is_word], ends), shape=(len(self.words), self.size)
        )


def bags(rows: Sequence[Numbers], rarity: Weights) -> Bags:
    """Bags of sentences, given the word of each token; unknown words have the last number."""
    size = len(rarity)
    sentences = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    words = np.concatenate([*rows, np.empty(0, np.int64)])
    is_known = words < size
    # Words are numbered by frequency: the rarest come first.
    kinds = np.unique(sentences[is_known] * size + (size - 1 - words[is_known]))
    sentences, words = kinds // max(1, size), size - 1 - kinds % max(1, size)
    places = np.arange(len(words)) - np.searchsorted(sentences, sentences)
    filled = np.full((len(rows), MOST_IN_SENTENCE), size, np.int32)
    fits = places < MOST_IN_SENTENCE
    filled[sentences[fits], places[fits]] = words[fits]
    return Bags(filled, np.append(rarity, 0).astype(np.float32))


@dataclass(frozen=True)
class Alignment:
    """Expected counts of how often words of two languages translate each other.

    first, second: (m,) word numbers. counts: (m,), less LEAST_COUNT. first_totals, second_totals: how often
    each word occurs.
    """

    first: Numbers
    second: Numbers
    counts: Weights
    first_totals: Weights
    second_totals: Weights

    @property
    def forward(self) -> Weights:
        """(m,) the probability of the second word given the first."""
        shares: Weights = np.minimum(1, self.counts / (self.first_totals[self.first] + SMOOTHING))
        return shares

    @property
    def backward(self) -> Weights:
        """(m,) the probability of the first word given the second."""
        shares: Weights = np.minimum(1, self.counts / (self.second_totals[self.second] + SMOOTHING))
        return shares

    def likely(self, least: float) -> tuple[Numbers, Vectors]:
        """Translations of first words (m, 2), all of `least` probability or more, and these probabilities."""
        chosen = np.flatnonzero(self.forward >= least)
        pairs = np.stack([self.first[chosen], self.second[chosen]], axis=1)
        return pairs, self.forward[chosen].astype(np.float32)


def align(first: csr_array, second: csr_array, pairs: Numbers, weights: Weights) -> Alignment:
    """Align the words of paired sentences by IBM model 1 in both directions.

    first, second: (sentences, words). pairs: (m, 2) rows of them, weighted. The counts are the geometric
    means of both directions, so that what only one of them believes counts for little.
    """
    left, right = first[pairs[:, 0]], second[pairs[:, 1]]
    heights, widths = np.diff(left.indptr).astype(np.int64), np.diff(right.indptr).astype(np.int64)
    links = heights * widths
    pair = np.repeat(np.arange(len(pairs)), links)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(links) - links, links)
    # The occurrence of a word that each link starts from, and the one that it ends at.
    starts, ends = left.indptr[pair] + place // widths[pair], right.indptr[pair] + place % widths[pair]
    rows, columns = left.indices[starts].astype(np.int64), right.indices[ends].astype(np.int64)
    kinds, kind = np.unique(rows * second.shape[1] + columns, return_inverse=True)
    first_words, second_words = np.divmod(kinds, second.shape[1])
    first_totals = np.bincount(left.indices, np.repeat(weights, heights), minlength=first.shape[1])
    second_totals = np.bincount(right.indices, np.repeat(weights, widths), minlength=second.shape[1])
    mass = max(float(weights.sum()), 1e-9)
    forward = backward = np.ones(len(kinds))
    chances = np.zeros(len(pair)), np.zeros(len(pair))
    for _ in range(ROUNDS):
        ahead = _shares(forward[kind], ends, right.nnz, chances[0]) * weights[pair]
        back = _shares(backward[kind], starts, left.nnz, chances[1]) * weights[pair]
        counts = [np.bincount(kind, shares, minlength=len(kinds)) for shares in (ahead, back)]
        forward = counts[0] / np.maximum(first_totals[first_words], 1e-9)
        backward = counts[1] / np.maximum(second_totals[second_words], 1e-9)
        chances = CHANCE * second_totals[columns] / mass, CHANCE * first_totals[rows] / mass
    both = np.sqrt(counts[0] * counts[1]) - LEAST_COUNT
    taught = both > 0
    return Alignment(
        first_words[taught],
        second_words[taught],
        both[taught],
        first_totals.astype(np.float64),
        second_totals.astype(np.float64),
    )


def _shares(values: Weights, owners: Numbers, count: int, chances: Weights) -> Weights:
    """Each link's share of all links of its occurrence, of which there are `count`, and chance."""
    sums = np.bincount(owners, values, minlength=count)
    shares: Weights = values / (sums[owners] + chances + 1e-12)
    return shares


class WordTranslations:
    """Which words of `second` those of `first` mean, as the pairs of other folds say."""

    def __init__(self, first: Bags, second: Bags, folds: NDArray[np.int64]) -> None:
        """`folds`: of each sentence of `first`, below FOLDS."""
        self.first, self.second, self.folds = first, second, folds
        self._alignments: list[Alignment] = []
        self._tables: list[NDArray[np.float16]] = []  # the same as matrices, the likelier direction of each

    def learn(self, pairs: Numbers, weights: Weights) -> None:
        """Learn from weighted pairs (m, 2), in place of what was learned before."""
        self._alignments, self._tables = [], []
        for fold in range(FOLDS):
            others = self.folds[pairs[:, 0]] != fold
            alignment = align(self.first.matrix, self.second.matrix, pairs[others], weights[others])
            table = np.zeros((self.first.size + 1, self.second.size + 1), np.float16)
            table[alignment.first, alignment.second] = np.maximum(alignment.forward, alignment.backward)
            self._alignments.append(alignment)
            self._tables.append(table)

    def vectors(self, seed: int) -> Vectors:
        """Unit vectors (n, TRANSLATED_WIDTH) of the translations of the first side's sentences.

        Comparable with `word_vectors` of the second; zeros before anything is learned.
        """
        out = np.zeros((len(self.first.words), TRANSLATED_WIDTH), np.float32)
        projection = _projection(self.second.size, seed)
        for fold, alignment in enumerate(self._alignments):
            shape = self.first.size, self.second.size
            forward = csr_array((alignment.forward, (alignment.first, alignment.second)), shape=shape)
            words = self.first.rarity[:-1, None] * (forward @ projection)
            rows = np.flatnonzero(self.folds == fold)
            out[rows] = unit((self.first.matrix[rows] @ words).astype(np.float32))
        return out

    def coverage(self, firsts: Numbers, seconds: Numbers) -> tuple[Vectors, Vectors]:
        """How far sentences (m,) and candidates (m, k) have translations of each other's words: each (m, k).

        The mean of a sentence's words by rarity, each as probable as its best translation in the other.
        """
        covered = np.zeros(seconds.shape, np.float32), np.zeros(seconds.shape, np.float32)
        for start in range(0, len(firsts), BLOCK):
            part = slice(start, start + BLOCK)
            for fold, table in enumerate(self._tables):
                rows = start + np.flatnonzero(self.folds[firsts[part]] == fold)
                left = self.first.words[firsts[rows]]
                right = self.second.words[seconds[rows]]
                likely = table[left[:, None, :, None], right[:, :, None, :]].astype(np.float32)
                covered[0][rows] = _mean(likely.max(axis=3), self.first.rarity[left][:, None])
                covered[1][rows] = _mean(likely.max(axis=2), self.second.rarity[right])
        return covered


def word_vectors(sentences: Bags, seed: int) -> Vectors:
    """Unit vectors (n, TRANSLATED_WIDTH) of sentences by their words, projected at random."""
    weighted = sentences.rarity[:-1, None] * _projection(sentences.size, seed)
    return unit((sentences.matrix @ weighted).astype(np.float32))


def _projection(words: int, seed: int) -> Vectors:
    draw = np.random.default_rng(seed)
    return draw.standard_normal((words, TRANSLATED_WIDTH), np.float32)


def _mean(values: Vectors, weights: Vectors) -> Vectors:
    means: Vectors = (values * weights).sum(axis=-1) / np.maximum(weights.sum(axis=-1), 1e-6)
    return means
