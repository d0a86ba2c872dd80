"""What every request is wrapped in: an id, security headers, a log line, an answer to a fault."""

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Iterable
from random import getrandbits

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.limits import overloaded
from service.http.problems import ProblemError, ProblemType
from service.observability.metrics import Metrics

log = logging.getLogger("passepartout.requests")

Headers = list[tuple[bytes, bytes]]

REQUEST_ID = b"x-request-id"
ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# For answers of the API, which no browser should show or run; the page sets its own policy (page.py).
SECURITY: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
OWN_POLICY = frozenset(name for name, _ in SECURITY)
VERSION = "index_version"  # in a request's state, where it is answered from an index
FAILED = 500
LEFT = 499  # the client went before the answer: nginx's number for it, seen in logs alone


class Envelope:
    """ASGI middleware, the outermost."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log_requests: bool) -> None:
        self.app = app
        self.metrics = metrics
        self.log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = request_id_of(scope["headers"])
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        status = 0

        async def send_wrapped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = completed(message["headers"], request_id, scope["state"].get(VERSION))
            await send(message)

        try:
            await self.app(scope, receive, send_wrapped)
        except ClientDisconnect:
            status = LEFT
        except asyncio.CancelledError:
            if not status:  # the server stops before it is done; nobody hears it where the client has gone
                await overloaded().response(scope)(scope, receive, send_wrapped)
            status = LEFT
        except Exception as error:
            answer = self.fault(scope, error)
            if not status:  # else the server closes the connection, which tells the client
                await answer(scope, receive, send_wrapped)
            status = FAILED
        self.told(scope, status, time.perf_counter() - started)

    def fault(self, scope: Scope, error: Exception) -> Response:
        """Log a fault of our own; what the client is told."""
        _log_fault(scope, error)
        return ProblemError(ProblemType.INTERNAL, ProblemType.INTERNAL.meaning).response(scope)

    def told(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that has been answered, and log it where that is wanted."""
        self.metrics.request(route_of(scope), status, seconds)
        if self.log_requests:
            fields = {"status": status, "milliseconds": round(1000 * seconds, 2)}
            log.info("request", extra={"fields": _place(scope) | fields})


def route_of(scope: Scope) -> str:
    """The path of the route that answers, as it is written in the code: without anything of the request."""
    return getattr(scope.get("route"), "path", "none")


def _place(scope: Scope) -> dict[str, object]:
    return {
        "request_id": scope["state"]["request_id"],
        "method": scope["method"],
        "route": route_of(scope),
    }


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The client's own id where it is short and plain, else one at random."""
    for name, value in headers:
        if name == REQUEST_ID:
            if ACCEPTED_ID.fullmatch(value):
                return value
            break
    return b"%016x" % getrandbits(64)  # to tell requests apart, no secret


def completed(headers: Iterable[tuple[bytes, bytes]], request_id: bytes, version: str | None) -> Headers:
    """The headers of an answer, with those that every answer has."""
    found = list(headers)
    names = {name for name, _ in found}
    found += SECURITY if OWN_POLICY.isdisjoint(names) else [pair for pair in SECURITY if pair[0] not in names]
    found.append((REQUEST_ID, request_id))
    if version is not None:
        found.append((b"x-index-version", version.encode()))
    return found


def _log_fault(scope: Scope, error: Exception) -> None:
    """Where it happened and what it was, without its message, which may hold what the user sent."""
    frames = traceback.extract_tb(error.__traceback__)
    fields = {"error": type(error).__name__, "at": [f"{f.filename}:{f.lineno} {f.name}" for f in frames]}
    log.error("fault", extra={"fields": _place(scope) | fields})
