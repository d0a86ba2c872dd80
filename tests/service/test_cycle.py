"""Head and body of an answer leave together; what comes bit by bit leaves as it comes."""

import http.client
from asyncio import Transport
from typing import cast
from urllib.parse import urlsplit

from service.cycle import Joined


class Written:
    """A transport that notes what is written."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def close(self) -> None:
        self.closed = True


def joined() -> tuple[Joined, Written]:
    written = Written()
    return Joined(cast(Transport, written)), written


def test_head_and_body_are_one_write() -> None:
    transport, written = joined()
    transport.write(b"head ")
    assert written.writes == []
    transport.write(b"body")
    transport.write(b"more")
    assert written.writes == [b"head body", b"more"]


def test_a_head_without_a_body_leaves_when_the_connection_closes() -> None:
    transport, written = joined()
    transport.write(b"head")
    transport.close()
    assert written.writes == [b"head"]
    assert written.closed


def test_what_is_flushed_leaves_at_once_and_what_follows_too() -> None:
    transport, written = joined()
    transport.write(b"head")
    transport.flush()
    transport.write(b"part")
    transport.write(b"part")
    assert written.writes == [b"head", b"part", b"part"]


def test_the_rest_is_the_transports_own() -> None:
    transport, written = joined()
    assert transport.closed is False
    written.closed = True
    assert transport.closed is True


def test_a_request_for_the_head_alone_is_answered(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    for _ in range(2):
        connection.request("HEAD", "/health/live")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (405, b"")
    connection.close()
