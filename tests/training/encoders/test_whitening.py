import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.arrays import unit
from index.errors import TrainingError
from training.encoders.picture_space import fit_whitening


def features(n: int = 400, width: int = 12, seed: int = 0) -> NDArray[np.float32]:
    """Correlated features of unequal variance, far from the origin."""
    draw = np.random.default_rng(seed)
    mixed = (
        draw.standard_normal((n, width)) * np.linspace(0.1, 5, width) @ draw.standard_normal((width, width))
    )
    return (mixed + 10 * draw.standard_normal(width)).astype(np.float32)


def projected(rows: NDArray[np.float32], dimension: int, power: float) -> NDArray[np.float64]:
    mean, projection = fit_whitening(rows, dimension, power, seed=0)
    return (rows.astype(np.float64) - mean) @ projection


@given(st.integers(20, 60), st.integers(3, 10), st.floats(0, 1), st.integers(0, 1000))
def test_rows_are_of_unit_norm(n: int, width: int, power: float, seed: int) -> None:
    rows = features(n, width, seed)
    mean, projection = fit_whitening(rows, width - 1, power, seed)
    found = unit((rows - mean) @ projection)
    assert found.shape == (n, width - 1)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_power_1_makes_all_variances_equal_and_uncorrelated() -> None:
    assert np.allclose(np.cov(projected(features(), 8, 1.0), rowvar=False, bias=True), np.eye(8), atol=1e-2)


def test_half_the_power_leaves_the_strong_components_some_lead() -> None:
    rows = features()
    plain, half = (projected(rows, 8, power).var(axis=0) for power in (0.0, 0.5))
    assert np.allclose(half, np.sqrt(plain), rtol=1e-3)
    assert np.all(np.diff(half) < 0)


@pytest.mark.parametrize(("n", "width", "dimension"), [(8, 12, 8), (400, 12, 12), (5, 12, 8)])
def test_too_few_rows_or_features_are_refused(n: int, width: int, dimension: int) -> None:
    with pytest.raises(TrainingError, match=rf"head\.dimension {dimension} needs .* here {n} and {width}"):
        fit_whitening(features(n, width), dimension, 1.0, seed=0)


def test_features_without_variance_stay_finite() -> None:
    rows = features()
    rows[:, 3:] = 7
    mean, projection = fit_whitening(rows, 10, 1.0, seed=0)
    assert np.isfinite(unit((rows - mean) @ projection)).all()
