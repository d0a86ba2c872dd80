"""What the service bounds holds under another ASGI server, too: bodies, and requests at a time."""

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


@pytest.fixture(scope="module")
def port(index_dir: Path) -> Iterator[int]:
    """The port of the application under hypercorn as it comes."""
    port = free_port()
    command = ["hypercorn", "service.app:from_environment()", "--bind", f"127.0.0.1:{port}", "--workers", "0"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PASSEPARTOUT_INDEX", str(index_dir))
        for name, value in SETTINGS.items():
            patch.setenv(f"PASSEPARTOUT_{name}", value)
        process = subprocess.Popen(
            [sys.executable, "-m", *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield port
    finally:
        process.kill()
        process.communicate()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def head(length: int = len(BODY)) -> bytes:
    return (
        "POST /translate/sentence HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def answer(connection: socket.socket) -> tuple[http.client.HTTPResponse, dict[str, object]]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response, json.loads(response.read())


def check_refusal(connection: socket.socket) -> None:
    response, document = answer(connection)
    assert (response.status, document["type"]) == (413, "/problems/body-too-large")
    assert response.headers["content-type"] == MEDIA_TYPE
    assert response.headers["x-request-id"]


def test_a_body_that_says_it_is_too_long_is_refused_unread(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(head(MAX_BODY + 1))
        check_refusal(connection)


def test_a_body_that_becomes_too_long_is_refused(port: int) -> None:
    declared = f"Content-Length: {len(BODY)}".encode()
    with connected(port) as connection:
        connection.sendall(head().replace(declared, b"Transfer-Encoding: chunked"))
        with contextlib.suppress(ConnectionError):
            for _ in range(MAX_BODY // 0x8000 + 1):
                connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
        check_refusal(connection)


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
    refused = False
    while any(thread.is_alive() for thread in threads) and not refused:
        with connected(port) as connection:
            connection.sendall(head() + BODY)
            response, document = answer(connection)
            if refused := response.status == 503:
                assert document["type"] == "/problems/overloaded"
                assert int(response.headers["retry-after"]) >= 1
                connection.sendall(b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                assert answer(connection)[0].status == 200
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503}
    assert 200 in statuses
    assert refused or 503 in statuses
