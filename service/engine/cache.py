"""The cache of answers: in the memory of this process, or in Redis (redis_cache.py) for all processes."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from cachetools import TTLCache
from pydantic import TypeAdapter

from index.answers.answer import Answers
from index.answers.request import Query


class CacheKey(NamedTuple):
    """Everything that the answers to a text in one target language depend on."""

    model: str
    version: str
    query: Query


class CachedAnswers(NamedTuple):
    """Answers as JSON, whose bytes can be counted as objects' cannot; and what they take in memory."""

    document: bytes
    size: int


ENTRY_BYTES = 1_000  # that an entry takes besides its text and its answers: an upper estimate
ANSWERS: TypeAdapter[Answers] = TypeAdapter(Answers)


def cached(key: CacheKey, answers: Answers) -> CachedAnswers:
    """The answers to a key as the cache keeps them."""
    document = ANSWERS.dump_json(answers)
    return CachedAnswers(document, ENTRY_BYTES + sys.getsizeof(key.query.text) + len(document))


class Cache(Protocol):
    """Answers by key. A cache that fails behaves as an empty one: no method raises."""

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        """The answers of each key; None for a key that is not cached."""
        ...

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None: ...

    async def close(self) -> None: ...


class MemoryCache:
    """Keeps up to `size` bytes of answers, each for up to `seconds`; drops the least recently used first."""

    def __init__(self, size: int, seconds: float, timer: Callable[[], float] = time.monotonic) -> None:
        self._answers: TTLCache[CacheKey, CachedAnswers] = TTLCache(
            size, seconds, timer, lambda cached: cached.size
        )

    async def get(self, keys: Sequence[CacheKey]) -> list[Answers | None]:
        entries = [self._answers.get(key) for key in keys]
        return [None if entry is None else ANSWERS.validate_json(entry.document) for entry in entries]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        for key, value in answers.items():
            entry = cached(key, value)
            if entry.size <= self._answers.maxsize:
                self._answers[key] = entry

    async def close(self) -> None:
        self._answers.clear()
