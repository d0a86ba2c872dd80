"""Aligns the words of paired sentences (IBM model 1, Brown et al. 1993)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]

ROUNDS = 5  # of expectation and maximisation
LEAST_COUNT = 0.4  # subtracted from expected counts: one pair alone teaches next to nothing
SMOOTHING = 1.0  # added to a word's occurrences
CHANCE = 0.1  # the weight of a word's frequency against its translations
MOST_WORDS = 10  # of a sentence: the rarest


@dataclass(frozen=True)
class Bags:
    """The distinct words of sentences (n, MOST_WORDS), filled up with the number of words.

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
    filled = np.full((len(rows), MOST_WORDS), size, np.int32)
    fits = places < MOST_WORDS
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

    def best(self, least: float) -> tuple[Numbers, Vectors]:
        """Each first word with its most probable translation, (m, 2), and how probable that is (m,).

        Words that occur once in what was aligned, and probabilities below `least`, are left out.
        """
        forward = self.forward
        order = np.lexsort((-forward, self.first))
        _, places = np.unique(self.first[order], return_index=True)
        chosen = order[places]
        chosen = chosen[(forward[chosen] >= least) & (self.counts[chosen] >= 1)]
        return self._told(chosen)

    def likely(self, least: float) -> tuple[Numbers, Vectors]:
        """Translations of first words (m, 2), all of `least` probability or more, and these probabilities."""
        return self._told(np.flatnonzero(self.forward >= least))

    def _told(self, chosen: Numbers) -> tuple[Numbers, Vectors]:
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
