"""The context of every request: an id, security headers, a log line, and handling of unexpected errors."""

import asyncio
import logging
import re
import time
from collections.abc import Iterable
from random import getrandbits

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType, unavailable
from service.observability.logs import log_exception
from service.observability.metrics import Metrics

log = logging.getLogger("passepartout.requests")

Headers = list[tuple[bytes, bytes]]

REQUEST_ID = b"x-request-id"
ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# For API responses, which no browser should render or execute; the page sets its own policy (page.py).
SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
INDEX_VERSION = "index_version"  # in the state of a request that is answered from an index
CLIENT_LEFT = 499  # the client disconnected before the answer: nginx's status, used in logs only


class RequestContext:
    """ASGI middleware around everything that can answer.

    Once `stopping` is set, each answer tells the client to close the connection, since the server will end.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log_requests: bool, stopping: asyncio.Event) -> None:
        self.app, self.metrics, self.log_requests, self.stopping = app, metrics, log_requests, stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = request_id_of(scope["headers"])
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = self._headers(scope, message.get("headers", ()), request_id)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = CLIENT_LEFT
        except asyncio.CancelledError:
            if not status:  # the server stopped before the request was answered
                await unavailable().response(scope)(scope, receive, send_with_headers)
            status = CLIENT_LEFT
        except Exception as error:
            log_exception(log, error, _request_fields(scope))
            problem = ProblemError(ProblemType.INTERNAL_ERROR)
            if not status:  # if an answer has begun, the server closes the connection
                await problem.response(scope)(scope, receive, send_with_headers)
            status = problem.status_code
        self.record(scope, status, time.perf_counter() - started)

    def record(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a finished request, and log it if configured."""
        self.metrics.request(route_of(scope), status, seconds)
        if self.log_requests:
            fields = {"status": status, "milliseconds": round(1000 * seconds, 2)}
            log.info("request", extra={"fields": _request_fields(scope) | fields})

    def _headers(self, scope: Scope, headers: Iterable[tuple[bytes, bytes]], request_id: bytes) -> Headers:
        """Add the headers that every answer has."""
        answer = list(headers)
        names = {name for name, _ in answer}
        answer += [pair for pair in SECURITY_HEADERS if pair[0] not in names]
        answer.append((REQUEST_ID, request_id))
        if (version := scope["state"].get(INDEX_VERSION)) is not None:
            answer.append((b"x-index-version", version.encode()))
        # HTTP/2 has no such header.
        if self.stopping.is_set() and scope["http_version"].startswith("1") and b"connection" not in names:
            answer.append((b"connection", b"close"))
        return answer


def route_of(scope: Scope) -> str:
    """The path pattern of the route, as in the code, so that it contains nothing of the request."""
    return getattr(scope.get("route"), "path", "none")


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The client's request id if it is short and plain, otherwise a random one."""
    given = next((value for name, value in headers if name == REQUEST_ID), b"")
    if ACCEPTED_ID.fullmatch(given):
        return given
    return b"%016x" % getrandbits(64)  # only distinguishes requests: not a secret


def _request_fields(scope: Scope) -> dict[str, object]:
    return {
        "request_id": scope["state"]["request_id"],
        "method": scope["method"],
        "route": route_of(scope),
    }
