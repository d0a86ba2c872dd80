"""Corpus files for jobs, and the versions of the index: for admin keys alone."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from index.errors import BundleError, UsageError
from index.formats.registry import TABLE_FORMATS
from index.formats.rows import columns_of
from index.languages import LANGUAGE_CODE
from index.storage.index_manifest import IndexManifest
from index.storage.manifest import read_manifest
from index.storage.versions import VERSIONS, current, versions
from service.api.dependencies import EngineNow, JobsNow, SettingsNow
from service.api.openapi import NEEDS_A_KEY, problem_responses
from service.api.validation import unknown_language
from service.engine.engine import Engine
from service.http.bodies import media_type
from service.http.problems import ProblemError, ProblemType
from service.jobs.spool import DiskFullError, FullError, TooLargeError, open_spool
from service.schemas import FieldError
from service.schemas.jobs import Compression, Format, Upload, Uploads, Version, Versions

router = APIRouter(prefix="/admin", tags=["Administration"])

# No separator of folders, no control character.
FILE_NAME = r"^[^/\\\x00-\x1f\x7f]{1,200}$"
OCTET_STREAM = "application/octet-stream"
WITHOUT_LANGUAGE: tuple[Format, ...] = ("txt",)  # does not say which language it is in
READ_PROBLEMS: tuple[ProblemType, ...] = (
    ProblemType.UNAUTHORISED,
    ProblemType.METHOD_NOT_ALLOWED,
    ProblemType.INTERNAL,
    ProblemType.OVERLOADED,
    ProblemType.NOT_READY,
)
A_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as it is, compressed or not.",
        "content": {OCTET_STREAM: {"schema": {"type": "string", "format": "binary", "minLength": 1}}},
    }
}


@router.post(
    "/uploads",
    status_code=201,
    summary="Upload a corpus file",
    openapi_extra=NEEDS_A_KEY | A_FILE,
    responses=problem_responses(
        *READ_PROBLEMS,
        ProblemType.NO_JOBS,
        ProblemType.SPOOL_FULL,
        ProblemType.DISK_FULL,
        ProblemType.BODY_TOO_LARGE,
        ProblemType.UNSUPPORTED_MEDIA_TYPE,
        ProblemType.INVALID_REQUEST,
        ProblemType.UNKNOWN_LANGUAGE,
    ),
)
async def upload(
    request: Request,
    engine: EngineNow,
    settings: SettingsNow,
    jobs: JobsNow,
    form: Annotated[Format, Query(alias="format", description="The format of the file.")],
    compression: Annotated[Compression, Query(description="How the file is compressed.")] = "none",
    language: Annotated[
        str | None,
        Query(
            description="The language of its sentences, for formats that do not state it.",
            examples=["de"],
            pattern=LANGUAGE_CODE,
        ),
    ] = None,
    name: Annotated[
        str | None,
        Query(
            description="The name of the file on your machine, to be used in errors.",
            pattern=FILE_NAME,
            examples=["pets.tmx"],
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Query(
            description="What the columns of a table mean: LANGUAGE=COLUMN or MEANING=COLUMN, with commas.",
            examples=["en=English,de=German"],
            max_length=1000,
        ),
    ] = None,
) -> Upload:
    """Store a corpus file until a job uses it. Only the job reads what is in it."""
    _check(request, engine, form, language)
    _check_columns(columns, form)
    try:
        upload = await open_spool(settings).take(
            request.stream(), form, compression, language, settings.max_upload_bytes, name, columns
        )
    except TooLargeError:
        detail = f"the file is longer than {settings.max_upload_bytes} bytes: divide it"
        raise ProblemError(ProblemType.BODY_TOO_LARGE, detail, headers={"Connection": "close"}) from None
    except FullError:
        raise ProblemError(ProblemType.SPOOL_FULL, headers={"Connection": "close"}) from None
    except DiskFullError:
        raise ProblemError(ProblemType.DISK_FULL, headers={"Connection": "close"}) from None
    if not upload.bytes:
        await asyncio.to_thread(open_spool(settings).remove, upload.id)
        raise ProblemError(ProblemType.INVALID_REQUEST, "body is empty: send a corpus file")
    return upload


def _check(request: Request, engine: Engine, form: Format, language: str | None) -> None:
    content_type = request.headers.get("content-type", "")
    if media_type(content_type) != OCTET_STREAM:
        detail = f"Content-Type is {content_type[:80] or 'missing'}: send the file itself as {OCTET_STREAM}"
        raise ProblemError(ProblemType.UNSUPPORTED_MEDIA_TYPE, detail, headers={"Accept": OCTET_STREAM})
    if language is None and form in WITHOUT_LANGUAGE:
        detail = f"language is missing: {form} does not say which language its sentences are in"
        raise ProblemError.of_fields(
            ProblemType.INVALID_REQUEST, [FieldError(field="language", message=detail)]
        )
    if language is not None and engine.languages.find(language) != language:
        raise ProblemError.of_fields(
            ProblemType.UNKNOWN_LANGUAGE, [unknown_language("language", language, engine.languages)]
        )


def _check_columns(columns: str | None, form: Format) -> None:
    if columns is None:
        return
    message = f"columns: {form} has none: leave columns out"
    try:
        columns_of(columns)
    except UsageError as error:
        message = f"columns: {error}"
    else:
        if form in TABLE_FORMATS:
            return
    raise ProblemError.of_fields(ProblemType.INVALID_REQUEST, [FieldError(field="columns", message=message)])


@router.get(
    "/uploads",
    summary="List unused uploads",
    openapi_extra=NEEDS_A_KEY,
    responses=problem_responses(*READ_PROBLEMS),
)
async def uploads(settings: SettingsNow) -> Uploads:
    """List the uploaded files that no job has used yet, the newest first."""
    return Uploads(uploads=await asyncio.to_thread(open_spool(settings).all))


@router.delete(
    "/uploads/{upload_id}",
    status_code=204,
    summary="Remove an upload",
    openapi_extra=NEEDS_A_KEY,
    responses=problem_responses(*READ_PROBLEMS, ProblemType.NOT_FOUND, ProblemType.INVALID_REQUEST),
)
async def remove(
    upload_id: Annotated[str, Path(description="The id that the upload was given.")], settings: SettingsNow
) -> Response:
    """Delete an uploaded file that no job has used yet."""
    if not await asyncio.to_thread(open_spool(settings).remove, upload_id):
        raise ProblemError(ProblemType.NOT_FOUND, "there is no such upload: GET /admin/uploads lists them")
    return Response(status_code=204)


@router.get(
    "/versions",
    summary="List the versions of the index",
    openapi_extra=NEEDS_A_KEY,
    responses=problem_responses(*READ_PROBLEMS),
)
async def all_versions(engine: EngineNow, settings: SettingsNow) -> Versions:
    """List the versions that a rollback can serve again, the newest first. `gc` deletes old ones."""

    def read() -> Versions:
        index = settings.index
        names = versions(index)[::-1]
        manifests = [
            read_manifest(index / VERSIONS / name, IndexManifest, "a version of an index") for name in names
        ]
        return Versions(
            current=current(index), served=engine.translator.version, versions=list(map(_version, manifests))
        )

    try:
        return await asyncio.to_thread(read)
    except BundleError:  # one is being removed, or damaged
        raise ProblemError(ProblemType.NOT_READY) from None


def _version(manifest: IndexManifest) -> Version:
    return Version(
        id=manifest.version,
        base=manifest.base,
        created=manifest.created,
        model=manifest.model,
        sentences={code: entry.sentences for code, entry in manifest.languages.items()},
    )
