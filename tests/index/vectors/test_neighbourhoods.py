"""CSLS against a naive reading of its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from index.vectors.neighbourhoods import csls, neighbourhood_means

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


def test_no_neighbours_mean_nothing() -> None:
    np.testing.assert_array_equal(neighbourhood_means(np.zeros((3, 0), np.float32)), np.zeros(3))
