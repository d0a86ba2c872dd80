"""What is known of a job beside its request: a hash in Redis that the service and a worker share."""

from pydantic import ValidationError
from redis import Redis

from service import limits
from service.schemas.jobs import Event


class Record:
    """The latest event of one job, and values for a worker that begins it again.

    Every method raises RedisError.
    """

    def __init__(self, redis: "Redis", job: str) -> None:
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
