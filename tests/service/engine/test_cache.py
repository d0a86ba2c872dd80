"""The cache's interface, and the cache in the process."""

import asyncio

import pytest

from service.engine.answers import Answers
from service.engine.cache import CacheKey, MemoryCache, open_cache, shared_key
from service.schemas import Answer
from service.settings import Settings

A = CacheKey("small@1", "20261120-1", "sentence", "A dog.", "en", "de", 1)
B, C = A._replace(text="A cat."), A._replace(target="pt")


def answers(text: str) -> Answers:
    return (
        Answer(
            text=text,
            score=0.5,
            confidence=0.5,
            id="de:1",
            match="translation",
            similarity=None,
            original=None,
            metadata={},
        ),
    )


def test_a_key_depends_on_everything_and_shows_no_text() -> None:
    other = CacheKey("big@1", "20261120-2", "word", "A cat.", "pt", "ar", 2)
    keys = {shared_key(A._replace(**{name: getattr(other, name)})) for name in A._fields}
    assert len(keys | {shared_key(A)}) == 8
    assert "dog" not in "".join(keys)


def test_the_same_parts_in_other_places_are_another_key() -> None:
    assert shared_key(A._replace(text="a", source="en")) != shared_key(A._replace(text="aen", source=""))


def test_what_was_put_is_found_and_the_rest_is_not() -> None:
    async def main() -> None:
        cache = MemoryCache(10, 60)
        await cache.put({A: answers("x")})
        assert await cache.get([A, B]) == [answers("x"), None]
        await cache.close()
        assert await cache.get([A]) == [None]

    asyncio.run(main())


def test_no_answer_is_an_answer() -> None:
    async def main() -> None:
        cache = MemoryCache(10, 60)
        await cache.put({A: ()})
        assert await cache.get([A]) == [()]

    asyncio.run(main())


def test_the_least_recently_used_goes_first() -> None:
    async def main() -> None:
        cache = MemoryCache(2, 60)
        await cache.put({A: answers("x"), B: answers("y")})
        await cache.get([A])
        await cache.put({C: answers("z")})
        assert await cache.get([A, B, C]) == [answers("x"), None, answers("z")]

    asyncio.run(main())


def test_an_answer_ages(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        cache = MemoryCache(2, 60)
        await cache.put({A: answers("x")})
        import time

        later = time.monotonic() + 61
        monkeypatch.setattr("service.engine.cache.time.monotonic", lambda: later)
        assert await cache.get([A]) == [None]

    asyncio.run(main())


def test_no_entries_means_no_cache() -> None:
    async def main() -> None:
        cache = open_cache(Settings(cache_entries=0))
        await cache.put({A: answers("x")})
        assert await cache.get([A]) == [None]

    asyncio.run(main())
