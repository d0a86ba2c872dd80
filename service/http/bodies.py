"""Reading a request's body: JSON in UTF-8 and declared as such, or a form where a protocol has one."""

import inspect
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, cast
from urllib.parse import parse_qsl

from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from service.http.problems import ProblemError, ProblemType

JSON = (b"content-type", b"application/json")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
# A request and its body -> the answer in JSON.
Direct = Callable[[Request, bytes], Coroutine[Any, Any, bytes]]


class ParsedRequest(Request):
    """A request whose body has been parsed, or is parsed when it is asked for."""

    parsed: object

    async def json(self) -> object:
        return self.parsed


class JsonRoute(APIRoute):
    """A route that takes application/json alone: 415 for another type, 400 for what is not JSON in UTF-8.

    A route that takes nothing but a body and what depends on the request alone is called directly: FastAPI's
    general way costs as much as translating does.
    """

    direct: Direct | None = None

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        direct = self.direct = self._direct() if self._is_plain() else None

        async def read_and_handle(request: Request) -> Response:
            if direct is not None:
                return JsonAnswer(await direct(request, await whole_body(request)))
            parsed = ParsedRequest(request.scope, request.receive)
            _check_type(_content_type(request))
            parsed.parsed = parse_json(await parsed.body())
            return await handle(parsed)

        return read_and_handle

    def _is_plain(self) -> bool:
        """Whether its arguments are one body and coroutines' results for the request, its result a model."""
        own = self.dependant
        others = (own.path_params, own.query_params, own.header_params, own.cookie_params)
        return (
            len(own.body_params) == 1
            and not any(others)
            and _takes(own) == set()
            and all(_takes(each) == {"request"} and not each.dependencies for each in own.dependencies)
            and inspect.iscoroutinefunction(self.endpoint)
            and all(inspect.iscoroutinefunction(each.call) for each in own.dependencies)
        )

    def _direct(self) -> Direct:
        own, field, endpoint = self.dependant, self.body_field, self.endpoint
        assert field is not None
        name = own.body_params[0].name
        needs = [(str(each.name), each.call) for each in own.dependencies]
        model = field.field_info.annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        validate = model.__pydantic_validator__.validate_json

        async def handle(request: Request, content: bytes) -> bytes:
            _check_type(_content_type(request))
            try:
                body: object = validate(content)
            except ValueError:  # what is wrong is told by FastAPI, whose errors have another form
                body, errors = field.validate(parse_json(content), loc=("body",))
                if errors:
                    raise RequestValidationError(errors) from None
            given = {need: await call(request) for need, call in needs}  # type: ignore[misc]
            result: BaseModel = await endpoint(**{name: body}, **given)
            return result.__pydantic_serializer__.to_json(result)

        return handle


class JsonAnswer(Response):
    """An answer in JSON, without what Starlette's may be given besides."""

    def __init__(self, content: bytes) -> None:
        self.status_code, self.background, self.body = 200, None, content
        self.raw_headers = [(b"content-length", b"%d" % len(content)), JSON]


async def whole_body(request: Request) -> bytes:
    """The body; read at once where it has come in one message, as the server here sends it."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    parts = [body]
    async for part in request.stream():
        parts.append(part)
    return b"".join(parts)


def _content_type(request: Request) -> str:
    for name, value in request.scope["headers"]:
        if name == b"content-type":
            return cast(str, value.decode("latin-1"))
    return ""


def _takes(dependant: Dependant) -> set[str]:
    """What of the connection itself a function takes."""
    names = (
        dependant.request_param_name,
        dependant.websocket_param_name,
        dependant.http_connection_param_name,
        dependant.response_param_name,
        dependant.background_tasks_param_name,
        dependant.security_scopes_param_name,
    )
    return {name for name in names if name is not None}


async def read_fields(request: Request, most: int) -> dict[str, object]:
    """The fields of a body in JSON or of a form, url-encoded or multipart, with at most `most` fields.

    A field that a form repeats is a list. Raises ProblemError.
    """
    content_type = media_type(request.headers.get("content-type", ""))
    if content_type == "application/json":
        parsed = parse_json(await request.body())
        if not isinstance(parsed, dict):
            raise ProblemError(ProblemType.INVALID_REQUEST, "body must be a JSON object, as in /openapi.json")
        return parsed
    try:
        if content_type in ("application/x-www-form-urlencoded", ""):
            body = (await request.body()).decode()
            return _gather(parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=most))
        if content_type == "multipart/form-data":
            return _gather((await request.form(max_files=0, max_fields=most)).multi_items())
    except ValueError:
        told = f"body is not a form in UTF-8 of at most {most} fields: see /openapi.json"
        raise ProblemError(ProblemType.BAD_REQUEST, told) from None
    raise _unsupported(content_type, "application/json or as a form")


def media_type(content_type: str) -> str:
    """`Text/HTML; charset=utf-8` -> `text/html`."""
    return content_type.partition(";")[0].strip().lower()


def _gather(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, list[object]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _check_type(content_type: str) -> None:
    if content_type == "application/json":  # nearly always
        return
    if media_type(content_type) != "application/json":
        raise _unsupported(content_type, "application/json")


def _unsupported(content_type: str, wanted: str) -> ProblemError:
    return ProblemError(
        ProblemType.UNSUPPORTED_MEDIA_TYPE,
        f"Content-Type is {content_type[:80] or 'missing'}: send the body as {wanted}",
        headers={"Accept": "application/json"},
    )


def parse_json(body: bytes) -> object:
    """The JSON document in `body`; ProblemError where there is none, or in another encoding than UTF-8."""
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
