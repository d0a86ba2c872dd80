"""The page at /: files of the package, read once, with a policy that lets nothing else in."""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

WEB_FOLDER = Path(__file__).parents[1] / "web"
PAGE_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    **{f"/{path.name}": (path.name, "text/javascript; charset=utf-8") for path in WEB_FOLDER.glob("*.js")},
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/favicon.svg": ("favicon.svg", "image/svg+xml"),
}
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def page_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for path, (name, media_type) in PAGE_FILES.items():
        answer = _serving((WEB_FOLDER / name).read_bytes(), media_type)
        router.add_api_route(path, answer, methods=["GET", "HEAD"])
    return router


def _serving(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = PAGE_HEADERS | {"ETag": tag}

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)

    return answer
