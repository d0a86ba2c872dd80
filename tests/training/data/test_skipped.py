import json
import shutil
from pathlib import Path

import pytest

from index.errors import DamagedError, TrainingError
from tests.training.data.test_pictures import encoded, write_tar
from training.data import skipped
from training.data.pictures import PictureArchive
from training.data.skipped import Skipped, find_bad_pictures

MEMBERS = {
    "red.jpg": encoded("red"),
    "cut.jpg": encoded("red")[:300],
    "blue.jpg": encoded("blue"),
    "text.jpg": b"This is no picture at all.",
    "empty.jpg": b"",
}
NAMES = [*MEMBERS, "no.jpg"]


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def archive(tmp_path: Path) -> PictureArchive:
    return PictureArchive(write_tar(tmp_path / "images.tar", MEMBERS), 8)


def test_missing_and_undecodable_pictures_are_listed_separately(archive: PictureArchive) -> None:
    found = find_bad_pictures(archive, NAMES)
    assert found == Skipped(missing=("no.jpg",), undecodable=("cut.jpg", "text.jpg", "empty.jpg"))
    assert found.names == {"no.jpg", "cut.jpg", "text.jpg", "empty.jpg"}
    assert found.summary()["first"] == ["no.jpg", "cut.jpg", "text.jpg", "empty.jpg"]


def test_only_what_was_asked_for_counts(archive: PictureArchive) -> None:
    assert find_bad_pictures(archive, ["red.jpg", "blue.jpg"]) == Skipped()


def test_a_picture_that_is_a_bomb_is_undecodable(
    archive: PictureArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "PIL.Image.MAX_IMAGE_PIXELS", 150
    )  # they have 200: Pillow warns; beyond 300 it raises
    assert find_bad_pictures(archive, ["red.jpg"]).undecodable == ("red.jpg",)


def test_sound_pictures_are_decoded_once(archive: PictureArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    fault = PictureArchive.fault
    monkeypatch.setattr(PictureArchive, "fault", lambda a, name: seen.append(name) or fault(a, name))
    first = find_bad_pictures(archive, NAMES)
    assert seen == NAMES
    seen.clear()
    assert find_bad_pictures(PictureArchive(archive.file, 8), NAMES) == first
    assert seen == ["cut.jpg", "text.jpg", "empty.jpg", "no.jpg"], "what is bad is looked at again"


def test_an_archive_that_was_altered_is_looked_at_again(archive: PictureArchive) -> None:
    assert find_bad_pictures(archive, ["red.jpg"]) == Skipped()
    raw = archive.file.read_bytes()
    archive.file.write_bytes(raw.replace(MEMBERS["red.jpg"], bytes(len(MEMBERS["red.jpg"]))))
    assert find_bad_pictures(PictureArchive(archive.file, 8), ["red.jpg"]).undecodable == ("red.jpg",)


@pytest.mark.parametrize("damage", ["", "{", "7"])
def test_a_damaged_cache_costs_time_only(archive: PictureArchive, damage: str, tmp_path: Path) -> None:
    first = find_bad_pictures(archive, NAMES)
    (file,) = (tmp_path / "cache").rglob("*.json")
    file.write_text(damage)
    assert find_bad_pictures(archive, NAMES) == first
    assert json.loads(file.read_text()) == ["blue.jpg", "red.jpg"]


def test_a_cache_that_cannot_be_written_costs_time_only(archive: PictureArchive, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert find_bad_pictures(archive, ["no.jpg"]).missing == ("no.jpg",)


def test_up_to_the_limit_and_no_further() -> None:
    found = Skipped(missing=("a.jpg",), undecodable=("b.jpg",))
    found.check(200, 0.01, Path("images.tar"))
    with pytest.raises(TrainingError, match=r"1 of 199 pictures are missing and 1 undecodable, a\.jpg first"):
        found.check(199, 0.01, Path("images.tar"))
    Skipped().check(1, 0, Path("images.tar"))


def test_only_the_first_few_are_named() -> None:
    found = Skipped(undecodable=tuple(f"{number}.jpg" for number in range(100)))
    assert found.summary() == {
        "missing": 0,
        "undecodable": 100,
        "first": [f"{number}.jpg" for number in range(skipped.NAMED_PICTURES)],
    }


def test_what_was_written_is_read(tmp_path: Path) -> None:
    found = Skipped(missing=("a\nb.jpg",))
    found.write(tmp_path / "skipped.json")
    assert Skipped.read(tmp_path / "skipped.json") == found
    (tmp_path / "skipped.json").write_text('{"missing": 3}')
    with pytest.raises(DamagedError, match=r"skipped\.json can't be read"):
        Skipped.read(tmp_path / "skipped.json")


def test_pictures_skipped_twice_are_listed_once_and_in_order() -> None:
    one, other = Skipped(missing=("b", "a")), Skipped(missing=("a",), undecodable=("c",))
    assert one | other == other | one == Skipped(missing=("a", "b"), undecodable=("c",))
