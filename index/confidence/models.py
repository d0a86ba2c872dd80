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
    """What an encoder's bundle says of confidence: the models of an index that cannot fit its own."""

    sentence: Model
    paraphrase: Model
    word: Model


# Of a bundle that is still being made: nothing was fitted (n = 0), and a higher score is surer, no more.
_HIGHER_IS_SURER = Model(weights={"score": 1.0}, bias=0.0, n=0)
UNFITTED = Models(sentence=_HIGHER_IS_SURER, paraphrase=_HIGHER_IS_SURER, word=_HIGHER_IS_SURER)


class Confidence(Frozen):
    """The models of an index, and on what those of sentences were fitted.

    `source`: "aligned", `n` answers to aligned sentences of this index; "scenes", this project's own
    sentences, whose translations were added to this index (build/probes.py); "encoder", those of the bundle.
    `sentence`, `paraphrase`: the first model whose columns are known is used. `domain`: the probability that
    a text is of the kinds that the index holds; None if it was not fitted. `lengths`: each language's mean of
    log(1 + characters). `near`: answers with at least this confidence, but less than MIN_CONFIDENCE, share
    something with their question; few answers to text of other kinds reach it. By default no answer is near.
    """

    source: Literal["aligned", "scenes", "encoder"] = "encoder"
    n: int = Field(default=0, ge=0)
    ece: float | None = Field(default=None, ge=0, le=1)
    sentence: tuple[Model, ...] = Field(min_length=1)
    paraphrase: tuple[Model, ...] = Field(min_length=1)
    word: Model
    domain: Model | None = None
    lengths: dict[str, float] = Field(default_factory=dict)
    near: float = Field(default=MIN_CONFIDENCE, ge=0, le=1)

    @classmethod
    def of_encoder(cls, models: Models) -> "Confidence":
        """The confidence of an index that was not measured."""
        fitted = models.sentence
        return cls(
            n=fitted.n, ece=fitted.ece, sentence=(fitted,), paraphrase=(models.paraphrase,), word=models.word
        )

    def of_sentences(self, columns: Columns) -> NDArray[np.float64]:
        """(n,) the confidence of answers with these columns of evidence, (n,) each."""
        chances = _first_known(self.sentence, columns)
        if self.domain is not None and self.domain.weights.keys() <= columns.keys():
            chances = chances * self.domain.probability(columns)
        if "contradicts" in columns:
            chances = np.where(columns["contradicts"], np.minimum(chances, self.opposite), chances)
        return chances

    def of_paraphrases(self, columns: Columns) -> NDArray[np.float64]:
        """(n,) the probability that sentences of the question's own language mean the same."""
        chances = _first_known(self.paraphrase, columns)
        return np.where(columns["contradicts"], np.minimum(chances, self.opposite), chances)

    @property
    def opposite(self) -> float:
        """The highest confidence of an answer that says something else than its question: near at best."""
        return min(self.near, MIN_CONFIDENCE / 2)

    def of_words(self, columns: Columns) -> NDArray[np.float64]:
        """(n,) the confidence of answers to words with these columns of evidence, (n,) each."""
        return self.word.probability(columns)

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


def _first_known(models: Sequence[Model], columns: Columns) -> NDArray[np.float64]:
    known = (model for model in models if model.weights.keys() <= columns.keys())
    return next(known, models[-1]).probability(columns)  # which says what column is missing


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
