"""The queue of jobs, as the service uses it: RQ on Redis (docs/decisions/0055).

RQ would call functions by the names that Redis holds, and unpickle what it finds there. Ours does neither: a
job is JSON that must fit a schema, and `CorpusJob` has one thing to do.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry as Again
from rq import Queue, Retry, Worker
from rq.command import send_stop_job_command
from rq.exceptions import DeserializationError, DuplicateJobError, InvalidJobOperation, NoSuchJobError
from rq.job import Job as QueuedJob
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from service.jobs.record import Record
from service.jobs.schemas import (
    ENDED,
    JOB_ID,
    Event,
    Job,
    Request,
    ReusedError,
    Spec,
    State,
    UnreachableError,
)

FUNCTION = "passepartout.job"  # a name for RQ, which nobody calls
ATTEMPTS = 3  # that a job gets after the first, where workers die of it or beside it
SHOWN = 100  # jobs in a list
LISTED = 1000  # jobs that are remembered
WATCHERS = 16  # of events in one server process: each has a connection to Redis of its own
SECONDS = 2.0  # to wait for Redis
# What a hash in Redis may make RQ call or send.
UNHEARD = (b"success_callback_name", b"failure_callback_name", b"stopped_callback_name", b"webhooks")
STATES: Mapping[JobStatus, State] = {
    JobStatus.STARTED: "running",
    JobStatus.FINISHED: "failed",  # it would have said how it ended
    JobStatus.FAILED: "failed",
    JobStatus.STOPPED: "cancelled",
    JobStatus.CANCELED: "cancelled",
}
INTERRUPTED = f"it was interrupted {ATTEMPTS + 1} times: its worker was killed, or ended for want of memory"


class CorpusJob(QueuedJob):
    """A job that is only what `spec` says."""

    def restore(self, raw_data: Mapping[bytes, bytes]) -> Any:  # noqa: ANN401 (as RQ has it)
        return super().restore({name: value for name, value in raw_data.items() if name not in UNHEARD})

    @property
    def spec(self) -> Spec:
        """ValueError for what does not fit."""
        try:
            document = self.args[0]
        except (DeserializationError, LookupError) as error:
            raise ValueError from error
        return Spec.model_validate_json(document if isinstance(document, str) else "")

    def _execute(self) -> None:
        raise NotImplementedError("only a worker can do a job")


class JobQueue:
    """Jobs in the Redis at `url`, in the queue `name`; finished ones are kept for `keep` seconds.

    Every method may block for a moment, and raises UnreachableError.
    """

    def __init__(self, url: str, name: str, *, keep: int, seconds: int, patience: int) -> None:
        self.url, self.name = url, name
        self._keep, self._seconds, self._patience = keep, seconds, patience
        self._redis = connect(url)
        self._queue = Queue(
            name, connection=self._redis, serializer=JSONSerializer, job_class=CorpusJob, is_async=True
        )
        self._listed = f"{name}:jobs"
        self.watchers = asyncio.Semaphore(WATCHERS)

    def submit(self, request: Request, by: str | None, key: str | None) -> Job:
        """Queue a job; the one there already where `key` was used for this very request.

        Raises ReusedError where it was used for another.
        """
        spec = Spec(request=request, by=by)
        job_id = self._id_of(by, key) if key else secrets.token_hex(16)
        with _reaching():
            self._list(job_id)
            with suppress(DuplicateJobError):  # its twin was quicker
                self._queue.enqueue_call(
                    FUNCTION,
                    args=(spec.model_dump_json(),),
                    timeout=self._seconds,
                    result_ttl=self._keep,
                    failure_ttl=self._keep,
                    description=request.action,
                    job_id=job_id,
                    retry=Retry(max=ATTEMPTS),
                    unique=True,
                )
            return self._same(job_id, spec)

    def sent(self, request: Request, by: str | None, key: str) -> Job | None:
        """The job that this very request with its key has become, if it was sent before.

        Raises ReusedError where the key was used for another.
        """
        job_id = self._id_of(by, key)
        with _reaching():
            exists = self._fetch(job_id) is not None
            return self._same(job_id, Spec(request=request, by=by)) if exists else None

    def find(self, job_id: str) -> Job | None:
        """The job of an id; None where there is none, or what is no id."""
        if not re.fullmatch(JOB_ID, job_id):
            return None
        with _reaching():
            queued = self._fetch(job_id)
            return None if queued is None else self._view(queued)

    def latest(self) -> list[Job]:
        """Newest first."""
        with _reaching():
            job_ids: Any = self._redis.zrange(self._listed, 0, SHOWN - 1, desc=True)
            return [job for job_id in job_ids if (job := self.find(job_id.decode()))]

    def cancel(self, job_id: str) -> Job | None:
        """End a job, begun or not; what has ended stays as it is."""
        job = self.find(job_id)
        if job is None or job.state in ENDED:
            return job
        with _reaching():
            self.record(job_id).note("cancelled", "yes")  # for a worker that takes it up now
            queued = self._fetch(job_id)
            if queued is not None:
                self._stop(queued)
        return self.find(job_id)

    def workers(self) -> int:
        """How many processes take jobs, of those that have been heard of lately."""
        with _reaching():
            workers = Worker.all(queue=self._queue, job_class=CorpusJob, serializer=JSONSerializer)
        heartbeats = [worker.last_heartbeat for worker in workers if worker.last_heartbeat]
        return sum((datetime.now(UTC) - last).total_seconds() < self._patience for last in heartbeats)

    def record(self, job_id: str) -> Record:
        return Record(self._redis, self.name, job_id, self._keep)

    def close(self) -> None:
        self._redis.close()

    def _same(self, job_id: str, spec: Spec) -> Job:
        queued = self._fetch(job_id)
        job = None if queued is None or queued.spec != spec else self._view(queued)
        if job is None:
            raise ReusedError
        return job

    def _id_of(self, by: str | None, key: str) -> str:
        """The id that an admin's idempotency key stands for."""
        return hashlib.sha256(f"{self.name}\n{by}\n{key}".encode()).hexdigest()[:32]

    def _list(self, job_id: str) -> None:
        pipe = self._redis.pipeline(transaction=False)
        pipe.zadd(self._listed, {job_id: datetime.now(UTC).timestamp()}, nx=True)
        pipe.zremrangebyrank(self._listed, 0, -LISTED - 1)
        pipe.execute()

    def _fetch(self, job_id: str) -> CorpusJob | None:
        try:
            queued = CorpusJob.fetch(job_id, connection=self._redis, serializer=JSONSerializer)
        except NoSuchJobError:
            return None
        return queued if isinstance(queued, CorpusJob) else None

    def _stop(self, queued: CorpusJob) -> None:
        try:
            if queued.is_started:
                send_stop_job_command(self._redis, queued.id, serializer=JSONSerializer)
            else:
                queued.cancel()
        except InvalidJobOperation:
            pass  # it ended meanwhile

    def _view(self, queued: CorpusJob) -> Job | None:
        """None for what is no job of ours."""
        try:
            spec = queued.spec
        except ValueError:
            return None
        when, event = _now(queued, self.record(queued.id).last())
        return Job(
            **event.model_dump(),
            id=queued.id,
            action=spec.request.action,
            by=spec.by,
            created=queued.created_at,
            ended=when,
            attempts=ATTEMPTS - (queued.retries_left or 0) + (queued.started_at is not None),
        )


def connect(url: str) -> "Redis":
    return Redis.from_url(
        url,
        protocol=2,
        socket_timeout=SECONDS,
        socket_connect_timeout=SECONDS,
        retry=Again(NoBackoff(), 0),
    )


def _now(queued: CorpusJob, last: tuple[datetime, Event] | None) -> tuple[datetime | None, Event]:
    """When it ended, if it has, and its state: as it said itself, else as the queue knows."""
    if last is not None and last[1].state in ENDED:
        return last
    state = STATES.get(queued.get_status(refresh=False), "queued")
    if state == "running" and last is not None:
        return None, last[1]
    event = Event(state=state, reason=INTERRUPTED if state == "failed" else None)
    return (queued.ended_at if state in ENDED else None), event


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise UnreachableError from error
