"""Bounds what is read of a request, and how many are answered at the same time."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import limits
from service.http.problems import ProblemError, ProblemType, unavailable

MOST_DIGITS = 20  # of a declared length: more take Python long, or are refused by it
EXEMPT_PATHS = ("/health", "/metrics")  # always answered, for monitoring


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `length` bytes; `longer` has other limits for some paths.

    413, too, for one with more values than texts can have: JSON that is all brackets and commas takes the
    event loop several times as long as JSON that is text, to read and to refuse. `longer` are paths of files.
    400 for a query of more than MAX_QUERY_BYTES, which FastAPI would parse for every route. Starlette's own
    limit of bodies answers in plain text, whatever the application says.
    """

    def __init__(self, app: ASGIApp, length: int, longer: Mapping[str, int]) -> None:
        self.app, self.length, self.longer = app, length, longer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if len(scope["query_string"]) > limits.MAX_QUERY_BYTES:
            detail = f"the query is longer than {limits.MAX_QUERY_BYTES} bytes: shorten it"
            await ProblemError(ProblemType.BAD_REQUEST, detail).response(scope)(scope, receive, send)
            return
        length = self.longer.get(scope["path"], self.length)
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > MOST_DIGITS or int(declared) > length):
            await _too_long(length).response(scope)(scope, receive, send)
            return
        received = marks = 0
        most_marks = length if scope["path"] in self.longer else limits.MAX_BODY_MARKS

        async def bounded_receive() -> Message:
            nonlocal received, marks
            message = await receive()
            body = message.get("body", b"")
            received += len(body)
            marks += sum(map(body.count, (b"[", b"{", b",")))
            if received > length:
                raise _too_long(length)
            if marks > most_marks:
                detail = f"body has more than {most_marks} brackets and commas: send fewer values"
                raise ProblemError(ProblemType.BODY_TOO_LARGE, detail)
            return message

        await self.app(scope, bounded_receive, send)


class ConcurrencyLimit:
    """ASGI middleware: 503 with Retry-After while `limit` requests are being answered.

    It comes before middleware that checks requests, so that refusing costs little. Slow clients are the
    proxy's to hold back: it passes a request on once all of it has arrived (docker/nginx.conf).
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT_PATHS):
            await self.app(scope, receive, send)
        elif self.active >= self.limit:
            await unavailable().response(scope)(scope, receive, send)
        else:
            self.active += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.active -= 1


def _too_long(length: int) -> ProblemError:
    return ProblemError(
        ProblemType.BODY_TOO_LARGE,
        f"body is longer than {length} bytes, the most that is allowed: send fewer or shorter texts",
        headers={"Connection": "close"},  # so that the remaining body need not be read
    )
