"""Confidence: the probability that an answer is a translation, by logistic regression on 4 to 10 features.

Platt (1999) scales one score. Here the features are the cosine, the CSLS score, the gap to the best other
answer and the log of the number of candidates, since a score means less the more candidates there are. If the
mean lengths of both languages are known, so are the lengths of answer and question; if their words are known,
the mutual coverage of question and answer (search/coverage.py).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

FEATURES = ("cosine", "score", "gap", "log_candidates")
LENGTHS = ("length_difference", "length")
COVERAGE = ("question_covered", "answer_covered", "question_lacking", "answer_lacking")
RIDGE = 1e-2
STEPS = 100
BINS = 10


class Calibration(BaseModel):
    """p = sigmoid(weights · features + bias), fitted on `n` answers with expected calibration error `ece`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: tuple[FiniteFloat, ...] = Field(min_length=1, max_length=len(FEATURES + LENGTHS + COVERAGE))
    bias: FiniteFloat
    n: int = Field(ge=0)
    ece: float | None = Field(default=None, ge=0, le=1)

    @property
    def by_words(self) -> bool:
        """Whether it uses the coverage of question and answer."""
        return len(self.weights) == len(FEATURES + LENGTHS + COVERAGE)

    def probability(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """(n, features) -> (n,) probabilities; extra features or extra weights are ignored."""
        weights = np.asarray(self.weights)[: values.shape[1]]
        return _sigmoid(values[:, : len(weights)] @ weights + self.bias)


# FALLBACK is for sentences if the bundle has no calibration, WORDS_FALLBACK always for words; n = 0 marks
# them as not fitted for the encoder in use. Both were fitted with the encoder `small`. Sentences: on the
# score alone, with Multi30k's test set and the answer missing for every other question. Words: on half of
# corpora/dictionary (`--half dev` of benchmarks.words), in both directions, in an index of 29,000 captions
# for each language (1,111 answers, expected calibration error 0.02); its last two weights are for how much
# worse the question suits the answer than the best word does, and for how much rarer the answer is than the
# question (word_index.py).
FALLBACK = Calibration(weights=(0.0, 8.0, 0.0, 0.0), bias=-2.5, n=0)
WORDS_FALLBACK = Calibration(weights=(1.65, 1.33, 3.06, 0.0, 3.87, 1.03), bias=-0.83, n=0)


def features(
    cosine: ArrayLike, score: ArrayLike, gap: ArrayLike, candidates: ArrayLike
) -> NDArray[np.float64]:
    """(n,) cosines, CSLS scores, gaps to the best other answer and numbers of candidates -> (n, 4)."""
    logarithms = np.log(np.maximum(np.asarray(candidates, np.float64), 1.0))
    columns = [np.ravel(np.asarray(column, np.float64)) for column in (cosine, score, gap, logarithms)]
    table = np.empty((*np.broadcast_shapes(*(column.shape for column in columns)), len(columns)))
    for number, column in enumerate(columns):
        table[:, number] = column
    return table


def with_lengths(
    values: NDArray[np.float64], questions: ArrayLike, answers: ArrayLike
) -> NDArray[np.float64]:
    """Add the lengths of questions and answers, (n,) each, to (n, 4) features -> (n, 6).

    A length is log(1 + characters) minus its mean in the language, so that languages are comparable.
    """
    asked, answered = np.ravel(np.asarray(questions, np.float64)), np.ravel(np.asarray(answers, np.float64))
    return np.column_stack([values, np.abs(answered - asked), asked])


def fit(
    values: NDArray[np.floating], right: NDArray[np.bool_], weights: NDArray[np.floating] | None = None
) -> Calibration:
    """Fit to (n, features) and whether each answer was right (n,); ridge on standardised features.

    `weights` (n,) of the answers, by default 1. Uses Newton's method (iteratively reweighted least squares).
    Raises ValueError if there are no answers.
    """
    if len(values) != len(right) or len(right) == 0:
        raise ValueError(
            f"{len(values)} rows of features for {len(right)} answers: give as many of both, at least 1"
        )
    mean, spread = values.mean(0), values.std(0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    design = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    counted = np.ones(len(right)) if weights is None else weights / weights.mean()
    solution = _newton(design, right.astype(np.float64), counted)
    slopes = solution[:-1] / spread
    bias = float(solution[-1] - slopes @ mean)
    error = calibration_error(_sigmoid(values @ slopes + bias), right)
    return Calibration(weights=tuple(slopes.tolist()), bias=bias, n=len(right), ece=error)


def _newton(
    design: NDArray[np.float64], right: NDArray[np.float64], counted: NDArray[np.float64]
) -> NDArray[np.float64]:
    # The ridge keeps separable answers from driving the weights to infinity.
    penalty = RIDGE * max(len(right), 10) * np.eye(design.shape[1]) / 10
    solution = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = _sigmoid(design @ solution)
        gradient = design.T @ (counted * (right - chance)) - penalty @ solution
        hessian = (design * (counted * chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(hessian, gradient)
        solution = solution + step / max(1.0, float(np.abs(step).max()) / 2)
        if float(np.abs(step).max()) < 1e-9:
            break
    return solution


def _sigmoid(value: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(value / 2)), np.float64)


def calibration_error(chance: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error (Guo et al. 2017, eq. 5): mean |accuracy - confidence| over ten bins."""
    bins = np.minimum((chance * BINS).astype(int), BINS - 1)
    total = 0.0
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            total += abs(float(right[inside].mean()) - float(chance[inside].mean())) * float(inside.mean())
    return total
