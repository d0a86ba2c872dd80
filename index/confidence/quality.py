"""The quality of an index version as its manifest states it: for each language pair, and its confidence."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from index.confidence import MIN_CONFIDENCE
from index.confidence.calibration import Calibration

COVERAGES = tuple(step / 10 for step in range(1, 11))


class PairQuality(BaseModel):
    """Results of translating `n` sentences of one language whose translation into another is known.

    `r1`, `r10`: the share whose translation is the best answer, or among the best ten. `ece`: the expected
    calibration error of a confidence fitted without the answers that it is measured on; None if none was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    r1: float = Field(ge=0, le=1)
    r10: float = Field(ge=0, le=1)
    n: int = Field(ge=1)
    ece: float | None = Field(default=None, ge=0, le=1)


class HubnessEntry(BaseModel):
    """Skewness of how often sentences are among the best answers in a language pair, by cosine and CSLS."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cosine: float
    csls: float


class CurvePoint(BaseModel):
    """If only the `coverage` most confident answers are given, at `confidence` or more, `risk` are wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    coverage: float = Field(ge=0, le=1)
    confidence: float = Field(ge=0, le=1)
    risk: float = Field(ge=0, le=1)


class Confidence(BaseModel):
    """How the confidence of sentences is computed, and from which `source` it was fitted.

    `aligned`: on `n` answers to aligned sentences of this index. `scenes`: on this project's own sentences,
    whose translations were added to this index (build/probes.py). `encoder`: when the encoder was made;
    the calibration is in its bundle. `fixed`: a default, independent of encoder and index.

    `plain` is the calibration without lengths, `lengths` the one with them; `length` is the mean of
    log(1 + characters) in each language. `domain` gives the probability that a text is of the kinds that the
    index holds, with which the confidence is multiplied. `near`: answers with at least this confidence, but
    less than MIN_CONFIDENCE, share something with their question; few answers to text of other kinds reach
    it. By default no answer is near.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Literal["aligned", "scenes", "encoder", "fixed"] = "fixed"
    n: int = Field(default=0, ge=0)
    ece: float | None = Field(default=None, ge=0, le=1)
    curve: tuple[CurvePoint, ...] = ()
    plain: Calibration | None = None
    lengths: Calibration | None = None
    length: dict[str, float] = Field(default_factory=dict)
    domain: Calibration | None = None
    near: float = Field(default=MIN_CONFIDENCE, ge=0, le=1)


def risk_coverage(chances: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[CurvePoint, ...]:
    """The risk-coverage curve in steps of a tenth (El-Yaniv and Wiener 2010).

    `chances` (n,): the confidences; `right` (n,): which answers are right.
    """
    order = np.argsort(-chances, kind="stable")
    points = []
    for coverage in COVERAGES:
        kept = order[: max(1, round(coverage * len(order)))]
        risk = float(1 - right[kept].mean())
        points.append(CurvePoint(coverage=coverage, confidence=float(chances[kept[-1]]), risk=risk))
    return tuple(points)
