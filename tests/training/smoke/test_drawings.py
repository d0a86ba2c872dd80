import hashlib
import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from training.smoke.drawings import (
    CAPTIONS_PER_PICTURE,
    LANGUAGES,
    write_synthetic,
)

PICTURES, SIZE = 40, 64


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    write_synthetic(folder, pictures=PICTURES, size=SIZE, seed=3)
    return folder


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_seed_gives_the_same_bytes_and_another_others(data: Path, tmp_path: Path) -> None:
    for seed in (3, 4):
        write_synthetic(tmp_path / str(seed), pictures=PICTURES, size=SIZE, seed=seed)
    assert digests(tmp_path / "3") == digests(data)
    ours, theirs = digests(data), digests(tmp_path / "4")
    assert [file for file in ours if ours[file] == theirs[file]] == ["photos/splits.tsv"]


def test_every_picture_has_a_split_and_captions_in_every_language(data: Path) -> None:
    with tarfile.open(data / "photos" / "images.tar") as archive:
        pictures = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
    for content in pictures.values():
        with Image.open(io.BytesIO(content)) as picture:
            assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (SIZE, SIZE))
    splits = rows(data / "photos" / "splits.tsv")
    assert [name for name, _ in splits] == sorted(pictures)
    assert Counter(split for _, split in splits) == {"train": 32, "dev": 4, "test": 4}
    for language in LANGUAGES:
        table = rows(data / "photos" / "captions" / f"{language}.tsv")
        assert Counter(name for name, _, _ in table) == dict.fromkeys(pictures, CAPTIONS_PER_PICTURE)
        assert {source for _, _, source in table} == {"human"}
        assert len({(name, text) for name, text, _ in table}) == len(table)
