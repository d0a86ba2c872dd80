"""The cache's interface, and the cache in the process."""

import asyncio
import copy
import gc
import tracemalloc

import pytest

from index.answers.answer import Answer, Answers
from index.answers.request import Query
from service.app import open_cache
from service.engine.cache import CacheKey, MemoryCache, cached
from service.engine.redis_cache import shared_key
from service.observability.metrics import Metrics
from service.settings import Settings

pytestmark = pytest.mark.anyio
A = CacheKey("small@1", "20261120-1", Query("sentence", "A dog.", "en", "de", 1))


def of(key: CacheKey, **query: object) -> CacheKey:
    """A key with another query."""
    return key._replace(query=key.query._replace(**query))


B, C = of(A, text="A cat."), of(A, target="pt")


def answers(text: str) -> Answers:
    return (Answer(text=text, score=0.5, confidence=0.5, id="de:1", match="translation"),)


def test_a_key_depends_on_everything_and_shows_no_text() -> None:
    other = Query("word", "A cat.", "pt", "ar", 2)
    keys = {shared_key(of(A, **{name: value})) for name, value in other._asdict().items()}
    keys |= {shared_key(A._replace(model="big@1")), shared_key(A._replace(version="20261120-2"))}
    assert len(keys | {shared_key(A), shared_key(A, b"x" * 16)}) == 9
    assert "dog" not in "".join(keys)
    assert shared_key(of(A, text="a", source="en")) != shared_key(of(A, text="aen", source=""))


async def test_what_was_put_is_found_and_the_rest_is_not() -> None:
    cache = MemoryCache(100_000, 60)
    await cache.put({A: answers("x"), C: ()})
    assert await cache.get([A, B, C]) == [answers("x"), None, ()]
    await cache.close()
    assert await cache.get([A]) == [None]


async def test_the_least_recently_used_goes_first() -> None:
    cache = MemoryCache(cached(A, answers("x")).size + cached(B, answers("y")).size, 60)
    await cache.put({A: answers("x"), B: answers("y")})
    await cache.get([A])
    await cache.put({C: answers("z")})
    assert await cache.get([A, B, C]) == [answers("x"), None, answers("z")]


async def test_an_answer_ages() -> None:
    now = 0.0
    cache = MemoryCache(100_000, 60, lambda: now)
    await cache.put({A: answers("x")})
    now = 59.0
    assert await cache.get([A]) == [answers("x")]
    now = 61.0
    assert await cache.get([A]) == [None]


BOUND = 2_000_000


@pytest.mark.parametrize(("characters", "count"), [(1, 0), (1, 50), (1000, 1)])
@pytest.mark.parametrize("metadata", [{}, {"file": "de.txt", "tags": [[], {}, 1.5, "ä" * 9] * 20}])
def test_it_takes_the_memory_that_it_may_and_no_more(
    characters: int, count: int, metadata: dict[str, object]
) -> None:
    """Whatever answers are: many or few, long or short, of a corpus with much to say of each."""

    async def fill(cache: MemoryCache) -> None:
        number = size = 0
        while size < 2 * BOUND:
            number += 1
            key = of(A, text=f"{number:0{characters}}")
            document = answers("ä" * characters)[0].model_dump_json()
            found = [Answer.model_validate_json(document) for _ in range(count)]
            value = tuple(
                one.model_copy(update={"id": f"de:{number}{place}", "metadata": copy.deepcopy(metadata)})
                for place, one in enumerate(found)
            )
            size += cached(key, value).size
            await cache.put({key: value})

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    cache = MemoryCache(BOUND, 60)
    asyncio.run(fill(cache))
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert BOUND / 4 < taken < 1.1 * BOUND


async def test_what_is_larger_than_the_cache_leaves_it_as_it_is() -> None:
    cache = MemoryCache(10_000, 60)
    await cache.put({A: answers("x")})
    await cache.put({B: answers("x" * 10_000)})
    assert await cache.get([A, B]) == [answers("x"), None]


async def test_no_bytes_means_no_cache() -> None:
    cache = open_cache(Settings(cache_bytes=0), Metrics())
    await cache.put({A: answers("x")})
    assert await cache.get([A]) == [None]
