"""The cache in a real Redis server: present, killed, frozen, poisoned."""

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis import Redis

from index.answers.request import Query
from service.app import open_cache
from service.engine import redis_cache
from service.engine.cache import CacheKey
from service.engine.redis_cache import RedisCache, StoredAnswers, shared_key
from service.observability.metrics import Metrics
from service.settings import Settings
from tests.service.conftest import ClientFactory, RedisServer
from tests.service.engine.test_cache import answers, of
from tests.service.server import free_port

pytestmark = pytest.mark.anyio
KEY = CacheKey("small@1", "20261120-1", Query("sentence", "A dog.", "en", "de", 1))
OTHER = of(KEY, text="A cat.")
SOON = 0.25  # seconds
NAME = shared_key(KEY)


@contextlib.asynccontextmanager
async def using(url: str, secret: bytes = b"") -> AsyncIterator[RedisCache]:
    cache = RedisCache(url, secret, 86_400, Metrics().rejected)
    try:
        yield cache
    finally:
        await cache.close()


async def put(cache: RedisCache, text: str) -> None:
    await cache.put({KEY: answers(text)})


async def test_an_answer_put_by_one_cache_is_found_by_another_until_it_expires(
    redis_server: RedisServer, patience: None
) -> None:
    async with using(redis_server.url) as cache:
        await cache.put({KEY: answers("x"), OTHER: ()})
    async with using(redis_server.url) as cache:
        assert await cache.get([KEY, OTHER, of(KEY, k=2)]) == [answers("x"), (), None]
        assert await cache.get([]) == []
    with Redis.from_url(redis_server.url) as client:
        assert 0 < client.ttl(NAME) <= 86_400


ANSWER = answers("x")[0].model_dump(mode="json")
VALUES = [
    b"",
    b"\x80\x04\x95",  # the start of a pickle
    b"not json",
    b"[]",
    b'"' + b"x" * 1_000_000 + b'"',
    json.dumps({"key": NAME, "answers": [{"text": "x"}]}).encode(),
    json.dumps({"key": NAME, "answers": 5}).encode(),
    json.dumps({"key": "another", "answers": []}).encode(),
    json.dumps({"key": NAME, "answers": [], "more": 1}).encode(),
    json.dumps({"key": NAME, "answers": [ANSWER | {"confidence": 7}]}).encode(),
    json.dumps({"key": NAME, "answers": [ANSWER | {"score": float("nan")}]}).encode(),
    None,  # a list
]


async def counts_as_none_and_is_replaced(url: str, secret: bytes = b"") -> None:
    async with using(url, secret) as cache:
        assert await cache.get([KEY]) == [None]
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x")]


async def test_a_poisoned_value_counts_as_none_and_is_replaced(
    redis_server: RedisServer, patience: None
) -> None:
    with Redis.from_url(redis_server.url) as client:
        for value in VALUES:
            client.delete(NAME)
            client.rpush(NAME, "a", "b") if value is None else client.set(NAME, value)
            await counts_as_none_and_is_replaced(redis_server.url)


SECRET = b"a secret of the service"


@pytest.mark.parametrize("secret", [b"", b"another secret, of others"])
async def test_writing_to_redis_is_not_enough_to_forge_answers(
    redis_server: RedisServer, patience: None, secret: bytes
) -> None:
    """Values without a digest, with another one, and ours under another key, are misses and are replaced."""
    ours, others = (shared_key(key, SECRET) for key in (KEY, OTHER))
    forged = StoredAnswers(key=ours, answers=answers("forged")).model_dump_json().encode()
    digest = hmac.digest(secret, forged, "sha256").hex().encode() if secret else b""
    with Redis.from_url(redis_server.url) as client:
        client.set(ours, digest + forged)
        await counts_as_none_and_is_replaced(redis_server.url, SECRET)
        client.copy(ours, others)
        value = client.get(ours)
        assert isinstance(value, bytes)
        client.set(ours, value.replace(b'"x"', b'"y"'))
    async with using(redis_server.url, SECRET) as cache:
        assert await cache.get([KEY, OTHER]) == [None, None]


def test_forged_answers_are_counted_and_not_served(
    make_client: ClientFactory, redis_server: RedisServer, patience: None
) -> None:
    told: dict[str, Any] = {
        "redis_url": redis_server.url,
        "cache_secret": "0123456789abcdef",
        "metrics": "everyone",
    }
    request = {"text": "A dog runs.", "source": "en", "target": "de"}
    answered = make_client(**told).post("/translate/sentence", json=request).json()
    with Redis.from_url(redis_server.url) as client:
        (key,) = client.keys("passepartout:4:*")
        client.set(key, json.dumps({"key": key.decode(), "answers": [ANSWER]}))
    again = make_client(**told)
    assert again.post("/translate/sentence", json=request).json() == answered
    assert "passepartout_cache_rejected_total 1.0" in again.get("/metrics").text


async def test_redis_without_a_secret_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    url = f"redis://127.0.0.1:{free_port()}"
    await open_cache(Settings(redis_url=url, cache_secret="0123456789abcdef"), Metrics()).close()
    assert caplog.text == ""
    await open_cache(Settings(redis_url=url), Metrics()).close()
    assert "PASSEPARTOUT_CACHE_SECRET" in caplog.text


async def costs_little(cache: RedisCache) -> None:
    """A lookup and a store, which find nothing."""
    start = time.monotonic()
    assert await cache.get([KEY]) == [None]
    await put(cache, "x")
    assert time.monotonic() - start < SOON


@pytest.mark.parametrize("state", ["away", "full", "locked"])
async def test_a_redis_that_cannot_be_used_costs_next_to_nothing(
    redis_server: RedisServer, state: str
) -> None:
    with Redis.from_url(redis_server.url) as client:
        if state == "full":
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", "1000")
        if state == "locked":
            client.config_set("requirepass", "secret")
    if state == "away":
        redis_server.kill()
    async with using(redis_server.url) as cache:
        await costs_little(cache)


async def test_a_frozen_redis_costs_a_short_wait_and_is_used_again_when_it_thaws(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_cache, "REDIS_SECONDS", 0.05)
    monkeypatch.setattr(redis_cache, "CALM_SECONDS", 0.2)
    async with using(redis_server.url) as cache:
        redis_server.freeze()
        for _ in range(3):
            await costs_little(cache)
        redis_server.thaw()
        async with asyncio.timeout(10):
            while await cache.get([KEY]) != [answers("x")]:
                await put(cache, "x")
            await asyncio.sleep(0.2)
            await cache.get([KEY])
    said = [record.getMessage() for record in caplog.records]
    assert said[0].endswith("answering without the cache")
    assert said[1] == "Redis answers again"


async def test_the_log_says_once_that_redis_fails_now_and_then(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with using(redis_server.url) as cache:
        for seconds in (1e-6, 5.0) * 5:  # as when the service itself is too busy to read the answer
            monkeypatch.setattr(redis_cache, "REDIS_SECONDS", seconds)
            await cache.get([KEY])
    assert len(caplog.records) == 1


@pytest.mark.parametrize("secret", ["right", "wrong"])
async def test_a_password_in_the_address_is_used(
    redis_server: RedisServer, patience: None, secret: str
) -> None:
    with Redis.from_url(redis_server.url) as client:
        client.acl_setuser(
            "cache",
            enabled=True,
            passwords=["+right"],
            keys=["passepartout:*"],
            commands=["+get", "+mget", "+set"],
        )
    async with using(redis_server.url.replace("//", f"//cache:{secret}@")) as cache:
        await put(cache, "x")
        assert await cache.get([KEY]) == [answers("x") if secret == "right" else None]
