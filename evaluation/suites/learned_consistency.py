"""Learning CLC-C (SMALR, Burns et al. 2020, 3.4): a network of |L| x 32 weights, 30 iterations of eq. 3."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.encoder.text_encoder import Vectors
from index.search.consistency import Consistency, mean_scores, stacked

ITERATIONS, RATE = 30, 0.01  # the paper's; of Adam, which the paper leaves open
MARGIN, TOP, FROM_QUESTIONS = 0.05, 10, 1.5  # m, N and λ1 of eq. 1 and 3
HARD = 30  # rivals that a question is compared with: its nearest by the mean
MOST = 4000  # questions in all, drawn evenly, so that many languages take no longer than few
SEED = 0
Weights = tuple[NDArray[np.float64], NDArray[np.float64]]


def fit_consistency(
    languages: Sequence[str], asked: Iterable[tuple[Mapping[str, Vectors], Vectors]]
) -> Consistency:
    """Each of `asked`: language -> (n, d), questions and their translations, and (n, d) candidates, row i the
    right one of question i. All of them are one batch; learning begins with every weight alike, so that the
    hidden units stay alike and what is learned is one weight a language.

    Weights are kept positive and of sum 1: where most answers are wrong, as with our own translations, a
    margin alone is met best by making all scores 0.
    """
    sides = [_hard(questions, candidates, languages) for questions, candidates in asked]
    draw = np.random.default_rng(SEED)
    to_candidates, to_questions = (_some(np.concatenate(side), draw) for side in zip(*sides, strict=True))
    begin = Consistency.uniform(languages)
    weights = (np.asarray(begin.first), np.asarray(begin.second))
    moments = [[np.zeros_like(part), np.zeros_like(part)] for part in weights]
    for step in range(1, ITERATIONS + 1):
        _, one = triplet_gradient(to_candidates, weights, FROM_QUESTIONS)
        _, other = triplet_gradient(to_questions, weights, 1.0)
        gradient = [_of_shares(part + same) for part, same in zip(one, other, strict=True)]
        weights = _to_scale(_adam(weights, gradient, moments, step))
    first = tuple(tuple(map(float, row)) for row in weights[0])
    return Consistency(languages=tuple(languages), first=first, second=tuple(map(float, weights[1])))


def triplet_gradient(
    inputs: NDArray[np.float64], weights: Weights, factor: float
) -> tuple[float, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """(n, 1 + r, |L|) cosines, each row's right one first -> eq. 1 over the TOP worst rivals, times `factor`,
    and its gradient with respect to both layers."""
    first, second = weights
    before = (1 + inputs) @ first
    units = np.maximum(0, before)
    scores = units @ second
    violations = np.maximum(0, MARGIN - scores[:, :1] + scores[:, 1:])
    top = min(TOP, violations.shape[1])
    threshold = -np.partition(-violations, top - 1, axis=1)[:, top - 1 : top]
    counted = (violations >= threshold) & (violations > 0)
    count = len(inputs) * top
    by_score = np.concatenate([-counted.sum(axis=1, keepdims=True), counted], axis=1) * (factor / count)
    by_unit = by_score[..., None] * second * (before > 0)
    gradient = (
        np.einsum("nrl,nrh->lh", 1 + inputs, by_unit, optimize=True),
        np.einsum("nr,nrh->h", by_score, units, optimize=True),
    )
    return float(factor * (violations * counted).sum() / count), gradient


def _hard(
    questions: Mapping[str, Vectors], candidates: Vectors, languages: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, 1 + HARD, |L|) of each question with its candidates, and of each candidate with the questions."""
    cosines = {code: rows @ candidates.T for code, rows in questions.items()}
    return _nearest(cosines, languages), _nearest({c: found.T for c, found in cosines.items()}, languages)


def _nearest(cosines: Mapping[str, Vectors], languages: Sequence[str]) -> NDArray[np.float64]:
    mean = mean_scores(cosines).copy()
    rows = np.arange(len(mean))
    mean[rows, rows] = -np.inf
    hard = min(HARD, len(mean) - 1)
    rivals = np.argpartition(-mean, hard - 1, axis=1)[:, :hard]
    columns = np.concatenate([rows[:, None], rivals], axis=1)
    chosen = {code: np.take_along_axis(found, columns, axis=1) for code, found in cosines.items()}
    return np.asarray(stacked(chosen, languages), np.float64)


def _some(rows: NDArray[np.float64], draw: np.random.Generator) -> NDArray[np.float64]:
    return rows if len(rows) <= MOST else rows[draw.choice(len(rows), MOST, replace=False)]


def _of_shares(gradient: NDArray[np.float64]) -> NDArray[np.float64]:
    """What changes a sum of 1 no more: Adam takes steps of one size, whatever is common to all would hide
    what differs."""
    return np.asarray(gradient - gradient.mean(axis=0))


def _to_scale(weights: Weights) -> Weights:
    """What a unit adds up, and what adds the units up, positive and of sum 1: scores stay cosines' means."""
    first, second = (np.maximum(part, 1e-6) for part in weights)
    return first / first.sum(axis=0), second / second.sum()


def _adam(
    weights: Weights,
    gradient: Sequence[NDArray[np.float64]],
    moments: list[list[NDArray[np.float64]]],
    step: int,
) -> Weights:
    """One step of Adam (Kingma & Ba 2015) with its usual constants."""
    found = []
    for part, slope, held in zip(weights, gradient, moments, strict=True):
        held[0] = 0.9 * held[0] + 0.1 * slope
        held[1] = 0.999 * held[1] + 0.001 * slope**2
        moved = held[0] / (1 - 0.9**step) / (np.sqrt(held[1] / (1 - 0.999**step)) + 1e-8)
        found.append(part - RATE * moved)
    return found[0], found[1]
