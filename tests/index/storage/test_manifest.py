"""Reading manifests without trust: what index/storage/manifest.py promises."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import DamagedError, FormatError
from index.storage.manifest import MANIFEST_BYTES, Manifest, read_manifest, write_manifest


class Thing(Manifest):
    """A manifest of three values."""

    name: str = "thing"
    count: int = 3
    share: float = 0.1


def read(folder: Path) -> Thing:
    return read_manifest(folder, Thing, "a thing")


def change(folder: Path, **values: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@given(
    name=st.text(st.characters(exclude_categories=["Cs"])),
    share=st.floats(allow_nan=False, allow_infinity=False),
)
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, name: str, share: float) -> None:
    folder = tmp_path_factory.getbasetemp() / "manifest"
    folder.mkdir(exist_ok=True)
    written = write_manifest(folder, Thing(name=name, share=share))
    assert read(folder) == written
    assert len(written.digest) == 64


def test_a_folder_without_manifest_is_named_for_what_it_is_not(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match=r"is not a thing: it has no manifest\.json"):
        read(tmp_path)
    write_manifest(tmp_path, Thing())
    (tmp_path / "manifest.json").rename(tmp_path / "other.json")
    (tmp_path / "manifest.json").symlink_to(tmp_path / "other.json")
    with pytest.raises(DamagedError, match="has no manifest"):
        read(tmp_path)


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5])
def test_another_format_is_not_reported_as_damage(tmp_path: Path, version: object) -> None:
    write_manifest(tmp_path, Thing())
    change(tmp_path, format=version)
    with pytest.raises(FormatError, match=r"this version reads 1"):
        read(tmp_path)


@pytest.mark.parametrize(
    "change_to",
    [{"count": 4}, {"name": "think"}, {"share": 0.2}, {"more": 1}, {"digest": "0" * 64}, {"digest": None}],
)
def test_a_changed_value_is_refused(tmp_path: Path, change_to: dict[str, Any]) -> None:
    write_manifest(tmp_path, Thing())
    change(tmp_path, **change_to)
    with pytest.raises(DamagedError, match="changed since it was written"):
        read(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '"x"', '{"format": 1, "format": 1}', "[" * 100_000, '{"format": 1}', "\ud800"],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content, "utf-8", "surrogatepass")
    with pytest.raises(DamagedError):
        read(tmp_path)


def test_an_endless_manifest_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "manifest.json").open("w") as file:
        file.truncate(MANIFEST_BYTES + 1)
    with pytest.raises(DamagedError, match="longer than"):
        read(tmp_path)
