"""LibreTranslate's `/translate_file`: a file filled from the translation memory, kept until it is fetched.

Unlike LibreTranslate's, texts that the corpus does not translate stay as they are (index/answers/filling.py).
"""

import asyncio
import re
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter
from pydantic.alias_generators import to_camel
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from index.answers.answer import Answers
from index.answers.filling import Summary, fill, sentences_asked, source_language, with_language
from index.errors import UnknownLanguageError, UsageError
from index.formats.document import Document
from index.formats.registry import DOCUMENT_EXTENSIONS, open_document, suffix_of
from index.malloc import trim_heap
from service import limits
from service.api.dependencies import EngineNow, SettingsNow
from service.api.libretranslate import FAILURES
from service.api.libretranslate_schemas import FileRequest
from service.engine.engine import ServiceEngine
from service.http.access import check_body_key
from service.http.bodies import MULTIPART_TYPE, media_type, multipart_form
from service.http.problems import ProblemError, ProblemType, invalid, unavailable
from service.schemas.responses import TranslatedFile
from service.settings import Settings

router = APIRouter(tags=["LibreTranslate"])

MAX_FIELDS = 16
LONGEST_NAME = 200  # characters of a file's name that is repeated
KEPT_NAME = re.compile(r"[0-9a-f]{32}\.[a-z]+")
TEXTS_ASKED = 64  # at a time, so that other requests get their turn
FILE_BODY: dict[str, Any] = {
    "required": True,
    "content": {MULTIPART_TYPE: {"schema": FileRequest.model_json_schema()}},
}


class TranslatedFiles:
    """Files on disk, kept until they are fetched under random names that only the client knows.

    Of at most MAX_KEPT_BYTES in all, each kept for KEPT_SECONDS; the oldest go first.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.spool_folder / "translated"

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
            if KEPT_NAME.fullmatch(name) and path.is_file():
                is_old = time.time() - path.stat().st_mtime > limits.KEPT_SECONDS
                return None if is_old else path
        return None

    def _make_room(self, size: int) -> None:
        """Remove files that are old, and the oldest others until there is room for `size` bytes."""
        kept = []
        for path in self._folder.iterdir():
            with suppress(OSError):  # another process has removed it
                status = path.stat()
                kept.append((status.st_mtime, status.st_size, path))
        room, since = limits.MAX_KEPT_BYTES - size, time.time() - limits.KEPT_SECONDS
        for modified, length, path in sorted(kept, reverse=True):
            room -= length
            if room < 0 or modified < since:
                path.unlink(missing_ok=True)


@router.post(
    "/translate_file",
    summary="Translate a file, as LibreTranslate does",
    responses=FAILURES,
    openapi_extra={"requestBody": FILE_BODY},
)
async def translate_file(request: Request, engine: EngineNow, settings: SettingsNow) -> TranslatedFile:
    """Fill in the translations that the corpus has: PO, XLIFF, TMX, JSON or text."""
    places: asyncio.Semaphore = request.app.state.file_places
    if places.locked():  # nothing is awaited between this and taking a place
        raise unavailable()
    async with places:
        response = await _translated(request, engine, settings)
    await asyncio.to_thread(trim_heap)
    return response


async def _translated(request: Request, engine: ServiceEngine, settings: Settings) -> TranslatedFile:
    if media_type(request.headers.get("content-type", "")) != MULTIPART_TYPE:
        check_body_key(request, None)
        raise ProblemError(ProblemType.BAD_REQUEST, "send the file in a form (multipart/form-data)")
    async with multipart_form(request, max_files=1, max_fields=MAX_FIELDS) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str) and value}
        check_body_key(request, fields.get("api_key"))
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise invalid("file", "file is missing: send a file with its name")
        name, content = file.filename, await file.read()
    if (fuzzy := fields.get("fuzzy", "false")) not in ("true", "false"):
        raise invalid("fuzzy", f"fuzzy is {fuzzy[:20]!r}: give true or false")
    given = [("source", fields.get("source", "auto")), ("target", fields.get("target", ""))]
    *sources, target = engine.languages.codes_of(given[given[0][1] == "auto" :])
    source = sources[0] if sources else None  # to be detected
    try:
        summary, filled = await _filled(name, content, source, target, fields.get("fuzzy"), engine, settings)
    except UnknownLanguageError as error:
        raise ProblemError(ProblemType.UNKNOWN_LANGUAGE, str(error)) from None
    except UsageError as error:
        raise invalid("file", str(error)) from None
    try:
        kept = await asyncio.to_thread(TranslatedFiles(settings).put, filled, suffix_of(name))
    except OSError:
        raise ProblemError(ProblemType.DISK_FULL) from None
    address = f"{request.base_url}download_file/{kept}?{urlencode({'file': _own_name(name)})}"
    told = {to_camel(field): value for field, value in asdict(summary).items()}
    return TranslatedFile(translatedFileUrl=address, **told)


@router.get(
    "/download_file/{name}",
    summary="Fetch a translated file",
    response_class=Response,
)
async def download_file(
    name: Annotated[str, PathParameter(description="The name in `translatedFileUrl`.")],
    settings: SettingsNow,
    file: Annotated[
        str, Query(max_length=LONGEST_NAME, description="What the file is called when it is saved.")
    ] = "translated",
) -> Response:
    """Download a file that /translate_file has filled in. Whoever knows its address can."""
    path = await asyncio.to_thread(TranslatedFiles(settings).find, name)
    if path is None:
        raise ProblemError(ProblemType.NOT_FOUND, "that file is gone: translate it again")
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=f"{_own_name(file).removesuffix(path.suffix) or 'translated'}{path.suffix}",
        headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )


def _own_name(name: str) -> str:
    """The name of a file as its owner sent it, without folders, of printable characters."""
    own = "".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2]))
    return own if len(own) <= LONGEST_NAME else f"translated{suffix_of(name)}"


async def _filled(
    name: str,
    content: bytes,
    source: str | None,
    target: str,
    fuzzy: str | None,
    engine: ServiceEngine,
    settings: Settings,
) -> tuple[Summary, bytes]:
    label = name[:LONGEST_NAME] if len(name) <= LONGEST_NAME else f"file{suffix_of(name)[:8]}"

    def read() -> tuple[Document, str]:
        document = open_document(content, label, target, limits.MAX_FILE_TEXTS)
        return document, source_language(document, engine.translator, source)

    document, code = await engine.run_slow(read)
    engine.languages.check_reachable("file", code, {target: target})
    asked = [unit.text for unit in document.units if len(unit.text) <= settings.max_characters]
    found: dict[str, Answers] = {}
    await _look_up(asked, found, code, target, engine)
    sentences = await engine.run_slow(lambda: sentences_asked(document, found, code))
    await _look_up(sentences[: limits.MAX_FILE_SENTENCES], found, code, target, engine)

    def write() -> tuple[Summary, bytes]:
        summary = fill(document, found, code, fuzzy=None if fuzzy is None else fuzzy == "true")
        return with_language(summary, document, engine.translator, code), document.content()

    return await engine.run_slow(write)


async def _look_up(
    texts: Sequence[str], found: dict[str, Answers], source: str, target: str, engine: ServiceEngine
) -> None:
    """Add the matches of the translation memory for each text."""
    remember = partial(engine.translator.remember, source=source, target=target)
    texts = list(dict.fromkeys(texts))
    for begin in range(0, len(texts), TEXTS_ASKED):
        batch = texts[begin : begin + TEXTS_ASKED]
        found.update(zip(batch, await engine.run("search", remember, batch), strict=True))
