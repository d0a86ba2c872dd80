"""The cache of answers: in the memory of this process, and in Redis (redis_cache.py) for all processes."""

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
    """Everything that the answers to a text in one target language depend on."""

    model: str
    version: str
    kind: Kind
    text: str
    source: str
    target: str
    k: int = 1


class CachedAnswers(NamedTuple):
    """Answers, and roughly how many bytes they and their key take in memory."""

    answers: Answers
    size: int


# Memory for an answer with its fields, and for an entry of the cache with its key.
ANSWER_BYTES = 1_500
ENTRY_BYTES = 1_000


def size_of(key: CacheKey, answers: Answers) -> int:
    """An upper estimate of the bytes that a key and its answers take in memory."""
    size = ENTRY_BYTES + sys.getsizeof(key.text)
    for answer in answers:
        size += ANSWER_BYTES + sys.getsizeof(answer.text) + _size_of(answer.metadata)
        if answer.original is not None:
            size += ANSWER_BYTES + sys.getsizeof(answer.original.text)
        if answer.differs is not None:
            size += ANSWER_BYTES + _size_of(answer.differs.question) + _size_of(answer.differs.answer)
    return size


def _size_of(value: object) -> int:
    """Estimate the bytes that a JSON value takes in memory."""
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(_size_of(name) + _size_of(member) for name, member in value.items())
    elif isinstance(value, list):
        size += sum(map(_size_of, value))
    return size


class Cache(Protocol):
    """Answers by key. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        """The answers of each key; None for a key that is not cached."""
        ...

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None: ...

    async def close(self) -> None: ...


def shared_key(key: CacheKey, secret: bytes = b"") -> str:
    """The name of a key in a cache that others can read, from which no text can be read or guessed."""
    return f"passepartout:3:{hmac.digest(secret, repr(tuple(key)).encode(), 'sha256').hex()}"


class MemoryCache:
    """Keeps up to `size` bytes of answers, each for up to `seconds`; drops the least recently used first."""

    def __init__(self, size: int, seconds: float, timer: Callable[[], float] = time.monotonic) -> None:
        self._answers: TTLCache[CacheKey, CachedAnswers] = TTLCache(
            size, seconds, timer, lambda cached: cached.size
        )

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        entries = [self._answers.get(key) for key in keys]
        return [None if entry is None else entry.answers for entry in entries]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        for key, value in answers.items():
            cached = CachedAnswers(value, size_of(key, value))
            if cached.size <= self._answers.maxsize:
                self._answers[key] = cached

    async def close(self) -> None:
        self._answers.clear()


class TwoLevels:
    """Looks into `near` first, then into `far`; answers found only in `far` are copied to `near`."""

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
    """Open the cache that the settings ask for."""
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
