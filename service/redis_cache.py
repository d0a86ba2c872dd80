"""The cache of answers in Redis, shared by workers and machines.

It fails open: whatever Redis does, a lookup takes at most `timeout`, and after a failure Redis is left alone
for `pause`, then tried by one request before all use it again. What is read is validated as JSON of the one
expected shape, and must name the key it was stored under.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from service.cache import Answers

log = logging.getLogger("passepartout.cache")

FAILURES = (RedisError, OSError, TimeoutError, ValueError)


class Entry(BaseModel):
    """What one key holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    answers: Answers


class RedisCache:
    """Answers in the Redis at `url`, kept `keep` seconds; `timeout` and `pause` in seconds."""

    def __init__(self, url: str, *, keep: int, timeout: float, pause: float) -> None:
        self._keep = keep
        self._timeout = timeout
        self._breaker = Breaker(pause)
        # redis-py's own default is to try again for many seconds (docs/decisions/0001).
        self._redis: Redis = Redis.from_url(
            url,
            protocol=2,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )

    async def get(self, keys: Sequence[str]) -> list[Answers | None]:
        nothing: list[Answers | None] = [None] * len(keys)
        if not keys or not self._breaker.allows():
            return nothing
        try:
            async with asyncio.timeout(self._timeout):
                values = await self._redis.mget(keys)
        except FAILURES as error:
            self._breaker.failed(error)
            return nothing
        self._breaker.worked()
        return [_read(key, value) for key, value in zip(keys, values, strict=True)]

    async def put(self, answers: Mapping[str, Answers]) -> None:
        if not answers or not self._breaker.allows():
            return
        try:
            async with asyncio.timeout(self._timeout), self._redis.pipeline(transaction=False) as pipe:
                for key, value in answers.items():
                    pipe.set(key, Entry(key=key, answers=value).model_dump_json(), ex=self._keep)
                await pipe.execute()
        except FAILURES as error:
            self._breaker.failed(error)
            return
        self._breaker.worked()

    async def close(self) -> None:
        await self._redis.aclose()


class Breaker:
    """Says whether to try: after a failure not for `pause` seconds, then one try before all the others."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._closed_until: float | None = None

    def allows(self) -> bool:
        if self._closed_until is None:
            return True
        now = time.monotonic()
        if now < self._closed_until:
            return False
        self._closed_until = now + self._pause  # the others wait for what this one finds
        return True

    def worked(self) -> None:
        if self._closed_until is not None:
            log.warning("Redis answers again: caching there")
        self._closed_until = None

    def failed(self, error: BaseException) -> None:
        if self._closed_until is None:
            log.warning("Redis failed (%s): answering without the cache", type(error).__name__)
        self._closed_until = time.monotonic() + self._pause


def _read(key: str, value: bytes | str | None) -> Answers | None:
    if value is None:
        return None
    try:
        entry = Entry.model_validate_json(value)
    except ValidationError:
        return None
    return entry.answers if entry.key == key else None
