"""Uploads on disk, until a job has used them: SPOOL/ID/ holds a corpus file and what is known of it.

Ids are drawn here, a file is called by its checksum and format: nothing of a request is in any name. A file
comes in under SPOOL/.ID/, which is renamed when all of it is there and flushed.
"""

import asyncio
import hashlib
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pydantic import ValidationError

from index.errors import UsageError
from index.formats.registry import Source
from index.storage.files import fsync, fsync_tree
from service.jobs.schemas import JOB_ID, Compression, Format, Upload

if TYPE_CHECKING:
    from service.settings import Settings

ABOUT = "about.json"
EXTENSIONS: dict[Format, str] = {"xliff": "xlf", "cldr": "xml"}  # where it is not the format's name
BLOCK = 1 << 20  # bytes that are written at a time
ABANDONED = 86_400  # seconds after which a part of an upload is taken for left behind


class TooLargeError(Exception):
    """The file is longer than it may be."""


class FullError(Exception):
    """No more uploads fit."""


@dataclass
class Incoming:
    """A file that is being written."""

    file: IO[bytes]
    max_bytes: int
    size: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class Spool:
    """Uploads in `folder`, of at most `max_bytes` bytes together, each kept for `keep` seconds."""

    def __init__(self, folder: Path, *, max_bytes: int, keep: int) -> None:
        self.folder, self._max_bytes, self._keep = folder, max_bytes, keep

    async def take(
        self,
        content: AsyncIterator[bytes],
        form: Format,
        compression: Compression,
        language: str | None,
        max_bytes: int,
    ) -> Upload:
        """Keep a file that comes in parts, of at most `max_bytes` bytes. Raises TooLargeError, FullError."""
        await asyncio.to_thread(self.sweep)
        upload_id = secrets.token_hex(16)
        draft = self.folder / f".{upload_id}"
        await asyncio.to_thread(draft.mkdir, parents=True)
        try:
            with (draft / "file").open("wb") as file:
                incoming = Incoming(file, max_bytes)
                await self._receive(content, incoming)
            upload = Upload(
                id=upload_id,
                file=_name(incoming.digest.hexdigest(), form, compression),
                format=form,
                compression=compression,
                language=language,
                bytes=incoming.size,
                sha256=incoming.digest.hexdigest(),
                created=datetime.now(UTC),
            )
            await asyncio.to_thread(self._publish, draft, upload)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return upload

    def all(self) -> list[Upload]:
        """Those that are whole, newest first."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []
        uploads = [upload for name in names if (upload := self.find(name))]
        return sorted(uploads, key=lambda upload: upload.created, reverse=True)

    def find(self, upload_id: str) -> Upload | None:
        """The upload of an id; None where there is none, or what is no id."""
        if not re.fullmatch(JOB_ID, upload_id):
            return None
        try:
            return Upload.model_validate_json((self.folder / upload_id / ABOUT).read_bytes())
        except (OSError, ValidationError):
            return None

    def source(self, upload_id: str) -> Source:
        """An upload as a corpus file. UsageError where it is not there."""
        upload = self.find(upload_id)
        if upload is None:
            raise UsageError(
                f"there is no upload {upload_id}: do service and worker share the folder `spool`?"
            )
        return Source(self.folder / upload_id / upload.file, upload.language, upload.format)

    def remove(self, upload_id: str) -> bool:
        """Whether it was there."""
        exists = self.find(upload_id) is not None
        if exists:
            shutil.rmtree(self.folder / upload_id, ignore_errors=True)
        return exists

    def sweep(self) -> None:
        """Remove what no job came for, and parts of uploads that nobody is sending any more."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if _age(path) > (ABANDONED if path.name.startswith(".") else self._keep):
                shutil.rmtree(path, ignore_errors=True)

    async def _receive(self, content: AsyncIterator[bytes], incoming: Incoming) -> None:
        block = bytearray()
        async for part in content:
            block += part
            if len(block) >= BLOCK:
                await asyncio.to_thread(self._append, incoming, bytes(block))
                block.clear()
        await asyncio.to_thread(self._append, incoming, bytes(block))

    def _append(self, incoming: Incoming, block: bytes) -> None:
        incoming.size += len(block)
        if incoming.size > incoming.max_bytes:
            raise TooLargeError
        # Counted each time, since others write there too.
        used = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        if used + len(block) > self._max_bytes:
            raise FullError
        incoming.file.write(block)
        incoming.digest.update(block)

    def _publish(self, draft: Path, upload: Upload) -> None:
        (draft / "file").rename(draft / upload.file)
        (draft / ABOUT).write_text(upload.model_dump_json(), "utf-8")
        fsync_tree(draft)
        draft.rename(self.folder / upload.id)
        fsync(self.folder)


def open_spool(settings: "Settings") -> Spool:
    """That of the settings; without one of its own, beside the index."""
    default = settings.index.with_name(f"{settings.index.name}.spool")
    return Spool(
        settings.spool or default, max_bytes=settings.max_spool_bytes, keep=settings.jobs_keep_seconds
    )


def _name(digest: str, form: Format, compression: Compression) -> str:
    name = f"{digest[:16]}.{EXTENSIONS.get(form, form)}"
    return name if compression == "none" else f"{name}.{compression}"


def _age(path: Path) -> float:
    """Seconds since it was last changed; 0 for what is gone meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
