"""Reading a request's body: how long it may be, and how long it may take."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType

MAX_LENGTH_DIGITS = 18  # of a declared length, the most that are read
CLOSE = {"Connection": "close"}  # spares reading the rest of what was refused


class BodyBounds(NamedTuple):
    """The longest body, and the longest time for the whole of it to arrive."""

    length: int
    seconds: float


class BodyLimit:
    """ASGI middleware: 413 for a body that is too long, 408 for one that takes too long.

    The application gets the body in one piece, so that a client that sends slowly holds nothing up. On the
    paths of `streamed`, whose routes read the body bit by bit, it gets what arrives, within other bounds.
    """

    def __init__(self, app: ASGIApp, bounds: BodyBounds, streamed: Mapping[str, BodyBounds]) -> None:
        self.app, self.bounds, self.streamed = app, bounds, streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        streamed = self.streamed.get(scope["path"])
        bounds = streamed or self.bounds
        bounded = _bounded(receive, bounds)
        try:
            if (declared_length(scope["headers"]) or 0) > bounds.length:
                raise _too_long(bounds.length)
            app_receive = bounded if streamed else _replayed(await _whole_body(bounded), receive)
        except ProblemError as problem:
            await problem.response(scope)(scope, receive, send)
            return
        await self.app(scope, app_receive, send)


def _bounded(receive: Receive, bounds: BodyBounds) -> Receive:
    """`receive`, raising ProblemError for what goes beyond the bounds."""
    deadline = asyncio.get_running_loop().time() + bounds.seconds
    length, complete = 0, False

    async def bounded_receive() -> Message:
        nonlocal length, complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise ProblemError(ProblemType.TOO_SLOW, headers=CLOSE) from None
        length += len(message.get("body", b""))
        if length > bounds.length:
            raise _too_long(bounds.length)
        complete = not message.get("more_body", False)
        return message

    return bounded_receive


async def _whole_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body first, then what the server has to say."""
    given = False

    async def replayed_receive() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed_receive


def _too_long(length: int) -> ProblemError:
    return ProblemError(
        ProblemType.BODY_TOO_LARGE,
        f"body is longer than {length} bytes, the most that is allowed: send fewer or shorter texts",
        headers=CLOSE,
    )


def declared_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The length that the body is to have, in bytes; None where the head has no such number."""
    for name, value in headers:
        if name == b"content-length":
            # Without zeros in front, which would stand in the place of what counts.
            return int(value.lstrip(b"0")[:MAX_LENGTH_DIGITS] or b"0") if value.isdigit() else None
    return None
