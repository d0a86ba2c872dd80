import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from training.data.picture_source import FixedFeatures

ROWS = np.asarray([7, 2, 11])


def features(views: int = 4, n: int = 30, width: int = 6) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((views, n, width)).astype(np.float32)


def test_average_is_the_mean_of_the_views_without_chance() -> None:
    seen = features()
    source = FixedFeatures(seen, count=1, average=True)
    (views,) = source.views(ROWS, np.random.default_rng(0))
    assert np.allclose(views.numpy(), seen[:, ROWS].mean(axis=0))
    assert torch.equal(views, source.plain(ROWS))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_drawn_views_are_different_views_of_the_picture(count: int) -> None:
    seen = features()
    drawn = FixedFeatures(seen, count=count, average=False).views(ROWS, np.random.default_rng(0))
    assert len(drawn) == count
    for place, row in enumerate(ROWS):
        numbers = [
            [number for number in range(4) if np.array_equal(seen[number, row], view[place].numpy())]
            for view in drawn
        ]
        assert all(len(found) == 1 for found in numbers), "each is one view of the picture itself"
        assert len({found[0] for found in numbers}) == count, "no view comes twice"
