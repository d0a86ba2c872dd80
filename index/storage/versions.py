"""An index on disk: INDEX/versions/ID/ hold versions that never change, INDEX/CURRENT names the one served.

The protocol, in the order of what a build does:

1. Lock work/LOCK (flock: the kernel releases it when the holder dies): one build, removal or rollback a time.
2. Work in work/build/, which is emptied first.
3. Vectors, and the journal that says whose they are, are in work/build.parts/ (`encoding`): the build
   after one that was killed takes those of its own texts and encoder.
4. Publish: write manifest.json with the SHA-256 of every file and of itself; let nobody write to any; flush
   all; rename work/build to versions/ID; flush versions/; replace CURRENT by rename; empty work/.
5. A removal renames versions/ID into work/ and deletes it there. Whoever has its files open keeps them.
   `index gc` removes all but the latest; a quick change those that quick changes made, but for the latest.

A reader opens the version that CURRENT names and checks names, sizes and checksums before it parses a file.
So it sees either the old version or the new one; no step touches a file of the version that is served. If a
build is killed after the rename and before CURRENT is replaced, its version is served once its job is
repeated; that of a command waits for `index rollback` or `index gc`.
"""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from index.errors import BundleError, BusyError, DamagedError, listed
from index.storage.files import entries_of, fsync, fsync_tree, make_read_only, remember, replace_text, verify
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import MANIFEST_NAME, VERSION_ID, read_manifest, write_manifest

VERSIONS, WORK, BUILD, CURRENT, LOCK = "versions", "work", "build", "CURRENT", "LOCK"
COLLECTIONS = "COLLECTIONS"  # in work/: the collections that were made in Milvus, and their addresses
ENCODER_FOLDER, DETECTOR, DOMAIN_FILE = "encoder", "detector.npy", "domain.npy"
SENTENCE_FILES = ("{}.arrow", "{}.hubness.npy", "{}.best.npy", "{}.groups.arrow", "{}.dropped.tsv")
ADDED_FILE = "{}.added.faiss"  # the vectors of a VectorSegment
WORD_FILES = ("{}.words.faiss", "{}.words.arrow", "{}.words.hubness.npy", "{}.words.best.npy")
FEATURE_FILES = tuple(f"{{}}.features.{name}.npy" for name in ("lengths", "offsets", "words", "numbers"))


def current(index: Path) -> str:
    """The ID of the version served. BundleError if there is none, DamagedError if CURRENT is not an ID."""
    try:
        version = (index / CURRENT).read_text("ascii").strip()
    except FileNotFoundError:
        raise BundleError(f"{index} is not an index: build one with `passepartout index build`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedError(f"{index / CURRENT}: cannot be read: build the index again") from error
    if not VERSION_ID.fullmatch(version):
        raise DamagedError(f"{index / CURRENT}: does not name a version: build the index again")
    return version


def versions(index: Path) -> list[str]:
    """The IDs of all published versions, oldest first."""
    folder = index / VERSIONS
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted((name for name in names if VERSION_ID.fullmatch(name)), key=_order)


def manifest_of(index: Path, version: str) -> IndexManifest:
    """The manifest of a version, none of whose files is checked. Raises DamagedError, FormatError."""
    return read_manifest(index / VERSIONS / version, IndexManifest, "a version of an index")


def _order(version: str) -> tuple[str, int]:
    date, number = version.split("-")
    return date, int(number)


def open_version(
    index: Path, version: str | None = None, *, fresh: bool = False
) -> tuple[Path, IndexManifest]:
    """Verify a version (by default the current one) and return its folder and manifest.

    `fresh`: compute every checksum again. Raises BundleError if it does not exist, DamagedError.
    """
    name = current(index) if version is None else version
    folder = index / VERSIONS / name
    if not VERSION_ID.fullmatch(name) or not folder.is_dir():
        published = listed(versions(index)) or "none"
        raise BundleError(f"{index} has no version {name!r}; it has: {published}")
    manifest = manifest_of(index, name)
    _check(folder, name, manifest)
    verify(folder, manifest.files, fresh=fresh)
    return folder, manifest


def _check(folder: Path, name: str, manifest: IndexManifest) -> None:
    if manifest.version != name:
        raise DamagedError(f"{folder}: its manifest says version {manifest.version}: build the index again")
    forms = (*SENTENCE_FILES, *WORD_FILES, *FEATURE_FILES)
    wanted = {form.format(code) for code in manifest.languages for form in forms}
    for code, entry in manifest.languages.items():
        wanted |= {f"{code}.faiss"} if entry.search.store == "faiss" else set()
        wanted |= {ADDED_FILE.format(code)} if entry.segment and entry.segment.rows else set()
    wanted |= {DETECTOR, DOMAIN_FILE}
    expected = {file for file in manifest.files if not file.startswith(f"{ENCODER_FOLDER}/")}
    if odd := sorted(wanted ^ expected):
        what = "missing" if odd[0] in wanted else "no file of an index"
        raise DamagedError(f"{folder}: {odd[0]!r} is {what}: build the index again")


@contextmanager
def locked(index: Path) -> Iterator[Path]:
    """Hold the lock of `index`, which the kernel releases when its holder dies; yields the folder work/.

    Raises BusyError while another holds it, BundleError if something cannot be written meanwhile.
    """
    work = index / WORK
    try:
        work.mkdir(parents=True, exist_ok=True)
        with (work / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(
                    f"{index}: another build is running: wait for it or give another folder"
                ) from None
            yield work
    except (OSError, sqlite3.Error) as error:
        raise BundleError(
            f"{index}: stopped ({reason_of(error)}): free space or allow access, then retry"
        ) from error


def reason_of(error: OSError | sqlite3.Error) -> str:
    """Why something could not be written, without the system's number and path."""
    # shutil lists what it could not copy, each with its reason.
    first = str(error.args[0][0][-1] if isinstance(error, shutil.Error) else error)
    return first.split("] ")[-1].split(": ")[0]


@contextmanager
def building(index: Path) -> Iterator[Path]:
    """Hold the lock of `index` and yield an empty work folder; its parts are those of the build before.

    Raises what `locked` does. If it fails, only its parts stay: others need the space.
    """
    with locked(index) as work:
        folder = work / BUILD
        clear_work(work, (parts_of(folder),))
        folder.mkdir()
        parts_of(folder).mkdir(exist_ok=True)
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        clear_work(work)


def clear_work(work: Path, keep: Collection[Path] = ()) -> list[str]:
    """Remove the folders in work/ except those in `keep`; returns the names of the removed."""
    removed = [path for path in sorted(work.iterdir()) if path.is_dir() and path not in keep]
    for path in removed:
        shutil.rmtree(path)
    return [path.name for path in removed]


def remove_versions(index: Path, work: Path, names: Collection[str]) -> None:
    """Move versions into work/, whose folders are removed next. The caller holds the lock."""
    for name in names:
        # Atomic, so that no version ever exists in part; the next removal finishes a killed one.
        os.rename(index / VERSIONS / name, work / name)
    if names:
        fsync(index / VERSIONS)


def parts_of(work: Path) -> Path:
    """The folder of a build's intermediate files, which are removed when it is published."""
    return work.with_name(f"{work.name}.parts")


def made_by(index: Path, job: str) -> IndexManifest | None:
    """The latest version that was made for a job; None if there is none. The caller holds the lock.

    It is served now if its build was killed after it was published and before that.
    """
    for version in reversed(versions(index)):
        with suppress(BundleError, FileNotFoundError):
            # There may be thousands, of which all but one are read alone, not parsed.
            if job.encode() not in (index / VERSIONS / version / MANIFEST_NAME).read_bytes():
                continue
            manifest = manifest_of(index, version)
            if manifest.job == job:
                if _order(version) > _order(current(index)):
                    serve(index, version)
                return manifest
    return None


def publish_change(
    index: Path, work: Path, before: IndexManifest, gone: Collection[str] = (), **update: object
) -> IndexManifest:
    """Publish a version that differs from the one `before` in what is in `work`, is `gone`, or to `update`.

    All other files are links to those of that version, which the caller has opened.
    """
    linked = [name for name in before.files if name not in gone and not (work / name).exists()]
    for name in linked:
        (work / name).parent.mkdir(exist_ok=True)
        os.link(index / VERSIONS / before.version / name, work / name)
    update |= {"version": next_version(index), "base": before.version, "created": datetime.now(UTC)}
    return publish(index, work, before.model_copy(update=update), linked)


def publish(index: Path, work: Path, manifest: IndexManifest, linked: Collection[str] = ()) -> IndexManifest:
    """Publish the work folder as the current version; returns the manifest with its files.

    `linked`: those that are links to files of its base, as the manifest has them; they are not read again.
    """
    known = {name: manifest.files[name] for name in linked}
    manifest = manifest.model_copy(update={"files": entries_of(work, known)})
    manifest = write_manifest(work, manifest)
    make_read_only(work)
    fsync_tree(work, linked)
    folder = index / VERSIONS
    folder.mkdir(exist_ok=True)
    os.rename(work, folder / manifest.version)
    fsync(folder)
    for version in (manifest.base or "", manifest.version) if linked else ():
        remember(folder / version, known)
    serve(index, manifest.version)
    return manifest


def serve(index: Path, version: str) -> None:
    """Make `version` the current one: CURRENT names it."""
    replace_text(index / CURRENT, version + "\n")


def next_version(index: Path, now: datetime | None = None) -> str:
    """The next free version ID: YYYYMMDD-N, today in UTC, N one more than the day's highest."""
    today = f"{now or datetime.now(UTC):%Y%m%d}"
    taken = [_order(version)[1] for version in versions(index) if version.startswith(today)]
    return f"{today}-{max(taken, default=0) + 1}"


def version_before(index: Path) -> str:
    """The version before the one served. Raises BundleError if there is none."""
    served, published = current(index), versions(index)
    earlier = [name for name in published if _order(name) < _order(served)]
    if not earlier:
        raise BundleError(f"{index} has no version before {served}; it has: {listed(published)}")
    return earlier[-1]
