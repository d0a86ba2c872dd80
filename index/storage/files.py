"""Verified and durable files: checksums, listings without symbolic links, atomic replacement.

Everything is published the same way: write into a work folder, fsync every file and folder, rename into
place, fsync the parent. A reader sees the old state or the new one, whenever the writer dies.
"""

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from index.errors import DamagedError, DataError, UsageError
from index.frozen import Frozen
from index.storage.manifest import MANIFEST_NAME

# A file changed this recently may change again within one tick of its clock: its checksum is not cached.
SETTLED_NS = 2_000_000_000
FOLDERS_REMEMBERED = 200  # whose checksums are cached: each change of an index makes two

Fingerprint = list[int | str]  # by which a file that was not changed is known
Fingerprints = dict[str, Fingerprint]  # by path


class FileEntry(Frozen):
    """The size in bytes and checksum of a file, as a manifest lists it."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listing(folder: Path) -> dict[str, os.stat_result]:
    """Every file under `folder` by relative POSIX name; DamagedError for links and special files."""
    return dict(_walk(folder, ""))


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            name = prefix + entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(Path(entry.path), name + "/")
            elif stat.S_ISREG(status.st_mode):
                yield name, status
            else:
                raise DamagedError(
                    f"{entry.path}: links and special files are not allowed here: copy the file itself"
                )


def entries_of(folder: Path, known: Mapping[str, FileEntry] | None = None) -> dict[str, FileEntry]:
    """Size and checksum of every file under `folder`; those that are `known` are not read."""
    known = known or {}
    return {
        name: known.get(name) or FileEntry(sha256=sha256(folder / name), size=status.st_size)
        for name, status in listing(folder).items()
    }


def plain_name(name: str) -> bool:
    """Whether a name from a manifest stays inside its folder: relative, no `..`, no empty part."""
    return not {"\\", "\0"} & {*name} and not {"", ".", ".."} & {*name.split("/")}


def verify(folder: Path, files: Mapping[str, FileEntry], *, fresh: bool = False) -> None:
    """Check that `folder` holds exactly `files` (and the manifest) with their sizes and checksums.

    Checksums are cached by modification time and size (`fresh`: computed again). Raises DamagedError, which
    names the file.
    """
    for name in files:
        if not plain_name(name):
            raise DamagedError(f"{folder}: the manifest names {name!r}, which is not a plain relative name")
    statuses = listing(folder)
    statuses.pop(MANIFEST_NAME, None)
    if missing := sorted(files.keys() - statuses.keys()):
        raise DamagedError(f"{folder / missing[0]}: the file is missing: copy the folder again")
    if extra := sorted(statuses.keys() - files.keys()):
        raise DamagedError(f"{folder / extra[0]}: the manifest does not list this file: remove it")
    known = {} if fresh else _verified(folder)
    verified = dict(known)
    for name, entry in files.items():
        _check(folder / name, entry, statuses[name], verified)
    if verified != known:
        _keep_verified(folder, verified)


def _check(path: Path, entry: FileEntry, status: os.stat_result, verified: Fingerprints) -> None:
    if status.st_size != entry.size:
        raise DamagedError(
            f"{path}: {status.st_size} bytes where the manifest says {entry.size}: copy the file again"
        )
    fingerprint = _fingerprint(entry, status)
    if verified.get(str(path)) == fingerprint:
        return
    try:
        digest = sha256(path)
    except OSError as error:
        raise DamagedError(f"{path}: cannot be read ({error.strerror})") from error
    if digest != entry.sha256:
        raise DamagedError(f"{path}: the checksum is not the manifest's: the file was altered, copy it again")
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS:
        verified[str(path)] = fingerprint


def remember(folder: Path, files: Mapping[str, FileEntry]) -> None:
    """Note files as verified: those that were just linked, which changed their times."""
    linked = {
        str(folder / name): _fingerprint(entry, (folder / name).stat()) for name, entry in files.items()
    }
    _keep_verified(folder, _verified(folder) | linked)


def _verified(folder: Path) -> Fingerprints:
    """The files of a folder that were verified before: in the user's cache, which may be deleted any time."""
    file = _cache_file(folder)
    try:
        loaded = json.loads(file.read_text("utf-8")) if file else {}
    except (OSError, ValueError):
        loaded = {}
    return loaded if isinstance(loaded, dict) else {}


def _keep_verified(folder: Path, verified: Fingerprints) -> None:
    if (file := _cache_file(folder)) is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, json.dumps(verified))
        for old in sorted(file.parent.glob("*.json"), key=os.path.getmtime)[:-FOLDERS_REMEMBERED]:
            old.unlink(missing_ok=True)
    except OSError:
        pass  # with a read-only home, checksums are computed again next time


def _fingerprint(entry: FileEntry, status: os.stat_result) -> Fingerprint:
    # The change time cannot be set back with touch, so it is kept beside the modification time.
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, entry.sha256]


def _cache_file(folder: Path) -> Path | None:
    key = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    base = cache_folder()
    return base / "verified" / f"{key}.json" if base else None


def cache_folder() -> Path | None:
    """The user's cache folder, $XDG_CACHE_HOME/passepartout; None for a user without a home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passepartout"
    except RuntimeError:
        return None


def fsync(path: Path) -> None:
    """Flush one file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_read_only(folder: Path) -> None:
    """Take the right to write from all files under `folder`: whoever has mapped them would see it."""
    for name, status in listing(folder).items():
        if status.st_mode & 0o222:  # or else a link's change time, by which it is known, would change
            (folder / name).chmod(stat.S_IMODE(status.st_mode) & ~0o222)


def fsync_tree(folder: Path, flushed: Collection[str] = ()) -> None:
    """Flush every file and folder under `folder`, and itself; files that are `flushed` are links to such."""
    for name in listing(folder).keys() - flushed:
        fsync(folder / name)
    for parent, _, _ in os.walk(folder, topdown=False):
        fsync(Path(parent))


def read_text(path: Path) -> str:
    """The text of a file of the user, in UTF-8 with or without its mark. Raises DataError."""
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): give another") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from error


def replace_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8, as `replace_bytes` does."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader sees the old content or the new, never a part."""
    # A fixed name: a writer that dies leaves at most one draft, which the next writer overwrites.
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(content)
    fsync(draft)
    draft.replace(path)
    fsync(path.parent)


@contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Yield a draft to write to, which is then flushed and replaces `path`, a file that the user named.

    Raises UsageError if it cannot be written; no draft is left then.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        yield draft
        fsync(draft)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from error


def replace_folder(staging: Path, target: Path) -> None:
    """Flush the folder `staging` and move it to `target`; a previous folder there is removed afterwards."""
    fsync_tree(staging)
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    staging.rename(target)
    fsync(target.parent)
    shutil.rmtree(old, ignore_errors=True)
