"""Which subwords mean the same in two languages, as far as the pictures say.

A subword that two languages spell alike may mean the same (sofa) or not (die): if captions in both languages
that have it show alike pictures, it does. Shared by all languages without that check, embeddings would carry
meaning from language to language by spelling alone, pictures or none.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, norm

from index.encoder.vectors import unit

Rows = NDArray[np.int64]


def verified_rows(
    tokens: Sequence[NDArray[np.int32]],
    languages: Rows,
    pictures: Rows,
    space: NDArray[np.float32],
    *,
    shape: tuple[int, int],
    false_discovery_rate: float,
) -> Rows:
    """`shape` (vocabulary, languages): which row of a table of embeddings a subword has in a language.

    Captions are given as token ids, with the place of their language and the row of their picture in `space`,
    (pictures, d) unit rows. Each subword has vocabulary * languages rows to itself, language after language,
    and takes another language's where pictures verify that both mean the same; `false_discovery_rate` is the
    expected share of wrong ones among these (Benjamini & Hochberg 1995).
    """
    vocabulary, count = shape
    rows = np.arange(vocabulary)[:, None] + vocabulary * np.arange(count)
    evidence = _seen_with(tokens, languages, pictures, space, shape)
    for token, first, second in _verified(*evidence, false_discovery_rate):
        rows[token][rows[token] == rows[token, second]] = rows[token, first]
    return rows


def _verified(
    sums: NDArray[np.float32], counts: NDArray[np.float64], dimensions: float, false_discovery_rate: float
) -> Rows:
    """What `_seen_with` gives -> (n, 3): subword and two languages, the surest first."""
    tests: list[Rows] = []
    chances: list[NDArray[np.float64]] = []
    for first, second in combinations(range(counts.shape[1]), 2):
        shared = np.flatnonzero(counts[:, first] * counts[:, second])
        # Σx·Σy has a standard deviation of sqrt(n m / dimensions) where pictures have nothing in common.
        products = np.einsum("td,td->t", sums[shared, first], sums[shared, second])
        deviations = np.sqrt(counts[shared, first] * counts[shared, second] / dimensions)
        tests.append(np.stack([shared, np.full_like(shared, first), np.full_like(shared, second)], axis=1))
        chances.append(norm.sf(products / deviations))
    all_tests, chance = np.concatenate(tests), np.concatenate(chances)
    if not len(all_tests):
        return all_tests
    order = np.argsort(chance, kind="stable")
    verified: Rows = all_tests[order][false_discovery_control(chance[order]) <= false_discovery_rate]
    return verified


def _seen_with(
    tokens: Sequence[NDArray[np.int32]],
    languages: Rows,
    pictures: Rows,
    space: NDArray[np.float32],
    shape: tuple[int, int],
) -> tuple[NDArray[np.float32], NDArray[np.float64], float]:
    """(vocabulary, languages, d) sums over the different pictures of a subword, (vocabulary, languages) how
    many these are, and how many equal dimensions would vary as much as those of the centred space."""
    centred = unit(space - space.mean(axis=0))
    sightings = {
        (token, language, picture)
        for row, language, picture in zip(tokens, languages.tolist(), pictures.tolist(), strict=True)
        for token in row.tolist()
    }
    token, language, picture = np.asarray(sorted(sightings)).T
    sums, counts = np.zeros((*shape, space.shape[1]), np.float32), np.zeros(shape)
    np.add.at(sums, (token, language), centred[picture])
    np.add.at(counts, (token, language), 1)
    spectrum = np.linalg.eigvalsh(np.cov(centred.T))
    return sums, counts, float(spectrum.sum() ** 2 / (spectrum**2).sum())
