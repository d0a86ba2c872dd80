"""What the server answers by itself is what the application would answer, header for header."""

import asyncio
import hashlib
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pytest
import uvloop
from starlette.testclient import TestClient

from index.search.translator import Translator
from service.app import create_app
from service.http.keys import ADMIN
from service.settings import Settings
from tests.service.http.test_connections import served
from tests.service.test_cli import serving

PATH = "/translate/sentence"
JSON = {"Content-Type": "application/json"}
ID = {"X-Request-ID": "of-the-test"}
GOOD = b'{"text": "A small dog runs.", "source": "en", "target": "de"}'
KEY = "x" * 43

Answer = tuple[int, bytes, dict[str, str]]


class Ways:
    """The same requests over real connections, where there are errands, and by ASGI alone."""

    def __init__(self, address: str, app: TestClient) -> None:
        self._address, self._app = address.removeprefix("http://"), app

    def served(self, path: str, body: bytes, headers: dict[str, str], *, pieces: bool = False) -> Answer:
        """In one piece, as most clients send it, or head and body apart."""
        host, _, port = self._address.partition(":")
        given = {"Host": "x", "Content-Length": str(len(body))} | headers
        head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items())
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            for part in [head.encode() + b"\r\n", body] if pieces else [head.encode() + b"\r\n" + body]:
                connection.sendall(part)
            response = http.client.HTTPResponse(connection)
            response.begin()
            return response.status, response.read(), _names(dict(response.headers))

    def asked(self, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        response = self._app.post(path, content=body, headers=headers)
        return response.status_code, response.content, _names(dict(response.headers))


def _names(headers: dict[str, str]) -> dict[str, str]:
    """With names in lower case; without what uvicorn adds."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name not in ("date", "connection")}


@pytest.fixture(scope="module")
def ways(address: str, translator: Translator) -> Iterator[Ways]:
    with TestClient(create_app(Settings(), translator)) as client:
        yield Ways(address, client)


REQUESTS = [
    (PATH, GOOD),
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
    (PATH, b'{"text": "' + b"x" * 100_000 + b'", "target": "de"}'),
    ("/translate", b'{"q": "A small dog runs.", "source": "en", "target": "de"}'),
    ("/nowhere", b"{}"),
]


@pytest.mark.parametrize(("path", "body"), REQUESTS)
@pytest.mark.parametrize("pieces", [False, True])
def test_both_ways_answer_the_same(ways: Ways, path: str, body: bytes, pieces: bool) -> None:
    served = ways.served(path, body, JSON | ID, pieces=pieces)
    assert served == ways.asked(path, body, JSON | ID)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "Application/JSON; charset=utf-8"},
        {},
        JSON | {"Accept-Encoding": "gzip", "Origin": "https://elsewhere.example"},
    ],
)
def test_both_ways_take_the_same_headers(ways: Ways, headers: dict[str, str]) -> None:
    assert ways.served(PATH, GOOD, headers | ID) == ways.asked(PATH, GOOD, headers | ID)


def test_both_ways_give_an_id_where_the_clients_is_none_of_ours(ways: Ways) -> None:
    headers = JSON | {"X-Request-ID": "not one of ours!"}
    one, other = ways.served(PATH, GOOD, headers), ways.asked(PATH, GOOD, headers)
    assert len({answer[2].pop("x-request-id") for answer in (one, other)}) == 2
    assert one == other


@pytest.mark.parametrize("pieces", [False, True])
def test_a_client_that_wants_the_connection_closed_sees_it_closed(ways: Ways, pieces: bool) -> None:
    answer = ways.served(PATH, GOOD, JSON | ID | {"Connection": "close"}, pieces=pieces)
    assert answer == ways.asked(PATH, GOOD, JSON | ID)


def read(stream: BinaryIO) -> tuple[int, bytes]:
    """Status and body of the next answer; one stream a connection, for it may hold the answer behind that."""
    status = int(stream.readline().split()[1])
    headers = dict(line.split(b": ") for line in iter(lambda: stream.readline().strip(), b""))
    return status, stream.read(int(headers[b"content-length"]))


def asked_for(text: str) -> bytes:
    body = json.dumps({"text": text, "source": "en", "target": "de"})
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize("apart", [False, True])
def test_requests_that_come_before_others_are_answered_take_their_turn(address: str, apart: bool) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        for count in (1, 1, 3, 1, 2, 2, 2):
            texts = [f"A dog, {number} of {count}." for number in range(count)]
            requests = [asked_for(text) for text in texts]
            for part in requests if apart else [b"".join(requests)]:
                connection.sendall(part)
            for text in texts:
                status, body = read(stream)
                assert status == 200
                assert json.loads(body)["results"][0]["text"] == text


@pytest.fixture(scope="module")
def guarded(index_dir: Path) -> Iterator[str]:
    """A server that wants keys, counts requests and lets another origin's pages ask."""
    settings = {
        "API_KEYS": f"tester:{hashlib.sha256(KEY.encode()).hexdigest()}",
        "RATE_LIMIT": "5/hour",
        "CORS_ORIGINS": "https://page.example",
    }
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(f"PASSEPARTOUT_{name}", value)
            address, _ = stack.enter_context(serving(index_dir))
        yield address


def test_keys_rates_and_origins_hold(guarded: str, translator: Translator) -> None:
    with TestClient(create_app(Settings(), translator)) as client:
        ways = Ways(guarded, client)
        assert ways.served(PATH, GOOD, JSON)[0] == 401
        assert ways.served(PATH, GOOD, JSON | {"X-API-Key": "another"})[0] == 401
        good = JSON | {"Authorization": f"Bearer {KEY}"}
        page = ways.served(PATH, GOOD, good | {"Origin": "https://page.example"})
        assert page[2]["access-control-allow-origin"] == "https://page.example"
        statuses = [ways.served(PATH, GOOD, good | {"X-Forwarded-For": f"10.0.0.{n}"})[0] for n in range(2)]
        statuses += [ways.served(PATH, GOOD, good)[0] for _ in range(4)]
        assert statuses == [200, 200, 200, 200, 429, 429]
        assert ways.served(f"{ADMIN}/reload", b"", good)[0] == 401


def test_requests_are_counted_by_their_route(ways: Ways, address: str) -> None:
    host = address.removeprefix("http://")
    body = b'{"word": "dog", "source": "en", "target": "de"}'

    def counted() -> int:
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        name = 'passepartout_request_seconds_count{route="/translate/word",status="200"}'
        return sum(round(float(line.split()[-1])) for line in lines if line.startswith(name))

    before = counted()
    for _ in range(3):
        assert ways.served("/translate/word", body, JSON)[0] == 200
    assert counted() == before + 3


def test_a_fault_is_told_and_the_connection_serves_on(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = translator.begin

    def fails(*arguments: object) -> None:
        raise RuntimeError("secret")

    async def main() -> None:
        async with served(translator) as server:
            reader, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
            for text, status, called in (("A dog", 200, begin), ("A cat", 500, fails), ("A cow", 200, begin)):
                monkeypatch.setattr(translator, "begin", called)
                writer.write(asked_for(text))
                lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
                (length,) = (int(line.split()[1]) for line in lines if line.startswith("content-length:"))
                assert int(lines[0].split()[1]) == status
                assert b"secret" not in await reader.readexactly(length)
            writer.close()
            await writer.wait_closed()

    uvloop.run(main())
