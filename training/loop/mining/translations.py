"""Learns which words translate each other from the likely candidates of sentences, and compares by them.

An encoder that was trained on a mined pair finds it again, right or wrong. What other pairs say of its words
does not depend on it. So sentences are divided into folds, and each is compared with its candidates by the
translations that the other folds taught. Near candidates that are wrong still share words, so this finds what
words mean before most sentences have found their translation.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from index.encoder.vectors import unit
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means
from training.loop.mining.alignment import Alignment, Bags, align
from training.loop.mining.side import FLAT_ROWS, Side, places

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Weights = NDArray[np.float64]

FOLDS = 2
PASSES = 2  # of learning translations from candidates, and finding candidates by them
LIKELY = 4  # candidates of a sentence that translations are learned from
SHARPNESS = 20.0  # of a candidate's likelihood, per unit of its score
UNTRANSLATED = 0.6  # the share of sentences whose best candidate is less likely than none
LEAST_LIKELY = 0.02
SAMPLE = 1500  # sentences over which the neighbourhoods of candidates are taken
TRANSLATED_WIDTH = 192  # of the vectors by which sentences with the same translations are found
TRANSLATED_WEIGHT = 0.6  # of these beside the other vectors
COVERAGE_WEIGHT = 0.8  # of what translations cover, beside CSLS; chosen as decision 99 says
BLOCK = 2000  # sentences compared at a time


def with_words(side: Side) -> Side:
    """The same sentences with the vectors of their words beside theirs, if they have words."""
    if side.words is None:
        return side
    return side.beside(TRANSLATED_WEIGHT * word_vectors(side.words, side.seed))


def learned(first: Side, second: Side, k: int) -> tuple[Side, "WordTranslations | None"]:
    """Learn translations of words, if both sides have words; the second must be `with_words`.

    Returns the first side with the vectors of its words' translations beside its own.
    """
    if first.words is None or first.folds is None or second.words is None:
        return first, None
    translations = WordTranslations(first.words, second.words, first.folds)
    side = first.beside(TRANSLATED_WEIGHT * translations.vectors(second.seed))
    for number in range(PASSES):
        translations.learn(*_likely(side, second, translations if number else None, k))
        side = first.beside(TRANSLATED_WEIGHT * translations.vectors(second.seed))
    return side, translations


def _likely(
    first: Side, second: Side, translations: "WordTranslations | None", k: int
) -> tuple[Numbers, Weights]:
    """The likely candidates (m, 2) of all sentences, and how likely each is (m,).

    By a softmax over a sentence's candidates and none.
    """
    real = first.vectors[: first.real]
    cosines, candidates = second.search(real, k)
    asked, place = places(candidates, len(second.vectors))
    sample = real[np.random.default_rng(first.seed).permutation(len(real))[:SAMPLE]]
    k_of_sample = max(3, round(k * len(sample) / len(real)))
    crowds = np.concatenate(
        [
            neighbourhood_means(second.vectors[part] @ sample.T, k_of_sample)
            for part in np.array_split(asked, 1 + len(asked) // FLAT_ROWS)
        ]
    )
    scores = csls_scores(cosines, cosines.mean(axis=1)[:, None], crowds[place[candidates]])
    if translations:
        scores += COVERAGE_WEIGHT * sum(translations.coverage(np.arange(len(real)), candidates))
    none = np.quantile(scores.max(axis=1), UNTRANSLATED)
    likelihoods = np.exp(SHARPNESS * (scores - none))
    shares = likelihoods / (1 + likelihoods.sum(axis=1, keepdims=True))
    best = np.argsort(-shares, axis=1)[:, :LIKELY]
    rows = np.arange(len(real))[:, None]
    pairs = np.stack(np.broadcast_arrays(rows, candidates[rows, best]), axis=-1).reshape(-1, 2)
    weights = shares[rows, best].ravel().astype(np.float64)
    return pairs[weights > LEAST_LIKELY], weights[weights > LEAST_LIKELY]


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
