from pathlib import Path

import numpy as np
import pytest
import torch

from index.errors import DataError
from training.data.augmented_pictures import AugmentedPictures
from training.data.picture_source import PixelScale
from training.data.pictures import PictureArchive

ROWS = np.asarray([7, 2, 11])


@pytest.fixture
def augmented(data: Path) -> AugmentedPictures:
    archive = PictureArchive(data / "photos" / "images.tar", 32)
    names = tuple(f"synthetic_{number:05d}.jpg" for number in range(20))
    return AugmentedPictures(archive, names, PixelScale(), 2, torch.device("cpu"))


def test_augmented_pictures_are_drawn_again_for_each_view(augmented: AugmentedPictures) -> None:
    views = augmented.views(ROWS, np.random.default_rng(0))
    assert [tuple(view.shape) for view in views] == [(3, 3, 32, 32)] * 2
    assert all(view.dtype == torch.float32 for view in views)
    assert not torch.equal(views[0], views[1])
    again, other = (augmented.views(ROWS, np.random.default_rng(seed)) for seed in (0, 1))
    assert torch.equal(views[0], again[0])
    assert torch.equal(views[1], again[1])
    assert not torch.equal(views[0], other[0])


def test_plain_pictures_are_whole(augmented: AugmentedPictures) -> None:
    whole = np.stack([augmented.archive[augmented.names[row]] for row in ROWS])
    assert np.allclose(augmented.plain(ROWS).numpy(), PixelScale()(whole), atol=1e-6)


def test_what_is_expected_is_decoded_once_and_is_the_same(
    augmented: AugmentedPictures, decoded: list[str]
) -> None:
    before = augmented.views(ROWS, np.random.default_rng(0))
    decoded.clear()
    augmented.expect(ROWS[:2])
    augmented.expect(ROWS)
    after = augmented.views(ROWS, np.random.default_rng(0))
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert sorted(decoded) == sorted(augmented.names[row] for row in ROWS)
    augmented.plain(ROWS)
    assert len(decoded) == 6, "what was used is not kept"


def test_a_picture_that_cannot_be_decoded_is_an_error_where_it_is_used(augmented: AugmentedPictures) -> None:
    augmented.names = ("no.jpg",) * 20
    augmented.expect(ROWS)
    with pytest.raises(DataError, match=r"no\.jpg"):
        augmented.views(ROWS, np.random.default_rng(0))
