"""What is refused before anything reads it: bodies that are too long (uvicorn has no limit), and overload."""

from collections.abc import Awaitable, Iterable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType

DIGITS = 18  # of a length, the most that are read
RETRY_AFTER = 1  # seconds, where there is more to do than can be done soon


def overloaded() -> ProblemError:
    """What a request gets that could not be answered soon."""
    kind = ProblemType.OVERLOADED
    return ProblemError(kind, kind.meaning, headers={"Retry-After": str(RETRY_AFTER)})


def store_unreachable() -> ProblemError:
    """What a request gets whose answer is in a Milvus that is away."""
    kind = ProblemType.STORE_UNREACHABLE
    return ProblemError(kind, kind.meaning, headers={"Retry-After": str(RETRY_AFTER)})


class BodyLimit:
    """ASGI middleware: 413 for a body over `most` bytes, as declared or else as it streams.

    `streamed` has another limit for each path whose route reads its body bit by bit.
    """

    def __init__(self, app: ASGIApp, most: int, streamed: Mapping[str, int]) -> None:
        self.app = app
        self.most, self.streamed = most, streamed

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self.app(scope, receive, send)
        declared, most = declared_length(scope["headers"]), self.streamed.get(scope["path"], self.most)
        if declared is not None and declared > most:
            return _refusal(most).response(scope)(scope, receive, send)
        # The server reads no more than was declared.
        return self.app(scope, receive if declared else self._counting(receive, most), send)

    def _counting(self, receive: Receive, most: int) -> Receive:
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise _refusal(most)
            return message

        return counted


def _refusal(most: int) -> ProblemError:
    # Closing the connection spares reading the rest of what was refused.
    return ProblemError(
        ProblemType.BODY_TOO_LARGE,
        f"body is longer than {most} bytes, the most that is allowed: send fewer or shorter texts",
        headers={"Connection": "close"},
    )


def declared_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The length that the body is to have, in bytes; None where the head has no such number."""
    for name, value in headers:
        if name == b"content-length":
            # Without zeros in front, which would stand in the place of what counts.
            return int(value.lstrip(b"0")[:DIGITS] or b"0") if value.isdigit() else None
    return None
