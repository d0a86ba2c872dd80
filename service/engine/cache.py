"""The cache of answers in two levels: in the process here, in Redis (redis_cache.py) for all processes."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from service.api.schemas import Answer, Kind
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.redis_cache import RedisCache

Answers = tuple[Answer, ...]


class Lookup(NamedTuple):
    """One text to find in one target language, k times: all that the answers depend on."""

    model: str
    version: str
    kind: Kind
    text: str
    source: str
    target: str
    k: int = 1


class Cache(Protocol):
    """Answers by what was looked up. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, lookups: Sequence[Lookup]) -> list[Answers | None]:
        """The answers of each lookup, None where there are none."""
        ...

    async def put(self, answers: Mapping[Lookup, Answers]) -> None: ...

    async def close(self) -> None: ...


def shared_key(lookup: Lookup) -> str:
    """What stands for a lookup in a cache that others can read: no text of a user."""
    return f"passepartout:2:{hashlib.sha256(repr(tuple(lookup)).encode()).hexdigest()}"


class MemoryCache:
    """At most `entries` answers, the least recently used dropped first, each for at most `seconds`."""

    def __init__(self, entries: int, seconds: float) -> None:
        self._entries = entries
        self._seconds = seconds
        self._held: OrderedDict[Lookup, tuple[float, Answers]] = OrderedDict()

    async def get(self, lookups: Sequence[Lookup]) -> list[Answers | None]:
        now = time.monotonic()
        return [self._find(lookup, now) for lookup in lookups]

    async def put(self, answers: Mapping[Lookup, Answers]) -> None:
        if not self._entries:
            return
        expiry = time.monotonic() + self._seconds
        for lookup, value in answers.items():
            self._held[lookup] = (expiry, value)
            self._held.move_to_end(lookup)
        while len(self._held) > self._entries:
            self._held.popitem(last=False)

    async def close(self) -> None:
        self._held.clear()

    def _find(self, lookup: Lookup, now: float) -> Answers | None:
        expiry, answers = self._held.get(lookup, (0.0, ()))
        if expiry <= now:
            self._held.pop(lookup, None)
            return None
        self._held.move_to_end(lookup)
        return answers


class TwoLevels:
    """`near` before `far`; what is found in `far` alone is kept in `near` too."""

    def __init__(self, near: Cache, far: "RedisCache") -> None:
        self._near, self._far = near, far

    async def get(self, lookups: Sequence[Lookup]) -> list[Answers | None]:
        found = dict(zip(lookups, await self._near.get(lookups), strict=True))
        missing = [lookup for lookup, answers in found.items() if answers is None]
        if missing:
            far = dict(zip(missing, await self._far.get(list(map(shared_key, missing))), strict=True))
            await self._near.put({lookup: answers for lookup, answers in far.items() if answers is not None})
            found |= far
        return [found[lookup] for lookup in lookups]

    async def put(self, answers: Mapping[Lookup, Answers]) -> None:
        await self._near.put(answers)
        await self._far.put({shared_key(lookup): found for lookup, found in answers.items()})

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
