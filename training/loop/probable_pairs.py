"""Finds pairs of sentences that are probably translations of each other, among unaligned sentences.

The probability is learned without labels, by decoys, as in peptide identification (Elias and Gygi 2007; Käll
et al. 2007). A decoy consists of halves of two sentences, so it has no translation. Decoys are searched for
together with the sentences; pairs that look like those of decoys are due to chance.
"""

from collections.abc import Sequence
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import unit
from index.search.hubness import csls_scores

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Tokens = NDArray[np.int32]

FLAT_ROWS = 4096  # up to here comparing with every vector is as fast
TRAINING_ROWS = 20_000  # that an index is learned from
LIST_SHARE = 16  # a search reads one in so many lists
REFINED = 6  # candidates compared exactly, for each neighbour to be found
PARTNERS = 3  # nearest candidates of a sentence whose own neighbours are searched
FAR = np.float32(-9.0)  # below every CSLS score
MOST_GAP = 0.5
SIMILAR_LENGTHS = 20  # a decoy's halves come from sentences at most so far apart in the order of length
KMEANS_ROUNDS = 5
STEPS = 25  # of Newton's method, for a convex loss
RIDGE = 1e-3


def decoys(sentences: Sequence[Tokens], share: float, draw: np.random.Generator) -> list[Tokens]:
    """Make decoys from the first half of one sentence and the second half of another.

    `share`: their number for each sentence. The two sentences have similar lengths, so that decoys are as
    long as sentences.
    """
    order = np.argsort([len(row) for row in sentences], kind="stable")
    count = len(order)
    if count < 2:
        return []
    firsts = draw.integers(count, size=round(share * count))
    steps = draw.integers(1, min(SIMILAR_LENGTHS, count - 1) + 1, size=len(firsts))
    seconds = np.where(firsts + steps < count, firsts + steps, firsts - steps)
    pairs = ((sentences[order[i]], sentences[order[j]]) for i, j in zip(firsts, seconds, strict=True))
    return [np.concatenate([a[: (len(a) + 1) // 2], b[(len(b) + 1) // 2 :]]) for a, b in pairs]


class Side:
    """One language's share of a search: centred unit vectors (n, d), and their neighbours.

    lengths: of the sentences, in tokens (n,). The first `real` are sentences, the others decoys.
    """

    def __init__(self, vectors: Vectors, lengths: Sequence[int], real: int, seed: int) -> None:
        """`vectors` are unit rows; they are centred by the mean of the sentences among them."""
        self.vectors = np.ascontiguousarray(unit(vectors - vectors[:real].mean(axis=0)))
        self.lengths = np.maximum(np.asarray(lengths), 1)
        self.real = real
        self._index = _neighbours(self.vectors, seed)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Numbers]:
        """Cosines and rows (n, k) of the nearest k, or all if there are fewer; row 0 at -1 where none is."""
        cosines, rows = self._index.search(np.ascontiguousarray(queries), min(k, len(self.vectors)))
        missing = rows < 0
        return np.where(missing, np.float32(-1), cosines), np.where(missing, 0, rows)


def _neighbours(vectors: Vectors, seed: int) -> Any:  # noqa: ANN401 (faiss is untyped)
    """Index vectors; if there are many, a search finds about two thirds of the nearest."""
    count, dimension = vectors.shape
    index: Any = faiss.IndexFlatIP(dimension)
    if count > FLAT_ROWS:
        lists = round(count**0.5)
        factory = f"IVF{lists},PQ{dimension // 4}x4fs,RFlat"
        index = faiss.index_factory(dimension, factory, faiss.METRIC_INNER_PRODUCT)
        inverted = faiss.extract_index_ivf(index.base_index)
        inverted.cp.niter, inverted.nprobe = KMEANS_ROUNDS, max(1, lists // LIST_SHARE)
        index.k_factor = REFINED
        index.train(vectors[np.random.default_rng(seed).permutation(count)[:TRAINING_ROWS]])
    index.add(vectors)
    return index


def probable_pairs(first: Side, second: Side, k: int) -> tuple[Numbers, Vectors]:
    """Pair sentences that are each other's nearest by CSLS, with the probability that they are translations.

    Only the first side has decoys. `k` is that of CSLS. Returns rows (m, 2) and probabilities (m,).
    """
    cosines, candidates = second.search(first.vectors, k)
    crowd = cosines.mean(axis=1)
    asked, place = _places(candidates[:, :PARTNERS], len(second.vectors))
    back_cosines, back_rows = first.search(second.vectors[asked], k)
    back_crowd = back_cosines.mean(axis=1)
    # A candidate that was not searched for is at best the fourth of any sentence: it counts as a hub.
    crowds = np.where(place[candidates] >= 0, back_crowd[place[candidates]], back_crowd.max())
    score, gap, best = _two_best(csls_scores(cosines, crowd[:, None], crowds), candidates)
    _, back_gap, back = _two_best(csls_scores(back_cosines, back_crowd[:, None], crowd[back_rows]), back_rows)
    partner = place[best]
    mutual = np.flatnonzero((partner >= 0) & (back[partner] == np.arange(len(best))))
    lengths = np.log(np.stack([first.lengths[mutual], second.lengths[best[mutual]]]))
    features = _features(
        score[mutual],
        gap[mutual],
        back_gap[partner[mutual]],
        lengths,
        crowd[mutual] + back_crowd[partner[mutual]],
    )
    are_real = mutual < first.real
    chance = first.real / max(1, len(first.vectors) - first.real)
    probabilities = _probabilities(features, are_real, chance)
    return np.stack([mutual, best[mutual]], axis=1)[are_real], probabilities


def _places(candidates: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The distinct candidates, and the position of each of `count` rows among them; -1 if it is not one."""
    asked = np.unique(candidates)
    place = np.full(count, -1)
    place[asked] = np.arange(len(asked))
    return asked, place


def _two_best(scores: Vectors, rows: Numbers) -> tuple[Vectors, Vectors, Numbers]:
    """The best score of each query, how far the second is below it, and the row of the best."""
    queries = np.arange(len(scores))
    best = scores.argmax(axis=1)
    others = scores.copy()
    others[queries, best] = FAR
    highest = scores[queries, best]
    return highest, np.minimum(highest - others.max(axis=1), MOST_GAP), rows[queries, best]


def _features(
    score: Vectors, gap: Vectors, back_gap: Vectors, lengths: NDArray[np.float64], crowds: Vectors
) -> NDArray[np.float64]:
    """(m, 14): the scores of pairs, the lengths of their sentences, and products of these."""
    shorter, ratio = lengths.min(axis=0), lengths[0] - lengths[1]
    unequal = np.abs(ratio - np.median(ratio)) if len(ratio) else ratio
    cosine = (score + crowds) / 2
    plain = (score, gap, back_gap, cosine, shorter, unequal)
    products = (score * shorter, gap * shorter, back_gap * shorter, score * gap)
    squares = (score**2, shorter**2, gap**2, unequal**2)
    return np.stack([*plain, *products, *squares], axis=1).astype(np.float64)


def _probabilities(features: NDArray[np.float64], are_real: NDArray[np.bool_], chance: float) -> Vectors:
    """The probability of each real pair: 1 - the expected number of chance pairs for each pair like it.

    Decoys estimate the chance pairs; `chance` is the number of sentences for each decoy.
    """
    if are_real.all() or not are_real.any():
        return np.full(int(are_real.sum()), 1.0 if are_real.any() else 0.0, np.float32)
    deviation = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    real_share = _logistic(np.c_[scaled, np.ones(len(scaled))], are_real)[are_real]
    return np.clip(1 - chance * (1 - real_share) / real_share, 0, 1).astype(np.float32)


def _logistic(features: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fit a logistic regression with an L2 penalty by Newton's method; returns the fitted probabilities."""
    weights = np.zeros(features.shape[1])
    penalty = RIDGE * np.eye(len(weights))
    for _ in range(STEPS):
        fitted = _sigmoid(features @ weights)
        gradient = features.T @ (fitted - labels) / len(labels) + penalty @ weights
        curvature = (features * (fitted * (1 - fitted))[:, None]).T @ features / len(labels) + penalty
        weights -= np.linalg.solve(curvature, gradient)
    return np.clip(_sigmoid(features @ weights), 1e-6, 1 - 1e-6)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))
