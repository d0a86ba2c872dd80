"""Searching many vectors, as a GPU does and as a CPU does."""

import numpy as np
import pytest
import torch

from index.arrays import unit
from tests.bundles import unit_rows
from training.mining.nearest import FLAT_ROWS, QUERIES, AllVectors, Lists

COUNT, K = FLAT_ROWS + 1000, 10


@pytest.mark.slow
def test_all_vectors_finds_what_comparing_each_finds() -> None:
    vectors, queries = unit_rows(1, COUNT, 64), unit_rows(2, QUERIES + 100, 64)
    exact = queries @ vectors.T
    nearest = np.argpartition(-exact, K, axis=1)[:, :K]

    products, found = AllVectors(vectors, torch.device("cpu")).search(queries, K)

    assert (np.diff(products, axis=1) <= 0).all()
    np.testing.assert_allclose(products, np.take_along_axis(exact, found, axis=1), atol=1e-5)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(found, nearest, strict=True)]) > 0.99 * K
    np.testing.assert_array_equal(
        found[:, 0] == exact.argmax(axis=1), products[:, 0] >= exact.max(axis=1) - 1e-5
    )


def test_lists_find_most_of_the_nearest_of_many_vectors() -> None:
    vectors = unit_rows(1, COUNT, 64)
    queries = unit(vectors[:500] + 0.05 * unit_rows(2, 500, 64))

    products, found = Lists(vectors, 0).search(queries, K)

    assert (found[:, 0] == np.arange(500)).mean() > 0.95
    np.testing.assert_allclose(products[:, 0], (queries * vectors[found[:, 0]]).sum(axis=1), atol=1e-5)
