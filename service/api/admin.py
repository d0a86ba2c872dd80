"""Changes to the index, for admin keys alone: uploads, versions, and jobs, which service/jobs does."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Annotated, TypeVar

from fastapi import APIRouter, Header, Path, Query, Security
from fastapi.security import HTTPBearer
from starlette.requests import Request

from index.errors import BundleError, CorpusError, UsageError
from index.formats.rows import columns_of
from index.storage.versions import current, manifest_of, versions
from service.api.dependencies import EngineNow, IndexManagerNow, JobsNow, SettingsNow
from service.engine.engine import ServiceEngine
from service.http.bodies import A_FILE, OCTET_STREAM, media_type, unsupported
from service.http.problems import ProblemError, ProblemType, invalid, unavailable
from service.jobs.spool import FullError, Spool, format_of_upload
from service.schemas.jobs import (
    IF_MATCH,
    Add,
    Build,
    Job,
    JobRequest,
    Jobs,
    Replace,
    Spec,
    Upload,
    UploadOptions,
    Version,
    Versions,
)
from service.schemas.problems import ERRORS_SHOWN

# What the middleware has checked already: for the description alone.
ADMIN_KEY = Security(HTTPBearer(auto_error=False, description="The key of an admin; or send X-API-Key."))
log = logging.getLogger("passepartout.jobs")
router = APIRouter(prefix="/admin", tags=["Administration"], dependencies=[ADMIN_KEY])

VERSIONS_LISTED = 100  # each change makes one
REDIS_RETRY_AFTER = 5  # seconds, where Redis does not answer
Result = TypeVar("Result")
JobId = Annotated[str, Path(description="The id that the job was given.")]


@router.post("/uploads", status_code=201, summary="Upload a corpus file", openapi_extra=A_FILE)
async def upload(
    request: Request,
    engine: EngineNow,
    settings: SettingsNow,
    jobs: JobsNow,
    options: Annotated[UploadOptions, Query()],
) -> Upload:
    """Store a corpus file until a job uses it. Only the job reads what is in it."""
    content_type = request.headers.get("content-type", "")
    if media_type(content_type) != OCTET_STREAM:
        raise unsupported(content_type, f"the file itself, {OCTET_STREAM}", OCTET_STREAM)
    _check_options(options, engine)
    spool = Spool(settings)
    try:
        upload = await spool.take(request.stream(), options)
    except FullError:
        raise ProblemError(ProblemType.DISK_FULL, headers={"Connection": "close"}) from None
    if not upload.bytes:
        await asyncio.to_thread(spool.remove, upload.id)
        raise ProblemError(ProblemType.INVALID_REQUEST, "body is empty: send a corpus file")
    return upload


@router.get("/versions", summary="List the versions of the index")
async def all_versions(engine: EngineNow, settings: SettingsNow) -> Versions:
    """List the latest 100 versions that a rollback can serve again, newest first. `gc` deletes old ones."""

    def read() -> Versions:
        found = []
        for name in versions(settings.index)[: -VERSIONS_LISTED - 1 : -1]:
            with suppress(BundleError):  # it is being removed, or damaged
                manifest = manifest_of(settings.index, name)
                found.append(Version.model_validate(manifest, from_attributes=True))
        served = engine.translator.version
        return Versions(current=_current(settings), served=served, versions=found)

    return await asyncio.to_thread(read)


@router.post("/jobs", status_code=202, summary="Change the index")
async def submit(
    request: Request,
    body: JobRequest,
    engine: EngineNow,
    settings: SettingsNow,
    jobs: JobsNow,
    if_match: Annotated[
        str | None,
        Header(
            pattern=IF_MATCH,
            description="The version that the change is made for, as answers name it in `index`. If the "
            "index has another one by then, nothing is changed.",
        ),
    ] = None,
) -> Job:
    """Queue a job: a change, a build, a rollback, a lesson or a clean-up. Jobs run one after another.

    The version that a job makes is served as soon as it is complete.
    """
    version = if_match.strip('"') if if_match else None
    spec = Spec(request=body, by=request.scope["state"]["key"], version=version)
    if version is not None and version != await asyncio.to_thread(_current, settings):
        raise ProblemError(ProblemType.OUTDATED)
    await _check(body, engine, Spool(settings))
    return await _ask(partial(jobs.submit, spec))


@router.get("/jobs", summary="List the latest jobs")
async def latest(jobs: JobsNow) -> Jobs:
    """List the latest 100 jobs, and how many worker processes are running."""
    latest_jobs = await _ask(jobs.latest)
    return Jobs(jobs=latest_jobs, workers=await _ask(jobs.workers))


@router.get("/jobs/{job_id}", summary="Read a job")
async def job(job_id: JobId, jobs: JobsNow, manager: IndexManagerNow) -> Job:
    """Say where the job stands; once it has succeeded, the version that it made is being served."""
    record = _existing(await _ask(partial(jobs.find, job_id)))
    if record.state == "succeeded":
        await manager.reload()  # a version that is bad is refused, and the log says so
    return record


@router.post("/jobs/{job_id}/cancel", summary="Cancel a job")
async def cancel(job_id: JobId, jobs: JobsNow) -> Job:
    """Stop a running job, or take a queued one out of the queue; nothing of it is ever served.

    A job that has ended stays as it is.
    """
    return _existing(await _ask(partial(jobs.cancel, job_id)))


def _check_options(options: UploadOptions, engine: ServiceEngine) -> None:
    """Raise ProblemError for a language that is missing or unknown, or for wrong columns."""
    if not options.name and not options.format:
        raise invalid("name", "name is missing: give the name of the file, or its format")
    try:
        form, language = format_of_upload(options), options.language
    except CorpusError as error:
        raise invalid("name", f"name: {error}") from None
    if language is not None and engine.languages.find(language) != language:
        unknown = engine.languages.unknown("language", language)
        raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, [unknown])
    if language is None and form is not None and form.plain and not form.by_line:
        raise invalid("language", "language is missing: text does not say which language it is in")
    if options.columns is not None:
        try:
            columns_of(options.columns)
        except UsageError as error:
            raise invalid("columns", f"columns: {error}") from None
        if form is None or not form.table:
            raise invalid("columns", "columns: only tables have some: leave columns out")


async def _check(body: JobRequest, engine: ServiceEngine, spool: Spool) -> None:
    """Raise ProblemError for languages that the encoder does not know, and for unknown uploads."""
    if isinstance(body, Add | Replace):
        codes = [sentence.id.partition(":")[0] for sentence in body.sentences]
        unknown = (
            engine.languages.unknown(f"sentences[{number}].id", code)
            for number, code in enumerate(codes)
            if engine.languages.find(code) != code
        )
        if errors := list(islice(unknown, ERRORS_SHOWN)):
            raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, errors)
    if isinstance(body, Add | Replace | Build):
        for number, upload in enumerate(body.uploads):
            if await asyncio.to_thread(spool.find, upload) is None:
                raise invalid(f"uploads[{number}]", f"uploads[{number}] is not a pending upload")


async def _ask(act: Callable[[], Result]) -> Result:
    """Call a method of the queue in a thread, since it blocks."""
    from redis.exceptions import RedisError  # redis costs memory: only where there is a queue

    try:
        return await asyncio.to_thread(act)
    except RedisError as error:
        log.warning("the Redis of jobs_url failed (%s)", type(error).__name__)
        raise unavailable(ProblemType.JOBS_UNREACHABLE, REDIS_RETRY_AFTER) from None


def _existing(job: Job | None) -> Job:
    if job is None:
        raise ProblemError(ProblemType.NOT_FOUND, "there is no such job: GET /admin/jobs lists the latest")
    return job


def _current(settings: SettingsNow) -> str | None:
    """The version to be served; None if CURRENT does not name one, which a rollback mends."""
    try:
        return current(settings.index)
    except BundleError:
        return None
