"""CSLS against a naive reading of its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from index.vectors.neighbourhoods import NeighbourhoodMeans, csls, neighbourhood_means

COSINES = hn.arrays(
    np.float32, st.tuples(st.integers(1, 15), st.integers(1, 15)), elements=st.floats(-1, 1, width=32)
)


def naive_csls(similarities: np.ndarray, k: int) -> np.ndarray:
    """Lample et al. 2018b, eqs. 2 and 3, word for word."""
    rows, columns = similarities.shape
    found = np.empty((rows, columns))
    for x in range(rows):
        for y in range(columns):
            r_x = np.mean(sorted(similarities[x].tolist(), reverse=True)[:k])
            r_y = np.mean(sorted(similarities[:, y].tolist(), reverse=True)[:k])
            found[x, y] = 2 * float(similarities[x, y]) - r_x - r_y
    return found


@given(COSINES, st.integers(1, 20))
def test_csls_equals_its_definition(similarities: np.ndarray, k: int) -> None:
    np.testing.assert_allclose(csls(similarities, k), naive_csls(similarities, k), atol=1e-5)


def test_means_of_fewer_neighbours_than_k_are_over_all() -> None:
    similarities = np.array([[0.5, 0.1, 0.3]], np.float32)
    np.testing.assert_allclose(neighbourhood_means(similarities, k=10), [0.3])
    np.testing.assert_allclose(neighbourhood_means(similarities, k=2), [0.4])


def test_no_neighbours_mean_nothing() -> None:
    np.testing.assert_array_equal(neighbourhood_means(np.zeros((3, 0), np.float32)), np.zeros(3))


def test_a_hub_loses_what_it_is_near_to_everyone() -> None:
    # Column 0 is near to both rows; by cosine it would answer both.
    similarities = np.array([[0.90, 0.80, 0.10], [0.90, 0.10, 0.80]], np.float32)
    assert similarities.argmax(axis=1).tolist() == [0, 0]
    assert csls(similarities, k=2).argmax(axis=1).tolist() == [1, 2]


def test_an_unknown_language_sees_the_mean_of_what_the_known_ones_see() -> None:
    means = np.array([[0.2, 0.4], [0.6, 0.0]], np.float32)
    surroundings = NeighbourhoodMeans(means, ["en", "de"])
    assert surroundings.seen_from("de").tolist() == means[:, 1].tolist()
    assert surroundings.seen_from("sw") == pytest.approx([0.3, 0.3])
    alone = NeighbourhoodMeans(np.zeros((2, 0), np.float32), [])
    assert alone.seen_from("en").tolist() == [0, 0]
