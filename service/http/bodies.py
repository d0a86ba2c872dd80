"""Reading a request's body: JSON in UTF-8 and declared as such, or a form where a protocol has one."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import request_response

from service.http.problems import ProblemError, ProblemType

Model = TypeVar("Model", bound=BaseModel)


class JsonRequest(Request):
    """A request whose body has been parsed."""

    document: object

    async def json(self) -> object:
        return self.document


class JsonRoute(APIRoute):
    """A route that takes application/json alone: 415 for another type, 400 for what is not JSON in UTF-8."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def parse_and_handle(request: Request) -> Response:
            parsed = JsonRequest(request.scope, request.receive)
            _check_json_type(parsed)
            parsed.document = parse_json(await parsed.body())
            return await handle(parsed)

        return parse_and_handle


class PlainRoute(APIRoute):
    """A route that takes the request and gives the response itself; FastAPI documents it, no more."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        super().__init__(path, endpoint, **options)
        self.app = request_response(endpoint)


async def read_model(request: Request, model: type[Model]) -> Model:
    """The body as a model; RequestValidationError where it does not fit, ProblemError where it is no JSON."""
    _check_json_type(request)
    body = await request.body()
    try:
        return model.model_validate_json(body)
    except ValidationError:  # validated again as Python objects, whose errors are those of other routes
        try:
            return model.model_validate(parse_json(body))
        except ValidationError as error:
            raise validation_error(error) from None


def validation_error(error: ValidationError) -> RequestValidationError:
    """What FastAPI raises where a body does not fit."""
    return RequestValidationError(
        [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
    )


async def read_fields(request: Request, max_fields: int) -> dict[str, object]:
    """The fields of a body in JSON or of a form, url-encoded or multipart, with at most `max_fields` fields.

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
            return _gather(
                parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=max_fields)
            )
        if content_type == "multipart/form-data":
            return _gather((await request.form(max_files=0, max_fields=max_fields)).multi_items())
    except ValueError:
        detail = f"body is not a form in UTF-8 of at most {max_fields} fields: see /openapi.json"
        raise ProblemError(ProblemType.BAD_REQUEST, detail) from None
    raise _unsupported(content_type, "application/json or as a form")


def media_type(content_type: str) -> str:
    """`Text/HTML; charset=utf-8` -> `text/html`."""
    return content_type.partition(";")[0].strip().lower()


def _gather(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, list[object]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _check_json_type(request: Request) -> None:
    content_type = request.headers.get("content-type", "")
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
