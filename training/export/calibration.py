"""Fits the bundle's confidence on validation captions: is the top answer a caption of the same picture?"""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.calibration import top_answers
from index.confidence.calibration import Calibration, fit

Vectors = NDArray[np.float32]
POOLS = (100, 300, 1000)  # numbers of candidates, so that the model learns what their number does
PAIRS = 60  # of languages, at most, in a set: names in a hundred are not to outweigh sentences in four


def calibrate(sets: Sequence[Mapping[str, Vectors]], seed: int) -> Calibration:
    """Fit on sets of (n, d) unit vectors a language, row i of a set about the same picture in each.

    Ordered pairs of languages, PAIRS drawn where a set has more, give queries against pools of several sizes,
    once with the right answer among the candidates and once with it taken away, so that a low confidence
    means "not in the index" too.
    """
    draw = np.random.default_rng(seed)
    values, rights = [], []
    for vectors in sets:
        n, pairs = len(next(iter(vectors.values()))), list(permutations(vectors, 2))
        if len(pairs) > PAIRS:
            pairs = [pairs[i] for i in draw.choice(len(pairs), PAIRS, replace=False)]
        for source, target in pairs:
            for size in sorted({min(n, pool) for pool in POOLS}):
                rows = draw.choice(n, size, replace=False)
                similarities = vectors[source][rows] @ vectors[target][rows].T
                for answerable in (True, False):
                    found, right = top_answers(similarities.copy(), answerable)
                    values.append(found)
                    rights.append(right)
    return fit(np.concatenate(values), np.concatenate(rights))
