"""The cache of answers in Redis, shared by workers and machines.

It fails open: whatever Redis does, a lookup takes at most REDIS_SECONDS, and then finds nothing. Values must
be JSON of the expected shape and name the key under which they are stored. With a secret they must also begin
with their HMAC, so that others with write access to Redis cannot forge answers.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from index.answers.answer import Answers
from index.frozen import Frozen
from service.engine.cache import CacheKey

log = logging.getLogger("passepartout.redis")

REDIS_SECONDS = 0.02  # until Redis must answer
CALM_SECONDS = 5.0  # without a failure until the log says that Redis answers: a busy service misses some
Result = TypeVar("Result")


class StoredAnswers(Frozen):
    """The value of a key."""

    key: str
    answers: Answers


class RedisCache:
    """Answers in the Redis at `url`, kept for `seconds`; `rejected` is called for each invalid value."""

    def __init__(self, url: str, secret: bytes, seconds: int, rejected: Callable[[], None]) -> None:
        self._secret, self._seconds, self._rejected = secret, seconds, rejected
        self._failed: float | None = None  # when Redis failed last; None while the log says that it answers
        self._redis: Redis = Redis.from_url(
            url,
            protocol=2,
            socket_timeout=REDIS_SECONDS,
            socket_connect_timeout=REDIS_SECONDS,
            retry=Retry(NoBackoff(), 0),  # redis-py would by default retry for many seconds
        )

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        names = [shared_key(key, self._secret) for key in keys]
        values = await self._result(self._redis.mget(names)) if names else []
        if values is None:
            return [None] * len(keys)
        return [self._open(name, value) for name, value in zip(names, values, strict=True)]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        pipe = self._redis.pipeline(transaction=False)
        for key, value in answers.items():
            name = shared_key(key, self._secret)
            document = StoredAnswers(key=name, answers=value).model_dump_json().encode()
            pipe.set(name, self._digest(document) + document, ex=self._seconds)
        await self._result(pipe.execute())

    async def close(self) -> None:
        with suppress(Exception):  # a connection may take longer than REDIS_SECONDS to close
            await self._redis.aclose()

    async def _result(self, act: Awaitable[Result]) -> Result | None:
        """Await `act` for at most REDIS_SECONDS; None if Redis fails in whatever way.

        The log says when it begins to fail, and when it has answered again for CALM_SECONDS.
        """
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                result = await act
        except Exception as error:
            if self._failed is None:
                log.warning("Redis failed (%s): answering without the cache", type(error).__name__)
            self._failed = time.monotonic()
            return None
        if self._failed is not None and time.monotonic() - self._failed >= CALM_SECONDS:
            log.warning("Redis answers again")
            self._failed = None
        return result

    def _open(self, name: str, value: bytes | str | None) -> Answers | None:
        if value is None:
            return None
        content = value.encode() if isinstance(value, str) else value
        length = len(self._digest(b""))
        digest, document = content[:length], content[length:]
        try:
            if not hmac.compare_digest(digest, self._digest(document)):
                raise ValueError("not written with this secret")
            entry = StoredAnswers.model_validate_json(document)
            if entry.key != name:
                raise ValueError("stored under another key")
        except ValueError:  # pydantic's errors are subclasses
            self._rejected()
            return None
        return entry.answers

    def _digest(self, document: bytes) -> bytes:
        """The HMAC in hexadecimal; empty without a secret."""
        return hmac.digest(self._secret, document, "sha256").hex().encode() if self._secret else b""


def shared_key(key: CacheKey, secret: bytes = b"") -> str:
    """The name of a key in a cache that others can read, from which no text can be read or guessed."""
    return f"passepartout:4:{hmac.digest(secret, repr(tuple(key)).encode(), 'sha256').hex()}"
