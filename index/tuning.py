"""How much of an approximate structure a query reads: as little as finds AIM of the ten nearest.

The nearest of a sentence in another language lie further away than those of its own language and are spread
over more lists, so it is sentences of the other languages that are asked.
"""

from collections.abc import Mapping

import faiss
import numpy as np

from index.encoder import Vectors
from index.inverted import InvertedIndex
from index.search import BLOCK, Rows, VectorIndex
from index.structure import AIM, Structure

QUERIES = 256
NEAREST = 10
STRIDE = 16 * BLOCK  # rows compared at a time
MOST_CANDIDATES = 3200


def foreign_queries(opened: Mapping[str, VectorIndex], code: str) -> Vectors:
    """(up to QUERIES, d) vectors of the other languages, as many of each; of `code` where it is alone."""
    others = [index for other, index in opened.items() if other != code] or [opened[code]]
    share = -(-QUERIES // len(others))
    return np.concatenate([other.sample(share)[1] for other in others])[:QUERIES]


def nearest(index: VectorIndex, queries: Vectors, k: int = NEAREST) -> Rows:
    """(n, k) rows by comparing with every one; on the GPU where FAISS has one."""
    cosines, rows = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
    for start in range(0, index.count, STRIDE):
        block = index.vectors(start, min(STRIDE, index.count - start))
        near, numbers = knn(queries, block, min(k, len(block)))
        cosines, rows = np.hstack([cosines, near]), np.hstack([rows, numbers + start])
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        cosines, rows = np.take_along_axis(cosines, order, 1), np.take_along_axis(rows, order, 1)
    return rows


def knn(queries: Vectors, rows: Vectors, k: int) -> tuple[Vectors, Rows]:
    """Cosines and numbers (n, k) of each query's nearest rows."""
    if faiss.get_num_gpus():
        found = faiss.knn_gpu(
            faiss.StandardGpuResources(), queries, rows, k, metric=faiss.METRIC_INNER_PRODUCT
        )
    else:
        found = faiss.knn(queries, rows, k, metric=faiss.METRIC_INNER_PRODUCT)
    return found[0], found[1]


def recall(found: Rows, wanted: Rows) -> float:
    """The share of `wanted` (n, k) that is in `found` (n, k), row by row."""
    pairs = zip(found.tolist(), wanted.tolist(), strict=True)
    hits = sum(len(set(one) & set(other)) for one, other in pairs)
    return hits / max(1, wanted.size)


def tune(index: InvertedIndex, structure: Structure, queries: Vectors, least: float = AIM) -> Structure:
    """The structure with the fewest probes and candidates that reaches `least`, each doubled as it helps.

    Leaves `index` with it. Where not even the most suffices, the most, with the recall that it has.
    """
    wanted = nearest(index, queries)

    def measured(probes: int, candidates: int) -> Structure:
        tried = structure.model_copy(update={"probes": probes, "candidates": candidates})
        index.use(tried)
        found = recall(index.search(queries, NEAREST)[1], wanted)
        return tried.model_copy(update={"recall": found})

    best = measured(structure.probes, structure.candidates)
    while (best.recall or 0.0) < least:
        steps = [
            (min(2 * best.probes, structure.lists), best.candidates),
            (best.probes, min(2 * best.candidates, MOST_CANDIDATES)),
        ]
        tries = [measured(*step) for step in steps if step != (best.probes, best.candidates)]
        if not tries:
            break
        best = max(tries, key=lambda tried: tried.recall or 0.0)
    index.use(best)
    return best
