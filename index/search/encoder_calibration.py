"""Fits the confidence that comes with an encoder on aligned sentences: is the top answer the right one?"""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from index.confidence.calibration import Calibration, features, fit
from index.vectors.neighbourhoods import csls

Vectors = NDArray[np.float32]
POOL_SIZES = (100, 300, 1000)  # candidates; several sizes, since confidence depends on the number
MAX_PAIRS = 60  # most language pairs of a set: a set in 100 languages must not outweigh one in four


def calibrate(sets: Sequence[Mapping[str, Vectors]], seed: int) -> Calibration:
    """Fit on sets of (n, d) unit vectors a language, row i of a set about the same picture in each.

    For each ordered pair of languages (at most MAX_PAIRS of a set, drawn by `seed`) every sentence is a query
    against pools of POOL_SIZES candidates, once with the right answer among them and once without, so that
    a low confidence also means "not in the index".
    """
    draw = np.random.default_rng(seed)
    values, labels = [], []
    for vectors in sets:
        n, pairs = len(next(iter(vectors.values()))), list(permutations(vectors, 2))
        if len(pairs) > MAX_PAIRS:
            pairs = [pairs[i] for i in draw.choice(len(pairs), MAX_PAIRS, replace=False)]
        for source, target in pairs:
            for size in sorted({min(n, pool) for pool in POOL_SIZES}):
                rows = draw.choice(n, size, replace=False)
                similarities = vectors[source][rows] @ vectors[target][rows].T
                for answerable in (True, False):
                    features, correct = top_answers(similarities.copy(), answerable)
                    values.append(features)
                    labels.append(correct)
    return fit(np.concatenate(values), np.concatenate(labels))


def top_answers(
    similarities: NDArray[np.floating], answerable: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(n, n) cosines -> features (n, f) of each row's best answer by CSLS, and whether it is right (n,).

    The right answer of row i is in column i.

    Unless `answerable`, the right answers are removed: `similarities` is modified in place.
    """
    rows = np.arange(len(similarities))
    if not answerable:
        similarities[rows, rows] = -1
    scores = csls(similarities)
    order = np.argsort(-scores, axis=1)[:, :2]
    best, second = order[:, 0], order[:, 1]
    score = scores[rows, best]
    answer_features = features(similarities[rows, best], score, score - scores[rows, second], len(rows))
    return answer_features, (best == rows) & answerable
