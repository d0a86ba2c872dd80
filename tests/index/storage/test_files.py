"""Checksums, listings and replacement: what index/storage/files.py promises."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from index.errors import DamagedError
from index.storage import files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files old enough for their checksums to be remembered."""
    found = tmp_path / "folder"
    (found / "sub").mkdir(parents=True)
    (found / "a").write_bytes(b"one")
    (found / "sub" / "b").write_bytes(b"two" * 1000)
    (found / "manifest.json").write_text("{}")
    return found


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every change be long ago, as it is for files that were not written a moment before."""
    later = time.time_ns() + 3 * files.SETTLED_NS
    monkeypatch.setattr(files.time, "time_ns", lambda: later)


def listed(folder: Path) -> dict[str, files.FileEntry]:
    found = files.entries_of(folder)
    del found["manifest.json"]
    return found


def test_describe_gives_size_and_sha256_by_posix_name(folder: Path) -> None:
    found = files.entries_of(folder)
    assert set(found) == {"a", "sub/b", "manifest.json"}
    assert found["a"] == files.FileEntry(sha256=hashlib.sha256(b"one").hexdigest(), size=3)


def test_an_output_file_leaves_hidden_files_beside_it_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SECRET=1")
    with files.output_file(tmp_path / "env") as draft:
        draft.write_text("out")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {".env": "SECRET=1", "env": "out"}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "sub" / "b").write_bytes(b"twO" + b"two" * 999), "sub/b: the checksum"),
        (
            lambda folder: os.truncate(folder / "sub" / "b", 2999),
            "sub/b: 2999 bytes where the manifest says 3000",
        ),
        (lambda folder: (folder / "a").unlink(), "a: the file is missing"),
        (lambda folder: (folder / "sub" / "c").touch(), "sub/c: the manifest does not list"),
        (lambda folder: os.mkfifo(folder / "odd"), "odd: links and special files"),
        (lambda folder: (folder / "odd").symlink_to("/etc/hostname"), "odd: links and special files"),
        (lambda folder: (folder / "odd").symlink_to(folder / "sub"), "odd: links and special files"),
    ],
)
def test_damage_is_refused_by_name(folder: Path, damage: Callable[[Path], object], message: str) -> None:
    """A link in the place of a file: tests/damage.py."""
    entries = listed(folder)
    files.verify(folder, entries)
    damage(folder)
    with pytest.raises(DamagedError, match=message):
        files.verify(folder, entries)


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../a", "sub/../../a", "sub//b", "./a", "sub/", "a\\b", "a\0b", ".."]
)
def test_names_that_leave_the_folder_are_refused(folder: Path, name: str) -> None:
    entry = files.FileEntry(sha256="0" * 64, size=0)
    with pytest.raises(DamagedError, match="plain relative name"):
        files.verify(folder, {name: entry})


def test_a_checksum_is_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch)
    entries = listed(folder)
    files.verify(folder, entries)
    monkeypatch.setattr(files, "sha256", lambda path: pytest.fail(f"{path} was read again"))
    files.verify(folder, entries)
    with pytest.raises(pytest.fail.Exception):
        files.verify(folder, entries, fresh=True)


def test_a_changed_file_is_read_again_even_if_its_times_are_put_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(monkeypatch)
    entries = listed(folder)
    files.verify(folder, entries)
    before = (folder / "a").stat()
    (folder / "a").write_bytes(b"0ne")
    os.utime(folder / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DamagedError, match="checksum"):
        files.verify(folder, entries)


def test_a_file_written_a_moment_ago_is_not_remembered(folder: Path) -> None:
    entries = listed(folder)
    files.verify(folder, entries)
    assert files._verified(folder) == {}


def test_the_cache_may_be_deleted_damaged_or_unwritable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settle(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entries = listed(folder)
    files.verify(folder, entries)
    (cached,) = (tmp_path / "cache" / "passepartout" / "verified").iterdir()
    for content in ["[1, 2]", "not json", json.dumps({str(folder / "a"): "x"})]:
        cached.write_text(content)
        files.verify(folder, entries)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    files.verify(folder, entries)


def test_verification_works_without_a_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(files.Path, "home", no_home)
    files.verify(folder, listed(folder))
