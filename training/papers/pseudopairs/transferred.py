"""Captions transferred between pictures of different languages (Kádár et al. 2019, 2.2): pseudopairs.

A run goes on from one that was trained without them (`text.start`). For each caption the nearest ones in the
other languages, by that run's encoder, take part as if they were captions of its picture.
"""

from collections.abc import Mapping
from functools import partial
from itertools import permutations

import faiss
import numpy as np

from index.arrays import Numbers, Vectors
from training.data.auxiliary import SUPPLIERS
from training.data.training_data import TrainingData
from training.papers.shared.suppliers import DrawnCaptions

# How an objective filters the pairs of each two languages: the most alike, or all but the least alike.
KEPT_SHARES = {"none": 1.0, "top": 0.25, "bottom": 0.75}


def supplied(kept: str) -> str:
    """The name of the auxiliary input with the captions that a filter keeps."""
    return "transferred" if kept == "none" else f"transferred_{kept}"


def transferred(data: TrainingData, share: float) -> DrawnCaptions | None:
    """Supply a caption that was transferred to each caption's picture; itself where there is none.

    None in a run that begins anew, which has no encoder to find anything with.
    """
    if data.embed is None:
        return None
    numbers: dict[str, list[int]] = {}
    for number, caption in enumerate(data.captions.captions):
        numbers.setdefault(caption.language, []).append(number)
    vectors = {code: data.embed([data.tokens[i] for i in rows]) for code, rows in numbers.items()}
    choices: list[list[int]] = [[] for _ in data.captions.captions]
    for (first, second), pairs in nearest(vectors, share).items():
        for i, j in pairs:
            choices[numbers[first][i]].append(numbers[second][j])
    return DrawnCaptions([found or [number] for number, found in enumerate(choices)], data.tokens)


def nearest(vectors: Mapping[str, Vectors], share: float) -> dict[tuple[str, str], Numbers]:
    """Find each sentence's nearest one in every other language, and keep the `share` of them most alike.

    vectors: language -> (n, d) unit rows. Returns (language, other) -> (m, 2) rows, in the order of the
    sentences.
    """
    found = {}
    for first, second in permutations(vectors, 2):
        cosines, best = faiss.knn(vectors[first], vectors[second], 1, metric=faiss.METRIC_INNER_PRODUCT)
        kept = np.sort(np.argsort(-cosines[:, 0], kind="stable")[: round(share * len(cosines))])
        found[first, second] = np.stack([kept, best[kept, 0]], axis=1)
    return found


SUPPLIERS |= {supplied(kept): partial(transferred, share=share) for kept, share in KEPT_SHARES.items()}
