"""HTTP/1.1 as the server reads it: uvicorn's protocol with the limits that uvicorn has none of.

A head beyond its limits is refused while it is read, a client that takes too long to send or to take is cut
off, and a request that comes while too many wait is marked for `Admission`. The limits come with the
application's lifespan state, which uvicorn hands to every connection.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from service.problems import ProblemError, ProblemType
from service.settings import Settings

STATE = "limits"  # the settings' name in the lifespan state
CHUNKING = 8  # the most bytes sent for a byte of a body, in chunks of one byte each
RETRY_AFTER = 1  # seconds
# Answered however busy the service is: what watches it must see it.
ALWAYS = ("/health", "/metrics")


class HeadTooLargeError(Exception):
    """Ends the parsing of a request."""


class Deadline:
    """Calls `act` when it was started and not stopped for `seconds`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, act: Callable[[], None]) -> None:
        self._loop, self._seconds, self._act = loop, seconds, act
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        if self._handle is None:
            self._handle = self._loop.call_later(self._seconds, self._act)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._limits: Settings = self.app_state[STATE]
        seconds = self._limits.request_seconds
        self._to_send = Deadline(self.loop, seconds, lambda: self._end(ProblemType.TOO_SLOW))
        # A close would wait for the client to take what is buffered.
        self._to_take = Deadline(self.loop, seconds, self.transport.abort)
        self._problem: ProblemType | None = None
        self._begin()
        self._to_send.start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._to_send.stop()
        self._to_take.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._begun = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._begun:  # else a part of the data is of the request before
            self._count_raw(len(data))
        if self._reading:
            self._to_send.start()
        else:
            self._to_send.stop()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin()

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_head(len(name) + len(value))
        self._headers += 1
        if self._headers > self._limits.max_headers:
            self._refuse_head()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._reading = False
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._to_take.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._to_take.stop()

    def send_400_response(self, msg: str) -> None:
        """What cannot be parsed, or was refused while it was."""
        self._end(self._problem or ProblemType.BAD_REQUEST)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401
        if len(self.tasks) >= self._limits.max_waiting and not cycle.scope["path"].startswith(ALWAYS):
            cast(dict[str, Any], cycle.scope)["state"]["overloaded"] = True
        super()._start_asgi_task(cycle, app)

    def _begin(self) -> None:
        self._begun = self._reading = self._in_head = True
        self._head = self._headers = self._raw = 0

    def _count_head(self, more: int) -> None:
        self._head += more
        if self._head > self._limits.max_header_bytes:
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._problem = ProblemType.HEAD_TOO_LARGE
        raise HeadTooLargeError

    def _count_raw(self, more: int) -> None:
        """The parser keeps a header until it is complete, so what came of it is counted here."""
        self._raw += more
        most = self._limits.max_header_bytes
        if self._in_head and self._raw > most:
            self._end(ProblemType.HEAD_TOO_LARGE)
        elif self._reading and self._raw > most + CHUNKING * self._limits.max_body_bytes:
            self._end(ProblemType.BODY_TOO_LARGE)

    def _end(self, problem: ProblemType) -> None:
        """Say why, unless an answer is on its way, and close the connection."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            told = ProblemError(problem, problem.meaning).response({"path": ""})
            headers = [b"%s: %s\r\n" % pair for pair in told.raw_headers]
            head = [STATUS_LINE[told.status_code], *headers, b"connection: close\r\n\r\n"]
            self.transport.write(b"".join(head) + bytes(told.body))
        self.transport.close()
        self._to_take.start()


class Admission:
    """ASGI middleware: 503 for a request that came while too many waited."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("state", {}).get("overloaded"):
            kind = ProblemType.OVERLOADED
            error = ProblemError(kind, kind.meaning, headers={"Retry-After": str(RETRY_AFTER)})
            await error.response(scope)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
