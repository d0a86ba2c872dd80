"""The cache of answers: in the memory of this process, or in Redis (redis_cache.py) for all processes."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from cachetools import TTLCache
from pydantic import BaseModel

from index.answers.answer import Answers
from index.answers.request import Kind


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


ENTRY_BYTES = 500  # that an entry of the cache takes besides its key and its answers


def size_of(key: CacheKey, answers: Answers) -> int:
    """An upper estimate of the bytes that a key and its answers take in memory."""
    return ENTRY_BYTES + _size_of(key) + _size_of(answers)


def _size_of(value: object) -> int:
    """Estimate the bytes that a value takes in memory, with all that is in it."""
    size = sys.getsizeof(value)
    if isinstance(value, BaseModel):  # all of a kind share the names of their fields
        size += sys.getsizeof(vars(value)) + sys.getsizeof(value.model_fields_set)
        size += sum(map(_size_of, vars(value).values()))
    elif isinstance(value, dict):
        size += sum(_size_of(name) + _size_of(member) for name, member in value.items())
    elif isinstance(value, list | tuple):
        size += sum(map(_size_of, value))
    return size


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
        return [None if entry is None else entry.answers for entry in entries]

    async def put(self, answers: Mapping[CacheKey, Answers]) -> None:
        for key, value in answers.items():
            cached = CachedAnswers(value, size_of(key, value))
            if cached.size <= self._answers.maxsize:
                self._answers[key] = cached

    async def close(self) -> None:
        self._answers.clear()
