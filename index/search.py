"""Searching unit vectors by cosine: what every structure can do, and which one suits how many.

exact  8-bit screen in front of the vectors as they are (exact.py)
pq     4-bit product-quantiser codes, all of which a query reads; the best are compared exactly (inverted.py)
ivf    the same codes, of which a query reads those in the lists nearest to it
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import log2
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from index.encoder import Vectors

BLOCK = 1024  # queries at a time where many are searched: bounds the memory of a build
EXACT_ROWS = 100_000  # up to here an exact search takes about a millisecond
PQ_ROWS = 300_000
LEAST_ROWS = 256  # fewer cannot train a quantiser
RECALL = 0.99  # of the ten nearest: what a build tunes `probes` and `candidates` for

Rows = NDArray[np.int64]
Kind = Literal["exact", "pq", "ivf"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Structure(BaseModel):
    """How the vectors of a language are searched.

    A query reads `probes` of the `lists` and compares at least `candidates` exactly; `recall` is the share
    of the ten nearest that this found for sentences of other languages when it was built.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = "exact"
    lists: int = Field(default=0, ge=0, le=1 << 24)
    probes: int = Field(default=0, ge=0, le=1 << 24)
    candidates: int = Field(default=0, ge=0, le=1 << 20)
    recall: float | None = Field(default=None, ge=0, le=1)


EXACT = Structure()


def choose(count: int, kind: Kind | None = None) -> Structure:
    """The structure for `count` vectors, or the one asked for where there are enough vectors to train it."""
    if kind is None:
        kind = "exact" if count <= EXACT_ROWS else "pq" if count <= PQ_ROWS else "ivf"
    if kind == "exact" or count < LEAST_ROWS:
        return EXACT
    lists = 2 ** round(log2(count) / 2)
    return Structure(kind=kind, lists=lists, probes=lists if kind == "pq" else lists // 8, candidates=200)


class VectorIndex(ABC):
    """(n, d) unit vectors on disk, searched by cosine. Opened memory-mapped; never changed."""

    count: int
    dimension: int

    @abstractmethod
    def vectors(self, start: int = 0, count: int | None = None) -> Vectors:
        """Rows start to start + count, as they are compared."""

    @abstractmethod
    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Rows]:
        """(n, d) unit queries -> cosines and rows (n, min(k, count)), best first, ties to the lower row."""

    @abstractmethod
    def neighbourhood_means(self, queries: Vectors, k: int) -> Vectors:
        """(n, d) unit queries -> (n,) mean cosine to the k nearest rows (all rows where there are fewer)."""

    def blocks(self) -> Iterator[Vectors]:
        """All rows, BLOCK at a time."""
        for start in range(0, self.count, BLOCK):
            yield self.vectors(start, min(BLOCK, self.count - start))

    def sample(self, count: int, seed: int = 0) -> tuple[Rows, Vectors]:
        """Up to `count` rows drawn evenly: their numbers, in order, and their vectors."""
        rows = np.sort(np.random.default_rng(seed).permutation(self.count)[:count])
        found = [self.vectors(int(row), 1) for row in rows]
        return rows, np.concatenate([np.zeros((0, self.dimension), np.float32), *found])


def best(cosines: Vectors, rows: Rows, k: int) -> tuple[Vectors, Rows]:
    """(n, m) candidates, rows in order -> the k best, best first, ties to the lower row."""
    # A stable sort breaks ties by row, since the rows are in order.
    chosen = np.arange(len(rows))[:, None], np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return cosines[chosen], rows[chosen]
