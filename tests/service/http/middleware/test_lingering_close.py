"""A body that nobody wanted is read before the connection closes, within bounds."""

import asyncio
import json
import socket

import pytest
from starlette.types import Message, Receive, Scope, Send

from service.http.middleware import lingering_close
from service.http.middleware.lingering_close import DRAINED_BYTES, LingeringClose

PART = {"type": "http.request", "body": b" " * 65536, "more_body": True}


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers without a look at the body."""
    await send({"type": "http.response.start", "status": 413, "headers": []})
    await send({"type": "http.response.body", "body": b"no"})


def run(receive: Receive) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(LingeringClose(refuse)({"type": "http"}, receive, send))
    return sent


def test_the_answer_goes_out_before_the_body_is_read_and_ends_after_it() -> None:
    parts = [PART, PART, {"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        return parts.pop(0)

    _, body, end = run(receive)
    assert (body["body"], body["more_body"]) == (b"no", True)
    assert (end["body"], end.get("more_body", False)) == (b"", False)
    assert parts == []


def test_an_endless_body_is_read_up_to_a_bound() -> None:
    received = 0

    async def receive() -> Message:
        nonlocal received
        received += len(PART["body"])  # type: ignore[arg-type]
        return PART

    assert len(run(receive)) == 3
    assert DRAINED_BYTES <= received <= DRAINED_BYTES + 2 * len(PART["body"])  # type: ignore[arg-type]


def test_a_slow_body_is_read_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingering_close, "DRAINED_SECONDS", 0.05)

    async def receive() -> Message:
        return await asyncio.Future()

    assert len(run(receive)) == 3


@pytest.mark.parametrize("path", ["/translate/sentence", "/admin/uploads", "/admin/jobs"])
def test_a_client_that_reads_last_gets_its_refusal(address: str, path: str) -> None:
    """Without draining the connection is reset in the middle of sending, in most of these tries."""
    host, port = address.removeprefix("http://").split(":")
    length = 4_000_000
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n".encode()
    )
    for _ in range(5):
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head + b" " * length)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        status, _, rest = answer.partition(b"\r\n")
        assert status.split()[1] in (b"401", b"413")
        assert json.loads(rest.partition(b"\r\n\r\n")[2])["title"]
