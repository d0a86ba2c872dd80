"""Versions of an index: published at once, never changed, one of them served."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from index.answers.translator import Translator
from index.encoder.bundle import open_index_encoder
from index.errors import BundleError, DamagedError, FormatError, UsageError
from index.storage.files import FileEntry
from index.storage.index_manifest import IndexManifest, LanguageEntry
from index.storage.manifest import write_manifest
from index.storage.versions import (
    building,
    current,
    made_by,
    manifest_of,
    next_version,
    open_version,
    publish,
    versions,
)
from tests.damage import DAMAGE, no_parsing

ENTRY = LanguageEntry(sentences=1, words=1, lines=1, changed=0, dropped={}, links=0)


@pytest.fixture
def copy(index_dir: Path, tmp_path: Path) -> Path:
    """An index that a test may damage."""
    return shutil.copytree(index_dir, tmp_path / "index")


@pytest.fixture(scope="module")
def manifest(index_dir: Path) -> IndexManifest:
    return open_version(index_dir)[1]


def folder_of(index: Path) -> Path:
    return index / "versions" / current(index)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_any_damage_to_any_file_is_refused_before_parsing(
    copy: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(path for path in folder_of(copy).rglob("*") if path.is_file())
    assert len(paths) > 40
    for path in paths:
        shutil.copy2(path, copy / "kept")
        damage(path)
        with no_parsing(monkeypatch), pytest.raises((DamagedError, FormatError)) as caught:
            Translator.open(copy)
        assert "\n" not in str(caught.value)
        path.unlink(missing_ok=True)
        shutil.copy2(copy / "kept", path)
    Translator.open(copy)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"version": "20200101-1"}, DamagedError, "version"),
        ({"files": {}}, DamagedError, "is missing"),
        ({"files": {"../../x": FileEntry(sha256="0" * 64, size=0)}}, DamagedError, "is no file of an index"),
        ({"languages": {"../de": ENTRY, "en": ENTRY}}, DamagedError, "languages"),
        ({"format": 1}, FormatError, r"format 1, this version reads \d+: build it again"),
    ],
)
def test_a_sealed_manifest_of_another_index_is_refused(
    copy: Path, manifest: IndexManifest, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    write_manifest(folder_of(copy), manifest.model_copy(update=change))
    with pytest.raises(error, match=message):
        open_version(copy)


@pytest.mark.parametrize("change", [{"model": "tiny@2"}, {"dimension": 47}])
def test_a_sealed_manifest_with_another_encoder_is_refused(
    copy: Path, manifest: IndexManifest, change: dict[str, Any]
) -> None:
    write_manifest(folder_of(copy), manifest.model_copy(update=change))
    with pytest.raises(DamagedError, match=r"its vectors are of .*, its encoder is tiny@1 \(48\): build"):
        open_index_encoder(*open_version(copy))


@pytest.mark.parametrize(
    "content", ["", "..", "../../etc", "20261120", "20261120-0", "20261120-1/..", "\xff"]
)
def test_a_current_that_names_no_version_is_refused(copy: Path, content: str) -> None:
    (copy / "CURRENT").write_bytes(content.encode("latin-1"))
    with pytest.raises(DamagedError, match="CURRENT"):
        open_version(copy)


def test_if_current_names_a_missing_version_the_existing_ones_are_listed(copy: Path) -> None:
    there = current(copy)
    (copy / "CURRENT").write_text("20200101-7\n")
    with pytest.raises(BundleError, match=f"no version '20200101-7'; it has: {there}"):
        open_version(copy)
    for version in ("../versions", "", ".", "20200101-1"):
        with pytest.raises(BundleError, match="has no version"):
            open_version(copy, version)


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(BundleError, match="is not an index: build one with"):
            open_version(folder)


def test_ids_count_the_builds_of_a_day_in_numbers(tmp_path: Path) -> None:
    now = datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
    assert next_version(tmp_path, now) == "20261120-1"
    for name in ["20261120-9", "20261120-10", "20261119-30", "stray", "20261120-x"]:
        (tmp_path / "versions" / name).mkdir(parents=True)
    assert next_version(tmp_path, now) == "20261120-11"
    assert versions(tmp_path) == ["20261119-30", "20261120-9", "20261120-10"]


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    with building(tmp_path), pytest.raises(UsageError, match="another build is running"):
        building(tmp_path).__enter__()
    with building(tmp_path):
        pass


def test_a_version_is_found_by_its_job_and_no_other_is_parsed(
    tmp_path: Path, manifest: IndexManifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, job in enumerate(("job a", None, "job b", "job a"), start=1):
        made = manifest.model_copy(update={"version": f"20261120-{number}", "job": job})
        with building(tmp_path) as work:
            (work / "x").touch()
            publish(tmp_path, work, made)
    parsed = []
    monkeypatch.setattr(
        "index.storage.versions.manifest_of",
        lambda index, version: parsed.append(version) or manifest_of(index, version),  # type: ignore[func-returns-value]
    )
    found = [made_by(tmp_path, job) for job in ("job a", "job b", "job c")]
    assert [made and made.version for made in found] == ["20261120-4", "20261120-3", None]
    assert parsed == ["20261120-4", "20261120-3"]
    (tmp_path / "versions" / "20261120-3" / "manifest.json").unlink()
    assert made_by(tmp_path, "job b") is None
