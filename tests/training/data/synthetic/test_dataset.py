import hashlib
import io
import tarfile
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from index.errors import DataError
from training.data.synthetic import dataset as synthetic
from training.data.synthetic.dataset import (
    CAPTIONS_PER_PICTURE,
    LANGUAGES,
    TEST_LINES,
    TEXTURES,
    write_synthetic,
)
from training.data.synthetic.grammar import Pair, Scene, Shape, Thing
from training.data.synthetic.pictograms import ARTISTS
from training.data.synthetic.things import COLOURS, PARTS

PICTURES, SIZE = 40, 64


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    write_synthetic(folder, pictures=PICTURES, size=SIZE, seed=3)
    return folder


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def pictures(folder: Path) -> dict[str, bytes]:
    with tarfile.open(folder / "photos" / "images.tar") as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_seed_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    write_synthetic(tmp_path, pictures=PICTURES, size=SIZE, seed=3)
    assert digests(tmp_path) == digests(data)


def test_another_seed_gives_another_set(data: Path, tmp_path: Path) -> None:
    write_synthetic(tmp_path, pictures=PICTURES, size=SIZE, seed=4)
    ours, theirs = digests(data), digests(tmp_path)
    assert [name for name in ours if ours[name] == theirs[name]] == ["photos/splits.tsv"]


def test_layout(data: Path) -> None:
    captions = [f"photos/captions/{language}.tsv" for language in LANGUAGES]
    tests = [f"benchmark/synthetic_test/{language}.txt" for language in LANGUAGES]
    texts = [f"text/synthetic.{language}.txt" for language in LANGUAGES]
    drawn = [f"pictograms/{artist}.tar" for artist in ARTISTS]
    names = [f"pictograms/names/{language}.tsv" for language in LANGUAGES]
    photos = {"photos/images.tar", "photos/splits.tsv", *captions}
    assert set(digests(data)) == {*photos, *tests, *texts, *drawn, *names}


def test_every_picture_has_a_split_and_captions_in_every_language(data: Path) -> None:
    names = list(pictures(data))
    assert names == sorted(names)
    assert len(names) == PICTURES
    splits = rows(data / "photos" / "splits.tsv")
    assert [name for name, _ in splits] == names
    assert Counter(split for _, split in splits) == {"train": 32, "dev": 4, "test": 4}
    for language in LANGUAGES:
        table = rows(data / "photos" / "captions" / f"{language}.tsv")
        assert Counter(name for name, _, _ in table) == dict.fromkeys(names, CAPTIONS_PER_PICTURE)
        assert {source for _, _, source in table} == {"human"}
        assert len({(name, text) for name, text, _ in table}) == len(table)


def test_test_lines_are_aligned_and_distinct(data: Path) -> None:
    for language in LANGUAGES:
        lines = (data / "benchmark" / "synthetic_test" / f"{language}.txt").read_text("utf-8").splitlines()
        assert len(lines) == TEST_LINES
        assert len(set(lines)) == TEST_LINES


def test_scenes_differ_and_repeat_for_a_seed() -> None:
    scenes = synthetic.draw_scenes(2880, seed=0)
    assert len(set(scenes)) == 2880
    assert synthetic.draw_scenes(2880, seed=0) == scenes
    assert sum(isinstance(scene.content, Pair) for scene in scenes) == 1440


def test_more_scenes_than_exist_are_an_error() -> None:
    with pytest.raises(DataError, match="2881 scenes asked for, there are 2880"):
        synthetic.draw_scenes(2881, seed=0)


def test_pictures_are_jpegs_of_the_size(data: Path) -> None:
    for content in pictures(data).values():
        with Image.open(io.BytesIO(content)) as picture:
            assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (SIZE, SIZE))


def share_near(pixels: np.ndarray, colour: tuple[int, int, int], distance: float = 40) -> float:
    return float(np.mean(np.linalg.norm(pixels.reshape(-1, 3) - np.array(colour), axis=1) < distance))


def things(scene: Scene) -> list[Thing]:
    content = scene.content
    return [content] if isinstance(content, Thing) else [content.first, content.second]


def test_a_picture_shows_its_scene() -> None:
    """The ground fills the corners; each thing's colour is there."""
    for number, scene in enumerate(synthetic.draw_scenes(120, seed=1)):
        pixels = np.asarray(synthetic.draw(scene, SIZE, Random(number)), dtype=np.float64)
        corners = np.stack([pixels[y, x] for x in (1, -2) for y in (1, -2)])
        texture = TEXTURES[scene.ground]
        grounds = np.array([texture.base, texture.stroke])
        assert np.all(np.linalg.norm(corners[:, None] - grounds, axis=2).min(axis=1) < 40)
        for thing in things(scene):
            assert share_near(pixels, COLOURS[thing.colour]) > 0.004 * thing.count, scene


@pytest.mark.parametrize("shape", sorted(PARTS))
def test_more_and_bigger_things_cover_more(shape: Shape) -> None:
    def cover(size: synthetic.Size, count: int) -> float:
        scene = Scene("sand", Thing(shape, "red", size, count))
        return share_near(
            np.asarray(synthetic.draw(scene, SIZE, Random(0)), dtype=np.float64), COLOURS["red"]
        )

    for count in (1, 2, 3):
        assert cover("big", count) > 2 * cover("small", count)
    for size in ("small", "big"):
        assert cover(size, 1) < cover(size, 2) < cover(size, 3)


def test_pairs_stand_where_the_relation_says() -> None:
    def heights(relation: synthetic.Relation) -> tuple[float, float]:
        scene = Scene("sand", Pair(Thing("ball", "red"), Thing("box", "blue"), relation))
        pixels = np.asarray(synthetic.draw(scene, SIZE, Random(0)), dtype=np.float64)
        centre = [
            np.argwhere(np.linalg.norm(pixels - np.array(COLOURS[c]), axis=2) < 40)[:, 0].mean()
            for c in COLOURS
            if c in ("red", "blue")
        ]
        return float(centre[0]), float(centre[1])

    red, blue = heights("above")
    assert red < blue - SIZE / 4
    red, blue = heights("below")
    assert red > blue + SIZE / 4
    red, blue = heights("beside")
    assert abs(red - blue) < SIZE / 8
