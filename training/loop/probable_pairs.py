"""Finds pairs of sentences that are probably translations of each other, among unaligned sentences.

The probability is learned without labels, by decoys, as in peptide identification (Elias and Gygi 2007; Käll
et al. 2007). A decoy consists of halves of two sentences, so it has no translation. Decoys are searched for
together with the sentences; pairs that look like those of decoys are due to chance.

Where both sides have words, candidates are compared by the translations of these, too, which the candidates
of all sentences teach (training.loop.alignment). Near candidates that are wrong still share words, so this
finds what words mean before most sentences have found their translation.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import unit
from index.search.hubness import csls_scores, neighbourhood_means
from training.loop.alignment import Bags, Weights, WordTranslations, word_vectors

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
TRANSLATED_WEIGHT = 0.6  # of the vectors of words' translations beside the others
COVERAGE_WEIGHT = 0.8  # of what translations cover, beside CSLS; as the one above chosen on dev, decision 99
PASSES = 2  # of learning translations from candidates, and finding candidates by them
LIKELY = 4  # candidates of a sentence that translations are learned from
SHARPNESS = 20.0  # of a candidate's likelihood, per unit of its score
UNTRANSLATED = 0.6  # the share of sentences whose best candidate is less likely than none
LEAST_LIKELY = 0.02
SAMPLE = 1500  # sentences over which the neighbourhoods of candidates are taken
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

    lengths: of the sentences, in tokens (n,). The first `real` are sentences, the others decoys. words: of
    each, decoys included, if they are compared by words. folds: of each; a decoy has that of both its halves.
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
        """`vectors` are unit rows; they are centred by the mean of the sentences among them."""
        self.vectors = np.ascontiguousarray(unit(vectors - vectors[:real].mean(axis=0)))
        self.lengths = np.maximum(np.asarray(lengths), 1)
        self.real, self.seed = real, seed
        self.words, self.folds = words, folds

    @cached_property
    def _index(self) -> Any:  # noqa: ANN401 (faiss is untyped)
        return _neighbours(self.vectors, self.seed)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Numbers]:
        """Cosines and rows (n, k) of the nearest k, or all if there are fewer; row 0 at -1 where none is."""
        cosines, rows = self._index.search(np.ascontiguousarray(queries), min(k, len(self.vectors)))
        missing = rows < 0
        return np.where(missing, np.float32(-1), cosines), np.where(missing, 0, rows)

    def beside(self, others: Vectors) -> "Side":
        """The same sentences with further vectors (n, e) beside theirs, weighted by TRANSLATED_WEIGHT."""
        vectors = np.concatenate([self.vectors, TRANSLATED_WEIGHT * others], axis=1, dtype=np.float32)
        return Side(vectors, self.lengths.tolist(), self.real, self.seed, self.words, self.folds)

    def with_words(self) -> "Side":
        """The same sentences with the vectors of their words beside theirs: a side to be searched in."""
        return self if self.words is None else self.beside(word_vectors(self.words, self.seed))


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

    Only the first side has decoys. `k` is that of CSLS. Where both sides have words, the second must be
    `with_words`. Returns rows (m, 2) and probabilities (m,).
    """
    translations = None
    if first.words is not None and first.folds is not None and second.words is not None:
        translations = WordTranslations(first.words, second.words, first.folds)
        first = _learned(translations, first, second, k)
    cosines, candidates = second.search(first.vectors, k)
    crowd = cosines.mean(axis=1)
    asked, place = _places(candidates[:, :PARTNERS], len(second.vectors))
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


def _learned(translations: WordTranslations, first: Side, second: Side, k: int) -> Side:
    """Learn translations of words; returns the first side with the vectors of its words' translations."""
    side = first.beside(translations.vectors(second.seed))
    for number in range(PASSES):
        translations.learn(*_likely(side, second, translations if number else None, k))
        side = first.beside(translations.vectors(second.seed))
    return side


def _likely(
    first: Side, second: Side, translations: WordTranslations | None, k: int
) -> tuple[Numbers, Weights]:
    """The likely candidates (m, 2) of all sentences, and how likely each is (m,).

    By a softmax over a sentence's candidates and none.
    """
    real = first.vectors[: first.real]
    cosines, candidates = second.search(real, k)
    asked, place = _places(candidates, len(second.vectors))
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
