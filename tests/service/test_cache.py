"""The cache's interface, and the cache in the process."""

import asyncio

import pytest

from service.cache import Answers, MemoryCache, cache_key, open_cache
from service.schemas import Answer
from service.settings import Settings

KEY = ("small@1", "20261120-1", "sentence", "A dog.", "en", "de", 1)


def answers(text: str) -> Answers:
    return (Answer(text=text, score=0.5, confidence=0.5, id="de:1", metadata={}),)


def test_a_key_depends_on_everything_and_shows_no_text() -> None:
    others = [
        (*KEY[:place], other, *KEY[place + 1 :])
        for place, other in enumerate(("big@1", "20261120-2", "word", "A cat.", "pt", "ar", 2))
    ]
    keys = {cache_key(*parts) for parts in [KEY, *others]}  # type: ignore[arg-type]
    assert len(keys) == 8
    assert "dog" not in "".join(keys)


def test_the_same_parts_in_other_places_are_another_key() -> None:
    assert cache_key("m", "v", "sentence", "a", "en", "de", 1) != cache_key(
        "m", "v", "sentence", "aen", "", "de", 1
    )


def test_what_was_put_is_found_and_the_rest_is_not() -> None:
    async def main() -> None:
        cache = MemoryCache(10, 60)
        await cache.put({"a": answers("x")})
        assert await cache.get(["a", "b"]) == [answers("x"), None]
        await cache.close()
        assert await cache.get(["a"]) == [None]

    asyncio.run(main())


def test_no_answer_is_an_answer() -> None:
    async def main() -> None:
        cache = MemoryCache(10, 60)
        await cache.put({"a": ()})
        assert await cache.get(["a"]) == [()]

    asyncio.run(main())


def test_the_least_recently_used_goes_first() -> None:
    async def main() -> None:
        cache = MemoryCache(2, 60)
        await cache.put({"a": answers("x"), "b": answers("y")})
        await cache.get(["a"])
        await cache.put({"c": answers("z")})
        assert await cache.get(["a", "b", "c"]) == [answers("x"), None, answers("z")]

    asyncio.run(main())


def test_an_answer_ages(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        cache = MemoryCache(2, 60)
        await cache.put({"a": answers("x")})
        import time

        later = time.monotonic() + 61
        monkeypatch.setattr("service.cache.time.monotonic", lambda: later)
        assert await cache.get(["a"]) == [None]

    asyncio.run(main())


def test_no_entries_means_no_cache() -> None:
    async def main() -> None:
        cache = open_cache(Settings(cache_entries=0))
        await cache.put({"a": answers("x")})
        assert await cache.get(["a"]) == [None]

    asyncio.run(main())
