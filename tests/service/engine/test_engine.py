"""The engine: what it computes, what it takes from the cache, and that Redis never changes an answer."""

import gc
import weakref
from pathlib import Path
from typing import cast

import pytest
from redis import Redis
from starlette.testclient import TestClient

from index.answers.request import Query
from index.answers.translator import Translator
from service.engine.batching import Batcher
from service.engine.cache import Cache
from service.engine.engine import ServiceEngine
from service.observability.metrics import Metrics
from tests.service.conftest import ClientFactory, RedisServer

# The first is no sentence of the index, which an answer may have as its gloss.
DOG, CAT = "A small dog runs on that beach!", "A big cat sleeps on the street."
REQUEST = {"text": [DOG, CAT], "source": "en", "target": ["de", "ar"], "k": 3}


def ask(client: TestClient) -> bytes:
    """The answer to REQUEST."""
    answer = client.post("/translate/sentence", json=REQUEST)
    assert answer.status_code == 200
    return answer.content


def test_a_hit_in_redis_equals_the_computed_answer(
    make_client: ClientFactory, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, patience: None
) -> None:
    computed = ask(make_client(cache_bytes=0))
    client, other = (make_client(redis_url=redis_server.url) for _ in range(2))
    assert ask(client) == computed
    with Redis.from_url(redis_server.url) as redis:
        kept = {key: redis.get(key) for key in redis.keys("passepartout:*")}
    assert len(kept) == 4
    for key, value in kept.items():
        assert isinstance(value, bytes)
        assert DOG not in f"{key!r}{value!r}"
        assert b'"key":"%b"' % key in value
    # From here on, nothing can be computed.
    monkeypatch.setattr(Translator, "answer", None)
    assert ask(client) == computed
    assert ask(other) == computed


def test_only_languages_of_the_index_are_warmed_up(
    remembering_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, asked = Translator.open(remembering_dir), list[Query]()
    monkeypatch.setattr(opened, "answer", asked.extend)
    ServiceEngine(opened, cast(Cache, None), cast(Batcher, None), Metrics()).warm_up()
    assert {query.source for query in asked} == {query.target for query in asked} == {"en", "de"}


def test_a_version_that_is_served_no_more_is_freed_at_once(index_dir: Path) -> None:
    """Without Python's collector of cycles, which a service hardly ever runs."""
    opened = Translator.open(index_dir)
    engine = ServiceEngine(opened, cast(Cache, None), cast(Batcher, None), Metrics())
    engine.warm_up()
    kept = [weakref.ref(thing) for thing in (engine, opened, opened.encoder)]
    gc.disable()
    try:
        del engine, opened
        assert [reference() for reference in kept] == [None] * 3
    finally:
        gc.enable()
