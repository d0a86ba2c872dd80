"""Which structure searches how many vectors.

exact  8-bit screen in front of the vectors as they are (exact.py)
pq     4-bit product-quantiser codes, all of which a query reads; the best are compared exactly (inverted.py)
ivf    the same codes, of which a query reads those in the lists nearest to it
milvus a collection of Milvus, which has the vectors and searches them (milvus.py)
"""

from math import log2
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

EXACT_ROWS = 100_000  # up to here an exact search takes about a millisecond
PQ_ROWS = 150_000
LEAST_ROWS = 256  # fewer cannot train a quantiser
# Recall of the ten nearest that a build tunes `probes` and `candidates` for: above the 0.99 that is wanted,
# so that queries which it does not ask have that too (docs/decisions/0026).
AIM = 0.995

Kind = Literal["exact", "pq", "ivf", "milvus"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Structure(BaseModel):
    """How the vectors of a language are searched.

    A query reads the lists whose centroids' cosines are at most `reach` below the highest (None: whatever
    they are), no more than `probes` of the `lists`, and compares at least `candidates` exactly; `recall` is
    the share of the ten nearest that this found for sentences of other languages when it was built.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = "exact"
    lists: int = Field(default=0, ge=0, le=1 << 24)
    probes: int = Field(default=0, ge=0, le=1 << 24)
    candidates: int = Field(default=0, ge=0, le=1 << 20)
    reach: float | None = Field(default=None, ge=0, le=4)
    recall: float | None = Field(default=None, ge=0, le=1)


EXACT = Structure()
# The files of each, LANG.*; the last is there when all are.
EXTENSIONS: dict[Kind, tuple[str, ...]] = {
    "exact": ("faiss",),
    "pq": ("vectors.npy", "lists", "faiss"),
    "ivf": ("vectors.npy", "lists", "faiss"),
    "milvus": ("milvus",),
}


def choose(count: int, kind: Kind | None = None) -> Structure:
    """The structure for `count` vectors, or the one asked for where there are enough vectors to train it."""
    if kind is None:
        kind = "exact" if count <= EXACT_ROWS else "pq" if count <= PQ_ROWS else "ivf"
    if kind == "exact" or count < LEAST_ROWS:
        return EXACT
    lists = 2 ** round(log2(count) / 2)
    return Structure(kind=kind, lists=lists, probes=lists if kind == "pq" else lists // 8, candidates=200)
