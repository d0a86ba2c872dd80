"""Request bodies: JSON in UTF-8 that is declared as such, or forms for protocols that have them.

A body may be as long as its texts need. Time and memory depend on its number of values, each of which becomes
an object, or an error if it is invalid. So values are counted before the body is parsed.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable
from functools import cache
from itertools import chain
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
MAX_FORM_BYTES = 131_072  # of a URL-encoded form, which takes far longer to decode than JSON
MAX_JOB_VALUES = 60_000  # 50,000 ids to delete, or 5,000 sentences with their metadata
MAX_JOB_FIELDS = 32  # of the job, or of one of its sentences


class JsonRequest(Request):
    """A request whose body has been parsed."""

    document: object

    async def json(self) -> object:
        return self.document


class JsonRoute(APIRoute):
    """A route that accepts only application/json: 415 for another type, 400 if the body is not UTF-8 JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def parse_and_handle(request: Request) -> Response:
            parsed = JsonRequest(request.scope, request.receive)
            _check_json_type(parsed)
            parsed.document = await asyncio.to_thread(_parse_job, await parsed.body())
            return await handle(parsed)

        return parse_and_handle


class PlainRoute(APIRoute):
    """A route that handles the raw request itself; FastAPI only documents it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        super().__init__(path, endpoint, **options)
        self.app = request_response(endpoint)


async def read_model(request: Request, model: type[Model]) -> Model:
    """Parse the body as a model; RequestValidationError if it is invalid, ProblemError if it is not JSON."""
    _check_json_type(request)
    body = await request.body()
    check_values(body, request.app.state.settings.max_values)
    try:
        return model.model_validate_json(body)
    except ValidationError:  # validate again as Python objects, to get the same errors as other routes
        try:
            return model.model_validate(parse_json(body))
        except ValidationError as error:
            raise validation_error(error) from None


def validation_error(error: ValidationError) -> RequestValidationError:
    """The error that FastAPI raises for an invalid body."""
    return RequestValidationError(
        [{**detail, "loc": ("body", *detail["loc"])} for detail in error.errors(include_url=False)]
    )


async def read_fields(request: Request, max_fields: int) -> dict[str, Any]:
    """Read the fields of a JSON body or a form, URL-encoded or multipart, with at most `max_fields` fields.

    Without a body, the fields of the query. A field that a form repeats becomes a list. Raises ProblemError.
    """
    content_type = media_type(request.headers.get("content-type", ""))
    if content_type == "application/json":
        body = await request.body()
        check_values(body, request.app.state.settings.max_values)
        parsed = parse_json(body)
        if not isinstance(parsed, dict):
            raise ProblemError(ProblemType.INVALID_REQUEST, "body must be a JSON object, as in /openapi.json")
        return parsed
    try:
        if content_type in ("application/x-www-form-urlencoded", ""):
            # Some LibreTranslate clients send the fields in the query of a POST without a body.
            body = await request.body() or request.scope["query_string"]
            if len(body) > MAX_FORM_BYTES:
                raise _form_too_long()
            return _gather(
                parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=max_fields)
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


def _parse_job(body: bytes) -> object:
    """Parse a job as JSON; ProblemError if it has more values or fields than any valid job."""
    check_values(body, MAX_JOB_VALUES)
    document = parse_json(body)
    if isinstance(document, dict):
        lists = (value for value in document.values() if isinstance(value, list))
        objects = (item for item in chain([document], *lists) if isinstance(item, dict))
        if max(map(len, objects)) > MAX_JOB_FIELDS:
            raise ProblemError(
                ProblemType.INVALID_REQUEST, f"an object has more than {MAX_JOB_FIELDS} fields"
            )
    return document


def check_values(body: bytes, limit: int) -> None:
    """Raise ProblemError for JSON with more than `limit` values, estimated without parsing it."""
    # Short bodies are always cheap, and most long ones have few marks even in their texts.
    if len(body) <= 2 * limit or sum(map(body.count, VALUE_MARKS)) <= limit:
        return
    if _more_marks_than(limit).match(body):
        raise ProblemError(
            ProblemType.INVALID_REQUEST,
            f"body has more than {limit} values (texts, languages, fields): split the request",
        )


VALUE_MARKS = (b",", b"[", b"{")


@cache
def _more_marks_than(limit: int) -> re.Pattern[bytes]:
    """Matches JSON with more than `limit` marks outside strings; possessive, hence in linear time."""
    string, other = rb'"(?:[^"\\]++|\\.)*+"', rb'[^",\[{]++'
    return re.compile(rb"(?:(?:%b|%b)*+[,\[{]){%d}" % (other, string, limit + 1), re.DOTALL)


def _form_too_long() -> ProblemError:
    detail = f"the form is longer than {MAX_FORM_BYTES} bytes: send it as JSON, or split the request"
    return ProblemError(ProblemType.BODY_TOO_LARGE, detail)


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
    """Parse a body as JSON; ProblemError if it is not JSON in UTF-8."""
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
