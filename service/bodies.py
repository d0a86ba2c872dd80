"""Reading a request's body strictly: JSON, in UTF-8, declared as such."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response

from service.problems import ProblemError, ProblemType

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ParsedRequest(Request):
    """A request whose body has been parsed."""

    parsed: object

    async def json(self) -> object:
        return self.parsed


class JsonRoute(APIRoute):
    """A route that takes application/json alone: 415 for another type, 400 for what is not JSON in UTF-8."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def read_and_handle(request: Request) -> Response:
            parsed = ParsedRequest(request.scope, request.receive)
            _check_type(request.headers.get("content-type", ""))
            parsed.parsed = _parse(await parsed.body())
            return await handle(parsed)

        return read_and_handle


def _check_type(content_type: str) -> None:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        told = content_type[:80] or "missing"
        raise ProblemError(
            ProblemType.UNSUPPORTED_MEDIA_TYPE,
            f"Content-Type is {told}: send the body as application/json",
            headers={"Accept": "application/json"},
        )


def _parse(body: bytes) -> object:
    if not body:
        raise ProblemError(ProblemType.BAD_JSON, "body is empty: send a JSON object")
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise ProblemError(
            ProblemType.BAD_JSON, f"body is not UTF-8 at byte {error.start}: encode the JSON in UTF-8"
        ) from None
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ProblemError(ProblemType.BAD_JSON, f"body is not JSON: {error}") from None
