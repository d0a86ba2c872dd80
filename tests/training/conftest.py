"""What the training tests share: drawn pictures with a random backbone, and runs trained once."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.encoder.bundle import Bundle, open_bundle
from tests.training.tiny import BAG, FROZEN, PICTURES, SIZE, TRANSFORMER, WITH_DRAWINGS, recipe
from training.data.pictures import PictureArchive
from training.encoders.vision import Backbone, load_backbone
from training.export.bundle import export_run
from training.loop.run import Run, open_run
from training.loop.training_loop import train
from training.recipes.files import open_rooms
from training.smoke.drawings import write_synthetic
from training.smoke.tiny_models import write_tiny_backbone

open_rooms()  # as loading a recipe does


def once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """A folder that is filled once for all workers, which wait for the one that does it."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "filled").exists():
            folder.mkdir()
            fill(folder)
            (folder / "filled").touch()
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a backbone at weights/tiny. Not to be changed: copy it first."""

    def draw(folder: Path) -> None:
        write_synthetic(folder, pictures=PICTURES, size=SIZE, seed=1)
        write_tiny_backbone(folder / "weights" / "tiny")

    return once(tmp_path_factory, "data", draw)


@pytest.fixture(scope="session")
def backbone(data: Path) -> Backbone:
    return load_backbone("weights/tiny", data).eval()


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pictures that archives are asked for from here on."""
    found: list[str] = []
    decode = PictureArchive.__getitem__

    def noted(archive: PictureArchive, name: str) -> NDArray[np.uint8]:
        found.append(name)
        return decode(archive, name)

    monkeypatch.setattr(PictureArchive, "__getitem__", noted)
    return found


@pytest.fixture(scope="session")
def bag_run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of BAG. Not to be changed: copy it first."""
    made = once(tmp_path_factory, "bag", lambda folder: train(recipe(BAG, folder), data, folder / "run"))
    return open_run(made / "run")


@pytest.fixture(scope="session")
def transformer_run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of TRANSFORMER on frozen features. Not to be changed: copy it first."""
    folder = tmp_path_factory.mktemp("transformer")
    return train(recipe(TRANSFORMER, folder, *FROZEN), data, folder / "run")


def in_32_bits(run: Run, data: Path, out: Path, name: str | None, version: str) -> Bundle:
    """A bundle whose graph is as exact as torch: fewer bits always cost too much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.export.bundle.MOST_LOSS", -200.0)
        return export_run(run.folder, data, out, name=name, version=version, licence="CC0-1.0")


@pytest.fixture(scope="session")
def bag_bundle(bag_run: Run, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of `bag_run`, in 32 bits. Not to be changed: copy it first."""

    def export(folder: Path) -> None:
        in_32_bits(bag_run, data, folder / "bundle", None, "7")

    return open_bundle(once(tmp_path_factory, "bag-bundle", export) / "bundle")


@pytest.fixture(scope="session")
def drawn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A bundle of an encoder that learned from drawings too, with its pictures. Not to be changed."""

    def export(folder: Path) -> None:
        run = train(recipe(BAG, folder, *WITH_DRAWINGS), data, folder / "run")
        export_run(run.folder, data, folder / "bundle", name=None, version="1", licence="CC0-1.0")

    return open_bundle(once(tmp_path_factory, "drawn", export) / "bundle")


@pytest.fixture(scope="session")
def transformer_bundle(transformer_run: Run, data: Path) -> Bundle:
    """The bundle of `transformer_run`, in 32 bits. Not to be changed: copy it first."""
    return in_32_bits(transformer_run, data, transformer_run.folder.parent / "bundle", "named", "1")
