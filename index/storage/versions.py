"""An index on disk: INDEX/versions/ID/ hold versions that never change, INDEX/CURRENT names the one served.

The protocol, in the order of what a build does:

1. Lock work/LOCK (flock: the kernel releases it when the holder dies): one build, removal or rollback a time.
2. Work in work/KEY/, where KEY is the SHA-256 of all inputs: corpus files, rules, encoder, changed version.
   A file gets its name when it is whole and flushed (`job.making`), so what has a name is not made again.
3. What is needed only until the end lies in work/KEY.parts/: vectors and a journal of them (`encoding`),
   whose checksums say what of it can be trusted. Folders of other keys are removed first.
4. Publish: write manifest.json with the SHA-256 of every file and of itself; flush all; rename work/KEY to
   versions/ID; flush versions/; replace CURRENT by rename; remove work/KEY.parts/.
5. A removal renames versions/ID into work/ and deletes it there. Whoever has its files open keeps them.

Killed before the rename, the same build goes on from what has a name; after it, before CURRENT is replaced,
it finds its version by KEY and only serves it; later, nothing is left to do but to remove the parts. A
reader opens the version that CURRENT names, checks names, sizes and checksums, and only then gives a file
to a parser. So it sees the old version or the new one, whole; no step touches a file of the version that is
served.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from index.confidence.quality import Confidence, HubnessEntry, PairQuality
from index.encoder.bundle import CODE, BundleManifest
from index.errors import BundleError, BusyError, DamagedError
from index.search.hubness import Scoring
from index.search.structure import EXACT, EXTENSIONS, Kind, Structure
from index.storage.files import FileEntry, describe, fsync, fsync_tree, replace_text, verify
from index.storage.manifest import NAME, Manifest, read_manifest, write_manifest

VERSIONS, WORK, CURRENT, LOCK = "versions", "work", "CURRENT", "LOCK"
ENCODER, DETECTOR = "encoder", "detector.npy"
COLLECTIONS = "COLLECTIONS"  # in work/: the collections of Milvus that were made here (milvus_store.py)
ID = re.compile(r"([0-9]{8})-([1-9][0-9]{0,5})")
SENTENCE_FILES = ("{}.arrow", "{}.hubness.npy", "{}.groups.arrow", "{}.dropped.tsv")
WORD_FILES = ("{}.words.faiss", "{}.words.arrow", "{}.words.hubness.npy", "{}.words.rotation.npy")


class LanguageEntry(BaseModel):
    """What an index holds of one language, and the lines that its corpus lost on the way, by reason.

    `changed` of those kept were brought into form; `links` pair a sentence with a group of translations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: int = Field(ge=1)
    words: int = Field(ge=0)
    phrases: int = Field(default=0, ge=0)
    lines: int = Field(ge=0)
    changed: int = Field(ge=0)
    dropped: dict[str, int]
    links: int = Field(ge=0)
    structure: Structure = EXACT


class CleaningEntry(BaseModel):
    """The rules of cleaning that a build left out, and the bounds of the others (`cleaning.Cleaning`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    off: tuple[str, ...]
    longest: int
    likeness: float


class Options(BaseModel):
    """What whoever built it asked for, beside cleaning and scoring; a change keeps it.

    `structure` of sentences, None: by their number; `store`: the Milvus that has their vectors, None: files;
    words that occur `least_count` times; `phrases` or not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    structure: Kind | None = None
    store: str | None = None
    least_count: int = Field(default=1, ge=1)
    phrases: bool = True


class WordAlignment(BaseModel):
    """How the word spaces were aligned (`procrustes.align`); `anchors` by "de-en"; pull null: no rotation.

    `orthogonality`: the largest entry of |Rᵀ R - I| over all rotations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: int
    converged: bool
    pull: float | None
    anchors: dict[str, int]
    orthogonality: float = Field(default=0.0, ge=0)


class IndexManifest(Manifest):
    """What a version is.

    The order of `languages`, without its own, is the order of hubness columns; `detects` are the rows of
    detector.npy. `skipped`: sentences of a file in languages that the encoder does not know. `quality` and
    `hubness` are by "de-en", asked in the first.
    """

    version: str = Field(pattern=rf"^{ID.pattern}$")
    base: str | None = None
    created: AwareDatetime
    model: str
    dimension: int = Field(ge=1, le=65536)
    scoring: Scoring = "csls"
    options: Options = Options()
    calibrated: bool = False  # whether confidences of sentences were fitted for this encoder
    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    languages: dict[str, LanguageEntry] = Field(min_length=1)
    alignment: WordAlignment
    detects: tuple[str, ...]
    cleaning: CleaningEntry
    skipped: dict[str, int] = Field(default_factory=dict)
    confidence: Confidence = Confidence()
    quality: dict[str, PairQuality] = Field(default_factory=dict)
    hubness: dict[str, HubnessEntry] = Field(default_factory=dict)
    files: dict[str, FileEntry] = Field(default_factory=dict)

    @property
    def stored(self) -> bool:
        """Whether Milvus has the vectors of its sentences."""
        return any(entry.structure.kind == "milvus" for entry in self.languages.values())

    def sources(self, language: str) -> tuple[str, ...]:
        """The other languages, in the order of the columns of `language`'s hubness files."""
        return tuple(code for code in self.languages if code != language)


def current(index: Path) -> str:
    """The ID of the version served. BundleError if there is none, DamagedError if CURRENT is not an ID."""
    try:
        found = (index / CURRENT).read_text("ascii").strip()
    except FileNotFoundError:
        raise BundleError(f"{index} is not an index: build one with `passepartout index build`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedError(f"{index / CURRENT}: cannot be read: build the index again") from error
    if not ID.fullmatch(found):
        raise DamagedError(f"{index / CURRENT}: does not name a version: build the index again")
    return found


def versions(index: Path) -> list[str]:
    """The IDs of all published versions, oldest first."""
    folder = index / VERSIONS
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted((name for name in names if ID.fullmatch(name)), key=_order)


def _order(version: str) -> tuple[str, int]:
    date, number = version.split("-")
    return date, int(number)


def open_version(
    index: Path, version: str | None = None, *, fresh: bool = False
) -> tuple[Path, IndexManifest]:
    """Verify a version (the current one without `version`) and return its folder and manifest.

    `fresh` computes every checksum, whatever was verified before; and of vectors that Milvus has.
    """
    name = current(index) if version is None else version
    folder = index / VERSIONS / name
    if not ID.fullmatch(name) or not folder.is_dir():
        there = ", ".join(versions(index)) or "none"
        raise BundleError(f"{index} has no version {name!r}; it has: {there}")
    manifest = read_manifest(folder, IndexManifest, "a version of an index")
    _check(folder, name, manifest)
    verify(folder, manifest.files, fresh=fresh)
    _check_encoder(folder, manifest)
    if fresh and manifest.stored:
        from index.build.milvus_store import verify_collections  # pymilvus is an extra

        verify_collections(folder, manifest)
    return folder, manifest


def _check_encoder(folder: Path, manifest: IndexManifest) -> None:
    encoder = read_manifest(folder / ENCODER, BundleManifest, "an encoder bundle")
    name = f"{encoder.name}@{encoder.version}"
    if (name, encoder.dimension) != (manifest.model, manifest.dimension):
        raise DamagedError(
            f"{folder}: its vectors are of {manifest.model} ({manifest.dimension} dimensions), "
            f"its encoder is {name} ({encoder.dimension}): build the index again"
        )


def _check(folder: Path, name: str, manifest: IndexManifest) -> None:
    if manifest.version != name:
        raise DamagedError(f"{folder}: its manifest says version {manifest.version}: build the index again")
    for code in manifest.languages:
        if not re.match(CODE, code):
            raise DamagedError(f"{folder}: {code!r} is not a language code: build the index again")
    wanted = {form.format(code) for code in manifest.languages for form in (*SENTENCE_FILES, *WORD_FILES)}
    wanted |= {
        f"{code}.{extension}"
        for code, entry in manifest.languages.items()
        for extension in EXTENSIONS[entry.structure.kind]
    }
    wanted.add(DETECTOR)
    listed = {file for file in manifest.files if not file.startswith(f"{ENCODER}/")}
    if odd := sorted(wanted ^ listed):
        what = "missing" if odd[0] in wanted else "no file of an index"
        raise DamagedError(f"{folder}: {odd[0]!r} is {what}: build the index again")


@contextmanager
def locked(index: Path) -> Iterator[Path]:
    """Hold the lock of `index`, which the kernel releases when its holder dies; gives the folder work/.

    Raises BusyError while another holds it.
    """
    work = index / WORK
    work.mkdir(parents=True, exist_ok=True)
    with (work / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"{index}: another build is running: wait for it or give another folder"
            ) from None
        yield work


@contextmanager
def building(index: Path, key: str) -> Iterator[Path]:
    """Hold the lock of `index` and give the work folder for `key`; work of other keys is removed.

    Raises BusyError while another build holds the lock.
    """
    with locked(index) as work:
        own = work / key
        # Parts without their work folder are of a build that was killed after it had published.
        keep = (own, parts_of(own)) if own.exists() else ()
        _clear(work, keep)
        own.mkdir(exist_ok=True)
        parts_of(own).mkdir(exist_ok=True)
        yield own
        shutil.rmtree(parts_of(own), ignore_errors=True)


def _clear(work: Path, keep: Collection[Path] = ()) -> list[str]:
    """Remove the folders in work/ but those to `keep`; the names of what was removed."""
    removed = [path for path in sorted(work.iterdir()) if path.is_dir() and path not in keep]
    for path in removed:
        shutil.rmtree(path)
    return [path.name for path in removed]


def parts_of(work: Path) -> Path:
    """The folder of what a build needs until it is published."""
    return work.with_name(f"{work.name}.parts")


def unserved(index: Path, key: str) -> str | None:
    """The version that a build with `key` had finished when it died before naming it in CURRENT."""
    served = current(index) if (index / CURRENT).exists() else None
    for version in reversed(versions(index)):
        if version == served:
            return None
        if _key(index / VERSIONS / version) == key:
            return version
    return None


def made(index: Path, key: str, since: str) -> str | None:
    """The version later than `since` that a build with `key` has published already."""
    later = [version for version in versions(index) if _order(version) > _order(since)]
    return next((version for version in later if _key(index / VERSIONS / version) == key), None)


def _key(folder: Path) -> str | None:
    try:
        return read_manifest(folder, IndexManifest, "a version of an index").key
    except BundleError:
        return None


def publish(index: Path, work: Path, manifest: IndexManifest) -> IndexManifest:
    """Make the work folder the current version; returns the manifest with its files."""
    (work / NAME).unlink(missing_ok=True)
    manifest = manifest.model_copy(update={"files": describe(work)})
    manifest = write_manifest(work, manifest)
    fsync_tree(work)
    folder = index / VERSIONS
    folder.mkdir(exist_ok=True)
    os.rename(work, folder / manifest.version)
    fsync(folder)
    serve(index, manifest.version)
    return manifest


def serve(index: Path, version: str) -> None:
    """Name `version` in CURRENT."""
    replace_text(index / CURRENT, version + "\n")


def next_version(index: Path, now: datetime | None = None) -> str:
    """YYYYMMDD-N: today in UTC, N one more than the day's highest."""
    today = f"{now or datetime.now(UTC):%Y%m%d}"
    taken = [_order(version)[1] for version in versions(index) if version.startswith(today)]
    return f"{today}-{max(taken, default=0) + 1}"


def version_before(index: Path) -> str:
    """The version before the one served. BundleError where there is none."""
    served, there = current(index), versions(index)
    earlier = [name for name in there if _order(name) < _order(served)]
    if not earlier:
        raise BundleError(f"{index} has no version before {served}; it has: {', '.join(there)}")
    return earlier[-1]


def roll_back(index: Path, version: str | None = None) -> str:
    """Serve another version, checked anew: the one before the served where none is named; its ID.

    Raises BundleError where there is none such, DamagedError, BusyError while a build is running.
    """
    with locked(index):
        chosen = version or version_before(index)
        open_version(index, chosen, fresh=True)
        serve(index, chosen)
    return chosen


def collect(index: Path, keep: int = 2) -> list[str]:
    """Remove all but the latest `keep` versions and the one served, and what builds left; what was removed.

    Collections in Milvus that no version names are dropped last. Raises BundleError where there is no index,
    BusyError while a build is running, StoreError where Milvus does not answer.
    """
    served = current(index)
    with locked(index) as work:
        old = [name for name in versions(index)[: -keep or None] if name != served]
        for name in old:
            # At once, so that no version is ever there in part; a killed removal is finished by the next.
            os.rename(index / VERSIONS / name, work / name)
        if old:
            fsync(index / VERSIONS)
        removed = _clear(work)
        if not (work / COLLECTIONS).exists():
            return removed
        from index.build.milvus_store import drop_unused  # pymilvus is an extra

        return [*removed, *drop_unused(index)]
