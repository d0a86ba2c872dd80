"""Finds the nearest of many vectors: among all of them on a GPU, among most of them on a CPU."""

from typing import Any

import faiss
import numpy as np
import torch

from index.arrays import Numbers, Vectors
from index.vectors.faiss import FLAT_ROWS  # which sets FAISS's BLAS threshold, too
from training.encoders.base import pick_device

TRAINING_ROWS = 20_000  # that an index is learned from
LIST_SHARE = 16  # a search reads one in so many lists
REFINED = 6  # candidates compared exactly, for each neighbour to be found
KMEANS_ROUNDS = 5
QUERIES = 4096  # compared with all vectors at a time on a GPU


class AllVectors:
    """Finds all of the nearest, by half-precision products with every vector."""

    def __init__(self, vectors: Vectors, device: torch.device) -> None:
        self._vectors = torch.from_numpy(vectors).to(device)
        self._half = self._vectors.half().T

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Numbers]:
        """Inner products and rows (m, k) of the nearest k <= n."""
        products, rows = [], []
        for start in range(0, len(queries), QUERIES):
            block = torch.from_numpy(queries[start : start + QUERIES]).to(self._vectors.device)
            found = (block.half() @ self._half).topk(k).indices
            exact, order = torch.einsum("nd,nkd->nk", block, self._vectors[found]).sort(descending=True)
            products.append(exact.cpu().numpy())
            rows.append(found.gather(1, order).cpu().numpy())
        return np.concatenate(products), np.concatenate(rows)


class Lists:
    """Finds about two thirds of the nearest of many vectors, all of few, with FAISS."""

    def __init__(self, vectors: Vectors, seed: int) -> None:
        """`seed`: of the choice of the vectors that lists and codes are learned from."""
        count, dimension = vectors.shape
        self._index: Any = faiss.IndexFlatIP(dimension)
        if count > FLAT_ROWS:
            lists = round(count**0.5)
            factory = f"IVF{lists},PQ{dimension // 4}x4fs,RFlat"
            self._index = faiss.index_factory(dimension, factory, faiss.METRIC_INNER_PRODUCT)
            inverted: Any = faiss.downcast_index(faiss.extract_index_ivf(self._index.base_index))
            inverted.nprobe = max(1, lists // LIST_SHARE)
            inverted.cp.niter = inverted.pq.cp.niter = KMEANS_ROUNDS
            self._index.k_factor = REFINED
            self._index.train(vectors[np.random.default_rng(seed).permutation(count)[:TRAINING_ROWS]])
        self._index.add(vectors)

    def search(self, queries: Vectors, k: int) -> tuple[Vectors, Numbers]:
        """Inner products and rows (m, k) of the nearest k <= n; row 0 at -1 where none is found."""
        products, rows = self._index.search(np.ascontiguousarray(queries), k)
        missing = rows < 0
        return np.where(missing, np.float32(-1), products), np.where(missing, 0, rows)


Nearest = AllVectors | Lists


def nearest_of(vectors: Vectors, seed: int) -> Nearest:
    """Make vectors (n, d) searchable: on a GPU if there is one."""
    device = pick_device()
    return Lists(vectors, seed) if device.type == "cpu" else AllVectors(vectors, device)
