"""Recall measures: from similarities or vectors to per cent. Numpy only, no files or models.

A rank is the number of candidates strictly nearer than the right one, so a tie counts as found: two equal
sentences are not an error. A model that maps everything to one vector would score 100, so every report shows
`tied_share` next to each recall.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.arrays import Vectors
from index.errors import PassepartoutError

Similarities = NDArray[np.floating]


def recall_at(similarities: Similarities, ks: Sequence[int] = (1, 5, 10)) -> dict[int, float]:
    """(n, m) similarities, row i's right answer in column i -> k: per cent of rows that find it in the top k.

    Raises ValueError if m < n or it is empty, PassepartoutError if a value is not finite.
    """
    answers = np.diag(_checked(similarities))
    return _recalls((similarities > answers[:, None]).sum(axis=1), ks)


def tied_share(similarities: Similarities) -> float:
    """(n, m) similarities -> per cent of rows whose right answer ties with another candidate."""
    answers = np.diag(_checked(similarities))
    return 100 * float(np.mean((similarities == answers[:, None]).sum(axis=1) > 1))


def retrieved_positives(vectors: Mapping[str, Vectors]) -> float:
    """Globetrotter's measure (Surís et al. 2022, 5.2), per cent.

    `vectors`: language -> (n, d) unit vectors, row i the same sentence in each of the M languages. All M n
    sentences are in one pool, each a query with M - 1 positives, the other languages' row i. The measure is
    the share of positives among the M - 1 nearest of the other M n - 1.
    Raises ValueError for fewer than two languages or different shapes.
    """
    return float(np.mean(list(positives_by_pair(vectors).values())))


def positives_by_pair(vectors: Mapping[str, Vectors]) -> dict[tuple[str, str], float]:
    """`retrieved_positives` by (query language, answer language), per cent: Globetrotter's figure 7."""
    shapes = {rows.shape for rows in vectors.values()}
    if len(vectors) < 2 or len(shapes) != 1 or 0 in next(iter(shapes)):
        raise ValueError(
            f"vectors of {len(vectors)} languages, shapes {sorted(shapes)}: give two or more, alike"
        )
    pool = np.concatenate(list(vectors.values()))
    size = len(next(iter(vectors.values())))
    starts = {code: number * size for number, code in enumerate(vectors)}
    positives: dict[tuple[str, str], float] = {}
    for code, start in starts.items():
        others = {other: first for other, first in starts.items() if other != code}
        shares = _positives_found(pool, start, size, list(others.values()))
        positives |= {(code, other): 100 * share for other, share in zip(others, shares, strict=True)}
    return positives


def _positives_found(pool: Vectors, start: int, size: int, others: Sequence[int]) -> list[float]:
    """The share of queries `pool[start : start + size]` that find their positive in each other language;
    `others` are the first rows of those languages."""
    similarities = _finite(pool[start : start + size] @ pool.T)
    rows = np.arange(size)
    similarities[rows, start + rows] = -np.inf  # a query is not its own answer
    ranks = ((similarities > similarities[rows, other + rows][:, None]).sum(axis=1) for other in others)
    return [float(np.mean(rank < len(others))) for rank in ranks]


def image_sentence_recall(
    images: Vectors, sentences: Vectors, picture: NDArray[np.integer], ks: Sequence[int] = (1, 5, 10)
) -> float:
    """Sum of the recalls at `ks` of sentences by image and of images by sentence, each in per cent.

    `images` (n, d) and `sentences` (m, d) have unit rows; `picture` (m,) is each sentence's row in `images`,
    every row having one or more. An image finds its sentences when it finds one of them (Kádár et al. 2019).
    """
    if len(picture) != len(sentences) or set(np.unique(picture)) != set(range(len(images))):
        raise ValueError(f"{len(picture)} sentences must name each of {len(images)} images at least once")
    similarities = _finite(images @ sentences.T)
    right = similarities[picture, np.arange(len(picture))]
    to_image = (similarities > right[None, :]).sum(axis=0)
    nearest = np.full(len(images), -np.inf)
    np.maximum.at(nearest, picture, right)
    to_sentence = (similarities > nearest[:, None]).sum(axis=1)
    return sum(sum(_recalls(ranks, ks).values()) for ranks in (to_sentence, to_image))


def _recalls(ranks: NDArray[np.int64], ks: Sequence[int]) -> dict[int, float]:
    return {k: 100 * float(np.mean(ranks < k)) for k in ks}


def _checked(similarities: Similarities) -> Similarities:
    if similarities.ndim != 2 or similarities.shape[0] > similarities.shape[1] or similarities.size == 0:
        raise ValueError(f"similarities of shape {similarities.shape}: give (n, m), 1 <= n <= m")
    return _finite(similarities)


def _finite(similarities: Similarities) -> Similarities:
    # No comparison with NaN is true: unchecked, a broken model would have perfect recall.
    if not np.isfinite(similarities).all():
        raise PassepartoutError(
            "some similarities are not finite: the encoder gives broken vectors, train again"
        )
    return similarities
