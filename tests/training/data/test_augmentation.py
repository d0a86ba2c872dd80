import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.augmentation import augment

PICTURE = np.random.default_rng(0).integers(0, 256, (24, 24, 3), dtype=np.uint8)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([8, 17, 32]))
def test_a_view_keeps_shape_and_type(seed: int, side: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    before = picture.copy()
    found = augment(picture, np.random.default_rng(seed))
    assert found.shape == (side, side, 3)
    assert found.dtype == np.uint8
    assert np.array_equal(picture, before)


def test_the_generator_decides() -> None:
    one, same, other = (augment(PICTURE, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_two_views_of_one_generator_differ() -> None:
    draw = np.random.default_rng(0)
    assert not np.array_equal(augment(PICTURE, draw), augment(PICTURE, draw))


def views(picture: np.ndarray, count: int = 300) -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [augment(picture, draw) for _ in range(count)]


def test_one_view_in_five_is_grey() -> None:
    greys = [np.ptp(view, axis=2).max() == 0 for view in views(PICTURE)]
    assert 0.13 < np.mean(greys) < 0.27


def test_half_the_views_are_flipped() -> None:
    """Dark on the left, light on the right: a flip turns that, nothing else does."""
    ramp = np.repeat(np.linspace(40, 215, 24).astype(np.uint8)[None, :, None], 24, axis=0).repeat(3, axis=2)
    flipped = [view[:, :12].mean() > view[:, 12:].mean() for view in views(ramp)]
    assert 0.4 < np.mean(flipped) < 0.6


def test_colours_change_most_of_the_time() -> None:
    flat = np.full((16, 16, 3), (120, 60, 200), np.uint8)
    kept = [np.array_equal(view, flat) for view in views(flat)]
    assert 0.09 < np.mean(kept) < 0.24, "neither distorted (one in five) nor grey (four in five of those)"


@pytest.mark.parametrize("corner", [(0, 0), (0, 23), (23, 0), (23, 23)])
def test_crops_leave_out_every_corner_at_times(corner: tuple[int, int]) -> None:
    marked = np.full((24, 24, 3), 100, np.uint8)
    y, x = corner
    marked[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2] = 255
    spread = [np.ptp(view.astype(int).sum(axis=2)) for view in views(marked)]
    assert 0.3 < np.mean(np.asarray(spread) < 20) < 0.98
