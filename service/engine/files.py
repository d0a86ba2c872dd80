"""Translated files, kept on disk until they are fetched under random names that only the client knows."""

import re
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from index.formats.registry import DOCUMENT_EXTENSIONS
from service import limits

if TYPE_CHECKING:
    from service.settings import Settings

FILE_NAME = re.compile(r"[0-9a-f]{32}\.[a-z]+")


class TranslatedFiles:
    """Files in `folder`, of at most `max_bytes` in all, each kept for `keep_seconds`; the oldest go first."""

    def __init__(self, folder: Path, max_bytes: int, keep_seconds: float) -> None:
        self._folder, self._max_bytes, self._keep_seconds = folder, max_bytes, keep_seconds

    def put(self, content: bytes, suffix: str) -> str:
        """Keep a file of one of DOCUMENT_EXTENSIONS; returns its name. Raises OSError."""
        assert suffix in DOCUMENT_EXTENSIONS
        self._folder.mkdir(parents=True, exist_ok=True)
        self._make_room(len(content))
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
        with suppress(OSError):  # another process has removed it
            if FILE_NAME.fullmatch(name) and path.is_file():
                is_old = time.time() - path.stat().st_mtime > self._keep_seconds
                return None if is_old else path
        return None

    def _make_room(self, size: int) -> None:
        """Remove files that are old, and the oldest others until there is room for `size` bytes."""
        kept = []
        for path in self._folder.iterdir():
            with suppress(OSError):  # another process has removed it
                status = path.stat()
                kept.append((status.st_mtime, status.st_size, path))
        room, since = self._max_bytes - size, time.time() - self._keep_seconds
        for modified, length, path in sorted(kept, reverse=True):
            room -= length
            if room < 0 or modified < since:
                path.unlink(missing_ok=True)


def open_files(settings: "Settings") -> TranslatedFiles:
    """Open the folder of the settings."""
    folder = settings.spool_folder / "translated"
    return TranslatedFiles(folder, limits.MAX_KEPT_BYTES, limits.KEPT_SECONDS)
