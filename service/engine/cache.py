"""The cache of answers in two levels: in the process here, in Redis (redis_cache.py) for all processes."""

import hmac
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cachetools import TTLCache

from service.engine.answers import Answers
from service.observability.metrics import Metrics
from service.schemas import Kind
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.redis_cache import RedisCache

log = logging.getLogger("passepartout.cache")


class CacheKey(NamedTuple):
    """One text in one target language, with k answers: all that the answers depend on."""

    model: str
    version: str
    kind: Kind
    text: str
    source: str
    target: str
    k: int = 1


class Held(NamedTuple):
    """Answers and how many bytes they and their key take in memory, about."""

    answers: Answers
    size: int


# What Python takes for an answer with its fields, and for an entry of the cache with its key.
ANSWER_BYTES = 1_500
ENTRY_BYTES = 1_000


def size_of(key: CacheKey, answers: Answers) -> int:
    """Bytes that a key and its answers take in memory, about, and no less."""
    size = ENTRY_BYTES + sys.getsizeof(key.text)
    for answer in answers:
        size += ANSWER_BYTES + sys.getsizeof(answer.text) + _size_of(answer.metadata)
        if answer.original is not None:
            size += ANSWER_BYTES + sys.getsizeof(answer.original.text)
        if answer.differs is not None:
            size += ANSWER_BYTES + _size_of(answer.differs.question) + _size_of(answer.differs.answer)
    return size


def _size_of(value: object) -> int:
    """Bytes of a JSON value as Python holds it."""
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(_size_of(name) + _size_of(member) for name, member in value.items())
    elif isinstance(value, list):
        size += sum(map(_size_of, value))
    return size


class Cache(Protocol):
    """Answers by key. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        """The answers of each key, None where there are none."""
        ...

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None: ...

    async def close(self) -> None: ...


def shared_key(key: CacheKey, secret: bytes = b"") -> str:
    """What stands for a key in a cache that others can read: no text of a user, nor one to be guessed."""
    return f"passepartout:3:{hmac.digest(secret, repr(tuple(key)).encode(), 'sha256').hex()}"


class MemoryCache:
    """Answers of at most `size` bytes in all, the least recently used dropped first, each for at most
    `seconds`."""

    def __init__(self, size: int, seconds: float, timer: Callable[[], float] = time.monotonic) -> None:
        self._held: TTLCache[CacheKey, Held] = TTLCache(size, seconds, timer, lambda held: held.size)

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        held = [self._held.get(key) for key in keys]
        return [None if entry is None else entry.answers for entry in held]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        for key, value in answers.items():
            held = Held(value, size_of(key, value))
            if held.size <= self._held.maxsize:
                self._held[key] = held

    async def close(self) -> None:
        self._held.clear()


class TwoLevels:
    """`near` before `far`; what is found in `far` alone is kept in `near` too."""

    def __init__(self, near: Cache, far: "RedisCache", secret: bytes = b"") -> None:
        self._near, self._far, self._secret = near, far, secret

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        answers = dict(zip(keys, await self._near.get(keys), strict=True))
        missing = [key for key, value in answers.items() if value is None]
        if missing:
            shared = [shared_key(key, self._secret) for key in missing]
            far = dict(zip(missing, await self._far.get(shared), strict=True))
            await self._near.put({key: value for key, value in far.items() if value is not None})
            answers |= far
        return [answers[key] for key in keys]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        await self._near.put(answers)
        await self._far.put({shared_key(key, self._secret): value for key, value in answers.items()})

    async def close(self) -> None:
        await self._near.close()
        await self._far.close()


def open_cache(settings: Settings, metrics: Metrics | None = None) -> Cache:
    """The cache that the settings ask for."""
    near = MemoryCache(settings.cache_bytes, settings.cache_seconds)
    if settings.redis_url is None:
        return near
    from service.engine.redis_cache import RedisCache  # redis costs memory: only where it is used

    secret = settings.cache_secret.get_secret_value().encode() if settings.cache_secret else b""
    if not secret:
        log.warning("whoever can write to Redis can choose answers: set PASSEPARTOUT_CACHE_SECRET")
    far = RedisCache(
        settings.redis_url.get_secret_value(),
        keep=settings.cache_seconds,
        timeout=settings.redis_timeout_seconds,
        pause=settings.redis_pause_seconds,
        secret=secret,
        rejected=metrics.rejected if metrics else lambda: None,
    )
    return TwoLevels(near, far, secret)
