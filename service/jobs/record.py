"""The record of a job in Redis: its events as a stream, and the values saved for a restart."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from redis import Redis

from service.schemas.jobs import END_STATES, Event

EVENTS_KEPT = 1000  # per job; the oldest are dropped


class Record:
    """The events and saved values of one job, kept for `keep` seconds after its last event."""

    def __init__(self, redis: "Redis", queue: str, job: str, keep: int) -> None:
        self._redis, self._keep = redis, keep
        self._values = f"{queue}:notes:{job}"
        self.events = events_key(queue, job)

    def append(self, event: Event) -> None:
        """Add an event. Raises RedisError."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.xadd(self.events, {"event": event.model_dump_json()}, maxlen=EVENTS_KEPT, approximate=True)
        pipe.expire(self.events, self._keep)
        pipe.execute()

    def last(self) -> tuple[datetime, Event] | None:
        """The latest event, and when that was. Raises RedisError."""
        entries: Any = self._redis.xrevrange(self.events, count=1)
        return (_time(entries[0][0]), event_of(entries[0][1])) if entries else None

    def ended(self) -> bool:
        """Whether the job has ended. Raises RedisError."""
        last = self.last()
        return last is not None and last[1].state in END_STATES

    def save_value(self, name: str, value: str) -> None:
        """Save a value for a worker that restarts the job. Raises RedisError."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.hset(self._values, name, value)
        pipe.expire(self._values, self._keep)
        pipe.execute()

    def saved_value(self, name: str) -> str | None:
        """A value saved under `name`; None if there is none. Raises RedisError."""
        value = self._redis.hget(self._values, name)
        return value.decode() if isinstance(value, bytes) else None


def events_key(queue: str, job: str) -> str:
    """The key of a job's event stream in Redis."""
    return f"{queue}:events:{job}"


def _time(entry_id: bytes) -> datetime:
    """When an entry was added: its id begins with the milliseconds since 1970."""
    return datetime.fromtimestamp(int(entry_id.partition(b"-")[0]) / 1000, UTC)


def event_of(entry: Mapping[bytes, bytes]) -> Event:
    """Parse an entry of the stream. Raises ValueError if it is not an Event."""
    return Event.model_validate_json(entry.get(b"event", b""))
