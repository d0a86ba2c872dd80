"""The reference at /docs: the OpenAPI document as one HTML page, without scripts or external files.

FastAPI's own page loads Swagger UI from an external server, which a self-hosted service may not reach.
"""

import asyncio
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from service.http.page import PAGE_HEADERS

router = APIRouter(include_in_schema=False)

DOCS_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: the API</title>
<link rel="stylesheet" href="/style.css">
<body class="reference">
<main>
<h1>{title}: the API</h1>
<p>{description} For programs: <a href="/openapi.json">/openapi.json</a>.</p>
{operations}
</main>
</body>
</html>
"""


@router.api_route("/docs", methods=["GET", "HEAD"])
async def docs(request: Request) -> Response:
    """The page, made in a thread as the document is."""
    page = await asyncio.to_thread(lambda: render(request.app.openapi()))
    return HTMLResponse(page, headers=PAGE_HEADERS)


def render(document: dict[str, Any]) -> str:
    """Render an OpenAPI document as HTML: each operation with its body, responses and problems."""
    operations = (
        _operation(f"{method.upper()} {path}", operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    info = {name: escape(document["info"][name]) for name in ("title", "description")}
    return DOCS_PAGE.format(**info, operations="\n".join(operations))


def _operation(name: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    return (
        f"<section><h2><code>{escape(name)}</code></h2><p><strong>{escape(operation['summary'])}</strong> "
        f"{escape(operation.get('description', ''))}</p>{''.join(_parts(operation, document))}</section>"
    )


def _parts(operation: dict[str, Any], document: dict[str, Any]) -> Iterator[str]:
    """The request body and the responses of an operation, collapsed."""
    if parameters := operation.get("parameters"):
        rows = (f"{item['name']} ({item['in']}) {item.get('description', '')}" for item in parameters)
        yield f"<ul>{''.join(f'<li>{escape(row)}</li>' for row in rows)}</ul>"
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield _folded(f"Body: {media_type}", _resolved(content["schema"], document))
    for status, response in operation["responses"].items():
        for content in response.get("content", {}).values():
            title = f"{status}: {response['description']}"
            yield _folded(title, _resolved(content.get("schema", {}), document))


def _folded(title: str, schema: object) -> str:
    text = escape(json.dumps(schema, ensure_ascii=False, indent=1))
    return f"<details><summary>{escape(title)}</summary><pre>{text}</pre></details>"


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> object:
    """A schema in which references are replaced by what they refer to."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"].get(name, schema)
