"""API keys: random strings, of which the service stores only hashes.

    python -m service.http.keys NAME

makes one: it prints the key, for the client, and its entry for the setting `api_keys`. A key has 256 random
bits, so it cannot be guessed, and one round of SHA-256 is enough.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping

import click

KEY_ENTRY = re.compile(r"([a-z0-9-]{1,32}):([0-9a-f]{64})")
ADMIN_PREFIX = "/admin"


class Keys:
    """The accepted keys, by name."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = dict(digests)

    @classmethod
    def parse(cls, entries: str) -> "Keys":
        """Parse "name:sha256, name:sha256"; ValueError for anything else."""
        matches = [KEY_ENTRY.fullmatch(entry.strip()) for entry in entries.split(",")]
        pairs = [match.groups() for match in matches if match]
        if len(pairs) < len(matches) or len({name for name, _ in pairs}) < len(pairs):
            raise ValueError(
                "must be name:sha256 entries, comma-separated, as `python -m service.http.keys` prints"
            )
        return cls({name: bytes.fromhex(digest) for name, digest in pairs})

    def __bool__(self) -> bool:
        return bool(self._digests)

    def name_of(self, key: str) -> str | None:
        """The name of a key; None if it is not accepted. Takes the same time for every key."""
        digest = _digest(key)
        name = None
        for candidate, known in self._digests.items():
            if hmac.compare_digest(digest, known):
                name = candidate
        return name


def is_admin(path: str) -> bool:
    """Whether a path always needs an admin's key."""
    return path == ADMIN_PREFIX or path.startswith(f"{ADMIN_PREFIX}/")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


@click.command()
@click.argument("name")
def main(name: str) -> None:
    """Make an API key for the client NAME (lower-case letters, digits and hyphens)."""
    key = secrets.token_urlsafe(32)
    entry = f"{name}:{_digest(key).hex()}"
    if not KEY_ENTRY.fullmatch(entry):
        raise click.UsageError(f"NAME is {name!r}: use 1 to 32 lower-case letters, digits and hyphens")
    click.echo(f"key, for the client:      {key}")
    click.echo(f"entry, for the setting:   {entry}")


if __name__ == "__main__":
    main()
