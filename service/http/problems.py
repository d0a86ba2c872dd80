"""Errors as RFC 9457 problem documents: the closed catalogue of what the service may say went wrong."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from index.errors import Fault
from service.schemas.problems import ERRORS_SHOWN, FieldError, Problem

MEDIA_TYPE = "application/problem+json"
# LibreTranslate's own paths, where errors have its shape and the statuses that its clients know.
LIBRETRANSLATE_PATHS = frozenset({"/translate", "/translate_file", "/detect", "/health"})
LONGEST_NUMBER = 40  # digits of one that is repeated in a message
RETRY_AFTER = 1  # seconds after which a refused client may try again
LIBRETRANSLATE_STATUS = {401: 403, 415: 400, 422: 400}


class ProblemType(Enum):
    """Every kind of problem: its HTTP status and what it means. Its `type` and title are made of its name."""

    BAD_JSON = 400, "The body must be a JSON document in UTF-8."
    BAD_REQUEST = 400, "The request could not be read."
    UNAUTHORISED = (
        401,
        "This service needs an API key: send it as `Authorization: Bearer KEY` or `X-API-Key: KEY`.",
    )
    FOREIGN_PAGE = 403, "A page of another site may not send this unless cors_origins names its origin."
    NOT_FOUND = 404, "There is nothing at this path."
    METHOD_NOT_ALLOWED = 405, "This path does not take this method; the Allow header lists those it takes."
    TOO_SLOW = 408, "The body took too long to arrive: send it in one go."  # docker/nginx.conf says so
    NO_JOBS = 409, "Changes over HTTP need a Redis: set PASSEPARTOUT_JOBS_URL and run `passepartout jobs`."
    OUTDATED = 412, "The index has another version than If-Match names: read it again, then send the change."
    BODY_TOO_LARGE = 413, "The body is larger than the service accepts."
    UNSUPPORTED_MEDIA_TYPE = 415, "The body must be sent as Content-Type: application/json."
    INVALID_REQUEST = 422, "A field is missing, unknown, of the wrong type or too large: see `errors`."
    UNKNOWN_LANGUAGE = 422, "The index does not have this language; `errors` lists those it has."
    UNDETECTED_LANGUAGE = 422, "The language of the text could not be detected: give `source`."
    INTERNAL_ERROR = 500, "The service failed; the log has the details."
    OVERLOADED = 503, "Too many requests are waiting: try again after Retry-After seconds."
    STORE_UNREACHABLE = 503, "The index's Milvus does not answer: try again after Retry-After seconds."
    JOBS_UNREACHABLE = 503, "The jobs' Redis is away or full: try again after Retry-After seconds."
    NOT_READY = 503, "The index is not open yet, or is being closed: try again shortly."
    DISK_FULL = 507, "There is no room for a file: use uploads that wait, or free space, then send it again."

    def __init__(self, status: int, meaning: str) -> None:
        self.status = status
        self.meaning = meaning
        self.slug = self.name.lower().replace("_", "-")
        self.title = self.name.capitalize().replace("_", " ")

    @property
    def type(self) -> str:
        return f"/problems/{self.slug}"


# What OpenAPI says of every route: whatever goes wrong is a problem document.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem: see `type`.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class ProblemError(HTTPException):
    """Ends a request with a problem document; `detail` defaults to the meaning of its kind."""

    def __init__(
        self,
        kind: ProblemType,
        detail: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        detail = detail or kind.meaning
        super().__init__(kind.status, detail, headers)
        self.problem = Problem(
            type=kind.type,
            title=kind.title,
            status=kind.status,
            detail=detail,
            errors=list(errors[:ERRORS_SHOWN]) or None,
        )

    @classmethod
    def of_fields(cls, kind: ProblemType, errors: Sequence[FieldError | Fault]) -> "ProblemError":
        """Make one problem for all `errors`; its detail quotes the first three."""
        messages = "; ".join(error.message for error in errors[:3])
        more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
        fields = [FieldError(**vars(error)) for error in errors[:ERRORS_SHOWN]]
        return cls(kind, messages + more, errors=fields)

    def response(self, scope: Scope) -> Response:
        """The response to a request: a problem document, or LibreTranslate's error object on its paths."""
        if scope["path"] in LIBRETRANSLATE_PATHS:
            status = LIBRETRANSLATE_STATUS.get(self.problem.status, self.problem.status)
            return JSONResponse({"error": self.problem.detail}, status, self.headers)
        document = self.problem.model_copy(update={"request_id": scope.get("state", {}).get("request_id")})
        return Response(
            document.model_dump_json(exclude_none=True),
            self.problem.status,
            self.headers,
            MEDIA_TYPE,
        )


def brief(number: float) -> str:
    """A number as a message shows it: shortened if it has very many digits."""
    text = str(number)
    return text if len(text) <= LONGEST_NUMBER else f"{text[:LONGEST_NUMBER]}..."


def invalid(field: str, message: str, limit: int | None = None) -> ProblemError:
    """The problem of a request with a field that is not allowed, or beyond its limit."""
    error = FieldError(field=field, message=message, limit=limit)
    return ProblemError.of_fields(ProblemType.INVALID_REQUEST, [error])


def unavailable(kind: ProblemType = ProblemType.OVERLOADED, seconds: int = RETRY_AFTER) -> ProblemError:
    """The problem of a request that may be sent again, when so many seconds have passed: 503."""
    return ProblemError(kind, headers={"Retry-After": str(seconds)})
