"""How much of an approximate structure a query reads: as little as finds AIM of the ten nearest.

The nearest of a sentence in another language lie further away than those of its own language and are spread
over more lists, so it is sentences of the other languages that are asked.
"""

from collections.abc import Mapping
from typing import Protocol

import faiss
import numpy as np

from index.encoder.text_encoder import Vectors
from index.search.inverted import InvertedIndex
from index.search.structure import AIM, Structure
from index.search.vector_index import BLOCK, Rows, VectorIndex

QUERIES = 256
NEAREST = 10
STRIDE = 16 * BLOCK  # rows compared at a time
MOST_CANDIDATES = 3200
STEP = 32  # of their number
# Of the nearest that may be missed, the part that may be so by the codes; the rest lies in lists not read.
PARTS = (0.2, 0.5, 0.8)
ROWS_A_CANDIDATE = 100  # whose codes are read in the time in which a candidate is compared


def foreign_queries(opened: Mapping[str, VectorIndex], code: str) -> Vectors:
    """(up to QUERIES, d) vectors of the other languages, as many of each; of `code` where it is alone."""
    others = [index for other, index in opened.items() if other != code] or [opened[code]]
    share = -(-QUERIES // len(others))
    return np.concatenate([other.sample(share)[1] for other in others])[:QUERIES]


class Stored(Protocol):
    """Vectors that are read by their rows."""

    count: int

    def vectors(self, start: int, count: int) -> Vectors: ...


def nearest(index: Stored, queries: Vectors, k: int = NEAREST) -> Rows:
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
    """The structure that reads the least of those which find the share `least` of the nearest.

    Leaves `index` with it. Where not even all lists suffice, all, with the recall that this has.
    """
    wanted = nearest(index, queries)
    every = structure.model_copy(
        update={"probes": structure.lists, "candidates": MOST_CANDIDATES, "reach": None}
    )
    gaps = index.gaps(queries)
    own = np.take_along_axis(gaps, index.lists_of(wanted.ravel()).reshape(wanted.shape), axis=1)
    shares = [least + (1 - least) * part for part in PARTS] if structure.kind == "ivf" and least < 1 else []
    tries = list[tuple[float, int, float | None]]()
    for reach in [*(float(np.quantile(own, share, method="higher")) for share in shares), None]:
        index.use(every.model_copy(update={"reach": reach}))
        read = index.count * (1 if reach is None else float((gaps <= reach).mean()))
        if tries and read > min(tries)[0] * ROWS_A_CANDIDATE:
            break
        if needed := _needed(_places(index, queries, wanted), least):
            tries.append((needed + read / ROWS_A_CANDIDATE, needed, reach))
    _, candidates, reach = min(tries, default=(0, MOST_CANDIDATES, None))
    best = every.model_copy(update={"candidates": candidates, "reach": reach})
    index.use(best)
    return best.model_copy(update={"recall": recall(index.search(queries, NEAREST)[1], wanted)})


def _places(index: InvertedIndex, queries: Vectors, wanted: Rows) -> Rows:
    """(n, k) at which place among the candidates each wanted row is; MOST_CANDIDATES for one that is none."""
    places = np.full(wanted.shape, MOST_CANDIDATES)
    for row, query in enumerate(queries):
        found = index.candidates(query, min(MOST_CANDIDATES, index.count))
        order = np.argsort(found)
        near = order[np.minimum(np.searchsorted(found[order], wanted[row]), len(found) - 1)]
        places[row] = np.where(found[near] == wanted[row], near, MOST_CANDIDATES)
    return places


def _needed(places: Rows, least: float) -> int:
    """How many candidates have the share `least` of the wanted rows among them; 0 where none have."""
    last = int(np.ceil(least * places.size)) - 1
    if last >= places.size or (needed := int(np.sort(places.ravel())[last]) + 1) > MOST_CANDIDATES:
        return 0
    return min(-(-needed // STEP) * STEP, MOST_CANDIDATES)
