"""A request to a route that takes one body and nothing else, answered by the server itself.

ASGI's way from uvicorn to a route and back has ten layers, each of which looks at every request and every
message of an answer. The server (protocol.py) makes an `Errand` of a request to such a route: the body goes
to the route's function, head and answer leave in one write. What the layers do is done, by the same
functions; a request for which one would do more than let it pass goes ASGI's way, and is answered the same.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ExceptionHandler, Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from service.http.bodies import JSON, JsonAnswer, JsonRoute, whole_body
from service.http.cycle import Cycle, line
from service.http.keys import admit
from service.http.limits import overloaded
from service.http.plain import Headers, Plain
from service.http.problems import ProblemError
from service.http.request_context import FAILED, LEFT, SECURITY, VERSION, Envelope, completed, request_id_of
from service.settings import Settings

OK = 200
FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})  # uvicorn reads the client's address there
ORIGIN = frozenset({b"origin"})  # CORS answers that


class Errands:
    """The routes of an application that can be run as errands, and what comes before them."""

    def __init__(self, app: FastAPI, routes: Iterable[BaseRoute], settings: Settings) -> None:
        self.app, self.rates = app, app.state.rates
        self.envelope = Envelope(app, app.state.metrics, settings.log_requests)
        self.keys, self.admins, self._most = settings.keys, settings.admins, settings.max_body_bytes
        plain = [route for route in routes if isinstance(route, JsonRoute) and route.direct is not None]
        self._routes = {route.path: route for route in plain}
        self._special: frozenset[bytes] = frozenset()  # headers that a layer reads
        if self.rates is not None:
            self._special |= FORWARDED
        if settings.origins:
            self._special |= ORIGIN
        self.handlers: Mapping[Any, ExceptionHandler] = app.exception_handlers

    def route(self, path: str, headers: Headers, length: int | None) -> JsonRoute | None:
        """The route of a POST with a body of a declared length, where that is an errand."""
        route = self._routes.get(path)
        if route is None or length is None or length > self._most:
            return None
        if self._special and not self._special.isdisjoint(name for name, _ in headers):
            return None
        return route


class Unheard:
    """In the place of an event for which nobody waits."""

    def set(self) -> None:
        pass


class Errand(Cycle):
    """A request and its answer, as `Cycle` is."""

    # What uvicorn's own are made with, each anew.
    access_log = disconnected = response_started = response_complete = waiting_for_100_continue = False
    message_event: Any = Unheard()
    chunked_encoding: Any = None
    expected_content_length = 0

    _errands: Errands
    _route: JsonRoute

    def __init__(
        self, route: JsonRoute, protocol: HttpToolsProtocol, errands: Errands, request: Plain
    ) -> None:
        """Of a request that came whole, over the connection of `protocol`."""
        self._errands, self._route = errands, route
        self.scope = cast(
            Any,
            {
                "type": "http",
                "method": "POST",
                "path": request.path,
                "raw_path": request.path.encode(),
                "root_path": "",
                "query_string": b"",
                "headers": request.headers,
                "http_version": "1.1",
                "scheme": protocol.scheme,
                "server": protocol.server,
                "client": protocol.client,
                "state": protocol.app_state.copy(),
            },
        )
        self.transport, self.flow = protocol.transport, protocol.flow
        self.default_headers = protocol.server_state.default_headers
        self.on_response = protocol.on_response_complete
        self.keep_alive, self.more_body, self.body = True, False, cast(bytearray, request.body)

    @classmethod
    def to(cls, route: JsonRoute, cycle: RequestResponseCycle, errands: Errands) -> "Errand":
        """What uvicorn has made for a request becomes one of these before it runs."""
        cycle.__class__ = cls
        errand = cast(Errand, cycle)
        errand._errands, errand._route = errands, route
        return errand

    async def run_asgi(self, app: object) -> None:
        """As uvicorn's, which would call the application; as `Envelope`, which would wrap it."""
        started = time.perf_counter()
        scope: Any = self.scope
        scope["app"], scope["route"] = self._errands.app, self._route
        request_id = request_id_of(scope["headers"])
        scope["state"]["request_id"] = request_id.decode()
        status = LEFT
        try:
            content = await self._content(scope)
            if isinstance(content, Response):
                status = await self._respond(content, request_id)
            elif self.is_plain():
                self.write(self._head_of(request_id, content) + content)
                status = OK
            else:
                status = await self._respond(JsonAnswer(content), request_id)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the server stops before it is done
            await self._respond(overloaded().response(scope), request_id)
        except Exception as error:
            await self._respond(self._errands.envelope.fault(scope, error), request_id)
            status = FAILED
        self._errands.envelope.told(scope, status, time.perf_counter() - started)

    async def _content(self, scope: Scope) -> bytes | Response:
        """The answer in JSON, or what the request is refused with."""
        errands = self._errands
        request = Request(scope, self.receive)  # type: ignore[arg-type]  # of uvicorn's own types
        try:
            admit(scope, errands.keys, errands.admins)
            if errands.rates is not None:
                await errands.rates.count(scope)
            assert self._route.direct is not None
            body = await whole_body(request) if self.more_body else bytes(self.body)
            return await self._route.direct(request, body)
        except (ProblemError, RequestValidationError, HTTPException) as error:
            handlers = errands.handlers
            handler: Any = next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
            return cast(Response, await handler(request, error))

    def _head_of(self, request_id: bytes, content: bytes) -> bytes:
        """The head of an answer with 200."""
        version: str | None = self.scope["state"].get(VERSION)
        dates = b"".join([line(*pair) for pair in self.default_headers])
        own = b"content-length: %d\r\nx-request-id: %s\r\n\r\n" % (len(content), request_id)
        return _lines_of(version) + dates + own

    async def _respond(self, response: Response, request_id: bytes) -> int:
        """Send an answer in the general way, unless there is one already; its status."""
        if self.response_started:
            return response.status_code
        version = self.scope["state"].get(VERSION)
        headers = completed(response.raw_headers, request_id, version)
        head = {"type": "http.response.start", "status": response.status_code, "headers": headers}
        await self.send(cast(Any, head))
        await self.send(cast(Any, {"type": "http.response.body", "body": response.body}))
        return response.status_code


@lru_cache(8)
def _lines_of(version: str | None) -> bytes:
    """What the heads of all answers from a version have in common."""
    own = [] if version is None else [(b"x-index-version", version.encode())]
    return STATUS_LINE[OK] + b"".join(line(*pair) for pair in [JSON, *SECURITY, *own])
