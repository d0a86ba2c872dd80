"""Uploads on disk until a job has used them: SPOOL/ID/ holds a corpus file and its description.

Ids are random and a file is named after its checksum and format, so no name contains user input. A file is
written under SPOOL/.ID/, which is renamed when it is complete and flushed.
"""

import asyncio
import errno
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
from index.formats.bad_units import BadUnits
from index.formats.registry import Source
from index.formats.rows import columns_of
from index.storage.files import fsync, fsync_tree
from service.schemas.jobs import JOB_ID, Compression, Format, Upload

if TYPE_CHECKING:
    from service.settings import Settings

UPLOAD_FILE = "about.json"  # the Upload as JSON
# Where an extension differs from the name of its format.
FORMAT_EXTENSIONS: dict[Format, str] = {"xliff": "xlf", "cldr": "xml"}
BYTES_WRITTEN = 1 << 20  # at a time
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # disk, quota or limit of the process full
ABANDONED_SECONDS = 86_400  # after which a partial upload is removed


class TooLargeError(Exception):
    """The file is longer than it may be."""


class FullError(Exception):
    """No more uploads fit."""


class DiskFullError(Exception):
    """The disk, or the share of it that the service may use, is full."""


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
        name: str | None = None,
        columns: str | None = None,
    ) -> Upload:
        """Store a streamed file of at most `max_bytes`. Raises TooLargeError, FullError, DiskFullError."""
        await asyncio.to_thread(self.sweep)
        upload_id = secrets.token_hex(16)
        draft = self.folder / f".{upload_id}"
        try:
            await asyncio.to_thread(draft.mkdir, parents=True)
            with (draft / "file").open("wb") as file:
                incoming = Incoming(file, max_bytes)
                await self._receive(content, incoming)
            upload = Upload(
                id=upload_id,
                file=_name(incoming.digest.hexdigest(), form, compression),
                format=form,
                compression=compression,
                language=language,
                name=name,
                columns=columns,
                bytes=incoming.size,
                sha256=incoming.digest.hexdigest(),
                created=datetime.now(UTC),
            )
            await asyncio.to_thread(self._publish, draft, upload)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                raise DiskFullError from error
            raise
        return upload

    def all(self) -> list[Upload]:
        """All complete uploads, newest first."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []
        uploads = [upload for name in names if (upload := self.find(name))]
        return sorted(uploads, key=lambda upload: upload.created, reverse=True)

    def find(self, upload_id: str) -> Upload | None:
        """The upload with this id; None if it is unknown or malformed."""
        if not re.fullmatch(JOB_ID, upload_id):
            return None
        try:
            return Upload.model_validate_json((self.folder / upload_id / UPLOAD_FILE).read_bytes())
        except (OSError, ValidationError):
            return None

    def source(self, upload_id: str) -> Source:
        """An upload as a corpus file. Raises UsageError if it does not exist."""
        upload = self.find(upload_id)
        if upload is None:
            raise UsageError(
                f"there is no upload {upload_id}: do service and worker share the folder `spool`?"
            )
        columns = tuple(columns_of(upload.columns).items()) if upload.columns else ()
        path = self.folder / upload_id / upload.file
        return Source(path, upload.language, upload.format, columns, BadUnits())

    def remove(self, upload_id: str) -> bool:
        """Remove an upload; returns whether it existed."""
        exists = self.find(upload_id) is not None
        if exists:
            shutil.rmtree(self.folder / upload_id, ignore_errors=True)
        return exists

    def sweep(self) -> None:
        """Remove uploads older than `keep` seconds, and partial ones abandoned by their sender."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if _age(path) > (ABANDONED_SECONDS if path.name.startswith(".") else self._keep):
                shutil.rmtree(path, ignore_errors=True)

    async def _receive(self, content: AsyncIterator[bytes], incoming: Incoming) -> None:
        block = bytearray()
        async for part in content:
            block += part
            if len(block) >= BYTES_WRITTEN:
                await asyncio.to_thread(self._append, incoming, bytes(block))
                block.clear()
        await asyncio.to_thread(self._append, incoming, bytes(block))

    def _append(self, incoming: Incoming, block: bytes) -> None:
        incoming.size += len(block)
        if incoming.size > incoming.max_bytes:
            raise TooLargeError
        # Counted each time: other processes write here too.
        used = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        if used + len(block) > self._max_bytes:
            raise FullError
        incoming.file.write(block)
        incoming.digest.update(block)

    def _publish(self, draft: Path, upload: Upload) -> None:
        (draft / "file").rename(draft / upload.file)
        (draft / UPLOAD_FILE).write_text(upload.model_dump_json(), "utf-8")
        fsync_tree(draft)
        draft.rename(self.folder / upload.id)
        fsync(self.folder)


def open_spool(settings: "Settings") -> Spool:
    """Open the spool of the settings; by default the folder INDEX.spool beside the index."""
    default = settings.index.with_name(f"{settings.index.name}.spool")
    return Spool(
        settings.spool or default, max_bytes=settings.max_spool_bytes, keep=settings.jobs_keep_seconds
    )


def _name(digest: str, form: Format, compression: Compression) -> str:
    name = f"{digest[:16]}.{FORMAT_EXTENSIONS.get(form, form)}"
    return name if compression == "none" else f"{name}.{compression}"


def _age(path: Path) -> float:
    """Seconds since the last modification; 0 if the file has been removed."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
