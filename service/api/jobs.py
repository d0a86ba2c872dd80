"""Jobs that change the index: for admin keys alone. A worker does them (service/jobs)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Header, Path
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from service.api.corpus import READ_PROBLEMS
from service.api.dependencies import EngineNow, IndexManagerNow, JobsNow, SettingsNow
from service.api.openapi import NEEDS_A_KEY, problem_responses
from service.api.validation import unknown_language
from service.engine.engine import Engine
from service.engine.index_manager import IndexManager
from service.http.bodies import JsonRoute
from service.http.problems import ProblemError, ProblemType, overloaded
from service.jobs import ReusedError, UnreachableError
from service.jobs.spool import Spool, open_spool
from service.schemas import ERRORS_SHOWN, FieldError
from service.schemas.jobs import (
    IDEMPOTENCY_KEY,
    Add,
    Build,
    Job,
    Jobs,
    Replace,
    Request,
)

router = APIRouter(prefix="/admin/jobs", tags=["Administration"], route_class=JsonRoute)

Result = TypeVar("Result")
JobId = Annotated[str, Path(description="The id that the job was given.")]
RETRY_AFTER = 5  # seconds, where Redis does not answer


class EventStream(StreamingResponse):
    """Server-sent events, or 503 where `watchers` has no place for one more.

    FastAPI's class for them wants a route that yields, which could refuse nothing.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], watchers: asyncio.Semaphore) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self.watchers = watchers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.watchers.locked():  # nothing is awaited between this and taking a place
            await overloaded().response(scope)(scope, receive, send)
            return
        async with self.watchers:
            await super().__call__(scope, receive, send)


# As FastAPI describes a stream: what each event is (OpenAPI 3.2).
A_STREAM: dict[str, Any] = {
    "description": "Server-sent events; the last one is `end`.",
    "content": {
        EventStream.media_type: {
            "itemSchema": {
                "type": "object",
                "properties": {
                    "event": {"type": "string", "enum": ["progress", "end"]},
                    "id": {
                        "type": "string",
                        "description": "Send it as Last-Event-ID to resume after this event.",
                    },
                    "data": {"type": "string", "description": "A Job, or what has changed of it, as JSON."},
                    "retry": {"type": "integer", "minimum": 0},
                },
                "required": ["event", "data"],
            }
        }
    },
}
JOB_PROBLEMS = (*READ_PROBLEMS, ProblemType.NO_JOBS, ProblemType.JOBS_UNREACHABLE)
ONE_JOB = problem_responses(*JOB_PROBLEMS, ProblemType.NOT_FOUND, ProblemType.INVALID_REQUEST)


@router.post(
    "",
    status_code=202,
    summary="Change the index",
    openapi_extra=NEEDS_A_KEY,
    responses=problem_responses(
        *JOB_PROBLEMS,
        ProblemType.KEY_REUSED,
        ProblemType.BAD_JSON,
        ProblemType.BODY_TOO_LARGE,
        ProblemType.UNSUPPORTED_MEDIA_TYPE,
        ProblemType.INVALID_REQUEST,
        ProblemType.UNKNOWN_LANGUAGE,
    ),
)
async def submit(
    request: HttpRequest,
    body: Request,
    engine: EngineNow,
    settings: SettingsNow,
    jobs: JobsNow,
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=IDEMPOTENCY_KEY,
            description="An id of your choice for this change: sent again, it returns the first job.",
        ),
    ] = None,
) -> Job:
    """Queue a job: a change, a build, a rollback, a lesson or a clean-up. Jobs run one after another.

    The version that a job makes is served as soon as it is complete.
    """
    by = request.scope["state"].get("key")
    try:
        if idempotency_key and (job := await _ask(partial(jobs.sent, body, by, idempotency_key))):
            return job  # whose uploads may be used up
        await _check(body, engine, open_spool(settings))
        return await _ask(partial(jobs.submit, body, by, idempotency_key))
    except ReusedError:
        raise ProblemError(ProblemType.KEY_REUSED) from None


@router.get(
    "", summary="List the latest jobs", openapi_extra=NEEDS_A_KEY, responses=problem_responses(*JOB_PROBLEMS)
)
async def latest(jobs: JobsNow) -> Jobs:
    """List the latest 100 jobs, and how many worker processes are running."""
    latest_jobs = await _ask(jobs.latest)
    return Jobs(jobs=latest_jobs, workers=await _ask(jobs.workers))


@router.get(
    "/{job_id}",
    summary="Read a job",
    openapi_extra=NEEDS_A_KEY,
    responses=ONE_JOB,
)
async def job(job_id: JobId, jobs: JobsNow, manager: IndexManagerNow) -> Job:
    """Say where the job stands; once it has ended, what came of it."""
    record = _existing(await _ask(partial(jobs.find, job_id)))
    await _serve_result(manager, record)
    return record


@router.post(
    "/{job_id}/cancel",
    summary="Cancel a job",
    openapi_extra=NEEDS_A_KEY,
    responses=ONE_JOB,
)
async def cancel(job_id: JobId, jobs: JobsNow) -> Job:
    """Stop a running job, or take a queued one out of the queue; nothing of it is ever served.

    A job that has ended stays as it is.
    """
    return _existing(await _ask(partial(jobs.cancel, job_id)))


@router.get(
    "/{job_id}/events",
    summary="Watch a job",
    openapi_extra=NEEDS_A_KEY,
    response_class=Response,
    responses=ONE_JOB | {200: A_STREAM},
)
async def events(
    request: HttpRequest,
    job_id: JobId,
    jobs: JobsNow,
    manager: IndexManagerNow,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event received, to resume after it.")
    ] = None,
) -> Response:
    """Follow a job by server-sent events: `progress` whenever something changes, and `end` with the result.

    When `end` arrives, the version that the job made is being served.
    """
    from service.jobs.events import Follower  # and with it Redis's client, only where it is used

    job = _existing(await _ask(partial(jobs.find, job_id)))
    follower = Follower(jobs, job.id, partial(_serve_result, manager))
    stopping: asyncio.Event = request.app.state.stopping
    return EventStream(follower.events(job, last_event_id, stopping), jobs.watchers)


async def _check(body: Request, engine: Engine, spool: Spool) -> None:
    """Raise ProblemError for languages that the encoder does not know, and for unknown uploads."""
    if isinstance(body, Add | Replace):
        codes = [sentence.id.partition(":")[0] for sentence in body.sentences]
        unknown = (
            unknown_language(f"sentences[{number}].id", code, engine.languages)
            for number, code in enumerate(codes)
            if engine.languages.find(code) != code
        )
        errors = list(islice(unknown, ERRORS_SHOWN))
        if errors:
            raise ProblemError.of_fields(ProblemType.UNKNOWN_LANGUAGE, errors)
    if isinstance(body, Add | Replace | Build):
        uploads = await asyncio.to_thread(lambda: [spool.find(upload) for upload in body.uploads])
        fields = [f"uploads[{number}]" for number, upload in enumerate(uploads) if upload is None]
        if fields:
            raise ProblemError.of_fields(
                ProblemType.INVALID_REQUEST,
                [FieldError(field=field, message=f"{field} is no upload that waits") for field in fields],
            )


async def _serve_result(manager: IndexManager, job: Job) -> None:
    """Serve the version that a job has made; if it is bad, it is refused and the log says so."""
    if job.state == "succeeded":
        await manager.try_reload()


async def _ask(act: Callable[[], Result]) -> Result:
    """Call a method of the queue in a thread, since it blocks."""
    try:
        return await asyncio.to_thread(act)
    except UnreachableError:
        raise ProblemError(ProblemType.JOBS_UNREACHABLE, headers={"Retry-After": str(RETRY_AFTER)}) from None


def _existing(job: Job | None) -> Job:
    if job is None:
        raise ProblemError(ProblemType.NOT_FOUND, "there is no such job: GET /admin/jobs lists the latest")
    return job
