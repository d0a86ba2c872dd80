from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.errors import DataError
from training.data.augmented_pictures import Augmentation, AugmentedPictures
from training.data.picture_source import FixedFeatures, PixelScale
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


SIDE = 24
AUGMENT = Augmentation(SIDE)


@settings(max_examples=20)
@given(st.integers(0, 2**63 - 1), st.sampled_from([8, 17, 32]), st.integers(1, 3))
def test_views_keep_shape_type_and_range(seed: int, side: int, count: int) -> None:
    pictures = torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(1))
    before = pictures.clone()
    found = Augmentation(side)(pictures, seed)
    assert found.shape == pictures.shape
    assert found.dtype == torch.float32
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-6
    assert torch.equal(pictures, before)


def test_hues_do_not_turn() -> None:
    """A red thing stays red: captions say so."""
    red = torch.tensor([0.8, 0.1, 0.1])[:, None, None].expand(3, SIDE, SIDE)
    views = AUGMENT(red.expand(300, -1, -1, -1), 0)  # of one batch: each is drawn for itself
    centre = views[..., SIDE // 2, SIDE // 2]
    assert (centre[:, 0] >= centre[:, 1:].amax(dim=1) - 1e-4).all()
    assert (centre[:, 1] - centre[:, 2]).abs().max() < 0.02


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
