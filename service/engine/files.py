"""Translated files, kept on disk until they are fetched under random names that only the client knows."""

import re
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from index.formats.registry import DOCUMENT_EXTENSIONS
from service import limits

if TYPE_CHECKING:
    from service.settings import Settings

FILE_NAME = re.compile(r"[0-9a-f]{32}\.[a-z]{2,5}")


class NoRoomError(Exception):
    """The kept files fill the space that they may take."""


class TranslatedFiles:
    """Files in `folder`, of at most `max_bytes` together, each kept for `keep_seconds`."""

    def __init__(self, folder: Path, max_bytes: int, keep_seconds: float) -> None:
        self._folder, self._max_bytes, self._keep_seconds = folder, max_bytes, keep_seconds

    def put(self, content: bytes, suffix: str) -> str:
        """Keep a file of one of DOCUMENT_EXTENSIONS; returns its name. Raises NoRoomError, OSError."""
        assert suffix in DOCUMENT_EXTENSIONS
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._sweep() + len(content) > self._max_bytes:
            raise NoRoomError
        name = f"{secrets.token_hex(16)}{suffix}"
        draft = self._folder / f".{name}"
        try:
            draft.write_bytes(content)
            draft.rename(self._folder / name)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        return name

    def find(self, name: str) -> Path | None:
        """The file of this name; None if there is none (any more)."""
        path = self._folder / name
        if FILE_NAME.fullmatch(name) is None or not path.is_file() or self._is_old(path):
            return None
        return path

    def _sweep(self) -> int:
        """Remove old files; return the number of bytes left."""
        kept_bytes = 0
        for path in self._folder.iterdir():
            if self._is_old(path):
                path.unlink(missing_ok=True)
            else:
                kept_bytes += _size(path)
        return kept_bytes

    def _is_old(self, path: Path) -> bool:
        try:
            return time.time() - path.stat().st_mtime > self._keep_seconds
        except OSError:  # another process has removed it
            return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_files(settings: "Settings") -> TranslatedFiles:
    """Open the folder of the settings."""
    folder = settings.spool_folder / "translated"
    return TranslatedFiles(folder, limits.MAX_KEPT_BYTES, limits.KEPT_SECONDS)
