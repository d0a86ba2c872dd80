"""The cache of answers in two levels: in the process here, in Redis (redis_cache.py) for all processes."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from service.engine.answers import Answers
from service.schemas import Kind
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.redis_cache import RedisCache


class CacheKey(NamedTuple):
    """One text in one target language, with k answers: all that the answers depend on."""

    model: str
    version: str
    kind: Kind
    text: str
    source: str
    target: str
    k: int = 1


class Cache(Protocol):
    """Answers by key. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        """The answers of each key, None where there are none."""
        ...

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None: ...

    async def close(self) -> None: ...


def shared_key(key: CacheKey) -> str:
    """What stands for a key in a cache that others can read: no text of a user."""
    return f"passepartout:3:{hashlib.sha256(repr(tuple(key)).encode()).hexdigest()}"


class MemoryCache:
    """At most `entries` answers, the least recently used dropped first, each for at most `seconds`."""

    def __init__(self, entries: int, seconds: float) -> None:
        self._entries = entries
        self._seconds = seconds
        self._held: OrderedDict[CacheKey, tuple[float, Answers]] = OrderedDict()

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        now = time.monotonic()
        return [self._find(key, now) for key in keys]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        if not self._entries:
            return
        expiry = time.monotonic() + self._seconds
        for key, value in answers.items():
            self._held[key] = (expiry, value)
            self._held.move_to_end(key)
        while len(self._held) > self._entries:
            self._held.popitem(last=False)

    async def close(self) -> None:
        self._held.clear()

    def _find(self, key: CacheKey, now: float) -> Answers | None:
        expiry, answers = self._held.get(key, (0.0, ()))
        if expiry <= now:
            self._held.pop(key, None)
            return None
        self._held.move_to_end(key)
        return answers


class TwoLevels:
    """`near` before `far`; what is found in `far` alone is kept in `near` too."""

    def __init__(self, near: Cache, far: "RedisCache") -> None:
        self._near, self._far = near, far

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        answers = dict(zip(keys, await self._near.get(keys), strict=True))
        missing = [key for key, value in answers.items() if value is None]
        if missing:
            far = dict(zip(missing, await self._far.get(list(map(shared_key, missing))), strict=True))
            await self._near.put({key: value for key, value in far.items() if value is not None})
            answers |= far
        return [answers[key] for key in keys]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        await self._near.put(answers)
        await self._far.put({shared_key(key): value for key, value in answers.items()})

    async def close(self) -> None:
        await self._near.close()
        await self._far.close()


def open_cache(settings: Settings) -> Cache:
    """The cache that the settings ask for."""
    near = MemoryCache(settings.cache_entries, settings.cache_seconds)
    if settings.redis_url is None:
        return near
    from service.engine.redis_cache import RedisCache  # redis costs memory: only where it is used

    far = RedisCache(
        settings.redis_url.get_secret_value(),
        keep=settings.cache_seconds,
        timeout=settings.redis_timeout_seconds,
        pause=settings.redis_pause_seconds,
    )
    return TwoLevels(near, far)
