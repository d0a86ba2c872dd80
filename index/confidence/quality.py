"""How good a version of an index is, as its manifest says it: by pair of languages, and how sure to be."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from index.confidence import MIN_CONFIDENCE
from index.confidence.calibration import Calibration

COVERAGES = tuple(step / 10 for step in range(1, 11))


class PairQuality(BaseModel):
    """Of one language's sentences whose translation in another is known, asked in that language.

    `r1`, `r10`: the share whose translation is the best answer, among the best ten. `n` were asked.
    `ece`: the expected calibration error of confidence, fitted without the answer it is measured on; None
    where no confidence is fitted on them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    r1: float = Field(ge=0, le=1)
    r10: float = Field(ge=0, le=1)
    n: int = Field(ge=1)
    ece: float | None = Field(default=None, ge=0, le=1)


class HubnessEntry(BaseModel):
    """Skewness of the k-occurrence of one language's sentences, asked in another, by cosine and by CSLS."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cosine: float
    csls: float


class CurvePoint(BaseModel):
    """Answering only the `coverage` surest, all with at least `confidence`, a share of `risk` is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    coverage: float = Field(ge=0, le=1)
    confidence: float = Field(ge=0, le=1)
    risk: float = Field(ge=0, le=1)


class Confidence(BaseModel):
    """Where the confidence of sentences comes from.

    `aligned`: fitted on `n` answers to aligned sentences of this very index, `plain` without lengths and
    `lengths` with them; `length` is the mean of log(1 + characters) in each language. `scenes`: likewise on
    sentences of our own, whose translations were put among those of this index (build/probes.py). `encoder`:
    fitted when the encoder was made, by its bundle. `fixed`: a curve that knows nothing of encoder and index.
    `domain`: how likely a text is of the kinds that the index holds, by which all of these are multiplied.
    `near`: the confidence from which on an answer below MIN_CONFIDENCE has something of its question, that
    few of the best answers to text of other kinds reach; none is near where that is not known.
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
    """Confidences and rightness, (n,) each -> the curve at tenths (El-Yaniv and Wiener 2010)."""
    order = np.argsort(-chances, kind="stable")
    points = []
    for coverage in COVERAGES:
        kept = order[: max(1, round(coverage * len(order)))]
        risk = float(1 - right[kept].mean())
        points.append(CurvePoint(coverage=coverage, confidence=float(chances[kept[-1]]), risk=risk))
    return tuple(points)
