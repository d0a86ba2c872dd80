"""The cache of answers in Redis, shared by workers and machines.

It fails open: whatever Redis does, a lookup takes at most REDIS_SECONDS, and then finds nothing. Values must
be JSON of the expected shape and name the key under which they are stored. With a secret they must also begin
with their HMAC, so that others with write access to Redis cannot forge answers.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict
from redis.asyncio import Redis

from index.answers.answer import Answers
from service.engine.cache import CacheKey
from service.redis_connection import Attempts, async_options


class Entry(BaseModel):
    """The value of a key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    answers: Answers


class RedisCache:
    """Answers in the Redis at `url`, kept for `seconds`; `rejected` is called for each invalid value."""

    def __init__(
        self, url: str, secret: bytes, seconds: int, rejected: Callable[[], None] = lambda: None
    ) -> None:
        self._secret, self._seconds, self._rejected = secret, seconds, rejected
        self._attempts = Attempts("answering without the cache")
        self._redis: Redis = Redis.from_url(url, **async_options())

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        names = [shared_key(key, self._secret) for key in keys]
        values = await self._attempts.result(self._redis.mget(names)) if names else []
        if values is None:
            return [None] * len(keys)
        return [self._open(name, value) for name, value in zip(names, values, strict=True)]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        pipe = self._redis.pipeline(transaction=False)
        for key, value in answers.items():
            name = shared_key(key, self._secret)
            pipe.set(name, self._seal(Entry(key=name, answers=value)), ex=self._seconds)
        await self._attempts.result(pipe.execute())

    async def close(self) -> None:
        await self._redis.aclose()

    def _seal(self, entry: Entry) -> bytes:
        document = entry.model_dump_json().encode()
        return self._digest(document) + document

    def _open(self, name: str, value: bytes | str | None) -> Answers | None:
        if value is None:
            return None
        content = value.encode() if isinstance(value, str) else value
        length = len(self._digest(b""))
        digest, document = content[:length], content[length:]
        try:
            if not hmac.compare_digest(digest, self._digest(document)):
                raise ValueError("not written with this secret")
            entry = Entry.model_validate_json(document)
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
