"""Uploads on disk until a job has used them: SPOOL/uploads/ID/ holds a corpus file and its description.

Ids are random and a file is named after a checksum, so no name contains more of a user's input than the
extensions. A file is written under .ID/, which is renamed when it is complete and flushed.
"""

import asyncio
import errno
import hashlib
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from index.errors import UsageError
from index.formats.keyed import family_of
from index.formats.registry import Format, Source, format_of
from index.formats.rows import columns_of
from index.formats.sentence import BadUnits
from index.formats.streams import plain_suffixes
from index.formats.txt import stem
from index.storage.files import fsync, fsync_tree
from service import limits
from service.schemas.jobs import JOB_ID, Upload, UploadOptions
from service.settings import Settings

UPLOAD_FILE = "about.json"  # the Upload as JSON
SUFFIX = re.compile(r"\.[a-z0-9-]{1,12}")
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # disk, quota or limit of the process full
ABANDONED_SECONDS = 86_400  # after which a partial upload is removed


class FullError(Exception):
    """The disk, or the share of it that the service may use, is full."""


class Spool:
    """Uploads of the settings' spool, of at most MAX_SPOOL_BYTES together, each kept for JOB_KEPT_SECONDS."""

    def __init__(self, settings: Settings) -> None:
        self.folder = settings.spool_folder / "uploads"

    async def take(self, content: AsyncIterator[bytes], options: UploadOptions) -> Upload:
        """Store a streamed file. Raises FullError, and whatever `content` raises."""
        await asyncio.to_thread(self.sweep)
        upload_id = secrets.token_hex(16)
        draft = self.folder / f".{upload_id}"
        digest, size = hashlib.sha256(), 0
        try:
            await asyncio.to_thread(draft.mkdir, parents=True)
            with (draft / "file").open("wb") as file:
                async for block in content:
                    size += len(block)
                    digest.update(block)
                    if await asyncio.to_thread(self._size) + len(block) > limits.MAX_SPOOL_BYTES:
                        raise FullError
                    await asyncio.to_thread(file.write, block)
                file.flush()
            upload = Upload(
                **options.model_dump(),
                id=upload_id,
                file=stored_name(options, digest.hexdigest()),
                bytes=size,
                sha256=digest.hexdigest(),
                created=datetime.now(UTC),
            )
            await asyncio.to_thread(self._publish, draft, upload)
        except BaseException as error:
            shutil.rmtree(draft, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                raise FullError from error
            raise
        return upload

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
        return Source(path, upload.language, upload.format, columns, bad=BadUnits())

    def remove(self, upload_id: str) -> None:
        """Remove an upload, if it exists."""
        if self.find(upload_id) is not None:
            shutil.rmtree(self.folder / upload_id, ignore_errors=True)

    def sweep(self) -> None:
        """Remove old uploads, and partial ones abandoned by their sender."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            kept = ABANDONED_SECONDS if path.name.startswith(".") else limits.JOB_KEPT_SECONDS
            with suppress(OSError):  # another process has removed it
                if time.time() - path.stat().st_mtime > kept:
                    shutil.rmtree(path, ignore_errors=True)

    def _size(self) -> int:
        """The bytes of all uploads, counted each time: other processes write here too."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _publish(self, draft: Path, upload: Upload) -> None:
        (draft / "file").rename(draft / upload.file)
        (draft / UPLOAD_FILE).write_text(upload.model_dump_json(), "utf-8")
        fsync_tree(draft)
        draft.rename(self.folder / upload.id)
        fsync(self.folder)


def format_of_upload(options: UploadOptions) -> Format | None:
    """The format of an upload, as given or by its name; None where only the file itself tells (.xml)."""
    name = Path(options.name or "")
    if options.format is None and plain_suffixes(name)[-1:] == [".xml"]:
        return None
    return format_of(Source(name, format=options.format))


def stored_name(options: UploadOptions, checksum: str) -> str:
    """The name of an upload in the spool: a checksum, and the extensions of the name that it has elsewhere.

    Files that translate each other by name (app_de.json and app_en.json) have one checksum, of that name.
    """
    path, form = Path(options.name or f"upload.{options.format}"), format_of_upload(options)
    if form is not None and form.by_line:
        checksum = hashlib.sha256(stem(path).encode()).hexdigest()
    elif form is not None and form.keyed and options.language:
        checksum = hashlib.sha256(family_of(path, options.language).encode()).hexdigest()
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kept = suffixes[len(plain_suffixes(path)) - 1 :] if suffixes else []
    return "".join([checksum[:16], *filter(SUFFIX.fullmatch, kept)])
