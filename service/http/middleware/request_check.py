"""Refuses requests that a server or a proxy could interpret differently, and queries of very many options."""

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.problems import ProblemError, ProblemType

CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
CLOSE_HEADER = {"Connection": "close"}


class RequestCheck:
    """ASGI middleware: 400 for a path with control characters, for CONNECT, for an upgrade with a body, and
    for a query of more than `max_options` options.

    A route's pattern matches a path with a final line feed, but a proxy's exact location does not. After
    CONNECT or an upgrade, uvicorn would interpret a body as the next request, so the connection is closed.
    FastAPI parses the query of every route: 15,000 options took 60 ms.
    """

    def __init__(self, app: ASGIApp, max_options: int) -> None:
        self.app, self._max_options = app, max_options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (problem := _problem(scope, self._max_options)):
            await problem.response(scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _problem(scope: Scope, max_options: int) -> ProblemError | None:
    if CONTROL_CHARACTERS.search(scope["path"]):
        return ProblemError(ProblemType.BAD_REQUEST, "the path has a control character: leave it out")
    if scope["query_string"].count(b"&") >= max_options:
        return ProblemError(ProblemType.BAD_REQUEST, f"the query has more than {max_options} options")
    if scope["method"] == "CONNECT":
        return ProblemError(
            ProblemType.BAD_REQUEST, "this is no proxy: CONNECT is not for it", headers=CLOSE_HEADER
        )
    if _asks_for_upgrade(scope) and _has_body(scope):
        detail = "there is no other protocol here: send the request without `Connection: Upgrade`"
        return ProblemError(ProblemType.BAD_REQUEST, detail, headers=CLOSE_HEADER)
    return None


def _asks_for_upgrade(scope: Scope) -> bool:
    return any(name == b"connection" and b"upgrade" in value.lower() for name, value in scope["headers"])


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
        for name, value in scope["headers"]
    )
