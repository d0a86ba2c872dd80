"""Exception handlers that refuse a request with a problem document.

Errors of the service itself are handled by request_context.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from index.errors import RequestError, UndetectedLanguageError, UnknownLanguageError
from service.http.bodies import JSON_TYPE, media_type, unsupported
from service.http.problems import ProblemError, ProblemType, brief
from service.schemas.problems import FieldError

BY_ERROR: Mapping[type[RequestError], ProblemType] = {
    UnknownLanguageError: ProblemType.UNKNOWN_LANGUAGE,
    UndetectedLanguageError: ProblemType.UNDETECTED_LANGUAGE,
}
BY_STATUS = {kind.status: kind for kind in (ProblemType.NOT_FOUND, ProblemType.METHOD_NOT_ALLOWED)}

# Messages by pydantic's error type; filled with {field} and the error's context.
VALIDATION_MESSAGES = {
    "missing": "{field} is missing: it is required",
    "extra_forbidden": "{field} is not a field of this request: remove it (see /openapi.json for the fields)",
    "list_type": "{field} must be a string or a list of strings",
    "string_type": "{field} must be a string",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "{field} must be a whole number"),
    "int_parsing_size": "{field} is out of range",
    "literal_error": "{field} must be {expected}",
    "bool_type": "{field} must be true or false",
    "float_type": "{field} must be a number",
    "string_unicode": "{field} is not Unicode: it has half of a surrogate pair",
    "too_short": "{field} is an empty list: give at least {min_length}",
    "string_too_short": "{field} is empty",
    "string_too_long": "{field} is too long, the limit is {max_length} characters: shorten it",
    "string_pattern_mismatch": "{field} must match {pattern}",
    "too_long": "{field} has {actual_length} entries, the limit is {max_length}: send more requests",
    "value_error": "{field}: {error}",
    "union_tag_invalid": "{field}.action must be one of {expected_tags}",
    "union_tag_not_found": "{field}.action is missing: it is required",
    "greater_than_equal": "{field} is {input}, the least is {ge}",
    "less_than_equal": "{field} is {input}, the most is {le}",
    "model_attributes_type": "body must be a JSON object, as in /openapi.json",
}
LIMIT_KEYS = ("min_length", "max_length", "ge", "le")


def add_handlers(app: FastAPI) -> None:
    for kind in (ProblemError, RequestError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _refuse)


async def _refuse(request: Request, error: Exception) -> Response:
    return _problem_of(request, error).response(request.scope)


def _problem_of(request: Request, error: Exception) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, RequestError):
        kind = BY_ERROR.get(type(error), ProblemType.INVALID_REQUEST)
        return ProblemError.of_fields(kind, error.faults)
    if isinstance(error, RequestValidationError):
        return _invalid(request, error.errors())
    assert isinstance(error, HTTPException)
    return _http(request, error)


def _invalid(request: Request, details: Sequence[Mapping[str, Any]]) -> ProblemError:
    content_type = request.headers.get("content-type", "")
    first = details[0]
    if first["type"] == "json_invalid":
        reason = f"body is not JSON: {first['ctx']['error']} at character {first['loc'][-1]}"
        return ProblemError(ProblemType.BAD_JSON, reason)
    if first["loc"] == ("body",) and media_type(content_type) != JSON_TYPE:
        return unsupported(content_type, JSON_TYPE)
    if first["loc"] == ("body",) and first["type"] == "missing":
        return ProblemError(ProblemType.BAD_JSON, "body is empty: send a JSON object")
    return ProblemError.of_fields(ProblemType.INVALID_REQUEST, list(map(_field_error, details)))


def _http(request: Request, error: HTTPException) -> ProblemError:
    kind = BY_STATUS.get(error.status_code, ProblemType.BAD_REQUEST)
    if error.status_code == 400 and media_type(request.headers.get("content-type", "")) == JSON_TYPE:
        kind = ProblemType.BAD_JSON  # nested too deep, or not in UTF-8
    allowed = (error.headers or {}).get("Allow", "another method")
    details = {
        ProblemType.NOT_FOUND: "there is nothing at this path: /openapi.json lists what there is",
        ProblemType.METHOD_NOT_ALLOWED: f"{request.method} is not allowed: use {allowed}",
    }
    return ProblemError(kind, details.get(kind), headers=error.headers)


def _field_error(detail: Mapping[str, Any]) -> FieldError:
    """One of pydantic's error details in our words."""
    context = detail.get("ctx", {})
    field = field_name(detail["loc"][1:])
    message = VALIDATION_MESSAGES.get(detail["type"], "{field} is not valid: see /openapi.json")
    limit = next((context[name] for name in LIMIT_KEYS if name in context), None)
    value = detail.get("input")
    shown = brief(value) if isinstance(value, int | float) else ""
    return FieldError(field=field, message=message.format(field=field, input=shown, **context), limit=limit)


def field_name(location: tuple[str | int, ...]) -> str:
    """("text", 3) -> "text[3]"; () -> "body"."""
    names = [f"[{part}]" if isinstance(part, int) else f".{str(part)[:60]}" for part in location]
    return "".join(names).removeprefix(".") or "body"
