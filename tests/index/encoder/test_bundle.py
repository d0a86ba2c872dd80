"""The encoder bundle: published whole, and refused when anything about it is not as it was published."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from index.encoder.bundle import Bundle, BundleManifest, Origin, open_bundle, publish_bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import BundleError, DamagedError, FormatError
from index.storage.manifest import write_manifest
from tests.bundles import LANGUAGES, make_bundle
from tests.damage import DAMAGE, no_parsing

NAMES = (
    "manifest.json",
    "encoder.onnx",
    "tokenizer.json",
    "pictures.safetensors",
    "README.md",
    *(f"words/{code}.tsv.gz" for code in LANGUAGES),
)


@pytest.fixture
def copy(bundle: Bundle, tmp_path: Path) -> Path:
    """A bundle that a test may damage."""
    return shutil.copytree(bundle.folder, tmp_path / "outer" / "copy")


def manifest(**values: object) -> BundleManifest:
    given: dict[str, Any] = {
        "name": "tiny",
        "version": "1",
        "licence": "Apache-2.0",
        "languages": ("en", "de"),
        "dimension": 8,
        "max_tokens": 16,
        "recipe": Origin(name="r", sha256="0" * 64),
        "data": Origin(name="d", sha256="0" * 64),
        "created": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return BundleManifest(**(given | values))


def test_a_published_bundle_opens_and_knows_its_files(copy: Path) -> None:
    found = open_bundle(copy)
    assert found.name == "tiny@1"
    assert set(found.manifest.files) == set(NAMES) - {"manifest.json"}
    assert found.graph("fp32").is_file()
    assert found.tokenizer.is_file()
    assert found.card.is_file()
    assert found.graph("int8") is None
    assert found.words("de") == copy / "words" / "de.tsv.gz"
    assert found.words("fr") is None


def test_publishing_moves_the_staging_folder_and_replaces_a_bundle(tmp_path: Path) -> None:
    make_bundle(tmp_path / "b", version="1")
    make_bundle(tmp_path / "b", version="2")
    assert open_bundle(tmp_path / "b").name == "tiny@2"
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_any_damage_to_any_file_is_refused_before_parsing(
    copy: Path, name: str, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(copy / name)
    with no_parsing(monkeypatch), pytest.raises((DamagedError, FormatError)) as caught:
        TextEncoder(open_bundle(copy))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "extra", ["notes.txt", "words/notes.txt", "encoder.onnx.data", "more/README.md", ".hidden"]
)
def test_an_extra_file_is_refused(copy: Path, extra: str) -> None:
    (copy / extra).parent.mkdir(exist_ok=True)
    (copy / extra).write_text("x")
    with pytest.raises(DamagedError, match="does not list this file"):
        open_bundle(copy)


@pytest.mark.parametrize(
    "name", ["../../outside.tsv", "/etc/passwd", "words/../../x.tsv", "encoder.onnx.data", "a.pkl"]
)
def test_a_sealed_manifest_that_lists_what_no_bundle_has_is_refused(copy: Path, name: str) -> None:
    found = open_bundle(copy).manifest
    write_manifest(copy, found.model_copy(update={"files": {**found.files, name: found.files["README.md"]}}))
    with pytest.raises(DamagedError, match="is no file of an encoder bundle"):
        open_bundle(copy)


@pytest.mark.parametrize("missing", ["encoder.onnx", "tokenizer.json", "README.md"])
def test_a_sealed_manifest_without_a_needed_file_is_refused(copy: Path, missing: str) -> None:
    found = open_bundle(copy).manifest
    files = {name: entry for name, entry in found.files.items() if name != missing}
    write_manifest(copy, found.model_copy(update={"files": files}))
    with pytest.raises(DamagedError, match=f"{missing} is missing"):
        open_bundle(copy)


def test_a_manifest_that_promises_another_precision_is_refused(tmp_path: Path) -> None:
    found = make_bundle(tmp_path / "tiny", int8=True)
    assert {path.name for path in found.folder.glob("*.onnx")} == {"encoder.int8.onnx"}
    write_manifest(found.folder, found.manifest.model_copy(update={"precision": "fp32"}))
    with pytest.raises(DamagedError, match="is missing"):
        open_bundle(found.folder)


def test_a_folder_that_is_no_bundle_and_none_at_all(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DamagedError, match="is not an encoder bundle"):
            open_bundle(folder)


@pytest.mark.parametrize("missing", ["encoder.onnx", "README.md"])
def test_an_incomplete_bundle_is_not_published(copy: Path, missing: str) -> None:
    (copy / missing).unlink()
    target = copy.parent / "target"
    with pytest.raises(BundleError, match=f"{missing} is missing"):
        publish_bundle(copy, target, manifest())
    assert not target.exists()


def test_a_bundle_with_a_stray_file_is_not_published(copy: Path) -> None:
    (copy / "checkpoint.pt").write_text("x")
    with pytest.raises(BundleError, match=r"checkpoint\.pt"):
        publish_bundle(copy, copy.parent / "target", manifest())


def test_publishing_never_replaces_a_folder_that_is_no_bundle(copy: Path) -> None:
    target = copy.parent / "home"
    target.mkdir()
    (target / "thesis.txt").write_text("ten years")
    with pytest.raises(BundleError, match="is not an encoder bundle"):
        publish_bundle(copy, target, manifest())
    assert (target / "thesis.txt").read_text() == "ten years"


@pytest.mark.parametrize(
    "values",
    [
        {"languages": ()},
        {"languages": ("en", "en")},
        {"languages": ("English",)},
        {"languages": ("../en",)},
        {"name": "../x"},
        {"name": ""},
        {"version": "1/2"},
        {"dimension": 0},
        {"dimension": 10**9},
        {"max_tokens": 0},
        {"precision": "fp16"},
        {"measures": {"r1": float("nan")}},
        {"created": datetime(2026, 1, 1)},
        {"unknown": 1},
    ],
)
def test_a_manifest_with_impossible_values_cannot_be_made(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        manifest(**values)
