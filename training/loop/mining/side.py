"""One language's share of a search for pairs: its sentences, and decoys that cannot have a translation."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from index.encoder.vectors import unit
from training.loop.mining.alignment import Bags

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Tokens = NDArray[np.int32]

FLAT_ROWS = 4096  # up to here comparing with every vector is as fast
TRAINING_ROWS = 20_000  # that an index is learned from
LIST_SHARE = 16  # a search reads one in so many lists
REFINED = 6  # candidates compared exactly, for each neighbour to be found
KMEANS_ROUNDS = 5
SIMILAR_LENGTHS = 20  # a decoy's halves come from sentences at most so far apart in the order of length


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
        """The same sentences with further vectors (n, e) beside theirs."""
        vectors = np.concatenate([self.vectors, others], axis=1, dtype=np.float32)
        return Side(vectors, self.lengths.tolist(), self.real, self.seed, self.words, self.folds)


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


def places(candidates: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The distinct candidates, and the position of each of `count` rows among them; -1 if it is not one."""
    asked = np.unique(candidates)
    place = np.full(count, -1)
    place[asked] = np.arange(len(asked))
    return asked, place
