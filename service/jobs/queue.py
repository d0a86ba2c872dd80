"""The queue of jobs, as the service uses it: RQ on Redis (docs/decisions/0055).

RQ would call functions by the names stored in Redis, and unpickle their arguments. This queue does neither: a
job is JSON that must match a schema, and `CorpusJob` runs only that.
"""

import logging
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry as RedisRetry
from rq import Queue, Retry, Worker
from rq.command import send_stop_job_command
from rq.exceptions import DeserializationError, InvalidJobOperation, NoSuchJobError
from rq.job import Job as QueuedJob
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from service import limits
from service.schemas.jobs import END_STATES, JOB_ID, Event, Job, Spec, State

log = logging.getLogger("passepartout.jobs")

QUEUE_NAME = "passepartout"
JOB_IDS = "passepartout:jobs"  # of the latest jobs, by time
RQ_FUNCTION = "passepartout.job"  # RQ requires a name; it is never called
MAX_RESTARTS = 3  # restarts of a job whose worker died
JOBS_LISTED = 100  # by `latest`
JOBS_REMEMBERED = 1000  # ids kept, newest first
REDIS_SECONDS = 2.0  # until Redis must answer
# Fields of a job in Redis that would make RQ call functions or send webhooks.
IGNORED_FIELDS = (b"success_callback_name", b"failure_callback_name", b"stopped_callback_name", b"webhooks")
STATE_OF_STATUS: Mapping[JobStatus, State] = {
    JobStatus.STARTED: "running",
    JobStatus.FINISHED: "failed",  # a job that succeeds tells so itself
    JobStatus.FAILED: "failed",
    JobStatus.STOPPED: "cancelled",
    JobStatus.CANCELED: "cancelled",
}
INTERRUPTED_REASON = (
    f"it was interrupted {MAX_RESTARTS + 1} times: its worker was killed, or ended for want of memory"
)


class CorpusJob(QueuedJob):
    """A job of RQ that ignores everything in Redis but its `spec`."""

    def restore(self, raw_data: Mapping[bytes, bytes]) -> Any:  # noqa: ANN401 (as RQ has it)
        kept = {name: value for name, value in raw_data.items() if name not in IGNORED_FIELDS}
        try:
            return super().restore(kept)
        except NoSuchJobError:
            raise
        except Exception as error:  # as if it were not there, for the service as for a worker
            raise NoSuchJobError(f"the record of job {self.id} cannot be read") from error

    def perform(self) -> None:
        raise NotImplementedError("only a worker can do a job")

    @property
    def spec(self) -> Spec:
        """The job's request. Raises ValueError if it does not match the schema."""
        try:
            document = self.args[0]
        except (DeserializationError, LookupError) as error:
            raise ValueError from error
        return Spec.model_validate_json(document if isinstance(document, str) else "")


class Record:
    """The latest event of one job, and values for a worker that begins it again: a hash in Redis.

    Every method raises RedisError.
    """

    def __init__(self, redis: Redis, job: str) -> None:
        self._redis, self.key = redis, f"passepartout:job:{job}"

    def tell(self, event: Event) -> None:
        """Replace the latest event."""
        self.save("event", event.model_dump_json())

    def last(self) -> Event | None:
        """The latest event; None if there is none, or none that can be read."""
        try:
            return Event.model_validate_json(self.saved("event") or "")
        except ValidationError:
            return None

    def save(self, name: str, value: str) -> None:
        """Save a value, for as long as jobs are kept."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.hset(self.key, name, value)
        pipe.expire(self.key, limits.JOB_KEPT_SECONDS)
        pipe.execute()

    def saved(self, name: str) -> str | None:
        """A value saved under `name`; None if there is none."""
        value = self._redis.hget(self.key, name)
        return value.decode(errors="replace") if isinstance(value, bytes) else None


class JobQueue:
    """Jobs in the Redis at `url`.

    Every method blocks until Redis answers, and raises RedisError if it does not.
    """

    def __init__(self, url: str) -> None:
        self._redis = connect(url)
        self._queue = Queue(
            QUEUE_NAME, connection=self._redis, serializer=JSONSerializer, job_class=CorpusJob
        )

    def submit(self, spec: Spec) -> Job:
        """Queue a job."""
        job_id = secrets.token_hex(16)
        pipe = self._redis.pipeline(transaction=False)
        pipe.zadd(JOB_IDS, {job_id: datetime.now(UTC).timestamp()}, nx=True)
        pipe.zremrangebyrank(JOB_IDS, 0, -JOBS_REMEMBERED - 1)
        pipe.execute()
        self._queue.enqueue_call(
            RQ_FUNCTION,
            args=(spec.model_dump_json(),),
            timeout=limits.JOB_SECONDS,
            result_ttl=limits.JOB_KEPT_SECONDS,
            failure_ttl=limits.JOB_KEPT_SECONDS,
            description=spec.request.action,
            job_id=job_id,
            retry=Retry(max=MAX_RESTARTS),
        )
        job = self.find(job_id)
        assert job is not None  # it has just been queued
        return job

    def find(self, job_id: str) -> Job | None:
        """The job with this id; None if it is unknown or malformed."""
        if not re.fullmatch(JOB_ID, job_id):
            return None
        queued = self._fetch(job_id)
        return None if queued is None else self._to_job(queued)

    def latest(self) -> list[Job]:
        """The latest JOBS_LISTED jobs, newest first."""
        job_ids: Any = self._redis.zrange(JOB_IDS, 0, JOBS_LISTED - 1, desc=True)
        return [job for job_id in job_ids if (job := self.find(job_id.decode(errors="replace")))]

    def cancel(self, job_id: str) -> Job | None:
        """Cancel a job, queued or running; one that has ended stays as it is. None if it is unknown."""
        job = self.find(job_id)
        if job is None or job.state in END_STATES:
            return job
        Record(self._redis, job_id).save("cancelled", "yes")  # for a worker that is just starting it
        if (queued := self._fetch(job_id)) is not None:
            with suppress(InvalidJobOperation):  # it ended meanwhile
                if queued.is_started:
                    send_stop_job_command(self._redis, queued.id, serializer=JSONSerializer)
                else:
                    queued.cancel()
        return self.find(job_id)

    def workers(self) -> int:
        """How many workers have sent a heartbeat lately."""
        workers = Worker.all(queue=self._queue, job_class=CorpusJob, serializer=JSONSerializer)
        heartbeats = [worker.last_heartbeat for worker in workers if worker.last_heartbeat]
        silences = [(datetime.now(UTC) - last).total_seconds() for last in heartbeats]
        return sum(silence < limits.WORKER_SILENCE_SECONDS for silence in silences)

    def close(self) -> None:
        """Close the connections to Redis."""
        self._redis.close()

    def _fetch(self, job_id: str) -> CorpusJob | None:
        try:
            queued = CorpusJob.fetch(job_id, connection=self._redis, serializer=JSONSerializer)
        except NoSuchJobError:
            return None
        return queued if isinstance(queued, CorpusJob) else None

    def _to_job(self, queued: CorpusJob) -> Job | None:
        """The job as the API shows it; None if its spec does not match the schema."""
        try:
            spec = queued.spec
        except ValueError:
            return None
        event = _state_of(queued, Record(self._redis, queued.id).last())
        return Job(
            **event.model_dump(),
            id=queued.id,
            action=spec.request.action,
            by=spec.by,
            created=queued.created_at,
            attempts=MAX_RESTARTS - (queued.retries_left or 0) + (queued.started_at is not None),
        )


def connect(url: str) -> "Redis":
    """A Redis client that waits at most REDIS_SECONDS and does not retry."""
    return Redis.from_url(
        url,
        protocol=2,
        socket_timeout=REDIS_SECONDS,
        socket_connect_timeout=REDIS_SECONDS,
        retry=RedisRetry(NoBackoff(), 0),
    )


def _state_of(queued: CorpusJob, last: Event | None) -> Event:
    """The latest event of a job, else one made from its state in RQ."""
    if last is not None and last.state in END_STATES:
        return last
    state = STATE_OF_STATUS.get(queued.get_status(refresh=False), "queued")
    if state == "running" and last is not None:
        return last
    return Event(state=state, reason=INTERRUPTED_REASON if state == "failed" else None)
