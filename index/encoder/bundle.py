"""The encoder bundle on disk: what training hands to everything else.

manifest.json, the graph of the manifest's precision (encoder.onnx, encoder.int8.onnx or encoder.int4.onnx),
tokenizer.json, words/LANG.tsv.gz (word_list.py), pictures.safetensors (pictures.py) and
picture_space.safetensors (picture_space.py; neither in all), taught/LANG.safetensors (taught.py; for each
language that was taught afterwards), README.md (the model card): these names and no others.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, FiniteFloat

from index.confidence.models import UNFITTED, Models
from index.encoder.lineage import Lineage
from index.errors import BundleError, DamagedError
from index.frozen import Frozen
from index.languages import LANGUAGE_CODE
from index.storage.files import FileEntry, entries_of, plain_name, replace_folder, verify
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import MANIFEST_NAME, Manifest, read_manifest, write_manifest
from index.storage.versions import ENCODER_FOLDER, reason_of

Precision = Literal["fp32", "int8", "int4"]

# 1: a confidence whose weights have no names; 2: a table of token embeddings; 3: word lists as they are
BUNDLE_FORMAT = 4

ENCODER = "encoder.onnx"
TOKENIZER, CARD = "tokenizer.json", "README.md"
PICTURES = "pictures.safetensors"
PICTURE_SPACE = "picture_space.safetensors"
ENCODER_GRAPHS: dict[Precision, str] = {
    "fp32": ENCODER,
    "int8": "encoder.int8.onnx",
    "int4": "encoder.int4.onnx",
}
BUNDLE_FILES = (*ENCODER_GRAPHS.values(), TOKENIZER, PICTURES, PICTURE_SPACE, CARD)
BY_LANGUAGE = re.compile(r"words/[A-Za-z0-9-]{2,16}\.tsv\.gz|taught/[A-Za-z0-9-]{2,16}\.safetensors")


def check_codes(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Language codes (BCP 47), each once; ValueError otherwise."""
    for code in codes:
        if not re.match(LANGUAGE_CODE, code):
            raise ValueError(f"{code!r} is not a language code such as de or zh-Hant")
    if len(set(codes)) != len(codes):
        raise ValueError("a language is named twice")
    return codes


LanguageCodes = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(check_codes)]


class Origin(Frozen):
    """The name of a recipe or data set, and the SHA-256 of its definition."""

    name: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class BundleManifest(Manifest):
    """The manifest of a bundle; `files` is filled in by `publish_bundle`.

    precision: the recommended graph. punctuation: whether the encoder reads more of it than that a text
    asks. prefix: the text to prepend to every input, such as "query: ". data: what the encoder was trained
    on; None if its makers do not say. lineage: also what that went on from; None if it is not known.
    calibration: the confidence of an index that cannot fit its own.
    """

    format: int = BUNDLE_FORMAT
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$")
    licence: str
    languages: LanguageCodes
    dimension: int = Field(ge=1, le=65536)
    max_tokens: int = Field(ge=1, le=65536)
    precision: Precision = "fp32"
    punctuation: bool = False
    prefix: str = Field(default="", max_length=1000)
    recipe: Origin
    data: Origin | None
    lineage: Lineage | None = None
    measures: dict[str, FiniteFloat] = Field(default_factory=dict)
    calibration: Models = UNFITTED
    created: AwareDatetime
    files: dict[str, FileEntry] = Field(default_factory=dict)


def taught_file(language: str) -> str:
    """The name of the file with the subword vectors of a taught language."""
    return f"taught/{language}.safetensors"


def words_file(language: str) -> str:
    """The name of the file with the words of a language."""
    return f"words/{language}.tsv.gz"


@dataclass(frozen=True)
class Bundle:
    """An opened bundle: its folder and its verified manifest."""

    folder: Path
    manifest: BundleManifest

    @property
    def name(self) -> str:
        """Name and version, such as `open@1`."""
        return f"{self.manifest.name}@{self.manifest.version}"

    def graph(self, precision: Precision) -> Path | None:
        """The encoder in a precision; None if the bundle has none."""
        return self._file(ENCODER_GRAPHS[precision])

    @property
    def tokenizer(self) -> Path:
        return self.folder / TOKENIZER

    @property
    def pictures(self) -> Path | None:
        """The vectors of openly licensed pictures that the encoder learned from; None if there are none."""
        return self._file(PICTURES)

    @property
    def picture_space(self) -> Path | None:
        """The map from picture features to the space of texts (picture_space.py); None if there is none."""
        return self._file(PICTURE_SPACE)

    @property
    def card(self) -> Path:
        return self.folder / CARD

    def words(self, language: str) -> Path | None:
        """The word list of a language; None if the bundle has none."""
        return self._file(words_file(language))

    @cached_property
    def taught(self) -> dict[str, Path]:
        """The files of the languages that the encoder was taught after training, by code."""
        files = {code: self._file(taught_file(code)) for code in self.manifest.languages}
        return {code: file for code, file in files.items() if file}

    def _file(self, name: str) -> Path | None:
        return self.folder / name if name in self.manifest.files else None


@contextmanager
def staging_folder(target: Path, source: Path | None = None) -> Iterator[Path]:
    """Yield a folder beside `target` to be published there: empty, or with the files of a bundle `source`.

    Nothing stays of what is not published. Raises BundleError if it cannot be written, as on a full disk.
    """
    staging = target.with_name(f".{target.name}.staging")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        if source is None:
            staging.mkdir(parents=True)
        else:
            shutil.copytree(source, staging)
        yield staging
    except OSError as error:
        if error.filename and staging.name not in str(error):  # what could not be read
            raise
        raise BundleError(f"{target} cannot be written ({reason_of(error)})") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def with_section(card: str, title: str, text: str) -> str:
    """Put a section under `## title` into a card, before its limits or at its end; one of this title goes."""
    heading = f"## {title}\n"
    card = re.sub(rf"^{re.escape(heading)}.*?(?=^## |\Z)", "", card, flags=re.DOTALL | re.MULTILINE)
    before, limits, after = card.partition("## Limits")
    section = f"{before.rstrip()}\n\n{heading}\n{text}"
    return f"{section}\n{limits}{after}" if limits else section


def publish_bundle(staging: Path, target: Path, manifest: BundleManifest) -> Bundle:
    """Describe the files in `staging`, write the manifest beside them, flush and rename to `target`.

    `staging` must be on the file system of `target`; a bundle at `target` is replaced.
    Raises BundleError if `staging` lacks a file or has one that no bundle has.
    """
    (staging / MANIFEST_NAME).unlink(missing_ok=True)
    manifest = manifest.model_copy(update={"files": entries_of(staging)})
    _check_names(staging, manifest, BundleError)
    if target.exists() and not (target / MANIFEST_NAME).is_file():
        raise BundleError(f"{target} exists and is not an encoder bundle: give another folder")
    manifest = write_manifest(staging, manifest)
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(staging, target)
    return Bundle(target, manifest)


def open_bundle(folder: Path) -> Bundle:
    """Read and verify a bundle: format, names, sizes, checksums. Raises FormatError or DamagedError."""
    manifest = read_manifest(folder, BundleManifest, "an encoder bundle")
    _check_names(folder, manifest, DamagedError)
    verify(folder, manifest.files)
    return Bundle(folder, manifest)


def open_index_encoder(folder: Path, manifest: IndexManifest) -> Bundle:
    """Open the encoder in a verified version of an index; DamagedError if the vectors are of another one."""
    bundle = open_bundle(folder / ENCODER_FOLDER)
    if (bundle.name, bundle.manifest.dimension) != (manifest.model, manifest.dimension):
        raise DamagedError(
            f"{folder}: its vectors are of {manifest.model} ({manifest.dimension} dimensions), "
            f"its encoder is {bundle.name} ({bundle.manifest.dimension}): build the index again"
        )
    return bundle


def _check_names(folder: Path, manifest: BundleManifest, error: type[BundleError]) -> None:
    names = set(manifest.files)
    for name in names:
        if not plain_name(name) or (name not in BUNDLE_FILES and not BY_LANGUAGE.fullmatch(name)):
            raise error(f"{folder}: {name!r} is no file of an encoder bundle: remove it")
    graph = ENCODER_GRAPHS[manifest.precision]
    if graph not in names:
        raise error(f"{folder}: precision is {manifest.precision} and {graph} is missing")
    for name in (TOKENIZER, CARD):
        if name not in names:
            raise error(f"{folder}: {name} is missing: an encoder bundle has it")
