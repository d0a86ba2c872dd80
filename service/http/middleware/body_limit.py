"""Limits the length of request bodies."""

from collections.abc import Iterable, Mapping

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType

MAX_LENGTH_DIGITS = 18  # read of a declared length


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `length` bytes.

    The application receives the body in one piece, so that a slow client does not occupy it. Bodies of the
    paths in `uploads`, which have their own limits, are passed on as they arrive.
    """

    def __init__(self, app: ASGIApp, length: int, uploads: Mapping[str, int]) -> None:
        self.app, self.length, self.uploads = app, length, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        upload_length = self.uploads.get(scope["path"])
        length = upload_length or self.length
        bounded = _bounded(receive, length)
        try:
            if (declared_length(scope["headers"]) or 0) > length:
                raise _too_long(length)
            app_receive = bounded if upload_length else _replayed(await _whole_body(bounded), receive)
        except ProblemError as problem:
            await problem.response(scope)(scope, receive, send)
            return
        await self.app(scope, app_receive, send)


def _bounded(receive: Receive, length: int) -> Receive:
    """Wrap `receive` to raise ProblemError after more than `length` bytes."""
    received = 0

    async def bounded_receive() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > length:
            raise _too_long(length)
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
    """A `receive` that returns the body first, then the server's messages."""
    replayed = False

    async def replayed_receive() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed_receive


def _too_long(length: int) -> ProblemError:
    return ProblemError(
        ProblemType.BODY_TOO_LARGE,
        f"body is longer than {length} bytes, the most that is allowed: send fewer or shorter texts",
        headers={"Connection": "close"},  # so that the remaining body need not be read
    )


def declared_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The declared length of the body in bytes; None if the headers have no valid one."""
    for name, value in headers:
        if name == b"content-length":
            # Without leading zeros, which would displace significant digits.
            return int(value.lstrip(b"0")[:MAX_LENGTH_DIGITS] or b"0") if value.isdigit() else None
    return None
