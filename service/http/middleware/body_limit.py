"""How long a request's body may be."""

from collections.abc import Iterable, Mapping

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType

MAX_LENGTH_DIGITS = 18  # of a declared length, the most that are read


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `length` bytes.

    The application gets the body in one piece, so that a client that sends slowly holds nothing up. `uploads`
    has other lengths for the paths whose routes read the body bit by bit: they get what arrives.
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
    """`receive`, raising ProblemError once more than `length` bytes have come."""
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
    """A `receive` that gives the body first, then what the server has to say."""
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
        headers={"Connection": "close"},  # spares reading the rest
    )


def declared_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The length that the body is to have, in bytes; None where the head has no such number."""
    for name, value in headers:
        if name == b"content-length":
            # Without zeros in front, which would stand in the place of what counts.
            return int(value.lstrip(b"0")[:MAX_LENGTH_DIGITS] or b"0") if value.isdigit() else None
    return None
