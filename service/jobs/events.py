"""The progress of a job as server-sent events (WHATWG HTML, 9.2), read from its event stream in Redis.

A client that connects late, or reconnects with Last-Event-ID, gets the events it missed. The last is `end`.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.jobs import UnreachableError
from service.jobs.queue import REDIS_SECONDS, JobQueue
from service.jobs.record import event_of, events_key
from service.redis_connection import async_options
from service.schemas.jobs import END_STATES, Event, Job

HEARTBEAT_SECONDS = 10.0  # without an event, after which a comment is sent
POLL_SECONDS = 1.0  # between checks whether the job ended without an event, or the server is stopping
RETRY_MILLISECONDS = 2000  # until a disconnected client should reconnect
EVENT_ID = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
FROM_THE_START = "0"
EVENTS_READ = 100  # at a time


class Follower:
    """Sends the events of one job to one client; `settle` is awaited before the `end` event is sent."""

    def __init__(self, queue: JobQueue, job_id: str, settle: Callable[[Job], Awaitable[None]]) -> None:
        self._queue, self._job_id, self._settle = queue, job_id, settle
        self._key = events_key(queue.name, job_id)

    async def events(self, job: Job, after: str | None, stopping: asyncio.Event) -> AsyncIterator[bytes]:
        """Yield the events of `job` after the id `after`, until the job ends or the server stops."""
        async with self._redis() as redis:
            try:
                async for message in self._follow(redis, job, after, stopping):
                    yield message
            except (RedisError, UnreachableError, OSError, ValueError):
                pass  # the client reconnects

    async def _follow(
        self, redis: "Redis", job: Job, after: str | None, stopping: asyncio.Event
    ) -> AsyncIterator[bytes]:
        last = after if after and EVENT_ID.fullmatch(after) else FROM_THE_START
        last_sent = time.monotonic()
        if last == FROM_THE_START:
            yield _message("progress", job)
        while not stopping.is_set():
            entries = await self._read(redis, last)
            for last, event in entries:
                if event.state not in END_STATES:
                    last_sent = time.monotonic()
                    yield _message("progress", event, last)
            if (not entries or entries[-1][1].state in END_STATES) and (ended := await self._ended_job()):
                await self._settle(ended)
                yield _message("end", ended)
                return
            if time.monotonic() - last_sent > HEARTBEAT_SECONDS:
                last_sent = time.monotonic()
                yield KEEPALIVE_COMMENT

    def _redis(self) -> "Redis":
        return Redis.from_url(
            self._queue.url, **async_options(POLL_SECONDS + REDIS_SECONDS, connect=REDIS_SECONDS)
        )

    async def _read(self, redis: "Redis", after: str) -> list[tuple[str, Event]]:
        """(id, event) of the events after an id; empty if none arrives within POLL_SECONDS."""
        streams: Any = await redis.xread(
            {self._key: after}, count=EVENTS_READ, block=int(1000 * POLL_SECONDS)
        )
        return [
            (event_id.decode(), event_of(fields)) for _, entries in streams for event_id, fields in entries
        ]

    async def _ended_job(self) -> Job | None:
        """The job if it has ended, otherwise None. Raises UnreachableError if Redis no longer has it."""
        job = await asyncio.to_thread(self._queue.find, self._job_id)
        if job is None:
            raise UnreachableError
        return job if job.state in END_STATES else None


def _message(kind: str, event: Event, event_id: str | None = None) -> bytes:
    return format_sse_event(
        data_str=event.model_dump_json(exclude_none=True), event=kind, id=event_id, retry=RETRY_MILLISECONDS
    )
