"""Checks the API keys of requests that need one."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.keys import Keys, is_admin
from service.http.page import PAGE_FILES as PAGE
from service.http.problems import ProblemError, ProblemType

# Paths that need no key. All others do, including any added later.
OPEN_PATHS = frozenset(
    {
        *PAGE,
        *("/openapi.json", "/docs", "/languages", "/tmserver/languages/", "/frontend/settings"),
        *("/health", "/health/live", "/health/ready"),
    }
)
OPEN_PREFIXES = ("/problems/", "/download_file/")  # a file's address is random, and the key to it
# LibreTranslate clients send the key in the body; the routes for these paths call `check_body_key`.
KEY_IN_BODY = frozenset({"/translate", "/translate_file", "/detect"})


class ApiKeyCheck:
    """ASGI middleware: 401 if a needed key is not in `Authorization: Bearer` or `X-API-Key`.

    Stores the name of the key in the request's state; None if the key is in the body.
    """

    def __init__(self, app: ASGIApp, keys: Keys, admins: Keys) -> None:
        self.app = app
        self.keys, self.admins = keys, admins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._needs_key(scope["path"]):
            key = _key_of(scope)
            name = None if key is None else self._name_of(key, scope["path"])
            if name is None and (key is not None or scope["path"] not in KEY_IN_BODY):
                await unauthorised().response(scope)(scope, receive, send)
                return
            scope.setdefault("state", {})["key"] = name
        await self.app(scope, receive, send)

    def _needs_key(self, path: str) -> bool:
        return is_admin(path) or (bool(self.keys) and not is_open(path))

    def _name_of(self, key: str, path: str) -> str | None:
        """The name of a key if it is valid for a path: admins' paths need an admin's key."""
        admin = self.admins.name_of(key)
        name = self.keys.name_of(key)
        return admin or (None if is_admin(path) else name)


def is_open(path: str) -> bool:
    """Whether a path needs no key."""
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIXES)


def key_is_in_body(scope: Scope) -> bool:
    """Whether the route itself will check the key and count the request (`check_body_key`)."""
    state = scope.get("state", {})
    return "key" in state and state["key"] is None


async def check_body_key(request: Request, key: object) -> None:
    """Check and count the key of a request, in the headers or else `key` from the body. Raises ProblemError.

    To be called before anything else in the body is processed.
    """
    if not key_is_in_body(request.scope):
        return
    state = request.scope["state"]
    name = state["key"] = request.app.state.keys.name_of(key if isinstance(key, str) else "")
    if request.app.state.rates is not None:  # requests with a wrong key count for their address
        await request.app.state.rates.count(request.scope)
    if name is None:
        raise unauthorised()


def unauthorised() -> ProblemError:
    return ProblemError(ProblemType.UNAUTHORISED, headers={"WWW-Authenticate": "Bearer"})


def _key_of(scope: Scope) -> str | None:
    headers = dict(scope["headers"])
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    key = token.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key")
    return None if key is None else key.decode("latin-1")
