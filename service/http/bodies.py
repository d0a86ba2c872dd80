"""Bodies of LibreTranslate's protocol, whose clients send JSON, a form or a query as they like."""

import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from service.http.problems import ProblemError, ProblemType

MAX_FORM_BYTES = 131_072  # of a URL-encoded form, which takes far longer to decode than JSON
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"
MULTIPART_TYPE = "multipart/form-data"
OCTET_STREAM = "application/octet-stream"
# What OpenAPI says of a route that takes a file.
A_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as it is, compressed or not.",
        "content": {OCTET_STREAM: {"schema": {"type": "string", "format": "binary", "minLength": 1}}},
    }
}
# A head of a form that leaves nothing to choose: another charset would be decoded by whatever codec it names.
FORM_HEADER = re.compile(
    r"(multipart/form-data|application/x-www-form-urlencoded)"
    r'( *; *(boundary=("[^"]{1,70}"|[^ ";]{1,70})|charset="?utf-8"?))* *;? *',
    re.IGNORECASE,
)
BOUNDARY = re.compile(r'boundary="?([^ ";]+)', re.IGNORECASE)
LONGEST_HEADER = 200  # characters of a Content-Type
MAX_HEAD_BYTES = 1024  # of a form's part: its time is quadratic in its semicolons
MAX_HEADS_BYTES = 32_768  # of all parts


def validation_error(error: ValidationError) -> RequestValidationError:
    """The error that FastAPI raises for an invalid body."""
    return RequestValidationError(
        [{**detail, "loc": ("body", *detail["loc"])} for detail in error.errors(include_url=False)]
    )


async def read_fields(request: Request, max_fields: int) -> dict[str, Any]:
    """Read the fields of a JSON body or of a form with at most `max_fields` fields.

    Without a body, the fields of the query. A field that a form repeats becomes a list. Raises ProblemError.
    """
    content_type = media_type(request.headers.get("content-type", ""))
    if content_type == JSON_TYPE:
        return parse_object(await request.body())
    if content_type not in (FORM_TYPE, MULTIPART_TYPE, ""):
        raise unsupported(content_type, "application/json or as a form")
    if content_type == MULTIPART_TYPE:
        async with multipart_form(request, max_files=0, max_fields=max_fields) as form:
            return _gather(form.multi_items())
    _check_form_header(request)
    try:
        # Some LibreTranslate clients send the fields in the query of a POST without a body.
        body = await request.body() or request.scope["query_string"]
        if len(body) > MAX_FORM_BYTES:
            detail = f"the form is longer than {MAX_FORM_BYTES} bytes: send it as JSON, or split the request"
            raise ProblemError(ProblemType.BODY_TOO_LARGE, detail)
        return _gather(
            parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=max_fields)
        )
    except ValueError:
        detail = f"body is not a form in UTF-8 of at most {max_fields} fields: see /openapi.json"
        raise ProblemError(ProblemType.BAD_REQUEST, detail) from None


@asynccontextmanager
async def multipart_form(request: Request, *, max_files: int, max_fields: int) -> AsyncIterator[FormData]:
    """The fields and files of a form with boundaries. Raises ProblemError.

    All that costs much is refused before the form is parsed: other charsets, many parts, long heads.
    """
    _check_form_header(request)
    boundaries = BOUNDARY.findall(request.headers.get("content-type", ""))
    heads = _part_heads(await request.body(), boundaries[0].encode() if boundaries else b"")
    detail = f"body is not a form of at most {max_fields} fields and {max_files} files: see /openapi.json"
    problem = ProblemError(ProblemType.BAD_REQUEST, detail)
    too_long = max(heads, default=0) > MAX_HEAD_BYTES or sum(heads) > MAX_HEADS_BYTES
    if too_long or len(heads) > max_fields + max_files or len(boundaries) > 1:
        raise problem
    try:
        form = await request.form(max_files=max_files, max_fields=max_fields)
    except HTTPException:  # Starlette's, of a form that it cannot read
        raise problem from None
    except OSError:  # long files are on disk while they are read
        raise ProblemError(ProblemType.DISK_FULL) from None
    try:
        yield form
    finally:
        await form.close()


def _part_heads(body: bytes, boundary: bytes) -> list[int]:
    """The length of the head of each part of a form."""
    parts = body.split(b"--" + boundary)[1:] if boundary else []
    return [len(part.partition(b"\r\n\r\n")[0]) for part in parts if not part.startswith(b"--")]


def _check_form_header(request: Request) -> None:
    """Raise ProblemError for a form that is in another charset than UTF-8, or may be."""
    header = request.headers.get("content-type", "")
    if header and (len(header) > LONGEST_HEADER or not FORM_HEADER.fullmatch(header)):
        detail = "the Content-Type of a form may have a boundary and the charset UTF-8: encode it so"
        raise ProblemError(ProblemType.BAD_REQUEST, detail)


def media_type(content_type: str) -> str:
    """`Text/HTML; charset=utf-8` -> `text/html`."""
    return content_type.partition(";")[0].strip().lower()


def unsupported(content_type: str, wanted: str, accepted: str = JSON_TYPE) -> ProblemError:
    """The problem of a body of another type than `wanted`."""
    return ProblemError(
        ProblemType.UNSUPPORTED_MEDIA_TYPE,
        f"Content-Type is {content_type[:80] or 'missing'}: send the body as {wanted}",
        headers={"Accept": accepted},
    )


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object. Raises ProblemError."""
    try:
        document = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        detail = "body is empty: send a JSON object" if not body else f"body is not JSON in UTF-8: {error}"
        raise ProblemError(ProblemType.BAD_JSON, detail) from None
    if not isinstance(document, dict):
        raise ProblemError(ProblemType.INVALID_REQUEST, "body must be a JSON object, as in /openapi.json")
    return document


def _gather(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, list[object]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
