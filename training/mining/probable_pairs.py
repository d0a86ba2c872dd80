"""Finds pairs of sentences that are probably translations of each other, among unaligned sentences.

The probability is learned without labels, by artificial sentences, as in peptide identification (Elias and
Gygi 2007; Käll et al. 2007). An artificial sentence consists of halves of two sentences, so it has no
translation. They are searched for together with the sentences; pairs that look like theirs are due to chance.

Where both languages have words, candidates are compared by the translations of these, too
(training.mining.words), which are learned from the likeliest candidates of all sentences. Sentences are
divided into folds, and each is compared by what the other folds taught: no pair speaks for itself.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from index.arrays import Numbers, Vectors, unit
from index.vectors.neighbourhoods import csls_scores
from training.mining.nearest import Nearest, nearest_of
from training.mining.words import Bags, Weights, WordTranslations, word_vectors

Integer = TypeVar("Integer", np.int32, np.int64)

# Chosen on dev: TRANSLATED_WEIGHT (b0a0201d) and COSINE_WEIGHT (docs/research.md, "Candidates ordered by CSLS
# and half of the cosine"). Of the others no comparison was kept; they are as first set (b0a0201d, 33f6e811).
PARTNERS = 3  # nearest candidates of a sentence whose own neighbours are searched
FAR = np.float32(-9.0)  # below every CSLS score
MOST_GAP = 0.5
RIDGE = 1e-3
PASSES = 2  # of learning translations from candidates, and finding candidates by them
LIKELY = 4  # candidates of a sentence that translations are learned from
SHARPNESS = 20.0  # of a candidate's likelihood, per unit of its score
UNTRANSLATED = 0.6  # the share of sentences whose best candidate is less likely than none
LEAST_LIKELY = 0.02
SAMPLE = 1500  # sentences over which the neighbourhoods of candidates are taken
TRANSLATED_WEIGHT = 0.6  # of the vectors of translated words, beside the encoder's
COSINE_WEIGHT = 0.5  # beside CSLS, which makes too much of neighbourhoods here
SIMILAR_LENGTHS = 20  # halves come from sentences at most so far apart in the order of length


class Sentences:
    """One language's sentences: centred unit vectors (n, d), and their neighbours.

    lengths: of the sentences, in tokens (n,). The first `real` are real, the others artificial. words: of
    each, artificial ones included, if they are compared by words. folds: of each; an artificial one has that
    of both its halves.
    """

    def __init__(
        self,
        vectors: Vectors,
        lengths: Sequence[int],
        real: int,
        seed: int,
        words: Bags | None = None,
        folds: Numbers | None = None,
    ) -> None:
        """`vectors` are unit rows; they are centred by the mean of the real sentences among them."""
        self.vectors = np.ascontiguousarray(unit(vectors - vectors[:real].mean(axis=0)))
        self.lengths = np.maximum(np.asarray(lengths), 1)
        self.real, self.seed = real, seed
        self.words, self.folds = words, folds

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Numbers]:
        """Cosines and rows (n, k) of the nearest k, or all if there are fewer; row 0 at -1 where none is."""
        return self._nearest.search(queries, min(k, len(self.vectors)))

    def beside(self, others: Vectors) -> "Sentences":
        """The same sentences with further vectors (n, e) beside theirs."""
        vectors = np.concatenate([self.vectors, others], axis=1, dtype=np.float32)
        return Sentences(vectors, self.lengths.tolist(), self.real, self.seed, self.words, self.folds)

    @cached_property
    def _nearest(self) -> Nearest:
        return nearest_of(self.vectors, self.seed)


def probable_pairs(first: Sentences, second: Sentences, k: int) -> tuple[Numbers, Vectors]:
    """Pair sentences that are each other's nearest by CSLS, with the probability that they are translations.

    Only the first has artificial sentences. `k` is that of CSLS. Where both have words, the second must be
    `with_words`. Returns rows (m, 2) and probabilities (m,).
    """
    first, translations = _learned(first, second, k)
    cosines, candidates = second.search(first.vectors, k)
    crowd = cosines.mean(axis=1)
    asked, place = places(candidates[:, :PARTNERS], len(second.vectors))
    back_cosines, back_rows = first.search(second.vectors[asked], k)
    back_crowd = back_cosines.mean(axis=1)
    # A candidate that was not searched for is at best the fourth of any sentence: it counts as a hub.
    crowds = np.where(place[candidates] >= 0, back_crowd[place[candidates]], back_crowd.max())
    score, gap, best = _two_best(_scores(cosines, crowd[:, None], crowds), candidates)
    back_scores = _scores(back_cosines, back_crowd[:, None], crowd[back_rows])
    _, back_gap, back = _two_best(back_scores, back_rows)
    partner = place[best]
    mutual = np.flatnonzero((partner >= 0) & (back[partner] == np.arange(len(best))))
    lengths = np.log(np.stack([first.lengths[mutual], second.lengths[best[mutual]]]))
    covered = translations.coverage(mutual, best[mutual]) if translations else ()
    features = _features(
        score[mutual],
        gap[mutual],
        back_gap[partner[mutual]],
        lengths,
        crowd[mutual] + back_crowd[partner[mutual]],
        covered,
    )
    are_real = mutual < first.real
    chance = first.real / max(1, len(first.vectors) - first.real)
    probabilities = _probabilities(features, are_real, chance)
    return np.stack([mutual, best[mutual]], axis=1)[are_real], probabilities


def with_words(sentences: Sentences) -> Sentences:
    """The same sentences with the vectors of their words beside theirs, if they have words."""
    if sentences.words is None:
        return sentences
    return sentences.beside(TRANSLATED_WEIGHT * word_vectors(sentences.words, sentences.seed))


def _learned(first: Sentences, second: Sentences, k: int) -> tuple[Sentences, WordTranslations | None]:
    """Learn translations of words, if both have words; the second must be `with_words`.

    Returns the first with the vectors of its words' translations beside its own.
    """
    if first.words is None or first.folds is None or second.words is None:
        return first, None
    translations = WordTranslations(first.words, second.words, first.folds)
    compared = first.beside(TRANSLATED_WEIGHT * translations.vectors(second.seed))
    for _ in range(PASSES):
        translations.learn(*_likely(compared, second, k))
        compared = first.beside(TRANSLATED_WEIGHT * translations.vectors(second.seed))
    return compared, translations


def _likely(first: Sentences, second: Sentences, k: int) -> tuple[Numbers, Weights]:
    """The likely candidates (m, 2) of all sentences, and how likely each is (m,).

    By a softmax over a sentence's candidates and none.
    """
    real = first.vectors[: first.real]
    cosines, candidates = second.search(real, k)
    asked, place = places(candidates, len(second.vectors))
    sample = real[np.random.default_rng(first.seed).permutation(len(real))[:SAMPLE]]
    k_of_sample = min(max(3, round(k * len(sample) / len(real))), len(sample))
    crowds = nearest_of(sample, first.seed).search(second.vectors[asked], k_of_sample)[0].mean(axis=1)
    scores = _scores(cosines, cosines.mean(axis=1)[:, None], crowds[place[candidates]])
    none = np.quantile(scores.max(axis=1), UNTRANSLATED)
    likelihoods = np.exp(SHARPNESS * (scores - none))
    shares = likelihoods / (1 + likelihoods.sum(axis=1, keepdims=True))
    best = np.argsort(-shares, axis=1)[:, :LIKELY]
    rows = np.arange(len(real))[:, None]
    pairs = np.stack(np.broadcast_arrays(rows, candidates[rows, best]), axis=-1).reshape(-1, 2)
    weights = shares[rows, best].ravel().astype(np.float64)
    return pairs[weights > LEAST_LIKELY], weights[weights > LEAST_LIKELY]


def _scores(cosines: Vectors, queries: Vectors, rows: Vectors) -> Vectors:
    """The scores of candidates, from cosines and the neighbourhood means of queries and rows."""
    return csls_scores(cosines, queries, rows) + np.float32(COSINE_WEIGHT) * cosines


def _two_best(scores: Vectors, rows: Numbers) -> tuple[Vectors, Vectors, Numbers]:
    """The best score of each query, how far the second is below it, and the row of the best."""
    queries = np.arange(len(scores))
    best = scores.argmax(axis=1)
    others = scores.copy()
    others[queries, best] = FAR
    highest = scores[queries, best]
    return highest, np.minimum(highest - others.max(axis=1), MOST_GAP), rows[queries, best]


def _features(
    score: Vectors,
    gap: Vectors,
    back_gap: Vectors,
    lengths: NDArray[np.float64],
    crowds: Vectors,
    covered: Sequence[Vectors],
) -> NDArray[np.float64]:
    """(m, f): the scores of pairs, the lengths of sentences, what words cover, and products of these."""
    shorter, ratio = lengths.min(axis=0), lengths[0] - lengths[1]
    unequal = np.abs(ratio - np.median(ratio)) if len(ratio) else ratio
    cosine = (score + crowds) / (2 + COSINE_WEIGHT)
    plain = (score, gap, back_gap, cosine, shorter, unequal)
    products = (score * shorter, gap * shorter, back_gap * shorter, score * gap)
    squares = (score**2, shorter**2, gap**2, unequal**2)
    by_words = [(part, part**2, part * shorter, part * score) for part in covered]
    lower = [np.minimum(*covered)] if covered else []
    columns = [*plain, *products, *squares, *(column for part in by_words for column in part), *lower]
    return np.stack(columns, axis=1).astype(np.float64)


def _probabilities(features: NDArray[np.float64], are_real: NDArray[np.bool_], chance: float) -> Vectors:
    """The probability of each real pair: 1 - the expected number of chance pairs for each pair like it.

    Artificial sentences estimate the chance pairs; `chance` is the number of real ones for each.
    """
    if are_real.all() or not are_real.any():
        return np.full(int(are_real.sum()), 1.0 if are_real.any() else 0.0, np.float32)
    deviation = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    real_share = _logistic(np.c_[scaled, np.ones(len(scaled))], are_real)[are_real]
    return np.clip(1 - chance * (1 - real_share) / real_share, 0, 1).astype(np.float32)


def _logistic(features: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fit a logistic regression with an L2 penalty, also of the bias; returns the fitted probabilities."""
    signs = np.where(labels, -1.0, 1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (features @ weights)
        gradient = features.T @ (signs * expit(margins)) / len(labels) + RIDGE * weights
        return float(np.logaddexp(0, margins).mean() + RIDGE / 2 * weights @ weights), gradient

    def curvature(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        fitted = expit(features @ weights)
        penalty = RIDGE * np.eye(len(weights))
        return np.asarray((features * (fitted * (1 - fitted))[:, None]).T @ features / len(labels) + penalty)

    start = np.zeros(features.shape[1])
    fit = minimize(loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-12})
    return np.asarray(np.clip(expit(features @ fit.x), 1e-6, 1 - 1e-6))


def halves_to_join(lengths: Sequence[int], share: float, draw: np.random.Generator) -> Numbers:
    """Draw pairs (m, 2) of sentences, whose first and second halves make an artificial one (`joined`).

    `share`: their number for each sentence. The two have similar lengths, so that artificial sentences are as
    long as real ones.
    """
    order = np.argsort(lengths, kind="stable")
    count = len(order)
    if count < 2:
        return np.empty((0, 2), np.int64)
    firsts = draw.integers(count, size=round(share * count))
    steps = draw.integers(1, min(SIMILAR_LENGTHS, count - 1) + 1, size=len(firsts))
    seconds = np.where(firsts + steps < count, firsts + steps, firsts - steps)
    return np.stack([order[firsts], order[seconds]], axis=1)


def joined(rows: Sequence[NDArray[Integer]], pairs: Numbers) -> list[NDArray[Integer]]:
    """The first half of one row and the second half of another, for each of `pairs`."""
    both = ((rows[i], rows[j]) for i, j in pairs)
    return [np.concatenate([a[: (len(a) + 1) // 2], b[(len(b) + 1) // 2 :]]) for a, b in both]


def places(candidates: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The distinct candidates, and the position of each of `count` rows among them; -1 if it is not one."""
    asked = np.unique(candidates)
    place = np.full(count, -1)
    place[asked] = np.arange(len(asked))
    return asked, place
