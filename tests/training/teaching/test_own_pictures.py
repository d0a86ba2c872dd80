"""`passepartout learn-language --pictures`: a language taught with pictures that the encoder never saw."""

import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from evaluation.suites.sets import read_captions
from index.arrays import unit
from index.encoder.bundle import Bundle, open_bundle
from index.encoder.picture_space import PictureSpace, read_picture_space
from index.errors import DamagedError
from passepartout import run
from tests.bundles import make_bundle
from tests.conftest import Fails
from tests.training.tiny import SIZE
from training.data.picture_sets import read_members
from training.data.pictures import PictureArchive
from training.data.settings import PHOTO_SET
from training.encoders.features import features_of_views
from training.encoders.picture_space import fit_whitening
from training.encoders.vision import Backbone
from training.smoke.drawings import concepts, write_synthetic
from training.smoke.tiny_models import write_tiny_backbone
from training.teaching.own_pictures import PictureFolder, own_pictures

BACKBONE = "weights/tiny"


@dataclass(frozen=True)
class Own:
    """Pictures that no encoder has seen, and their captions in Arabic."""

    pictures: Path
    captions: Path


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    made = tmp_path_factory.mktemp("own")
    write_synthetic(made, pictures=100, size=SIZE, seed=2)
    with tarfile.open(made / PHOTO_SET / "images.tar") as tar:
        tar.extractall(made / "pictures", filter="data")
    lines = [f"{row.image}\t{row.text}\n" for row in read_captions(made / PHOTO_SET / "captions" / "ar.tsv")]
    (made / "captions.tsv").write_text("".join(lines), "utf-8")
    return Own(made / "pictures", made / "captions.tsv")


def command(bundle: Bundle, own: Own, out: Path, *more: str) -> list[str]:
    given = ["--captions", str(own.captions), "--pictures", str(own.pictures), "--out", str(out)]
    return ["learn-language", str(bundle.folder), "ar", *given, *more]


def test_pictures_lie_as_they_lay_in_training(
    drawn: Bundle, data: Path, backbone: Backbone, tmp_path: Path
) -> None:
    """Whatever way the space is turned, the cosines between pictures are those of the whitened features."""
    names = read_members(data, PHOTO_SET, "train")
    archive = PictureArchive(data / PHOTO_SET / "images.tar", SIZE, f"{PHOTO_SET}/")
    with tarfile.open(archive.file) as tar:
        tar.extractall(tmp_path, filter="data")
    files = [name.removeprefix(f"{PHOTO_SET}/") for name in names]
    space = PictureSpace.open(drawn)
    assert space is not None
    vectors = own_pictures(space, PictureFolder(tmp_path, SIZE), files, str(data / BACKBONE))
    features = features_of_views(backbone, archive, names, 2)
    mean, projection = fit_whitening(features.reshape(-1, features.shape[-1]), 16, 0.5, seed=5)
    alone = unit(unit((features - mean) @ projection).mean(axis=0))
    apart = np.corrcoef((vectors @ vectors.T).ravel(), (alone @ alone.T).ravel())[0, 1]
    assert apart > 0.98, "but for the drawings, on which the space was fitted too"


def test_a_language_is_learned_from_ones_own_pictures_and_the_bundles(
    drawn: Bundle, own: Own, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)  # where the backbone is found by the name that the bundle has
    both, drawing = Own(own.pictures, tmp_path / "captions.tsv"), next(iter(concepts()))
    both.captions.write_text(own.captions.read_text("utf-8") + f"{drawing}\tكلب\n", "utf-8")
    assert run(command(drawn, both, tmp_path / "out")) == 0
    taught = open_bundle(tmp_path / "out")
    assert "ar" in taught.manifest.languages
    assert taught.manifest.measures["taught_ar_captions_r10"] > 25, "by chance under 10"
    assert "401 captions of pictures" in (tmp_path / "out.report.md").read_text("utf-8")


def test_an_exported_bundle_needs_nothing_more_to_learn_from_ones_own_pictures(
    bag_bundle: Bundle, own: Own, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    assert bag_bundle.pictures is None
    assert run(command(bag_bundle, own, tmp_path / "out")) == 0
    taught = open_bundle(tmp_path / "out")
    assert taught.manifest.measures["taught_ar_captions_r10"] > 25, "by chance 10"
    assert taught.picture_space is not None, "the next language can be taught so, too"


def test_missing_parts_are_reported_in_one_line(
    drawn: Bundle,
    own: Own,
    data: Path,
    tmp_path: Path,
    fails: Fails,
) -> None:
    out = tmp_path / "out"
    plain = make_bundle(tmp_path / "plain", languages=("en", "de"))
    assert "has no picture space" in fails(*command(plain, own, out))
    assert "none of the pictures in --captions" in fails(*command(drawn, Own(tmp_path, own.captions), out))
    absent = Own(own.pictures, tmp_path / "captions.tsv")
    absent.captions.write_text("synthetic_00001.jpg\tx\nabsent.jpg\ty\n", "utf-8")
    said = fails(*command(drawn, absent, out, "--backbone", str(data / BACKBONE)))
    assert f"1 picture is not among the bundle's or in {own.pictures}: absent.jpg" in said
    assert not out.exists()


def test_another_backbone_is_refused(drawn: Bundle, own: Own, tmp_path: Path, fails: Fails) -> None:
    write_tiny_backbone(tmp_path / "other", seed=1)
    said = fails(*command(drawn, own, tmp_path / "out", "--backbone", str(tmp_path / "other")))
    assert said.endswith(f"not the one that the bundle was trained with, {BACKBONE}")
    (tmp_path / "empty").mkdir()
    said = fails(*command(drawn, own, tmp_path / "out", "--backbone", str(tmp_path / "empty")))
    assert said.endswith("give its folder with --backbone")


def test_a_damaged_space_is_refused(drawn: Bundle, tmp_path: Path) -> None:
    assert drawn.picture_space is not None
    content = drawn.picture_space.read_bytes()
    file = tmp_path / "picture_space.safetensors"
    file.write_bytes(content[:-1])
    with pytest.raises(DamagedError, match="train and export again"):
        read_picture_space(file, 16)
    file.write_bytes(content)
    with pytest.raises(DamagedError, match=r"not \(64, 8\)"):
        read_picture_space(file, 8)
