"""The cache in a real Redis server: present, killed, frozen, poisoned."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from service.engine.cache import CacheKey, open_cache, shared_key
from service.engine.redis_cache import RedisCache
from service.settings import Settings
from tests.service.conftest import ClientFactory, RedisServer
from tests.service.engine.test_cache import answers
from tests.service.server import free_port
from tests.waiting import tasks_begun

KEY = "passepartout:1:0123"
CACHE_KEY = CacheKey("small@1", "20261120-1", "sentence", "A dog.", "en", "de", 1)


PATIENT = {"redis_timeout_seconds": 5.0}  # where Redis must answer, on however busy a machine


def using(
    url: str, steps: Callable[[RedisCache], Awaitable[None]], secret: bytes = b"", **settings: float
) -> None:
    """Run `steps` with the cache that the settings open in Redis."""
    told = Settings(redis_url=url, **({"redis_timeout_seconds": 0.1} | settings))  # type: ignore[arg-type]

    async def main() -> None:
        cache = RedisCache(
            url,
            keep=told.cache_seconds,
            timeout=told.redis_timeout_seconds,
            pause=told.redis_pause_seconds,
            secret=secret,
        )
        try:
            await steps(cache)
        finally:
            await cache.close()

    asyncio.run(main())


def test_an_answer_put_by_one_cache_is_found_by_another_until_it_expires(redis_server: RedisServer) -> None:
    async def fill(cache: RedisCache) -> None:
        await cache.put({KEY: answers("x"), "none": ()})

    async def get(cache: RedisCache) -> None:
        assert await cache.get([KEY, "none", "missing"]) == [answers("x"), (), None]

    using(redis_server.url, fill, **PATIENT)
    using(redis_server.url, get, **PATIENT)
    with Redis.from_url(redis_server.url) as client:
        assert 0 < client.ttl(KEY) <= 86_400


ANSWER = {
    "text": "x",
    "score": 1,
    "confidence": 0.7,
    "id": "a",
    "match": "translation",
    "similarity": None,
    "original": None,
    "metadata": {},
}
VALUES = [
    b"",
    b"\x80\x04\x95",  # the start of a pickle
    b"not json",
    b"[]",
    b'"' + b"x" * 1_000_000 + b'"',
    json.dumps({"key": KEY, "answers": [{"text": "x"}]}).encode(),
    json.dumps({"key": KEY, "answers": 5}).encode(),
    json.dumps({"key": "another", "answers": []}).encode(),
    json.dumps({"key": KEY, "answers": [], "more": 1}).encode(),
    json.dumps({"key": KEY, "answers": [ANSWER | {"confidence": 7}]}).encode(),
    b'{"key": "'
    + KEY.encode()
    + b'", "answers": [{"text": "x", "score": NaN, "confidence": 0.5, "id": "a"}]}',
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:20].decode("latin-1"))
def test_a_poisoned_value_counts_as_none_and_is_replaced(redis_server: RedisServer, value: bytes) -> None:
    async def steps(cache: RedisCache) -> None:
        assert await cache.get([KEY]) == [None]
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x")]

    with Redis.from_url(redis_server.url) as client:
        client.set(KEY, value)
    using(redis_server.url, steps, **PATIENT)


SECRET = b"a secret of the service"


@pytest.mark.parametrize("secret", [b"", b"another secret, of others"])
def test_writing_to_redis_is_not_enough_to_forge_answers(redis_server: RedisServer, secret: bytes) -> None:
    """Values without a digest, with another one, and ours under another key, are misses and are replaced."""

    async def forge(cache: RedisCache) -> None:
        await put(cache, "forged")

    async def steps(cache: RedisCache) -> None:
        assert await cache.get([KEY]) == [None]
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x")]

    async def moved(cache: RedisCache) -> None:
        assert await cache.get(["other"]) == [None]

    using(redis_server.url, forge, secret, **PATIENT)
    using(redis_server.url, steps, SECRET, **PATIENT)
    with Redis.from_url(redis_server.url) as client:
        client.copy(KEY, "other")
        ours = client.get(KEY)
        assert isinstance(ours, bytes)
        client.set("changed", ours.replace(b'"x"', b'"y"'))
    using(redis_server.url, moved, SECRET, **PATIENT)

    async def changed(cache: RedisCache) -> None:
        assert await cache.get(["changed"]) == [None]

    using(redis_server.url, changed, SECRET, **PATIENT)


def test_forged_answers_are_counted_and_not_served(
    make_client: ClientFactory, redis_server: RedisServer
) -> None:
    told: dict[str, Any] = {
        "redis_url": redis_server.url,
        "cache_secret": "0123456789abcdef",
        "cache_bytes": 0,
        "metrics": "everyone",
        **PATIENT,
    }
    request = {"text": "A dog runs.", "source": "en", "target": "de"}
    answered = make_client(**told).post("/translate/sentence", json=request).json()
    with Redis.from_url(redis_server.url) as client:
        (key,) = client.keys("passepartout:3:*")
        entry = {"key": key.decode(), "answers": [ANSWER]}
        client.set(key, json.dumps(entry))
    again = make_client(**told)
    assert again.post("/translate/sentence", json=request).json() == answered
    assert "passepartout_cache_rejected_total 1.0" in again.get("/metrics").text


def test_without_the_secret_a_key_cannot_be_guessed() -> None:
    keys = {shared_key(CACHE_KEY), shared_key(CACHE_KEY, b"x" * 16), shared_key(CACHE_KEY, b"y" * 16)}
    assert len(keys) == 3


def test_redis_without_a_secret_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    async def main(**settings: Any) -> None:  # noqa: ANN401
        await open_cache(Settings(redis_url=f"redis://127.0.0.1:{free_port()}", **settings)).close()

    asyncio.run(main(cache_secret="0123456789abcdef"))
    assert caplog.text == ""
    asyncio.run(main())
    assert "PASSEPARTOUT_CACHE_SECRET" in caplog.text


def test_a_value_of_another_type_counts_as_none_and_is_replaced(redis_server: RedisServer) -> None:
    async def steps(cache: RedisCache) -> None:
        assert await cache.get([KEY]) == [None]
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x")]

    with Redis.from_url(redis_server.url) as client:
        client.rpush(KEY, "a", "b")
    using(redis_server.url, steps, **PATIENT)


async def put(cache: RedisCache, text: str) -> None:
    """Put an answer and wait until it is written."""
    await cache.put({KEY: answers(text)})
    await cache.written()


async def until_found(cache: RedisCache) -> None:
    """Wait until the cache has the answer of `put`."""
    async with asyncio.timeout(10):
        while await cache.get([KEY]) != [answers("x")]:
            await asyncio.sleep(0.01)


async def timed(cache: RedisCache) -> float:
    """Seconds that a lookup and a store take, which find nothing."""
    start = time.monotonic()
    assert await cache.get([KEY]) == [None]
    await put(cache, "x")
    return time.monotonic() - start


def test_an_absent_redis_costs_next_to_nothing() -> None:
    async def steps(cache: RedisCache) -> None:
        assert await timed(cache) < 0.25

    using(f"redis://127.0.0.1:{free_port()}", steps)


def test_a_frozen_redis_costs_one_short_wait_and_is_used_again_when_it_thaws(
    redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    async def fill(cache: RedisCache) -> None:
        await put(cache, "x")

    async def steps(cache: RedisCache) -> None:
        redis_server.freeze()
        assert 0.05 < await timed(cache) < 0.25
        assert await timed(cache) < 0.05  # left alone
        redis_server.thaw()
        pass_time(0.5)
        await until_found(cache)

    using(redis_server.url, fill, **PATIENT)
    using(redis_server.url, steps, redis_pause_seconds=0.5)


def test_after_the_pause_one_request_tries_and_the_others_do_not_wait(
    redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    async def steps(cache: RedisCache) -> None:
        redis_server.freeze()
        await timed(cache)
        pass_time(0.3)
        waits = sorted(await asyncio.gather(*(timed(cache) for _ in range(10))))
        assert waits[-1] > 0.05
        assert waits[-2] < 0.05

    using(redis_server.url, steps, redis_pause_seconds=0.25)


def test_a_killed_redis_costs_next_to_nothing_and_is_used_again(
    redis_server: RedisServer, pass_time: Callable[[float], None]
) -> None:
    async def steps(cache: RedisCache) -> None:
        await put(cache, "x")
        redis_server.kill()
        assert await timed(cache) < 0.25
        redis_server.start()
        pass_time(0.3)
        await put(cache, "y")
        assert await cache.get([KEY]) == [answers("y")]

    using(redis_server.url, steps, redis_pause_seconds=0.25, **PATIENT)


def test_a_redis_without_memory_is_ignored(redis_server: RedisServer) -> None:
    async def steps(cache: RedisCache) -> None:
        assert await timed(cache) < 0.25

    with Redis.from_url(redis_server.url) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1000")
    using(redis_server.url, steps)


def test_a_redis_that_wants_a_password_is_ignored(redis_server: RedisServer) -> None:
    async def steps(cache: RedisCache) -> None:
        assert await timed(cache) < 0.25

    with Redis.from_url(redis_server.url) as client:
        client.config_set("requirepass", "secret")
    using(redis_server.url, steps)


@pytest.fixture(
    params=[b"HTTP/1.1 200 OK\r\n\r\n", b"$99999999999\r\n", b"*2\r\n$1\r\n", b"\x00\xff\x00", b""]
)
def impostor(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that answers everything with a few bytes that are no Redis."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(request.param)

    thread = threading.Thread(target=answer)
    thread.start()
    yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_another_server_at_the_address_is_ignored(impostor: str) -> None:
    async def steps(cache: RedisCache) -> None:
        assert await timed(cache) < 0.25

    using(impostor, steps)


def test_simultaneous_lookups_are_read_together(redis_server: RedisServer) -> None:
    async def steps(cache: RedisCache) -> None:
        await cache.put({str(number): answers(str(number)) for number in range(50)})
        await cache.written()
        found = await asyncio.gather(*(cache.get([str(number), "none"]) for number in range(50)))
        assert found == [[answers(str(number)), None] for number in range(50)]

    using(redis_server.url, steps, **PATIENT)
    with Redis.from_url(redis_server.url) as client:
        assert client.info("commandstats")["cmdstat_mget"]["calls"] <= 2


def test_a_request_that_leaves_does_not_cancel_the_others(redis_server: RedisServer) -> None:
    async def steps(cache: RedisCache) -> None:
        await put(cache, "x")
        leaving, staying = (asyncio.create_task(cache.get([KEY])) for _ in range(2))
        await tasks_begun()
        leaving.cancel()
        assert await staying == [answers("x")]

    using(redis_server.url, steps, **PATIENT)


def test_requests_that_arrive_while_redis_is_frozen_wait_once(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = asyncio.Event()
    mget = AsyncRedis.mget

    def noted(*given: Any) -> Any:  # noqa: ANN401
        reading.set()
        return mget(*given)

    monkeypatch.setattr(AsyncRedis, "mget", noted)

    async def steps(cache: RedisCache) -> None:
        redis_server.freeze()
        first = asyncio.create_task(timed(cache))
        await reading.wait()
        assert await timed(cache) < 0.15
        await first

    using(redis_server.url, steps)


def test_answers_found_in_redis_are_kept_in_the_process(redis_server: RedisServer) -> None:
    async def main() -> None:
        settings = Settings(redis_url=redis_server.url, **PATIENT)  # type: ignore[arg-type]
        one, other = open_cache(settings), open_cache(settings)
        await one.put({CACHE_KEY: answers("x")})
        await one.close()
        assert await other.get([CACHE_KEY, CACHE_KEY._replace(k=2)]) == [answers("x"), None]
        redis_server.kill()
        assert await other.get([CACHE_KEY, CACHE_KEY._replace(k=2)]) == [answers("x"), None]
        await other.close()

    asyncio.run(main())


@pytest.mark.parametrize("secret", ["right", "wrong"])
def test_a_password_in_the_address_is_used(redis_server: RedisServer, secret: str) -> None:
    async def steps(cache: RedisCache) -> None:
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x") if secret == "right" else None]

    with Redis.from_url(redis_server.url) as client:
        client.acl_setuser(
            "cache",
            enabled=True,
            passwords=["+right"],
            keys=["passepartout:*"],
            commands=["+get", "+mget", "+set"],
        )
    using(redis_server.url.replace("//", f"//cache:{secret}@"), steps, **PATIENT)
