"""Words that translate each other, as the words beside them say.

Pictures show things. "Tomorrow", "please" and "how" stand beside words for things. The context of a word is
the mean vector of the words that it shares sentences with: as pictures give these vectors, contexts compare
across languages (Rapp 1995; Fung and Yee 1998). What the first pass finds makes the contexts of the next
(Artetxe et al. 2017, where vectors of words, not of contexts, are mapped). No sentence needs a translation:
this begins where too few words have a picture for sentences to find theirs.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_array
from torch import Tensor

from index.arrays import Numbers, Vectors
from index.vectors.neighbourhoods import CSLS_NEIGHBOURS
from training.encoders.base import pick_device

# For figures of the method see docs/research.md, "Words by what stands beside them". Of these numbers no
# comparison was kept; they are as first set (7977b8bc).
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

    def means(self, vectors: Tensor, shares: Tensor) -> Tensor:
        """Unit vectors (words, d) of the contexts of words: what others count by rarity times `shares`."""
        counts = torch.as_tensor(self.counts, device=vectors.device)[:, None]
        weights = torch.as_tensor(self.rarity, device=vectors.device)[:, None] * shares[:, None]
        weighted = torch.cat([weights * vectors, weights], dim=1)
        sentences = self._matrix.to(vectors.device)
        sums = sentences.T @ (sentences @ weighted) - counts * weighted
        means = sums[:, :-1] / sums[:, -1:].clamp(min=1e-6)
        return F.normalize(means - (means * counts).sum(dim=0) / counts.sum())

    @cached_property
    def _matrix(self) -> Tensor:
        """The same as `sentences`, for torch."""
        rows = self.sentences.tocoo()
        places, ones = torch.from_numpy(np.stack(rows.coords)), torch.from_numpy(rows.data)
        matrix = torch.sparse_coo_tensor(places, ones, rows.shape, check_invariants=True)
        return matrix.coalesce()


def translations(first: Contexts, second: Contexts) -> tuple[Numbers, Vectors]:
    """Pairs of words (m, 2), by their numbers, and how probably the first means the second, times its weight.

    Each word of `first` has CANDIDATES. Frequent words, whose contexts say more, weigh more: by the square
    root of how often they occur.
    """
    candidates = min(CANDIDATES, len(second.vectors))
    if not candidates or not len(first.vectors):
        return np.empty((0, 2), np.int64), np.empty(0, np.float32)
    on_device = partial(torch.as_tensor, device=pick_device())
    vectors, second_vectors = on_device(first.vectors), on_device(second.vectors)
    own = _csls(vectors @ second_vectors.T)
    frequencies = [on_device(np.log(side.counts / side.counts.sum())) for side in (first, second)]
    own_weight, less = 1.0, RARITY_WEIGHT * (frequencies[0][:, None] - frequencies[1]).abs()
    others = second.means(second_vectors, torch.ones_like(frequencies[1])).T
    shares = torch.ones_like(frequencies[0])
    for _ in range(PASSES):
        scores = own_weight * own + _csls(first.means(vectors, shares) @ others) - less
        likely, best = scores.topk(candidates)
        probable = (SHARPNESS * likely).softmax(dim=1)
        vectors = F.normalize((probable[:, None] @ second_vectors[best])[:, 0])
        shares = (SURE * (likely[:, 0] - likely[:, 0].quantile(0.5))).sigmoid()
        own_weight *= LESS_OF_OWN
    weights = np.sqrt(first.counts)
    found, shares_of_found = best.cpu().numpy(), probable.cpu().numpy()
    pairs = np.stack([np.repeat(first.numbers, candidates), second.numbers[found.ravel()]], axis=1)
    return pairs, (shares_of_found * (weights / weights.mean())[:, None]).ravel().astype(np.float32)


def _csls(cosines: Tensor) -> Tensor:
    """CSLS scores of all with all, from cosines (n, m): see index.vectors.neighbourhoods."""
    rows, columns = (
        cosines.topk(min(CSLS_NEIGHBOURS, cosines.shape[dim]), dim=dim).values.mean(dim=dim) for dim in (1, 0)
    )
    return 2 * cosines - rows[:, None] - columns
