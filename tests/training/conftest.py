"""What the training tests share: drawn pictures with a random backbone, and runs trained once."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.encoder.bundle import Bundle
from tests.training.tiny import BAG, FROZEN, PICTURES, SIZE, TRANSFORMER, WITH_DRAWINGS, recipe
from training.data.pictures import PictureArchive
from training.data.synthetic import write_synthetic
from training.encoders.tiny import write_tiny_backbone
from training.encoders.vision import Backbone, load_backbone
from training.export.bundle import export_run
from training.loop.run import Run
from training.loop.training_loop import train


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a backbone at weights/tiny. Not to be changed: copy it first."""
    folder = tmp_path_factory.mktemp("data")
    write_synthetic(folder, pictures=PICTURES, size=SIZE, seed=1)
    write_tiny_backbone(folder / "weights" / "tiny")
    return folder


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
    folder = tmp_path_factory.mktemp("bag")
    return train(recipe(BAG, folder), data, folder / "run")


@pytest.fixture(scope="session")
def transformer_run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A finished run of TRANSFORMER on frozen features. Not to be changed: copy it first."""
    folder = tmp_path_factory.mktemp("transformer")
    return train(recipe(TRANSFORMER, folder, *FROZEN), data, folder / "run")


def in_32_bits(run: Run, data: Path, name: str | None, version: str) -> Bundle:
    """A bundle whose graph is as exact as torch: fewer bits always cost too much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.export.bundle.MOST_LOSS", -200.0)
        out = run.folder.parent / "bundle"
        return export_run(run.folder, data, out, name=name, version=version, licence="CC0-1.0")


@pytest.fixture(scope="session")
def bag_bundle(bag_run: Run, data: Path) -> Bundle:
    """The bundle of `bag_run`, in 32 bits. Not to be changed: copy it first."""
    return in_32_bits(bag_run, data, None, "7")


@pytest.fixture(scope="session")
def drawn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A bundle of an encoder that learned from drawings too, with its pictures. Not to be changed."""
    folder = tmp_path_factory.mktemp("drawn")
    run = train(recipe(BAG, folder, *WITH_DRAWINGS), data, folder / "run")
    return export_run(run.folder, data, folder / "bundle", name=None, version="1", licence="CC0-1.0")


@pytest.fixture(scope="session")
def transformer_bundle(transformer_run: Run, data: Path) -> Bundle:
    """The bundle of `transformer_run`, in 32 bits. Not to be changed: copy it first."""
    return in_32_bits(transformer_run, data, "named", "1")
