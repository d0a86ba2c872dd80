"""Pairs sentences that are each other's nearest, and keeps a share of the pairs (Kádár et al. 2019, 2.2).

Nearest is by CSLS over centred languages, and mutual: what is near to everything pairs with nothing.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from index.arrays import Numbers, Vectors, unit
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means

BLOCK = 250  # rows of a block of similarities, which then fits the CPU cache
SAMPLE = 4000  # sentences of a language over which neighbourhood means are taken


def mine(
    vectors: Mapping[str, Vectors], *, keep: float, neighbours: int, seed: int
) -> dict[tuple[str, str], Numbers]:
    """Find mutually nearest sentences of each two languages.

    vectors: language -> (n, d) unit rows. keep: the share of all pairs, those with the highest CSLS, that
    stays, so that languages that are far apart wait until they are nearer. neighbours: the k of CSLS in the
    whole of a language. Returns (language, other) -> (m, 2) rows of the paired sentences.
    """
    draw = np.random.default_rng(seed)
    centred = {language: unit(rows - rows.mean(axis=0)) for language, rows in vectors.items()}
    samples = {language: rows[draw.permutation(len(rows))[:SAMPLE]] for language, rows in centred.items()}
    candidates = {}
    for first, second in combinations(centred, 2):
        neighbourhoods = [
            _neighbourhood(centred[a], samples[b], neighbours * len(samples[b]) / len(centred[b]))
            for a, b in ((first, second), (second, first))
        ]
        candidates[first, second] = _mutual(centred[first], centred[second], *neighbourhoods)
    return _best_share(candidates, keep)


def _best_share(
    candidates: Mapping[tuple[str, str], tuple[Numbers, Vectors]], keep: float
) -> dict[tuple[str, str], Numbers]:
    """Keep the share `keep` of all pairs that has the highest scores."""
    scores = np.concatenate([scores for _, scores in candidates.values()])
    order = np.argsort(-scores, kind="stable")
    is_kept = np.zeros(len(scores), bool)
    is_kept[order[: round(keep * len(scores))]] = True
    ends = np.cumsum([len(scores) for _, scores in candidates.values()])
    parts = np.split(is_kept, ends[:-1])
    return {key: pairs[part] for (key, (pairs, _)), part in zip(candidates.items(), parts, strict=True)}


def _neighbourhood(rows: Vectors, sample: Vectors, k: float) -> Vectors:
    """Mean cosine of each row to its nearest k in a sample, at least 3, so that chance does not decide."""
    count = min(len(sample), max(3, round(k)))
    blocks = (rows[start : start + BLOCK] @ sample.T for start in range(0, len(rows), BLOCK))
    return np.concatenate([neighbourhood_means(cosines, count) for cosines in blocks])


def _mutual(
    first: Vectors, second: Vectors, first_means: Vectors, second_means: Vectors
) -> tuple[Numbers, Vectors]:
    """(m, 2) rows of `first` and `second` that are each other's best by CSLS, and their scores (m,)."""
    best, scores = np.empty(len(first), np.int64), np.empty(len(first), np.float32)
    back, highest = np.zeros(len(second), np.int64), np.full(len(second), -np.inf, np.float32)
    columns = np.arange(len(second))
    for start in range(0, len(first), BLOCK):
        part = slice(start, min(start + BLOCK, len(first)))
        block = csls_scores(first[part] @ second.T, first_means[part, None], second_means)
        best[part] = block.argmax(axis=1)
        scores[part] = block[np.arange(len(block)), best[part]]
        rows = block.argmax(axis=0)
        better = block[rows, columns] > highest
        highest[better] = block[rows, columns][better]
        back[better] = rows[better] + start
    mutual = np.flatnonzero(back[best] == np.arange(len(first)))
    return np.stack([mutual, best[mutual]], axis=1), scores[mutual]
