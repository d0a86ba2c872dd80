"""Pictures that can't be used, and languages with next to nothing."""

import shutil
import tarfile
from pathlib import Path

import pytest

from index.errors import DataError
from tests.training.data.test_pictures import write_tar
from tests.training.tiny import BAG, TRANSFORMER, recipe
from training.data.captions import load_split
from training.loop.training_loop import train

ONE_EPOCH = ("optimiser.epochs=1",)


@pytest.fixture
def damaged(data: Path, tmp_path: Path) -> tuple[Path, str, str]:
    """The drawn data, without a training picture and with one overwritten; their names."""
    copy = shutil.copytree(data, tmp_path / "data")
    train = load_split(copy, "train", recipe(BAG, tmp_path).data).pictures
    gone, noise = train[7], train[3]
    with tarfile.open(copy / "photos" / "images.tar") as tar:
        members = {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
    del members[gone.removeprefix("photos/")]
    members[noise.removeprefix("photos/")] = bytes(700)
    write_tar(copy / "photos" / "images.tar", members)
    return copy, gone, noise


def test_a_picture_that_is_not_there_is_named_before_training(
    damaged: tuple[Path, str, str], tmp_path: Path
) -> None:
    data, gone, _ = damaged
    with pytest.raises(DataError, match=f"lacks 1 of 135 pictures, {gone} first"):
        train(recipe(TRANSFORMER, tmp_path, *ONE_EPOCH), data, tmp_path / "run")
    assert not any((tmp_path / "run").iterdir()), "the folder is free for the corrected command"


def test_a_picture_that_cannot_be_decoded_is_named(damaged: tuple[Path, str, str], tmp_path: Path) -> None:
    broken, gone, bad = damaged
    file = broken / "photos" / "splits.tsv"
    name = gone.removeprefix("photos/")
    file.write_text(file.read_text("utf-8").replace(f"{name}\ttrain", f"{name}\ttest"), "utf-8")
    with pytest.raises(DataError, match=f"{bad} can't be decoded"):
        train(recipe(BAG, tmp_path, *ONE_EPOCH), broken, tmp_path / "run")


def test_a_language_without_any_caption_is_named(data: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(data, tmp_path / "data")
    file = copy / "photos" / "captions" / "pt.tsv"
    file.write_text("elsewhere.jpg\tUma bola vermelha.\thuman\n", "utf-8")
    with pytest.raises(DataError, match="no training picture has a caption in pt"):
        train(recipe(BAG, tmp_path, "data.pictures=shared"), copy, tmp_path / "run")
