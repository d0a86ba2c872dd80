"""The application, with a short way for the routes that are asked most.

FastAPI matches a request with its routes and leads it through six layers of its own and Starlette's, which
costs as much as translating does. A route that takes one body and nothing else (bodies.py) needs none of
them: its requests pass our own middlewares, then the route's function.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, ExceptionHandler, Receive, Scope, Send

from service.bodies import JsonRoute, ParsedRequest
from service.problems import ProblemError


class Shortcut(FastAPI):
    """FastAPI, but for requests to the routes that `shorten` was given."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (FastAPI's own)
        super().__init__(**options)
        self._short: Mapping[str, ASGIApp] = {}

    def shorten(self, routes: Iterable[BaseRoute]) -> None:
        """Lead requests to those of `routes` that can be called directly there; all else is in place."""
        plain = [route for route in routes if isinstance(route, JsonRoute) and route.direct is not None]
        self._short = {route.path: self._wrapped(route) for route in plain}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and (app := self._short.get(scope["path"])):
            scope["app"] = self
            await app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    def _wrapped(self, route: JsonRoute) -> ASGIApp:
        app: ASGIApp = _Plain(route, self.exception_handlers)
        for middleware in reversed(self.user_middleware):
            app = middleware.cls(app, *middleware.args, **middleware.kwargs)
        return app


class _Plain:
    """ASGI application: one route."""

    def __init__(self, route: JsonRoute, handlers: Mapping[Any, ExceptionHandler]) -> None:
        self._route, self._handlers = route, handlers
        assert route.direct is not None
        self._handle = route.direct

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._route
        request = ParsedRequest(scope, receive)
        try:
            response = await self._handle(request)
        except (ProblemError, RequestValidationError, HTTPException) as error:
            response = await self._refusal(request, error)
        await response(scope, receive, send)

    async def _refusal(self, request: ParsedRequest, error: Exception) -> Response:
        handler: Any = next(self._handlers[kind] for kind in type(error).__mro__ if kind in self._handlers)
        return cast(Response, await handler(request, error))
