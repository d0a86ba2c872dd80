import numpy as np
import pytest

from training.encoders.features import FEATURE_VIEWS, View

SIDE = 20
PICTURE = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)


@pytest.mark.parametrize("view", FEATURE_VIEWS, ids=str)
def test_a_view_keeps_shape_and_type_and_the_picture(view: View) -> None:
    before = PICTURE.copy()
    found = view(PICTURE)
    assert found.shape == PICTURE.shape
    assert found.dtype == np.uint8
    assert np.array_equal(PICTURE, before)
    assert np.array_equal(view(PICTURE), found)


def test_there_are_as_many_as_a_recipe_may_ask_for_all_unlike() -> None:
    assert len(FEATURE_VIEWS) == 10
    seen = [view(PICTURE) for view in FEATURE_VIEWS]
    assert not any(np.array_equal(seen[i], seen[j]) for i in range(10) for j in range(i))


def test_a_crop_shows_its_part_of_the_picture() -> None:
    """Quarters of one colour each: a crop inside a quarter is all of that colour, flipped or not."""
    quarters = np.zeros((SIDE, SIDE, 3), np.uint8)
    quarters[:10, :10], quarters[:10, 10:], quarters[10:, :10], quarters[10:, 10:] = 50, 100, 150, 200
    for value, box in [(50, (0, 0, 0.4, 0.4)), (100, (0.6, 0, 1, 0.4)), (150, (0, 0.6, 0.4, 1))]:
        for flipped in (False, True):
            assert (View(*box, flipped=flipped)(quarters) == value).all()


def test_a_crop_is_flipped_after_cropping() -> None:
    plain = View(0.2, 0.0, 1.0, 0.8)
    assert np.array_equal(View(0.2, 0.0, 1.0, 0.8, flipped=True)(PICTURE), plain(PICTURE)[:, ::-1])
