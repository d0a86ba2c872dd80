"""The models of confidence, and how they are fitted."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat

from index.confidence import MIN_CONFIDENCE, MatchKind
from index.frozen import Frozen

RIDGE = 1e-3  # a question: keeps separable answers from driving the weights to infinity
LEAST_RIDGE = 1e-2  # of the bias, which any share of right answers may need
LEAST_SPREAD = 1e-6  # of a column that tells anything: less is the rounding of 32 bits
STEPS = 100  # of Newton's method
BINS = 10  # of the calibration error
# The share of sentences without a contrast that mean the same, whatever their chance (docs/research.md).
AGREES = 0.9

# Evidence that a question in a language has only if the index knows words of that language.
WORDS_ALONE = frozenset({"covered", "lacking", "length_difference"})

Columns = Mapping[str, NDArray[np.floating]]


class Model(Frozen):
    """p = sigmoid(sum of weight times column + bias), fitted on `n` answers with calibration error `ece`."""

    weights: dict[str, FiniteFloat] = Field(min_length=1)
    bias: FiniteFloat
    n: int = Field(ge=0)
    ece: float | None = Field(default=None, ge=0, le=1)

    def probability(self, columns: Columns) -> NDArray[np.float64]:
        """Probabilities in the shape of the columns, of which each that has a weight must be there."""
        return _sigmoid(self.log_odds(columns))

    def log_odds(self, columns: Columns) -> NDArray[np.float64]:
        """The sums of which `probability` makes probabilities."""
        total: NDArray[np.float64] = np.float64(self.bias) + np.zeros(())
        for name, weight in self.weights.items():
            total = total + np.float64(weight) * columns[name]
        return total

    def rescaled(self, columns: Columns, right: NDArray[np.bool_]) -> "Model":
        """The model with these weights in proportion, but as steep as some answers are (Platt 1999)."""
        line = fit({"log_odds": self.log_odds(columns)}, right)
        slope = line.weights["log_odds"]
        weights = {name: slope * weight for name, weight in self.weights.items()}
        return Model(weights=weights, bias=slope * self.bias + line.bias, n=line.n, ece=line.ece)


class Models(Frozen):
    """What an encoder's bundle says of confidence: the models of an index that cannot fit its own.

    Where nothing was fitted, a gloss is as sure as a sentence; where something was, an index fits that.
    """

    sentence: Model
    paraphrase: Model
    word: Model
    gloss: Model | None = Field(default=None, exclude_if=lambda model: model is None)


# Of a bundle that is still being made: nothing was fitted (n = 0), and a higher score is surer, no more.
_HIGHER_IS_SURER = Model(weights={"score": 1.0}, bias=0.0, n=0)
UNFITTED = Models(**dict.fromkeys(Models.model_fields, _HIGHER_IS_SURER))

# Of words compared by pictures, by `python -m benchmarks.pictured_words --part dev --fit` in the index of
# `make serve`, of open@11. `learned`: whether the encoder learned from the word that is asked.
PICTURED_WORD = Model(weights={"score": 10.5, "gap": 8.77, "learned": 0.505}, bias=0.901, n=23248, ece=0.015)


class Confidence(Frozen):
    """The models of an index (this room's first lines say of what), and what they were fitted on.

    `source`: "aligned", `n` answers to aligned sentences of this index; "scenes", this project's own
    sentences, whose translations were added to this index (build/probes.py); "encoder", those of the bundle.
    Models that were not fitted are None. `lengths`: each language's mean of log(1 + characters). `near`:
    answers with at least this confidence, but less than MIN_CONFIDENCE, share something with their question;
    few answers to text of other kinds reach it. By default no answer is near.
    """

    source: Literal["aligned", "scenes", "encoder"] = "encoder"
    n: int = Field(default=0, ge=0)
    ece: float | None = Field(default=None, ge=0, le=1)
    sentence: Model
    foreign: Model
    foreign_aligned: Model | None = None
    paraphrase: Model
    word: Model
    gloss: Model | None = None
    domain: Model | None = None
    lengths: dict[str, float] = Field(default_factory=dict)
    near: float = Field(default=MIN_CONFIDENCE, ge=0, le=1)

    @classmethod
    def of_encoder(cls, models: Models) -> "Confidence":
        """The confidence of an index that was not measured."""
        fitted = models.sentence
        return cls(
            n=fitted.n,
            ece=fitted.ece,
            sentence=fitted,
            foreign=fitted,
            paraphrase=models.paraphrase,
            word=models.word,
            gloss=models.gloss,
        )

    def of_sentences(self, columns: Columns) -> NDArray[np.float64]:
        """(n,) the confidence of answers with these columns of evidence, (n,) each, which tell the model."""
        lacks_words = WORDS_ALONE & self.sentence.weights.keys() - columns.keys()
        model = self.foreign if lacks_words else self.sentence
        if self.foreign_aligned is not None and "aligned_score" in columns:
            model = self.foreign_aligned
        chances = model.probability(columns)
        if self.domain is not None and "token_score" in columns:
            chances = chances * self.domain.probability(columns)
        return self.limited(chances, np.flatnonzero(columns["contradicts"]))

    def of_paraphrases(self, columns: Columns) -> NDArray[np.float64]:
        """(n,) the probability that sentences of the question's own language mean the same."""
        return self.limited(self.paraphrase.probability(columns), np.flatnonzero(columns["contradicts"]))

    def of_remembered(self, chance: float, similarity: float | None, *, agrees: bool) -> float:
        """The confidence of what the corpus has for a sentence of the question's own language.

        `chance`: the probability that this means the same, by its evidence. `similarity`: of nearly the same
        text. `agrees`: it says nothing else, by its words: how alike it is tells hardly more then.
        """
        if similarity == 1:
            return 1.0
        return max(AGREES, similarity or 0) if agrees else min(chance, self.most_otherwise)

    def limited(
        self, chances: NDArray[np.float64], otherwise: NDArray[np.integer] | Sequence[int]
    ) -> NDArray[np.float64]:
        """Confidences (n,), near at best at places where an answer says something else than its question."""
        limited, places = chances.copy(), list(otherwise)
        limited[places] = np.minimum(limited[places], self.most_otherwise)
        return limited

    @property
    def most_otherwise(self) -> float:
        """The highest confidence of an answer that says something else than its question: near at best."""
        return min(self.near, MIN_CONFIDENCE / 2)

    def match_of(self, confidence: float, similarity: float | None = None, *, own: bool = False) -> MatchKind:
        """What an answer is called.

        `own`: the corpus has it as the translation of a sentence of the question's own language, which has
        this `similarity` to the question if it is nearly the same text.
        """
        if confidence < MIN_CONFIDENCE:
            return "near"
        if similarity is not None:
            return "exact" if similarity == 1 else "memory"
        return "paraphrase" if own else "translation"


def fit(
    columns: Columns,
    right: NDArray[np.bool_],
    counted: NDArray[np.floating] | None = None,
    ridge: float = RIDGE,
) -> Model:
    """Fit to columns (n,) of evidence and whether each answer was right (n,): ridge on standardised columns.

    `counted` (n,): how much each answer counts, by default 1. `ridge`: the penalty of each answer. Newton's
    method (iteratively reweighted least squares). Raises ValueError if there are no answers.
    """
    values = np.column_stack([np.ravel(column).astype(np.float64) for column in columns.values()])
    if len(values) != len(right) or not len(right):
        raise ValueError(f"{len(values)} rows of evidence for {len(right)} answers: give as many, at least 1")
    mean, spread = values.mean(0), values.std(0)
    spread = np.where(spread > LEAST_SPREAD, spread, 1.0)
    design = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    weights = np.ones(len(right)) if counted is None else counted / counted.mean()
    penalty = np.diag([ridge * len(right)] * values.shape[1] + [LEAST_RIDGE])
    solution = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = _sigmoid(design @ solution)
        gradient = design.T @ (weights * (right - chance)) - penalty @ solution
        hessian = (design * (weights * chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(hessian, gradient)
        solution = solution + step / max(1.0, float(np.abs(step).max()) / 2)
        if float(np.abs(step).max()) < 1e-9:
            break
    slopes = solution[:-1] / spread
    bias = float(solution[-1] - slopes @ mean)
    error = calibration_error(_sigmoid(values @ slopes + bias), right)
    return Model(weights=dict(zip(columns, slopes.tolist(), strict=True)), bias=bias, n=len(right), ece=error)


def _sigmoid(value: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(value / 2)), np.float64)


def calibration_error(chance: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error (Guo et al. 2017, eq. 5): mean |accuracy - confidence| over ten bins."""
    bins = np.minimum((chance * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, right - chance)).sum() / max(1, len(chance)))
