"""What becomes of a job, as server-sent events (WHATWG HTML, 9.2), from the stream that Redis keeps of it.

Whoever comes late, or comes back with Last-Event-ID, is told what they missed. The last event is `end`.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.jobs.queue import SECONDS, JobQueue
from service.jobs.record import event_of, events_key
from service.jobs.schemas import ENDED, Event, Job, UnreachableError
from service.redis_connection import async_options

HEARTBEAT = 10.0  # seconds without anything to tell after which a sign of life is sent
LOOK = 1.0  # seconds after which we look whether the job has ended without a word, or the server is to stop
RETRY = 2000  # milliseconds after which a client that was cut off should come back
ID = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
FIRST = "0"
COUNT = 100  # events that are read at a time


class Follower:
    """Tells one client of one job; `settle` is awaited before the end is told."""

    def __init__(self, queue: JobQueue, job_id: str, settle: Callable[[Job], Awaitable[None]]) -> None:
        self._queue, self._job_id, self._settle = queue, job_id, settle
        self._key = events_key(queue.name, job_id)

    async def events(self, job: Job, after: str | None, stopping: asyncio.Event) -> AsyncIterator[bytes]:
        """The events of `job` after the one that the client had last, until it ends or the server stops."""
        async with self._queue.watchers, self._redis() as redis:
            try:
                async for message in self._follow(redis, job, after, stopping):
                    yield message
            except (RedisError, UnreachableError, OSError, ValueError):
                pass  # the client comes back

    async def _follow(
        self, redis: "Redis", job: Job, after: str | None, stopping: asyncio.Event
    ) -> AsyncIterator[bytes]:
        last = after if after and ID.fullmatch(after) else FIRST
        spoken = time.monotonic()
        if last == FIRST:
            yield _message("progress", job)
        while not stopping.is_set():
            entries = await self._read(redis, last)
            for last, event in entries:
                if event.state not in ENDED:
                    spoken = time.monotonic()
                    yield _message("progress", event, last)
            if (not entries or entries[-1][1].state in ENDED) and (ended := await self._ended()):
                await self._settle(ended)
                yield _message("end", ended)
                return
            if time.monotonic() - spoken > HEARTBEAT:
                spoken = time.monotonic()
                yield KEEPALIVE_COMMENT

    def _redis(self) -> "Redis":
        return Redis.from_url(self._queue.url, **async_options(LOOK + SECONDS, connect=SECONDS))

    async def _read(self, redis: "Redis", after: str) -> list[tuple[str, Event]]:
        """The events after one, with their ids; none where a moment passes without any."""
        streams: Any = await redis.xread({self._key: after}, count=COUNT, block=int(1000 * LOOK))
        return [
            (event_id.decode(), event_of(fields)) for _, entries in streams for event_id, fields in entries
        ]

    async def _ended(self) -> Job | None:
        """The job, if it has ended."""
        job = await asyncio.to_thread(self._queue.find, self._job_id)
        if job is None:
            raise UnreachableError  # Redis has forgotten it
        return job if job.state in ENDED else None


def _message(kind: str, event: Event, event_id: str | None = None) -> bytes:
    return format_sse_event(
        data_str=event.model_dump_json(exclude_none=True), event=kind, id=event_id, retry=RETRY
    )
