"""Words that translate each other, as the words beside them say.

Pictures show things. "Tomorrow", "please" and "how" stand beside words for things. The context of a word is
the mean vector of the words that it shares sentences with: as pictures give these vectors, contexts compare
across languages (Rapp 1995; Fung and Yee 1998). What the first pass finds makes the contexts of the next
(Artetxe et al. 2017, where vectors of words, not of contexts, are mapped). No sentence needs a translation:
this begins where too few words have a picture for sentences to find theirs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from index.encoder.vectors import unit
from index.vectors.neighbourhoods import csls

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

MOST_WORDS = 4000  # of a language, that are compared: the most frequent
LEAST_SENTENCES = 3  # that have a word: fewer tell nothing of its contexts
PASSES = 10
CANDIDATES = 10  # translations of a word that its vector is made of
SHARPNESS = 10.0  # of their shares, per unit of the score
LESS_OF_OWN = 0.9  # what the vectors by themselves count in a pass, of what they did before
RARITY_WEIGHT = 0.15  # of how much rarer one word is than the other, against scores
SURE = 10.0  # how sharply a word's score decides what it counts in contexts


@dataclass(frozen=True)
class Contexts:
    """A language's words, and the sentences that have them.

    sentences: (n, words) 1 where a sentence has the word. vectors: (words, d), by themselves. numbers: of the
    words (words,), among all of the language.
    """

    sentences: csr_array
    vectors: Vectors
    numbers: Numbers

    @classmethod
    def of(cls, sentences: csr_array, vectors: Vectors) -> "Contexts":
        """The MOST_WORDS words that most sentences have, if LEAST_SENTENCES have them."""
        counts = np.asarray(sentences.sum(axis=0))
        frequent = np.argsort(-counts, kind="stable")[:MOST_WORDS]
        kept = np.sort(frequent[counts[frequent] >= LEAST_SENTENCES])
        return cls(sentences[:, kept], vectors[kept], kept)

    @cached_property
    def counts(self) -> Vectors:
        """(words,) of sentences that have the word."""
        counts: Vectors = np.asarray(self.sentences.sum(axis=0), np.float32)
        return counts

    @cached_property
    def rarity(self) -> Vectors:
        """(words,) log of sentences per occurrence."""
        rarity: Vectors = np.log(max(1, self.sentences.shape[0]) / self.counts)
        return rarity

    def means(self, vectors: Vectors, shares: Vectors) -> Vectors:
        """Unit vectors (words, d) of the contexts of words: what others count by rarity times `shares`."""
        weights = self.rarity * shares
        weighted = weights[:, None] * vectors
        counts = self.counts
        sums = self.sentences.T @ (self.sentences @ weighted) - counts[:, None] * weighted
        totals = self.sentences.T @ (self.sentences @ weights) - counts * weights
        means = sums / np.maximum(totals, 1e-6)[:, None]
        return unit((means - np.average(means, axis=0, weights=counts)).astype(np.float32))


def translations(first: Contexts, second: Contexts) -> tuple[Numbers, Vectors]:
    """Pairs of words (m, 2), by their numbers, and how probably the first means the second, times its weight.

    Each word of `first` has CANDIDATES. Frequent words, whose contexts say more, weigh more: by the square
    root of how often they occur.
    """
    candidates = min(CANDIDATES, len(second.vectors))
    if not candidates or not len(first.vectors):
        return np.empty((0, 2), np.int64), np.empty(0, np.float32)
    own = csls(first.vectors @ second.vectors.T)
    frequencies = [np.log(side.counts / side.counts.sum()) for side in (first, second)]
    own_weight, less = 1.0, RARITY_WEIGHT * np.abs(frequencies[0][:, None] - frequencies[1])
    others = second.means(second.vectors, np.ones(len(second.vectors), np.float32))
    vectors, shares = first.vectors, np.ones(len(first.vectors), np.float32)
    for _ in range(PASSES):
        scores = own_weight * own + csls(first.means(vectors, shares) @ others.T) - less
        best = np.argpartition(-scores, candidates - 1, axis=1)[:, :candidates]
        likely = np.take_along_axis(scores, best, axis=1)
        probable = softmax(SHARPNESS * likely, axis=1)
        vectors = unit(np.einsum("wc,wcd->wd", probable, second.vectors[best]).astype(np.float32))
        top = likely.max(axis=1)
        shares = expit(SURE * (top - np.median(top)))
        own_weight *= LESS_OF_OWN
    weights = np.sqrt(first.counts)
    pairs = np.stack([np.repeat(first.numbers, candidates), second.numbers[best.ravel()]], axis=1)
    return pairs, (probable * (weights / weights.mean())[:, None]).ravel().astype(np.float32)
