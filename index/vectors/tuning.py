"""Search settings of a FAISS index: the cheapest that still find the nearest rows."""

from bisect import bisect_left
from collections.abc import Mapping

import faiss
import numpy as np

from index.arrays import Numbers, Vectors
from index.storage.index_manifest import SearchSettings
from index.vectors.faiss import FaissIndex
from index.vectors.vector_index import CANDIDATE_COUNT, VectorIndex, by_cosine, drawn_rows

TARGET_RECALL = 0.995  # of the ten nearest, for the queries of a build: others have a little less
RECALL_NEIGHBOURS = 10
RECALL_QUERIES = 256  # that a build measures recall with
K_FACTORS = (2, 4, 8, 16, 32, 64)  # candidates re-ranked for each answer asked for
LIST_SHARES = (1 / 64, 1 / 32, *(sixteenth / 16 for sixteenth in range(1, 17)))  # of the lists, to be read
COMPARED_ROWS = 1 << 14  # rows compared at a time with the queries of a build


def tune(index: FaissIndex, settings: SearchSettings, queries: Vectors, wanted: Numbers) -> SearchSettings:
    """Find the cheapest settings that reach TARGET_RECALL of `wanted` (n, k), or else the most thorough ones.

    First the candidates to re-rank, with every list read, so that codes cause at most half of the misses;
    then the lists. `index` is left with the settings returned.
    """
    if settings.factory == "Flat":
        return settings
    allowed = (1 - TARGET_RECALL) / (2 if index.lists else 1)

    def measured(k_factor: int, probes: int) -> SearchSettings:
        lists = f"nprobe={probes}," if probes else ""
        parameters = f"{lists}k_factor_rf={k_factor}"
        index.use(parameters)
        share = recall(index.search(queries, CANDIDATE_COUNT)[1][:, : wanted.shape[1]], wanted)
        return settings.model_copy(update={"parameters": parameters, "recall": share})

    for k_factor in K_FACTORS:
        best = measured(k_factor, index.lists)
        if (best.recall or 0) >= 1 - allowed:
            break
    if not index.lists:
        return best
    probes = sorted({max(1, round(share * index.lists)) for share in LIST_SHARES})
    least = bisect_left(probes, TARGET_RECALL, key=lambda lists: measured(k_factor, lists).recall or 0)
    return measured(k_factor, probes[min(least, len(probes) - 1)])


def nearest(vectors: Vectors, queries: Vectors, k: int = RECALL_NEIGHBOURS) -> Numbers:
    """(n, k) rows by comparing (n, d) queries with every one of `vectors`, perhaps memory-mapped."""
    cosines, rows = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
    for start in range(0, len(vectors), COMPARED_ROWS):
        block = np.ascontiguousarray(vectors[start : start + COMPARED_ROWS], np.float32)
        near, numbers = faiss.knn(queries, block, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        merged = by_cosine(np.hstack([cosines, near]), np.hstack([rows, numbers + start]))
        cosines, rows = merged[0][:, :k], merged[1][:, :k]
    return rows


def foreign_queries(indexes: Mapping[str, VectorIndex], code: str) -> Vectors:
    """Up to RECALL_QUERIES vectors of the other languages, as many of each; of `code` if there are none."""
    others = [index for other, index in indexes.items() if other != code] or [indexes[code]]
    share = -(-RECALL_QUERIES // len(others))
    return np.concatenate([other.reconstruct(drawn_rows(len(other), share)) for other in others])[
        :RECALL_QUERIES
    ]


def recall(retrieved: Numbers, wanted: Numbers) -> float:
    """The share of the rows `wanted` (n, k) that are among those `retrieved` (n, m) for the same query."""
    hits = (wanted[:, :, None] == retrieved[:, None]).any(axis=2)
    return float(hits.sum()) / max(1, wanted.size)
