"""The short way to a route answers as FastAPI's general way does."""

import asyncio
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from index.translator import Translator
from service.app import create_app
from service.settings import Settings

PATH = "/translate/sentence"
JSON = {"Content-Type": "application/json", "X-Request-ID": "of-the-test"}


@pytest.fixture(scope="module")
def ways(translator: Translator) -> Iterator[tuple[TestClient, TestClient]]:
    """Clients of two applications: with the short way, and without."""
    short, general = (create_app(Settings(), translator) for _ in range(2))
    general.shorten([])
    with TestClient(short) as one, TestClient(general) as other:
        yield one, other


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PATH, b'{"text": "A small dog runs.", "source": "en", "target": "de"}'),
        (PATH, b'{"text": ["A small dog runs.", "A cat."], "target": ["de", "zh"], "k": 3, "explain": true}'),
        ("/translate/word", b'{"word": "dog", "source": "en", "target": "de", "min_confidence": 1}'),
        (PATH, b'{"text": "A dog.", "source": "en", "target": "de", "min_confidence": NaN}'),
        (PATH, b'{"text": "A dog.", "source": "en", "target": "de", "k": 1.0}'),
        (PATH, b'{"text": "A dog.", "source": "en", "target": "de", "k": 5000}'),
        (PATH, b'{"text": "A dog.", "source": "xx", "target": "de"}'),
        (PATH, b'{"text": "A dog.", "target": "de", "surprise": 1}'),
        (PATH, b'{"text": " ", "source": "en", "target": "de"}'),
        (PATH, b'{"text": "\\ud800", "target": "de"}'),
        (PATH, b'{"text": "\xff", "target": "de"}'),
        (PATH, b"[]"),
        (PATH, b"{"),
        (PATH, b""),
        (PATH, b" " * 2_000_000),
    ],
)
def test_both_ways_answer_the_same(ways: tuple[TestClient, TestClient], path: str, body: bytes) -> None:
    one, other = (client.post(path, content=body, headers=JSON) for client in ways)
    assert one.status_code == other.status_code
    assert one.content == other.content
    assert dict(one.headers) == dict(other.headers)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json; charset=utf-8", None])
def test_both_ways_take_the_same_types(ways: tuple[TestClient, TestClient], content_type: str | None) -> None:
    headers = {"X-Request-ID": "of-the-test"} | ({"Content-Type": content_type} if content_type else {})
    body = b'{"text": "A small dog runs.", "source": "en", "target": "de"}'
    one, other = (client.post(PATH, content=body, headers=headers) for client in ways)
    assert (one.status_code, one.content) == (other.status_code, other.content)


def test_a_body_in_several_messages_is_read_whole(ways: tuple[TestClient, TestClient]) -> None:
    parts = [b'{"text": "A small dog', b' runs.", "source": "en",', b' "target": "de"}']
    answer = ways[0].post(PATH, content=iter(parts), headers=JSON)
    assert answer.json()["results"][0]["text"] == "A small dog runs."


def test_other_methods_go_the_general_way(ways: tuple[TestClient, TestClient]) -> None:
    assert ways[0].get(PATH).status_code == 405


def test_keys_are_asked_for_on_the_short_way(translator: Translator) -> None:
    settings = Settings(api_keys="x:" + "0" * 64)  # type: ignore[arg-type]  # pydantic makes it a secret
    with TestClient(create_app(settings, translator)) as client:
        assert client.post(PATH, json={"text": "A dog.", "target": "de"}).status_code == 401


def test_requests_are_counted_by_their_route(ways: tuple[TestClient, TestClient]) -> None:
    counted = 'passepartout_request_seconds_count{route="/translate/word",status="200"}'
    body = {"word": "dog", "source": "en", "target": "de"}
    assert ways[0].post("/translate/word", json=body).status_code == 200
    text = asyncio.run(ways[0].app.state.metrics.text())  # type: ignore[attr-defined]
    assert counted in text.decode()
