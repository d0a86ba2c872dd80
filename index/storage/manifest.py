"""Manifests of bundles and of index versions: JSON objects that list files with checksums, by format number.

Files are checked against the manifest; the manifest against its own `digest`, the SHA-256 of the rest.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from index.errors import DamagedError, FormatError, unrepeated
from index.frozen import Frozen, first_error

VERSION_ID = re.compile(r"([0-9]{8})-([1-9][0-9]{0,5})")  # the day it was made, and a number
MANIFEST_NAME = "manifest.json"
MANIFEST_BYTES = 16 << 20  # at most


class Manifest(Frozen):
    """The base of both manifests: immutable, without unknown keys.

    The default of `format` is the only format that is read.
    """

    format: int = 1
    digest: str = ""  # filled in by write_manifest


Kind = TypeVar("Kind", bound=Manifest)


def read_manifest(folder: Path, kind: type[Kind], what: str) -> Kind:
    """Read `folder`/manifest.json as a manifest of `kind`; `what` ("an encoder bundle") names it in errors.

    Raises DamagedError if it is missing or malformed, FormatError if its format is not that of `kind`.
    """
    path = folder / MANIFEST_NAME
    values = _load(path, what)
    if values.get("format") != (wanted := kind.model_fields["format"].default):
        raise FormatError(
            f"{path}: format {values.get('format')!r}, this version reads {wanted}: "
            "build it again, or use the version that made it"
        )
    if values.get("digest") != _digest(values):
        raise DamagedError(f"{path}: changed since it was written: copy it again, or publish the change")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise DamagedError(f"{path}: {first_error(error)}: make it again") from error


def _load(path: Path, what: str) -> dict[str, Any]:
    if path.is_symlink() or not path.is_file():
        raise DamagedError(f"{path.parent} is not {what}: it has no {MANIFEST_NAME}")
    if path.stat().st_size > MANIFEST_BYTES:
        raise DamagedError(f"{path}: longer than {MANIFEST_BYTES} bytes: make it again")
    try:
        values = json.loads(path.read_text("utf-8"), object_pairs_hook=unrepeated)
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedError(f"{path}: not a valid manifest ({error}): make it again") from error
    if not isinstance(values, dict):
        raise DamagedError(f"{path}: not a JSON object: make it again")
    return values


def _digest(values: dict[str, Any]) -> str:
    rest = {name: value for name, value in values.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def write_manifest(folder: Path, manifest: Kind) -> Kind:
    """Write `folder`/manifest.json, without flushing it; returns the manifest with its digest."""
    digest = _digest(json.loads(manifest.model_dump_json()))
    manifest = manifest.model_copy(update={"digest": digest})
    (folder / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=2), "utf-8")
    return manifest
