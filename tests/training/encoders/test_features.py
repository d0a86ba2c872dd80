from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from training.data.picture_source import PixelScale
from training.data.pictures import PictureArchive
from training.encoders import features
from training.encoders.features import FEATURE_VIEWS, View, features_of_views
from training.encoders.vision import Backbone, load_backbone

NAMES = [f"synthetic_{number:05d}.jpg" for number in range(11)]  # more than one batch


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def archive(data: Path) -> PictureArchive:
    return PictureArchive(data / "photos" / "images.tar", 32)


@pytest.fixture
def known(
    backbone: Backbone, archive: PictureArchive, cache: Path, decoded: list[str]
) -> NDArray[np.float32]:
    """Two views of NAMES, which the cache knows."""
    found = features_of_views(backbone, archive, NAMES, 2)
    decoded.clear()
    return found


@pytest.mark.slow
def test_they_are_torchs_forward_pass_of_each_view(
    backbone: Backbone,
    archive: PictureArchive,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Through real ONNX Runtime; and nothing but our own progress is said on the way."""
    monkeypatch.setattr(features, "FEW_PIXELS", 0)
    found = features_of_views(backbone, archive, NAMES, 2)
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.split()[:2] for line in err.splitlines()] == [["picture", "features"]]
    assert found.shape == (2, len(NAMES), 64)
    for number, view in enumerate(FEATURE_VIEWS[:2]):
        pixels = backbone.scale(np.stack([view(archive[name]) for name in NAMES]))
        with torch.no_grad():
            expected = backbone(torch.from_numpy(pixels)).numpy()
        assert np.abs(found[number] - expected).max() < 1e-4
        assert expected.std() > 0.01, "the case must be able to fail"


def test_a_second_call_computes_nothing(
    known: NDArray[np.float32], backbone: Backbone, archive: PictureArchive, decoded: list[str]
) -> None:
    assert np.array_equal(features_of_views(backbone, archive, NAMES, 2), known)
    some = [NAMES[4], NAMES[1], NAMES[4]]
    assert np.array_equal(features_of_views(backbone, archive, some, 2), known[:, [4, 1, 4]])
    assert decoded == []


def test_only_new_pictures_are_computed(
    known: NDArray[np.float32], backbone: Backbone, archive: PictureArchive, decoded: list[str]
) -> None:
    new = "synthetic_00020.jpg"
    found = features_of_views(backbone, archive, [NAMES[3], new, NAMES[0]], 2)
    assert set(decoded) == {new}
    assert np.array_equal(found[:, [0, 2]], known[:, [3, 0]])
    decoded.clear()
    again = features_of_views(backbone, archive, [new, *NAMES], 2)
    assert decoded == []
    assert np.array_equal(again[:, 0], found[:, 1])
    assert np.array_equal(again[:, 1:], known)


def test_what_they_depend_on_is_in_the_name_of_the_cache(
    known: NDArray[np.float32], data: Path, archive: PictureArchive, cache: Path
) -> None:
    """Weights, picture size, scale and number of views: none finds what another kept."""
    changed = load_backbone("weights/tiny", data).eval()
    with torch.no_grad():
        next(changed.parameters()).add_(0.1)
    assert not np.allclose(features_of_views(changed, archive, NAMES[:2], 2), known[:, :2], atol=1e-3)
    plain = load_backbone("weights/tiny", data).eval()
    features_of_views(plain, PictureArchive(archive.file, 24), NAMES[:2], 2)
    features_of_views(plain, archive, NAMES[:2], 1)
    scaled = Backbone(plain.model, PixelScale((0.1,) * 3, (0.3,) * 3)).eval()
    assert not np.allclose(features_of_views(scaled, archive, NAMES[:2], 2), known[:, :2], atol=1e-3)
    assert len(list(cache.rglob("*.safetensors"))) == 5


@pytest.mark.parametrize("damage", [b"", b"spam" * 100])
def test_a_damaged_cache_is_computed_again(
    known: NDArray[np.float32], backbone: Backbone, archive: PictureArchive, cache: Path, damage: bytes
) -> None:
    (file,) = cache.rglob("*.safetensors")
    file.write_bytes(damage)
    assert np.array_equal(features_of_views(backbone, archive, NAMES, 2), known)
    assert file.stat().st_size > 1000


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    backbone: Backbone, archive: PictureArchive, cache: Path
) -> None:
    cache.write_text("a file where the folder should be")
    assert features_of_views(backbone, archive, NAMES[:2], 1).shape == (1, 2, 64)


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
