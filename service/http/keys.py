"""API keys: random strings, of which the service holds hashes alone.

    python -m service.http.keys NAME

makes one: it prints the key, for the client, and its entry for the setting `api_keys`. A key is 256 random
bits, so one round of SHA-256 is enough: there is nothing to guess.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Mapping

import click
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.http.page import FILES as PAGE
from service.http.problems import ProblemError, ProblemType

ENTRY = re.compile(r"([a-z0-9-]{1,32}):([0-9a-f]{64})")
# What needs no key. Everything else does, also what is added later.
OPEN = frozenset(
    {
        *PAGE,
        *("/openapi.json", "/languages", "/tmserver/languages/", "/frontend/settings"),
        *("/health", "/health/live", "/health/ready"),
    }
)
OPEN_BELOW = "/problems/"
ADMIN = "/admin"
# LibreTranslate's clients send the key in the body: their routes call `check_key`.
KEY_IN_BODY = frozenset({"/translate", "/detect"})


class Keys:
    """The keys that are let in, by name."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = dict(digests)

    @classmethod
    def parse(cls, entries: str) -> "Keys":
        """From "name:sha256, name:sha256"; ValueError for anything else."""
        found = [ENTRY.fullmatch(entry.strip()) for entry in entries.split(",")]
        pairs = [match.groups() for match in found if match]
        if len(pairs) < len(found) or len({name for name, _ in pairs}) < len(pairs):
            raise ValueError(
                "must be name:sha256 entries, comma-separated, as `python -m service.http.keys` prints"
            )
        return cls({name: bytes.fromhex(digest) for name, digest in pairs})

    def __bool__(self) -> bool:
        return bool(self._digests)

    def name_of(self, key: str) -> str | None:
        """The name of a key, None for one that is not let in; takes as long whichever it is."""
        digest = _digest(key)
        name = None
        for candidate, kept in self._digests.items():
            if hmac.compare_digest(digest, kept):
                name = candidate
        return name


class KeyCheck:
    """ASGI middleware: 401 without a key, in `Authorization: Bearer` or `X-API-Key`, where one is needed."""

    def __init__(self, app: ASGIApp, keys: Keys, admins: Keys) -> None:
        self.app = app
        self.keys, self.admins = keys, admins

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http" or _needs_none(scope["path"], self.keys):
            return self.app(scope, receive, send)
        return self._checked(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            admit(scope, self.keys, self.admins)
        except ProblemError as refused:
            await refused.response(scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def admit(scope: Scope, keys: Keys, admins: Keys) -> None:
    """Note in a request's state whose key it has, None where that is in the body.

    ProblemError where it needs one and has none.
    """
    path = scope["path"]
    if _needs_none(path, keys):
        return
    given = _given(scope)
    name = None if given is None else _name_of(given, path, keys, admins)
    if name is None and (given is not None or path not in KEY_IN_BODY):
        raise refusal()
    scope.setdefault("state", {})["key"] = name


def _needs_none(path: str, keys: Keys) -> bool:
    return not is_admin(path) and (not keys or is_open(path))


def _name_of(key: str, path: str, keys: Keys, admins: Keys) -> str | None:
    """An admin's key opens everything, another all but what is the admins'."""
    admin = admins.name_of(key)
    name = keys.name_of(key)
    return admin or (None if is_admin(path) else name)


def is_admin(path: str) -> bool:
    """Whether a path is for the keys of admins alone, which are never none."""
    return path == ADMIN or path.startswith(f"{ADMIN}/")


def is_open(path: str) -> bool:
    """Whether a path needs no key."""
    return path in OPEN or path.startswith(OPEN_BELOW)


async def check_key(request: Request, key: str | None) -> None:
    """For a route with the key in its body: ProblemError unless that, or the one in the headers, is right and
    has not been used too often.
    """
    keys: Keys = request.app.state.keys
    state = request.scope["state"]
    if not keys or state.get("key") is not None:
        return
    name = state["key"] = keys.name_of(key or "")
    if request.app.state.rates is not None:  # what is not let in counts for its address
        await request.app.state.rates.count(request.scope)
    if name is None:
        raise refusal()


def refusal() -> ProblemError:
    kind = ProblemType.UNAUTHORISED
    return ProblemError(kind, kind.meaning, headers={"WWW-Authenticate": "Bearer"})


def _given(scope: Scope) -> str | None:
    headers = dict(scope["headers"])
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    found = token.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key")
    return None if found is None else found.decode("latin-1")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


@click.command()
@click.argument("name")
def main(name: str) -> None:
    """Make an API key for the client NAME (lower-case letters, digits and hyphens)."""
    key = secrets.token_urlsafe(32)
    entry = f"{name}:{_digest(key).hex()}"
    if not ENTRY.fullmatch(entry):
        raise click.UsageError(f"NAME is {name!r}: use 1 to 32 lower-case letters, digits and hyphens")
    click.echo(f"key, for the client:      {key}")
    click.echo(f"entry, for the setting:   {entry}")


if __name__ == "__main__":
    main()
