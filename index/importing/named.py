"""Encoders that are known by name, which `--encoder` accepts instead of a folder."""

from pathlib import Path

from index.encoder.bundle import Bundle, open_bundle
from index.errors import DamagedError, FormatError, UsageError
from index.storage.files import cache_folder

USE_MULTILINGUAL = "use-multilingual"
NAMED_ENCODERS = (USE_MULTILINGUAL,)


def open_encoder(folder: Path) -> Bundle:
    """Open the bundle in a folder, or a named one, which is made on first use and kept in the user's cache.

    Raises what `open_bundle` does, and ModuleNotFoundError if the package of a named one is not installed.
    """
    if folder.exists() or str(folder) not in NAMED_ENCODERS:
        return open_bundle(folder)
    from index.importing.use import USE_VERSION, import_use

    cache = cache_folder()
    if cache is None:
        raise UsageError(f"no home to keep it in: passepartout encoder import {folder} --out BUNDLE first")
    kept = cache / "encoders" / f"{USE_MULTILINGUAL}-{USE_VERSION}"
    try:
        return open_bundle(kept)
    except (DamagedError, FormatError):  # not there yet, or of another version of this project
        return import_use(USE_MULTILINGUAL, kept)
