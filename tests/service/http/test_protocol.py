"""The server before raw connections: heads beyond the limits, slow clients, more requests than it takes."""

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path

import pytest

from service.http.problems import MEDIA_TYPE
from tests.service.test_cli import serving

BODY = json.dumps({"text": "A small dog runs.", "source": "en", "target": "de"}).encode()
SECONDS = 1.0  # that a slow client gets
LIMITS = {
    "REQUEST_SECONDS": str(SECONDS),
    "MAX_WAITING": "2",
    "MAX_HEADER_BYTES": "4096",
    "MAX_HEADERS": "20",
    "MAX_BODY_BYTES": "200000",
}
Connect = Callable[[], contextlib.AbstractContextManager[socket.socket]]


@pytest.fixture(scope="module")
def connect(index_dir: Path) -> Iterator[Connect]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIMITS.items():
            patch.setenv(f"PASSEPARTOUT_{name}", value)
        with serving(index_dir) as (address, _):
            place = ("127.0.0.1", int(address.rpartition(":")[2]))

            @contextmanager
            def connected() -> Iterator[socket.socket]:
                with socket.create_connection(place, timeout=20) as connection:
                    yield connection

            yield connected


def head(*more: str, path: str = "/translate/sentence", length: int = len(BODY)) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, *more, "", ""]).encode()


def answer(connection: socket.socket) -> tuple[HTTPResponse, dict[str, object]]:
    response = HTTPResponse(connection)
    response.begin()
    return response, json.loads(response.read())


def problem(connection: socket.socket, status: int, slug: str) -> HTTPResponse:
    response, told = answer(connection)
    assert (response.status, told["type"]) == (status, f"/problems/{slug}")
    assert response.headers["content-type"] == MEDIA_TYPE
    return response


def ended(connection: socket.socket) -> bool:
    """Whether the server closes the connection; waits for it."""
    with contextlib.suppress(ConnectionResetError):
        return connection.recv(1) == b""
    return True


@pytest.mark.parametrize(
    "sent",
    [
        head("X: " + "x" * 4050) + BODY,
        head(*("X: x" for _ in range(18))) + BODY,
        head(path="/" + "x" * 4100) + BODY,
        head("x" * 4100 + ": x") + BODY,
    ],
    ids=["a long header", "many headers", "a long path", "a long name"],
)
def test_a_head_beyond_its_limits_is_refused(connect: Connect, sent: bytes) -> None:
    with connect() as connection:
        connection.sendall(sent)
        problem(connection, 431, "head-too-large")
        assert ended(connection)


def test_a_head_within_its_limits_is_not(connect: Connect) -> None:
    with connect() as connection:
        for _ in range(3):
            connection.sendall(head("X: " + "x" * 3800) + BODY)
            assert answer(connection)[0].status == 200
            connection.sendall(head(*("X: x" for _ in range(17))) + BODY)
            assert answer(connection)[0].status == 200


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (b"GET /", b"x" * 10_000),
        (b"GET / HTTP/1.1\r\nX: ", b"x" * 10_000),
        (b"GET / HTTP/1.1\r\n", b"X: x\r\n" * 1000),
        (
            head("Transfer-Encoding: chunked").replace(b"Content-Length", b"X"),
            b"1;" + b"x" * 9000 + b"\r\nx\r\n",
        ),
        (head("Transfer-Encoding: chunked").replace(b"Content-Length", b"X") + b"0\r\nX: ", b"x" * 10_000),
    ],
    ids=["path", "header", "headers", "chunk extensions", "trailer"],
)
def test_what_has_no_end_is_not_read_to_it(connect: Connect, start: bytes, part: bytes) -> None:
    with connect() as connection:
        connection.sendall(start)
        sent = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 30_000_000:
                connection.sendall(part)
                sent += len(part)
        assert sent < 15_000_000  # of which most is in the buffers of the system


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", head() + BODY[:5]])
def test_who_sends_too_slowly_is_cut_off(connect: Connect, sent: bytes) -> None:
    with connect() as connection:
        connection.sendall(sent)
        start = time.monotonic()
        problem(connection, 408, "too-slow")
        assert ended(connection)
        assert time.monotonic() - start >= SECONDS / 2


def test_who_takes_too_slowly_is_cut_off(connect: Connect) -> None:
    get = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with connect() as connection:
        connection.sendall(get)
        length = int(answer(connection)[0].headers["content-length"])
        connection.sendall(get * 500)
        time.sleep(SECONDS * 3)
        received = 0
        with contextlib.suppress(ConnectionResetError):
            while some := connection.recv(1 << 20):
                received += len(some)
        assert received < 400 * length


def test_what_is_not_http_is_told_so(connect: Connect) -> None:
    with connect() as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        problem(connection, 400, "bad-request")


def test_requests_sent_at_once_are_answered_in_order(connect: Connect) -> None:
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connect() as connection:
        connection.sendall((head() + BODY) * 2 + last)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert [part[:3] for part in received.split(b"HTTP/1.1 ")] == [b"", b"200", b"200", b"200"]
    assert received.endswith(b'{"status":"ok"}')


def test_a_request_more_than_it_takes_is_refused_and_told_when_to_come_again(connect: Connect) -> None:
    with connect() as busy, connect() as busy_too, connect() as other:
        # So long a body is handed on as it comes: two requests are being answered now.
        long = BODY + b" " * 150_000
        for connection in (busy, busy_too):
            connection.sendall(head(length=len(long)) + long[:100_000])
        time.sleep(SECONDS / 4)
        other.sendall(head() + BODY)
        response = problem(other, 503, "overloaded")
        assert int(response.headers["retry-after"]) >= 1
        other.sendall(b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(other)[0].status == 200
        for connection in (busy, busy_too):
            connection.sendall(long[100_000:])
            assert answer(connection)[0].status == 200
        other.sendall(head() + BODY)
        assert answer(other)[0].status == 200


TWO_LENGTHS = head().replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n") + BODY
LENGTH_AND_CHUNKS = head("Transfer-Encoding: chunked") + b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
ODD_CODING = head("Transfer-Encoding: chunked, identity").replace(b"Content-Length", b"X") + b"0\r\n\r\n"
SIGNED = head().replace(b"Content-Length: ", b"Content-Length: +") + BODY


@pytest.mark.parametrize(
    "sent", [TWO_LENGTHS, LENGTH_AND_CHUNKS, ODD_CODING, SIGNED], ids=["two", "both", "odd", "signed"]
)
def test_a_body_whose_end_is_not_clear_is_refused_and_nothing_behind_it_is_read(
    connect: Connect, sent: bytes
) -> None:
    with connect() as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_compressed_body_is_not_unpacked(connect: Connect) -> None:
    packed = gzip.compress(b'{"text": "' + b" " * 50_000_000)
    with connect() as connection:
        connection.sendall(head("Content-Encoding: gzip", length=len(packed)) + packed)
        problem(connection, 400, "bad-json")


def test_two_hundred_slow_clients_take_nobodys_place(connect: Connect) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(200):
            slow = stack.enter_context(connect())
            slow.sendall(head() + BODY[: number % len(BODY)])
        with connect() as other:
            other.sendall(head() + BODY)
            assert answer(other)[0].status == 200


def test_who_waits_for_leave_to_send_a_body_gets_it(connect: Connect) -> None:
    with connect() as connection:
        connection.sendall(head("Expect: 100-continue"))
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(BODY)
        assert answer(connection)[0].status == 200
        connection.sendall(head("Expect: 100-continue", length=10_000_000))
        problem(connection, 413, "body-too-large")


def test_hundreds_of_requests_at_once_are_answered_in_order(connect: Connect) -> None:
    count = 300
    last = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    sent = b"GET /problems/none HTTP/1.1\r\nHost: x\r\n\r\n" * count + last
    with connect() as connection:
        thread = threading.Thread(target=connection.sendall, args=(sent,))
        thread.start()
        received = b"".join(iter(lambda: connection.recv(1 << 20), b""))
        thread.join()
    answers = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert answers == [b"404"] * count + [b"200"]
