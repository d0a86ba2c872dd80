"""The OpenAPI document: FastAPI's, completed with problem documents and the limits of this deployment."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from service.http.problems import MEDIA_TYPE, ProblemType
from service.schemas import Problem, SentenceRequest, WordRequest
from service.settings import Settings

SCHEMA_REFERENCE = "#/components/schemas/{model}"
# The two ways to send a key, declared for routes that need one whatever the settings are.
SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
NEEDS_A_KEY: dict[str, Any] = {"security": [{scheme: []} for scheme in SECURITY_SCHEMES]}

router = APIRouter(include_in_schema=False)


def problem_responses(*kinds: ProblemType) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can fail with these problems."""
    responses: dict[int | str, dict[str, Any]] = {}
    for kind in kinds:
        example = {
            "summary": kind.title,
            "value": {"type": kind.type, "title": kind.title, "status": kind.status, "detail": kind.meaning},
        }
        content = {"schema": {"$ref": SCHEMA_REFERENCE.format(model="Problem")}, "examples": {}}
        response = responses.setdefault(
            kind.status, {"description": kind.title, "content": {MEDIA_TYPE: content}}
        )
        response["content"][MEDIA_TYPE]["examples"][kind.slug] = example
    return responses


def json_body(model: str) -> dict[str, Any]:
    """The `openapi_extra` of a route that reads this model itself, with `read_model`."""
    schema = {"$ref": SCHEMA_REFERENCE.format(model=model)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def describe(app: FastAPI, settings: Settings) -> Callable[[], dict[str, Any]]:
    """The function for `app.openapi`, which makes the document once."""

    @cache
    def document() -> dict[str, Any]:
        openapi = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        openapi["components"]["securitySchemes"] = SECURITY_SCHEMES
        _add_path_problems(openapi["paths"])
        _add_models(openapi["components"]["schemas"])
        _add_limits(openapi["components"]["schemas"], settings)
        return openapi

    return document


@router.api_route("/openapi.json", methods=["GET", "HEAD"])
async def openapi(request: Request) -> Response:
    """Serve the document, which is made in a thread, since that would block the event loop for too long."""
    return await asyncio.to_thread(lambda: JSONResponse(request.app.openapi()))


def _add_path_problems(paths: dict[str, dict[str, Any]]) -> None:
    """Document that any path can be refused, since it may contain control characters."""
    for path, operations in paths.items():
        for operation in operations.values() if "{" in path else ():
            operation["responses"].setdefault("400", problem_responses(ProblemType.BAD_REQUEST)[400])


def _add_models(schemas: dict[str, Any]) -> None:
    for model in (Problem, SentenceRequest, WordRequest):
        schema = model.model_json_schema(ref_template=SCHEMA_REFERENCE)
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema


def _add_limits(schemas: dict[str, Any], settings: Settings) -> None:
    for model, field, characters in (
        ("SentenceRequest", "text", settings.max_characters),
        ("WordRequest", "word", settings.max_word_characters),
    ):
        properties = schemas[model]["properties"]
        _limit_list(properties[field], settings.max_texts, {"maxLength": characters})
        _limit_list(properties["target"], settings.max_targets, {})
        properties["k"]["maximum"] = settings.max_k


def _limit_list(schema: dict[str, Any], max_items: int, item_limits: dict[str, int]) -> None:
    single, several = schema["anyOf"]
    single |= item_limits
    several["items"] = several["items"] | item_limits
    several["maxItems"] = max_items
