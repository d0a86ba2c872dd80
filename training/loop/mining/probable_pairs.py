"""Finds pairs of sentences that are probably translations of each other, among unaligned sentences.

The probability is learned without labels, by decoys, as in peptide identification (Elias and Gygi 2007; Käll
et al. 2007). A decoy consists of halves of two sentences, so it has no translation. Decoys are searched for
together with the sentences; pairs that look like those of decoys are due to chance.

Where both sides have words, candidates are compared by the translations of these, too
(training.loop.mining.translations).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.vectors.neighbourhoods import csls_scores
from training.loop.mining.side import Side, places
from training.loop.mining.translations import COVERAGE_WEIGHT, learned

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

PARTNERS = 3  # nearest candidates of a sentence whose own neighbours are searched
FAR = np.float32(-9.0)  # below every CSLS score
MOST_GAP = 0.5
STEPS = 25  # of Newton's method, for a convex loss
RIDGE = 1e-3


def probable_pairs(first: Side, second: Side, k: int) -> tuple[Numbers, Vectors]:
    """Pair sentences that are each other's nearest by CSLS, with the probability that they are translations.

    Only the first side has decoys. `k` is that of CSLS. Where both sides have words, the second must be
    `with_words` (training.loop.mining.translations). Returns rows (m, 2) and probabilities (m,).
    """
    first, translations = learned(first, second, k)
    cosines, candidates = second.search(first.vectors, k)
    crowd = cosines.mean(axis=1)
    asked, place = places(candidates[:, :PARTNERS], len(second.vectors))
    back_cosines, back_rows = first.search(second.vectors[asked], k)
    back_crowd = back_cosines.mean(axis=1)
    # A candidate that was not searched for is at best the fourth of any sentence: it counts as a hub.
    crowds = np.where(place[candidates] >= 0, back_crowd[place[candidates]], back_crowd.max())
    scores = csls_scores(cosines, crowd[:, None], crowds)
    back_scores = csls_scores(back_cosines, back_crowd[:, None], crowd[back_rows])
    covered: list[Vectors] = []
    if translations:
        covered = list(translations.coverage(np.arange(len(candidates)), candidates))
        scores += COVERAGE_WEIGHT * sum(covered)
        asking = np.repeat(asked, back_rows.shape[1])[:, None]
        back_scores += COVERAGE_WEIGHT * sum(
            part.reshape(back_rows.shape) for part in translations.coverage(back_rows.ravel(), asking)
        )
    score, gap, best = _two_best(scores, candidates)
    _, back_gap, back = _two_best(back_scores, back_rows)
    partner = place[best]
    mutual = np.flatnonzero((partner >= 0) & (back[partner] == np.arange(len(best))))
    lengths = np.log(np.stack([first.lengths[mutual], second.lengths[best[mutual]]]))
    features = _features(
        score[mutual],
        gap[mutual],
        back_gap[partner[mutual]],
        lengths,
        crowd[mutual] + back_crowd[partner[mutual]],
        [part[mutual, scores[mutual].argmax(axis=1)] for part in covered],
    )
    are_real = mutual < first.real
    chance = first.real / max(1, len(first.vectors) - first.real)
    probabilities = _probabilities(features, are_real, chance)
    return np.stack([mutual, best[mutual]], axis=1)[are_real], probabilities


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
    cosine = (score + crowds) / 2
    plain = (score, gap, back_gap, cosine, shorter, unequal)
    products = (score * shorter, gap * shorter, back_gap * shorter, score * gap)
    squares = (score**2, shorter**2, gap**2, unequal**2)
    by_words = [(part, part**2, part * shorter, part * score) for part in covered]
    lower = [np.minimum(*covered)] if covered else []
    columns = [*plain, *products, *squares, *(column for part in by_words for column in part), *lower]
    return np.stack(columns, axis=1).astype(np.float64)


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
