"""What Redis keeps of a job beside the queue's own: its events, as a stream, and what it must not forget."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from redis import Redis

from service.jobs.schemas import ENDED, Event

MOST_EVENTS = 1000  # of a job; more, and the oldest are forgotten


class Record:
    """`keep`: seconds from the last event on for which all is kept."""

    def __init__(self, redis: "Redis", queue: str, job: str, keep: int) -> None:
        self._redis, self._keep = redis, keep
        self._notes = f"{queue}:notes:{job}"
        self.events = events_key(queue, job)

    def tell(self, event: Event) -> None:
        """Add an event. Raises RedisError."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.xadd(self.events, {"event": event.model_dump_json()}, maxlen=MOST_EVENTS, approximate=True)
        pipe.expire(self.events, self._keep)
        pipe.execute()

    def last(self) -> tuple[datetime, Event] | None:
        """The latest event, and when that was. Raises RedisError."""
        entries: Any = self._redis.xrevrange(self.events, count=1)
        return (_time(entries[0][0]), event_of(entries[0][1])) if entries else None

    def ended(self) -> bool:
        last = self.last()
        return last is not None and last[1].state in ENDED

    def note(self, name: str, value: str) -> None:
        """Keep a value for those that take the job up again. Raises RedisError."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.hset(self._notes, name, value)
        pipe.expire(self._notes, self._keep)
        pipe.execute()

    def noted(self, name: str) -> str | None:
        """Raises RedisError."""
        value = self._redis.hget(self._notes, name)
        return value.decode() if isinstance(value, bytes) else None


def events_key(queue: str, job: str) -> str:
    return f"{queue}:events:{job}"


def _time(entry_id: bytes) -> datetime:
    """When an entry was added, which its id begins with: milliseconds since 1970."""
    return datetime.fromtimestamp(int(entry_id.partition(b"-")[0]) / 1000, UTC)


def event_of(entry: Mapping[bytes, bytes]) -> Event:
    """An entry of the stream. ValueError for what is none of ours."""
    return Event.model_validate_json(entry.get(b"event", b""))
