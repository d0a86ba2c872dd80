"""Head and body of an answer leave together; what comes bit by bit leaves as it comes."""

import asyncio
import http.client
import logging
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.http.cycle import Cycle

LENGTH_4 = (b"content-length", b"4")


class Written:
    """A transport that notes what is written."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = self.answered = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def close(self) -> None:
        self.closed = True

    def note(self) -> None:
        self.answered = True


def sent(
    cycles: type[Any], messages: Sequence[dict[str, object]], method: str = "POST", *, keep_alive: bool = True
) -> Written:
    """What is written when an application sends these messages."""

    async def send_all() -> None:
        for message in messages:
            await cycle.send(cast(Any, message))

    written = Written()
    cycle = RequestResponseCycle(
        scope=cast(Any, {"method": method}),
        transport=cast(Any, written),
        flow=FlowControl(cast(Any, written)),
        logger=logging.getLogger("test"),
        access_logger=logging.getLogger("test"),
        access_log=False,
        default_headers=[(b"date", b"today")],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=keep_alive,
        on_response=written.note,
    )
    if cycles is Cycle:
        cycle = Cycle.of(cycle)
    asyncio.run(send_all())
    return written


def head(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, object]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(content: bytes, **more: object) -> dict[str, object]:
    return {"type": "http.response.body", "body": content, **more}


ANSWERS: dict[str, tuple[list[dict[str, object]], dict[str, Any]]] = {
    "whole": ([head(LENGTH_4, (b"X-Request-Id", b"a1")), body(b"body")], {}),
    "no body": ([head((b"content-length", b"0"), status=404), body(b"")], {}),
    "head alone": ([head(LENGTH_4), body(b"body")], {"method": "HEAD"}),
    "last": ([head(LENGTH_4), body(b"body")], {"keep_alive": False}),
    "closing": ([head(LENGTH_4, (b"connection", b"close")), body(b"body")], {}),
    "in parts": ([head(LENGTH_4), body(b"bo", more_body=True), body(b"dy")], {}),
    "chunked": ([head(), body(b"bo", more_body=True), body(b"dy")], {}),
    "not modified": ([head(status=304), body(b"")], {}),
}


@pytest.mark.parametrize(("messages", "given"), ANSWERS.values(), ids=ANSWERS)
def test_the_bytes_are_those_of_uvicorn(messages: list[dict[str, object]], given: dict[str, Any]) -> None:
    ours, theirs = sent(Cycle, messages, **given), sent(RequestResponseCycle, messages, **given)
    assert b"".join(ours.writes) == b"".join(theirs.writes)
    assert (ours.closed, ours.answered) == (theirs.closed, theirs.answered)
    assert ours.answered


def test_head_and_body_are_one_write() -> None:
    assert len(sent(Cycle, ANSWERS["whole"][0]).writes) == 1


def test_the_head_of_what_comes_in_parts_does_not_wait_for_them() -> None:
    assert len(sent(Cycle, [head()]).writes) == 1


@pytest.mark.parametrize("name", [b"x-request-id", b"x-other"])
def test_a_value_that_would_be_two_lines_is_never_written(name: bytes) -> None:
    with pytest.raises(RuntimeError):
        sent(Cycle, [head(LENGTH_4, (name, b"a\r\nset-cookie: b")), body(b"body")])


@pytest.mark.parametrize("content", [b"bod", b"body and more"])
def test_a_length_that_is_not_the_bodys_is_an_error(content: bytes) -> None:
    with pytest.raises(RuntimeError):
        sent(Cycle, [head(LENGTH_4), body(content)])


def test_a_request_for_the_head_alone_is_answered(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    for _ in range(2):
        connection.request("HEAD", "/health/live")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (405, b"")
    connection.close()
