"""What the service bounds holds under any ASGI server: bodies, and requests at a time."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from service import limits
from service.http.problems import MEDIA_TYPE
from tests.service.server import free_port, wait_until_ready

REQUEST = {"text": "A small dog runs.", "source": "en", "target": "de"}
BODY = json.dumps(REQUEST).encode()
MAX_BODY = limits.MAX_BODY_BYTES
SETTINGS = {"MAX_REQUESTS": "2", "CACHE_BYTES": "0"}
APP = "service.app:from_environment"
COMMANDS = {
    "uvicorn": ["uvicorn", APP, "--factory", "--port", "{port}"],
    "hypercorn": ["hypercorn", f"{APP}()", "--bind", "127.0.0.1:{port}", "--workers", "0"],
}


@pytest.fixture(scope="module", params=COMMANDS)
def port(index_dir: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of the application under a server as it comes."""
    port = free_port()
    command = [sys.executable, "-m", *(part.format(port=port) for part in COMMANDS[request.param])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PASSEPARTOUT_INDEX", str(index_dir))
        for name, value in SETTINGS.items():
            patch.setenv(f"PASSEPARTOUT_{name}", value)
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield port
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        yield connection


def head(length: int = len(BODY)) -> bytes:
    return (
        "POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def answer(connection: socket.socket) -> tuple[http.client.HTTPResponse, dict[str, object]]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response, json.loads(response.read())


def problem(connection: socket.socket, status: int, slug: str) -> http.client.HTTPResponse:
    response, document = answer(connection)
    assert (response.status, document["type"]) == (status, f"/problems/{slug}")
    assert response.headers["content-type"] == MEDIA_TYPE
    assert response.headers["x-request-id"]
    return response


def test_it_translates(port: int) -> None:
    with connected(port) as connection:
        for _ in range(3):
            connection.sendall(head() + BODY)
            response, document = answer(connection)
            assert response.status == 200
            assert "Hund" in str(document).title()


def test_a_body_that_says_it_is_too_long_is_refused_unread(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(head(MAX_BODY + 1))
        problem(connection, 413, "body-too-large")


def test_a_body_that_becomes_too_long_is_refused(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(
            head().replace(f"Content-Length: {len(BODY)}".encode(), b"Transfer-Encoding: chunked")
        )
        with contextlib.suppress(ConnectionError):
            for _ in range(MAX_BODY // 0x8000 + 1):
                connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
        problem(connection, 413, "body-too-large")


def test_more_requests_than_it_answers_at_a_time_are_refused_and_health_is_not(port: int) -> None:
    texts = [f"A small dog runs on beach {number}." for number in range(256)]
    long = json.dumps({"text": texts, "source": "en", "target": ["de", "ar", "pt", "zh"]}).encode()
    statuses: list[int] = []

    def ask() -> None:
        with connected(port) as connection:
            connection.sendall(head(len(long)) + long)
            statuses.append(answer(connection)[0].status)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    refusal = None
    while any(thread.is_alive() for thread in threads) and refusal is None:
        with connected(port) as connection:
            connection.sendall(head() + BODY)
            response, document = answer(connection)
            if response.status == 503:
                refusal = response, document
                connection.sendall(b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                assert answer(connection)[0].status == 200
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503}
    assert 200 in statuses
    assert refusal is not None or 503 in statuses
    if refusal is not None:
        assert refusal[1]["type"] == "/problems/overloaded"
        assert int(refusal[0].headers["retry-after"]) >= 1
