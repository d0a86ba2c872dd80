import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from index.errors import DataError
from training.data.pictures import PictureArchive


def encoded(colour: str, size: tuple[int, int] = (20, 10), kind: str = "JPEG", mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size, colour).save(buffer, kind)
    return buffer.getvalue()


def write_tar(file: Path, members: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(file, mode) as tar:  # type: ignore[call-overload]
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return file


@pytest.fixture
def archive(tmp_path: Path) -> PictureArchive:
    members = {
        "red.jpg": encoded("red"),
        "folder/blue.jpg": encoded("blue", (5, 40)),
        "grey.png": encoded("white", kind="PNG", mode="L"),
        "broken.jpg": encoded("red")[:200],
        "text.jpg": b"This is no picture at all.",
        "empty.jpg": b"",
    }
    return PictureArchive(write_tar(tmp_path / "images.tar", members), 8)


@pytest.mark.parametrize(
    ("name", "colour"), [("red.jpg", (254, 0, 0)), ("blue.jpg", (0, 0, 254)), ("grey.png", (255,) * 3)]
)
def test_a_picture_is_a_square_of_rgb(archive: PictureArchive, name: str, colour: tuple[int, ...]) -> None:
    found = archive[name]
    assert found.shape == (8, 8, 3)
    assert found.dtype == np.uint8
    assert np.abs(found.astype(int) - colour).max() <= 3


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"images\.tar is missing; docs/data\.md"):
        PictureArchive(tmp_path / "images.tar", 8)


@pytest.mark.parametrize("content", [b"x" * 2000, b""], ids=["noise", "empty"])
def test_what_is_no_tar_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "images.tar"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"images\.tar is not a readable tar"):
        PictureArchive(file, 8)


def test_a_compressed_tar_is_refused(tmp_path: Path) -> None:
    """Offsets into it would be offsets into something else."""
    file = write_tar(tmp_path / "images.tar", {"red.jpg": encoded("red")}, "w:gz")
    with pytest.raises(DataError, match=r"images\.tar is not a readable tar"):
        PictureArchive(file, 8)


def test_missing_pictures_are_counted_and_the_first_is_named(archive: PictureArchive) -> None:
    archive.require(["red.jpg", "blue.jpg"])
    with pytest.raises(DataError, match=r"lacks 2 of 3 pictures, no\.jpg first"):
        archive.require(["red.jpg", "no.jpg", "nor.jpg"])
    with pytest.raises(DataError, match=r"no\.jpg"):
        archive["no.jpg"]


@pytest.mark.parametrize("name", ["broken.jpg", "text.jpg", "empty.jpg"])
def test_a_broken_picture_is_named(archive: PictureArchive, name: str) -> None:
    with pytest.raises(DataError, match=rf"images\.tar: {name} can't be decoded") as caught:
        archive[name]
    assert "\n" not in str(caught.value)


def test_other_pictures_of_the_same_names_have_another_fingerprint(tmp_path: Path) -> None:
    red, blue = encoded("red"), encoded("blue", (60, 40))
    for folder in ("one", "other", "same"):
        (tmp_path / folder).mkdir()
    one = PictureArchive(write_tar(tmp_path / "one" / "images.tar", {"a.jpg": red, "b.jpg": red}), 8)
    other = PictureArchive(write_tar(tmp_path / "other" / "images.tar", {"a.jpg": red, "b.jpg": blue}), 8)
    same = PictureArchive(write_tar(tmp_path / "same" / "images.tar", {"a.jpg": red, "b.jpg": red}), 8)
    assert one.file.stat().st_size == other.file.stat().st_size
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    half = Image.new("RGBA", (20, 20), (255, 0, 0, 255))
    half.paste((0, 0, 0, 0), (0, 0, 10, 20))
    palette = Image.new("P", (20, 20), 0)
    buffers = io.BytesIO(), io.BytesIO()
    half.save(buffers[0], "PNG")
    palette.save(buffers[1], "PNG", transparency=0)
    members = {"half.png": buffers[0].getvalue(), "clear.png": buffers[1].getvalue()}
    archive = PictureArchive(write_tar(tmp_path / "artist.tar", members), 8)
    assert (archive["half.png"][:, 0] == 255).all()
    assert (archive["half.png"][:, 7] == (255, 0, 0)).all()
    assert (archive["clear.png"] == 255).all()


def test_a_prefix_keeps_the_names_of_archives_apart(tmp_path: Path) -> None:
    file = write_tar(tmp_path / "images.tar", {"red.jpg": encoded("red")})
    plain, named = PictureArchive(file, 8), PictureArchive(file, 8, "artist/")
    assert np.array_equal(named["artist/red.jpg"], plain["red.jpg"])
    assert named.fingerprint != plain.fingerprint
