"""The cache of answers in two levels: in the process here, in Redis (redis_cache.py) for all processes."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

from service.schemas import Answer, Kind
from service.settings import Settings

Answers = tuple[Answer, ...]


class Cache(Protocol):
    """Answers by key. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, keys: Sequence[str]) -> list[Answers | None]:
        """The answers of each key, None where there are none."""
        ...

    async def put(self, answers: Mapping[str, Answers]) -> None: ...

    async def close(self) -> None: ...


def cache_key(model: str, version: str, kind: Kind, text: str, source: str, target: str, k: int) -> str:
    """A key of all that an answer depends on; hashed, so that no text can be read from a shared cache."""
    parts = repr((model, version, kind, text, source, target, k))
    return f"passepartout:2:{hashlib.sha256(parts.encode()).hexdigest()}"


class MemoryCache:
    """At most `entries` answers, the least recently used dropped first, each for at most `seconds`."""

    def __init__(self, entries: int, seconds: float) -> None:
        self._entries = entries
        self._seconds = seconds
        self._held: OrderedDict[str, tuple[float, Answers]] = OrderedDict()

    async def get(self, keys: Sequence[str]) -> list[Answers | None]:
        now = time.monotonic()
        return [self._find(key, now) for key in keys]

    async def put(self, answers: Mapping[str, Answers]) -> None:
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

    def _find(self, key: str, now: float) -> Answers | None:
        expiry, answers = self._held.get(key, (0.0, ()))
        if expiry <= now:
            self._held.pop(key, None)
            return None
        self._held.move_to_end(key)
        return answers


class TwoLevels:
    """`near` before `far`; what is found in `far` alone is kept in `near` too."""

    def __init__(self, near: Cache, far: Cache) -> None:
        self._near, self._far = near, far

    async def get(self, keys: Sequence[str]) -> list[Answers | None]:
        found = dict(zip(keys, await self._near.get(keys), strict=True))
        missing = [key for key, answers in found.items() if answers is None]
        if missing:
            far = dict(zip(missing, await self._far.get(missing), strict=True))
            await self._near.put({key: answers for key, answers in far.items() if answers is not None})
            found |= far
        return [found[key] for key in keys]

    async def put(self, answers: Mapping[str, Answers]) -> None:
        await self._near.put(answers)
        await self._far.put(answers)

    async def close(self) -> None:
        await self._near.close()
        await self._far.close()


def open_cache(settings: Settings) -> Cache:
    """The cache that the settings ask for."""
    near = MemoryCache(settings.cache_entries, settings.cache_seconds)
    if settings.redis_url is None:
        return near
    from service.redis_cache import RedisCache  # redis costs memory: only where it is used

    far = RedisCache(
        settings.redis_url.get_secret_value(),
        keep=settings.cache_seconds,
        timeout=settings.redis_timeout_seconds,
        pause=settings.redis_pause_seconds,
    )
    return TwoLevels(near, far)
