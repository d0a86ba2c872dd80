"""HTTP/1.1 as the server reads it: uvicorn's protocol with the limits that uvicorn has none of.

A head beyond its limits is refused while it is read, a client that takes too long to send or to take is cut
off, and a request that comes while too many wait is refused, for next to nothing, before the application
sees it. A client that goes takes its request along. When the server stops, what has come is still answered.
The limits come with the application's lifespan state, which uvicorn hands to every connection.
"""

import asyncio
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from service.http.cycle import Cycle
from service.http.deadline import Deadline
from service.http.errand import Errand, Errands
from service.http.keys import ADMIN
from service.http.limits import declared_length, overloaded
from service.http.plain import Headers, Plain, plain
from service.http.problems import LIBRETRANSLATE_PATHS, ProblemError, ProblemType
from service.http.request_context import SECURITY, request_id_of
from service.http.sockets import something_waits
from service.observability.metrics import Metrics
from service.settings import Settings

# The names of settings, counts, and of what is set when the server stops, in the lifespan state.
STATE, METRICS, STOPPING, ERRANDS = "limits", "metrics", "stopping", "errands"
CHUNKING = 8  # the most bytes sent for a byte of a body, in chunks of one byte each
# Answered however busy the service is: what watches it must see it.
ALWAYS = ("/health", "/metrics")
ALWAYS_RAW = tuple(path.encode() for path in ALWAYS)
# Its route reads the body bit by bit and, once it knows who sends it, grants it time and length: a function
# of that name in the request's state does.
STREAMED = f"{ADMIN}/uploads"
FINISHED = (ADMIN,)  # what is done to its end, also when the client has gone
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Seconds that an idle connection is kept when the server stops, and one whose time is over while something is
# there to be read: a request may be on its way.
LINGER = 0.5


class HeadTooLargeError(Exception):
    """Ends the parsing of a request."""


@cache
def _refusal(libretranslate: bool) -> tuple[bytes, bytes]:
    """The head of a 503 but for its last line, and its body."""
    told = overloaded().response({"path": min(LIBRETRANSLATE_PATHS) if libretranslate else ""})
    lines = [b"%s: %s\r\n" % pair for pair in [*told.raw_headers, *SECURITY]]
    return STATUS_LINE[told.status_code] + b"".join(lines), bytes(told.body)


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._limits: Settings = self.app_state[STATE]
        self._most_head, self._most_headers = self._limits.max_header_bytes, self._limits.max_headers
        self._most = self._limits.max_body_bytes
        if len(self.connections) > self._limits.max_connections:
            self.transport.abort()
        self._metrics: Metrics = self.app_state[METRICS]
        self._errands: Errands = self.app_state[ERRANDS]
        self._task: asyncio.Task[None] | None = None
        self._pending: RequestResponseCycle | None = None  # its body is not there yet
        self._stopping = self._partial = self._following = self._refusing = self._put_off = False
        seconds = self._limits.request_seconds
        self._to_send = Deadline(self.loop, seconds, self._too_slow)
        # A close would wait for the client to take what is buffered.
        self._to_take = Deadline(self.loop, seconds, self.transport.abort)
        self._idle = Deadline(self.loop, self.timeout_keep_alive, self._silent)
        self._problem: ProblemType | None = None
        self._begin()
        self._to_send.start()

    def connection_lost(self, exc: Exception | None) -> None:
        for deadline in (self._to_send, self._to_take, self._idle):
            deadline.end()
        super().connection_lost(exc)
        if self._task is not None and not self._task.done():
            self._task.cancel()
        # What has not been begun refers to us: the collector holds up the loop when there is much to free.
        self.cycle = self._pending = None  # type: ignore[assignment]
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        if self._between():
            request = plain(data, self._most_head, self._most_headers)
            if request is not None and self._take(request):
                return
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

    def _between(self) -> bool:
        """Whether what comes begins a request, behind which nothing waits."""
        return (
            not self._partial and not self._stopping and (self.cycle is None or self.cycle.response_complete)
        )

    def _take(self, request: Plain) -> bool:
        """Refuse a request that came whole, or run it where it is an errand."""
        full = len(self.tasks) >= self._limits.max_waiting
        route = None if full else self._errands.route(request.path, request.headers, len(request.body))
        if route is None and (not full or request.path.startswith(ALWAYS)):
            return False
        self._idle.stop()
        self._to_send.stop()
        self._reading = self._in_head = False
        if route is not None:
            self.cycle = errand = Errand(route, self, self._errands, request)
            self._run(errand)
            return True
        self._write_refusal(request.path, request.headers, keep_alive=True, head_alone=False)
        self.server_state.total_requests += 1
        self._idle.start()
        return True

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin()
        self._partial = True

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """As uvicorn's, counted."""
        self._head += len(name) + len(value)
        self._headers += 1
        if self._head > self._most_head or self._headers > self._most_headers:
            self._refuse_head()
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._refusing = self._refused_unread()
        if not self._refusing:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._refusing:
            return
        super().on_body(body)
        if self._pending is self.cycle and len(self.cycle.body) > HIGH_WATER_LIMIT:
            self._start_pending()  # which reads on

    def on_message_complete(self) -> None:
        self._reading = self._partial = False
        if self._refusing:
            self._refuse_unread()
            return
        super().on_message_complete()
        if self._pending is self.cycle:
            self._start_pending()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._to_take.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._to_take.stop()

    def send_400_response(self, msg: str) -> None:
        """What cannot be parsed, or was refused while it was."""
        self._end(self._problem or ProblemType.BAD_REQUEST)

    def shutdown(self) -> None:
        """The server stops: what this connection has sent, or is sending, is answered; then it is closed."""
        self._stopping = True
        self.app_state[STOPPING].set()
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LINGER, self._close_if_idle)
        elif not self.pipeline:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._following = True  # what waited behind this request takes its place
            self._start_asgi_task(*self.pipeline.pop())
            self._following = False
        else:
            self._idle.start()

    def _unset_keepalive_if_required(self) -> None:
        self._idle.stop()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401
        """Start when the body is there, else who sends slowly would take the place of others."""
        scope = cycle.scope
        declared = declared_length(scope["headers"])
        route = None
        if scope["method"] == "POST":
            route = self._errands.route(scope["path"], cast(Headers, scope["headers"]), declared)
        cycle = Cycle.of(cycle) if route is None else Errand.to(route, cycle, self._errands)
        if self._stopping and not self.pipeline:
            cycle.keep_alive = False
        # Whether the application must read the body bit by bit, or refuse it unread.
        too_long = declared is not None and declared > self._limits.max_body_bytes
        if scope["path"] == STREAMED:
            scope["state"][STREAMED] = self._grant
            too_long = True
        if cycle.more_body and not too_long:
            self._pending = cycle
            if cycle.waiting_for_100_continue:
                self.transport.write(CONTINUE)
                cycle.waiting_for_100_continue = False
        else:
            self._admit(cycle)

    def _start_pending(self) -> None:
        if (cycle := self._pending) is not None:
            self._pending = None
            self._admit(cycle)

    def _refused_unread(self) -> bool:
        """Whether there is no place for a request of which the head is known; only where that is plain."""
        if len(self.tasks) < self._limits.max_waiting or self.expect_100_continue or b"%" in self.url:
            return False
        if (self.cycle is not None and not self.cycle.response_complete) or self.parser.should_upgrade():
            return False
        return self.url.startswith(b"/") and not self.url.startswith(ALWAYS_RAW)

    def _refuse_unread(self) -> None:
        """Answer 503 for a third of what it takes once uvicorn has made a request of what was read."""
        self._refusing = False
        keep = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
        path = self.url.partition(b"?")[0].decode("ascii", "replace")
        head_alone = self.parser.get_method() == b"HEAD"
        self._write_refusal(path, self.headers, keep and not self._stopping, head_alone)
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self._idle.start()

    def _admit(self, cycle: RequestResponseCycle) -> None:
        path = cycle.scope["path"]
        full = len(self.tasks) >= self._limits.max_waiting and not self._following
        if full and not path.startswith(ALWAYS):
            self._refuse(cycle)
        else:
            self._run(cycle)

    def _run(self, cycle: RequestResponseCycle) -> None:
        task = self.loop.create_task(cycle.run_asgi(self.app))
        self._task = None if cycle.scope["path"].startswith(FINISHED) else task
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _refuse(self, cycle: RequestResponseCycle) -> None:
        """Answer 503, as the application would (limits.py, envelope.py)."""
        scope = cycle.scope
        self._write_refusal(scope["path"], scope["headers"], cycle.keep_alive, scope["method"] == "HEAD")
        cycle.response_started = cycle.response_complete = True
        # Not at once where others wait behind it, each of which might be refused in turn.
        if self.pipeline:
            self.loop.call_soon(cycle.on_response)
        else:
            cycle.on_response()

    def _write_refusal(
        self, path: str, headers: Iterable[tuple[bytes, bytes]], keep_alive: bool, head_alone: bool
    ) -> None:
        head, body = _refusal(path in LIBRETRANSLATE_PATHS)
        lines = [head, b"x-request-id: ", request_id_of(headers)]
        lines.append(b"\r\n\r\n" if keep_alive else b"\r\nconnection: close\r\n\r\n")
        self.transport.write(b"".join(lines if head_alone else [*lines, body]))
        self._metrics.request("none", ProblemType.OVERLOADED.status, 0.0)
        if not keep_alive:
            self.transport.close()

    def _too_slow(self) -> None:
        """A part of a request has not come in time; what waits to be read counts, once a request."""
        if self._unread() and not self._put_off:
            self._put_off = True
            self._to_send.put_off(LINGER)
        else:
            self._end(ProblemType.TOO_SLOW)

    def _silent(self) -> None:
        if self._unread():
            self._idle.put_off(LINGER)
        else:
            self.timeout_keep_alive_handler()

    def _unread(self) -> bool:
        """Whether the client has sent what a busy machine has not let us read."""
        closing = self.transport.is_closing()
        return not closing and something_waits([self.transport.get_extra_info("socket").fileno()])

    def _close_if_idle(self) -> None:
        if self.transport.is_closing():
            return
        if self._unread():
            self.loop.call_later(LINGER, self._close_if_idle)
        elif (self.cycle is None or self.cycle.response_complete) and not self._partial:
            self.transport.close()

    def _begin(self) -> None:
        self._begun = self._reading = self._in_head = True
        self._head = self._headers = self._raw = 0
        self._put_off = False
        self._most = self._limits.max_body_bytes

    def _grant(self, seconds: float, most: int) -> None:
        """Let the body that is being read take so long, and be so long, instead of what others may."""
        self._most = most
        if self._reading:
            self._to_send.put_off(seconds)

    def _count_head(self, more: int) -> None:
        self._head += more
        if self._head > self._most_head:
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._problem = ProblemType.HEAD_TOO_LARGE
        raise HeadTooLargeError

    def _count_raw(self, more: int) -> None:
        """The parser keeps a header until it is complete, so what came of it is counted here."""
        self._raw += more
        if self._in_head and self._raw > self._most_head:
            self._end(ProblemType.HEAD_TOO_LARGE)
        elif self._reading and self._raw > self._most_head + CHUNKING * self._most:
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
