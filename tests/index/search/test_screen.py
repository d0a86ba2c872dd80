"""Screen: the rows with the highest integer products, each query for itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.search.product import QUERY_LEVEL
from index.search.screen import MOST, QUERIES, ROW_LEVEL, Screen, codes_of, query_codes
from tests.index.search.test_exact import unit_rows


def products(rows: NDArray[np.float32], queries: NDArray[np.float32]) -> NDArray[np.int64]:
    """The integer products of (n, d) queries and rows, computed another way."""
    codes = codes_of(rows, float(np.abs(rows).max())).astype(np.int64)
    scale = QUERY_LEVEL / np.maximum(np.abs(queries).max(axis=1, keepdims=True), 1e-12)
    return np.rint(queries * scale).astype(np.int64) @ codes.T


@settings(max_examples=30, deadline=None)
@given(
    count=st.integers(1, 700),
    dimension=st.integers(1, 40),
    n=st.integers(1, 2 * QUERIES + 1),
    wanted=st.integers(1, 60),
    seed=st.integers(0, 999),
)
def test_the_highest_products_are_found(count: int, dimension: int, n: int, wanted: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, queries = unit_rows(random, count, dimension), unit_rows(random, n, dimension)
    wanted = min(wanted, count)
    found = Screen(codes_of(rows, float(np.abs(rows).max()))).rows(queries, wanted)
    for product, own in zip(products(rows, queries), found, strict=True):
        there = own[own >= 0].tolist()
        assert there == sorted(set(there))
        assert len(there) >= wanted
        left_out = np.delete(product, there)
        assert not len(left_out) or np.sort(product[there])[-wanted] >= left_out.max()


def test_equal_rows_do_not_widen_the_answer() -> None:
    rows = np.tile(unit_rows(np.random.default_rng(0), 1, 8), (5000, 1))
    found = Screen(codes_of(rows, 1.0)).rows(rows[:1], 40)
    assert found.shape[1] <= MOST * 40
    assert found[0].tolist() == list(range(found.shape[1]))


def test_codes_keep_within_their_level() -> None:
    rows = unit_rows(np.random.default_rng(0), 100, 4)
    assert np.abs(codes_of(rows, float(np.abs(rows).max()))).max() == ROW_LEVEL


@pytest.mark.parametrize("dimension", [2, 127, 128, 300])
def test_any_dimension_can_be_multiplied(dimension: int) -> None:
    rows = unit_rows(np.random.default_rng(0), 50, dimension)
    found = Screen(codes_of(rows, float(np.abs(rows).max()))).rows(rows[:3], 10)
    assert all(number in own for number, own in enumerate(found.tolist()))


def test_the_largest_codes_are_multiplied_exactly() -> None:
    """Where the processor adds pairs of products in 16 bits, these would be clipped."""
    rows = np.ones((2000, 64), np.float32)
    rows[100:] *= np.float32((ROW_LEVEL - 1) / ROW_LEVEL)
    found = Screen(codes_of(rows, 1.0)).rows(np.ones((1, 64), np.float32), 100)
    assert found[0].tolist() == list(range(100))


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_codes_made_within_are_those_made_outside(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    screen = Screen(codes_of(generator.normal(size=(40, 16)).astype(np.float32), 6.0))
    queries = (generator.normal(size=(count, 16)) * 10.0 ** generator.integers(-3, 3)).astype(np.float32)
    queries[0] *= generator.integers(0, 2)  # perhaps all zeros
    products, scale = screen.products(queries)
    expected = QUERY_LEVEL / np.maximum(np.abs(queries).max(axis=1), 1e-12)
    assert np.array_equal(scale, expected)
    assert np.array_equal(products, screen.multiply(query_codes(queries, scale[:, None])))
