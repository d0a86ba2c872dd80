"""The cache of answers in Redis, shared by workers and machines.

It fails open: whatever Redis does, a lookup takes at most `timeout`. After a failure Redis is not used for
`pause`, then tried by one request before all use it again. Values must be JSON of the expected shape and name
the key under which they are stored. With a secret they must also begin with their HMAC, so that others with
write access to Redis cannot forge answers.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ConfigDict
from redis.asyncio import Redis

from service.engine.answers import Answers
from service.redis_connection import Breaker, async_options

Values = Mapping[str, bytes | str | None]
MAX_UNWRITTEN = 20_000  # answers; more are not cached in Redis
Result = TypeVar("Result")


class Entry(BaseModel):
    """The value of a key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    answers: Answers


class ReadRound:
    """Keys that are read together, and their values."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.values: asyncio.Future[Values] = asyncio.get_running_loop().create_future()


class RedisCache:
    """Answers in the Redis at `url`, kept `keep` seconds; `timeout` and `pause` in seconds.

    `rejected` is called for each invalid value. Keys that several requests look up at the same time are read
    together. Answers are written together, in the background.
    """

    def __init__(
        self,
        url: str,
        *,
        keep: int,
        timeout: float,
        pause: float,
        secret: bytes = b"",
        rejected: Callable[[], None] = lambda: None,
    ) -> None:
        self._keep, self._secret, self._rejected = keep, secret, rejected
        self._timeout = timeout
        self._breaker = Breaker(pause, "answering without the cache")
        self._next: ReadRound | None = None
        self._unwritten: dict[str, Answers] = {}
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._redis: Redis = Redis.from_url(url, **async_options(timeout))

    async def get(self, keys: Sequence[str]) -> list[Answers | None]:
        if not keys or not self._breaker.allows():
            return [None] * len(keys)
        if self._next is None:
            self._next = ReadRound()
        current = self._next
        current.keys.update(keys)
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
        values = await asyncio.shield(current.values)  # other requests may be waiting for them
        return [self._open(key, values.get(key)) for key in keys]

    async def put(self, answers: Mapping[str, Answers]) -> None:
        if len(self._unwritten) < MAX_UNWRITTEN:
            self._unwritten.update(answers)
        if self._writer is None and self._unwritten:
            self._writer = asyncio.create_task(self._write())

    async def written(self) -> None:
        """Wait until all answers are written or given up."""
        if self._writer is not None:
            await self._writer

    async def close(self) -> None:
        await self.written()
        await self._redis.aclose()

    async def _read(self) -> None:
        failed = False
        while self._next is not None:
            current, self._next = self._next, None
            # Requests that arrived while Redis failed need not wait for it to fail again.
            values = None if failed else await self._try(partial(self._fetch, list(current.keys)))
            failed = values is None
            current.values.set_result(values or {})
        self._reader = None

    async def _fetch(self, keys: Sequence[str]) -> Values:
        return dict(zip(keys, await self._redis.mget(keys), strict=True))

    async def _write(self) -> None:
        while self._unwritten and self._breaker.allows():
            batch, self._unwritten = self._unwritten, {}
            pipe = self._redis.pipeline(transaction=False)
            for key, value in batch.items():
                pipe.set(key, self._seal(Entry(key=key, answers=value)), ex=self._keep)
            await self._try(pipe.execute)
        self._unwritten.clear()
        self._writer = None

    def _seal(self, entry: Entry) -> bytes:
        document = entry.model_dump_json().encode()
        return self._digest(document) + document

    def _open(self, key: str, value: bytes | str | None) -> Answers | None:
        if value is None:
            return None
        content = value.encode() if isinstance(value, str) else value
        length = len(self._digest(b""))
        digest, document = content[:length], content[length:]
        try:
            if not hmac.compare_digest(digest, self._digest(document)):
                raise ValueError("not written with this secret")
            entry = Entry.model_validate_json(document)
            if entry.key != key:
                raise ValueError("stored under another key")
        except ValueError:  # pydantic's errors are subclasses
            self._rejected()
            return None
        return entry.answers

    def _digest(self, document: bytes) -> bytes:
        """The HMAC in hexadecimal; empty without a secret."""
        if not self._secret:
            return b""
        return hmac.digest(self._secret, document, "sha256").hex().encode()

    async def _try(self, act: Callable[[], Awaitable[Result]]) -> Result | None:
        """Await `act`; None if Redis fails in whatever way."""
        try:
            async with asyncio.timeout(self._timeout):
                result = await act()
        except Exception as error:
            self._breaker.failed(error)
            return None
        self._breaker.worked()
        return result
