"""The words of languages, and which translate each other, as probable pairs of sentences say.

An encoder that was trained on a mined pair finds it again, right or wrong. What other pairs say of its words
does not depend on it. Near candidates that are wrong still share words, so that words are learned before most
sentences have found their translation. Words are compared by their stems: most inflected forms occur once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from index.arrays import Numbers, Vectors, unit
from training.data.tokens import TokenIds
from training.encoders.base import pick_device

Weights = NDArray[np.float64]

LEAST_OCCURRENCES, MOST_WORDS = 2, 9000  # of a language's words, and of its stems
STEM_LETTERS = 5  # a word's first letters: enough to align inflected forms (Fraser and Marcu 2005 take four)
STEM_SYLLABLES = 2  # in Hangul, whose letters are syllables
HANGUL = ("가", "힣")
# Serbian is written in two alphabets, and what one says of a word is said of the other's.
SERBIAN = str.maketrans(
    {"љ": "lj", "њ": "nj", "џ": "dž"}
    | dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True))
)
FOLDS = 2  # of sentences: each is compared by what the pairs of the others teach
ROUNDS = 5  # of expectation and maximisation
LEAST_COUNT = 0.4  # subtracted from expected counts: one pair alone teaches next to nothing
SMOOTHING = 1.0  # added to a word's occurrences
CHANCE = 0.1  # the weight of a word's frequency against its translations
MOST_IN_SENTENCE = 10  # units of a sentence that are compared: the rarest
TRANSLATED_WIDTH = 192  # of the vectors by which sentences with the same translations are found


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
        """List the frequent words of sentences."""
        kept = frequent(sentences)
        number = {name: place for place, name in enumerate(kept)}
        rows = [np.asarray([number.get(w, len(kept)) for w in words], np.int64) for words in sentences]
        counts = np.fromiter(kept.values(), np.float64, len(kept))
        return cls(list(kept), rows, np.log(np.maximum(1, len(sentences) / counts)))

    def bags(self, rows: Sequence[Numbers]) -> "Bags":
        """Bags of sentences, given the number of each word; rare words have the last."""
        size = len(self.names)
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
        return Bags(filled, np.append(self.rarity, 0).astype(np.float32))


def frequent(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """The words that occur LEAST_OCCURRENCES times, the most frequent first, MOST_WORDS at most."""
    counts = Counter(chain.from_iterable(sentences)).most_common(MOST_WORDS)
    return {name: count for name, count in counts if count >= LEAST_OCCURRENCES}


def stem(word: str, language: str) -> str:
    """The first letters of a word, whatever its inflection; Latin ones in Serbian, whatever its alphabet."""
    word = word.translate(SERBIAN) if language == "sr" else word
    return word[: STEM_SYLLABLES if HANGUL[0] <= word[0] <= HANGUL[1] else STEM_LETTERS]


@dataclass(frozen=True)
class Bags:
    """The distinct words of sentences (n, MOST_IN_SENTENCE), filled up with the number of words.

    rarity: (words + 1,) log of sentences per occurrence; 0 for what fills up.
    """

    words: TokenIds
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

    def table(self, values: Weights) -> csr_array:
        """(first words, second words) of values (m,)."""
        shape = len(self.first_totals), len(self.second_totals)
        return csr_array((values, (self.first, self.second)), shape=shape)


def align(first: csr_array, second: csr_array, pairs: Numbers, weights: Weights) -> Alignment:
    """Align the words of paired sentences by IBM model 1 in both directions.

    first, second: (sentences, words). pairs: (m, 2) rows of them, weighted. The counts are the geometric
    means of both directions, so that what only one of them believes counts for little.
    """
    on_device = partial(torch.as_tensor, device=pick_device())
    left, right = first[pairs[:, 0]], second[pairs[:, 1]]
    (left_starts, left_words), (right_starts, right_words) = (
        (on_device(side.indptr).long(), on_device(side.indices).long()) for side in (left, right)
    )
    heights, widths, mass = left_starts.diff(), right_starts.diff(), max(float(weights.sum()), 1e-9)
    links, weighted = heights * widths, on_device(weights)
    pair = torch.arange(len(pairs), device=links.device).repeat_interleave(links)
    place = torch.arange(len(pair), device=links.device) - (links.cumsum(0) - links)[pair]
    # The occurrence of a word that each link starts from, and the one that it ends at.
    starts, ends = left_starts[pair] + place // widths[pair], right_starts[pair] + place % widths[pair]
    rows, columns = left_words[starts], right_words[ends]
    kinds, kind = torch.unique(rows * second.shape[1] + columns, return_inverse=True)
    first_words, second_words = kinds // second.shape[1], kinds % second.shape[1]
    first_totals = left_words.bincount(weighted.repeat_interleave(heights), first.shape[1])
    second_totals = right_words.bincount(weighted.repeat_interleave(widths), second.shape[1])
    forward = backward = torch.ones(len(kinds), dtype=torch.float64, device=links.device)
    chances = torch.zeros((2, len(pair)), dtype=torch.float64, device=links.device)
    for _ in range(ROUNDS):
        ahead = _shares(forward[kind], ends, right.nnz, chances[0]) * weighted[pair]
        back = _shares(backward[kind], starts, left.nnz, chances[1]) * weighted[pair]
        counts = [kind.bincount(shares, len(kinds)) for shares in (ahead, back)]
        forward = counts[0] / first_totals[first_words].clamp(min=1e-9)
        backward = counts[1] / second_totals[second_words].clamp(min=1e-9)
        chances = torch.stack([second_totals[columns], first_totals[rows]]) * (CHANCE / mass)
    both = (counts[0] * counts[1]).sqrt() - LEAST_COUNT
    taught = both > 0
    found = first_words[taught], second_words[taught], both[taught], first_totals, second_totals
    return Alignment(*(part.cpu().numpy() for part in found))


def _shares(values: Tensor, owners: Tensor, count: int, chances: Tensor) -> Tensor:
    """Each link's share of all links of its occurrence, of which there are `count`, and chance."""
    return values / (owners.bincount(values, count)[owners] + chances + 1e-12)


class WordTranslations:
    """Which words of `second` those of `first` mean, as the pairs of other folds say."""

    def __init__(self, first: Bags, second: Bags, folds: Numbers) -> None:
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
            words = self.first.rarity[:-1, None] * (alignment.table(alignment.forward) @ projection)
            rows = np.flatnonzero(self.folds == fold)
            out[rows] = unit((self.first.matrix[rows] @ words).astype(np.float32))
        return out

    def coverage(self, firsts: Numbers, seconds: Numbers) -> tuple[Vectors, Vectors]:
        """How far the sentences of pairs, rows of both sides (m,), have translations of each other's words.

        (m,) each: the mean of a sentence's words by rarity, each as probable as its best translation in the
        other.
        """
        covered = np.zeros(len(firsts), np.float32), np.zeros(len(firsts), np.float32)
        for fold, table in enumerate(self._tables):
            pairs = np.flatnonzero(self.folds[firsts] == fold)
            left, right = self.first.words[firsts[pairs]], self.second.words[seconds[pairs]]
            likely = table[left[:, :, None], right[:, None, :]].astype(np.float32)
            covered[0][pairs] = _mean(likely.max(axis=2), self.first.rarity[left])
            covered[1][pairs] = _mean(likely.max(axis=1), self.second.rarity[right])
        return covered


def word_vectors(sentences: Bags, seed: int) -> Vectors:
    """Unit vectors (n, TRANSLATED_WIDTH) of sentences by their words, projected at random."""
    weighted = sentences.rarity[:-1, None] * _projection(sentences.size, seed)
    return unit((sentences.matrix @ weighted).astype(np.float32))


def _projection(words: int, seed: int) -> Vectors:
    draw = np.random.default_rng(seed)
    return draw.standard_normal((words, TRANSLATED_WIDTH), np.float32)


def _mean(values: Vectors, weights: Vectors) -> Vectors:
    mean: Vectors = (values * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-6)
    return mean
