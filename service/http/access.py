"""Who may ask: pages and keys, checked before anything of a body is read."""

from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.keys import Keys, is_admin
from service.http.page import PAGE_FILES
from service.http.problems import ProblemError, ProblemType

# Paths that need no key. All others do, including any added later.
OPEN_PATHS = frozenset(
    {
        *PAGE_FILES,
        *("/openapi.json", "/languages"),
        *("/health", "/health/live", "/health/ready"),
    }
)
OPEN_PREFIXES = ("/problems/", "/download_file/")  # a file's address is random, and the key to it
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# LibreTranslate clients send the key in the body; the routes for these paths call `check_body_key`.
KEY_IN_BODY = frozenset({"/translate", "/translate_file", "/detect"})


class Access:
    """ASGI middleware: 401 where a needed key is missing or wrong.

    403 for what a page of another site sends without being allowed to.
    The state of a request has the name of its key, sent as `Authorization: Bearer` or `X-API-Key`.
    """

    def __init__(self, app: ASGIApp, keys: Keys, admins: Keys, origins: Collection[str] = ()) -> None:
        self.app, self.keys, self.admins, self.origins = app, keys, admins, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(scope)
            except ProblemError as problem:
                await problem.response(scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        path, headers = scope["path"], dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        allowed = scope["method"] in SAFE_METHODS or "*" in self.origins or origin in self.origins
        if headers.get(b"sec-fetch-site") == b"cross-site" and not allowed:
            raise ProblemError(ProblemType.FOREIGN_PAGE)
        needs_key = is_admin(path) or (bool(self.keys) and not is_open(path))
        key = _key_of(headers) if needs_key else None
        # Admins' paths need an admin's key. Both are compared, whichever it is.
        admin, user = (None, None) if key is None else (self.admins.name_of(key), self.keys.name_of(key))
        name = admin or (None if is_admin(path) else user)
        scope["state"]["key"] = name
        if needs_key and name is None and (key is not None or path not in KEY_IN_BODY):
            raise _unauthorised()


def is_open(path: str) -> bool:
    """Whether a path needs no key."""
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIXES)


def check_body_key(request: Request, key: object) -> None:
    """Check `key`, from the body of a request whose headers have none. Raises ProblemError.

    To be called before anything else in the body is processed.
    """
    keys: Keys = request.app.state.settings.keys
    state = request.scope["state"]
    if not keys or state["key"] is not None:
        return
    state["key"] = keys.name_of(key if isinstance(key, str) else "")
    if state["key"] is None:
        raise _unauthorised()


def _unauthorised() -> ProblemError:
    return ProblemError(ProblemType.UNAUTHORISED, headers={"WWW-Authenticate": "Bearer"})


def _key_of(headers: Mapping[bytes, bytes]) -> str | None:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    key = token.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key")
    return None if key is None else key.decode("latin-1")
