"""Where Milvus is, and asking it with a time limit.

In the environment: PASSEPARTOUT_MILVUS is where Milvus is, whatever an index says; PASSEPARTOUT_MILVUS_TOKEN
("user:password" or a key) is sent there, and nowhere that only an index names.
"""

import logging
import os
import re
import time
from functools import cache
from threading import Lock
from typing import Any

from index.errors import StoreError, UsageError

ADDRESS = re.compile(
    r"milvus(?P<tls>\+tls)?://(?P<place>(?:[A-Za-z0-9.-]*[A-Za-z0-9]|\[[0-9A-Fa-f:]+\]):[0-9]{1,5})/?"
)
ELSEWHERE, TOKEN = "PASSEPARTOUT_MILVUS", "PASSEPARTOUT_MILVUS_TOKEN"
QUERY_SECONDS = 3.0  # an answer is waited for, at least
FAILURE_PAUSE = 1.0  # seconds for which a Milvus that failed is not asked again


def uri_of(address: str) -> str:
    """The address of a server as pymilvus has it. UsageError for an invalid one."""
    parts = ADDRESS.fullmatch(address)
    if parts is None or int(parts["place"].rpartition(":")[2]) > 65535:
        secret = f"; a password belongs into {TOKEN}" if "@" in address else ""
        raise UsageError(
            f"{address.rpartition('@')[2]!r} is not the address of a Milvus server: give milvus://HOST:PORT "
            f"or milvus+tls://HOST:PORT{secret}"
        )
    return f"{'https' if parts['tls'] else 'http'}://{parts['place']}"


class Connection:
    """A connection to Milvus. After a failure it pauses for FAILURE_PAUSE seconds, then connects again."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self._uri, self._token = address, uri_of(address), token
        self._client, self._lock, self._closed_until, self.failures = None, Lock(), 0.0, 0

    def call(self, method: str, *values: Any, seconds: float = 0, **named: Any) -> Any:  # noqa: ANN401
        """Call a method of MilvusClient. Raises StoreError, one line, within `seconds`."""
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        if time.monotonic() < self._closed_until:
            raise StoreError(f"Milvus at {self.address} did not answer just now: is it running?")
        try:
            limit = max(QUERY_SECONDS, seconds)
            return getattr(self._connected(), method)(*values, timeout=limit, **named)
        # grpc's errors, deadlines among them, have no other class in common.
        except (MilvusException, OSError, ValueError, RuntimeError, RpcError) as error:
            self._closed_until = time.monotonic() + FAILURE_PAUSE
            self.failures += 1
            with self._lock:
                client, self._client = self._client, None
            if client is not None:
                client.close()
            details = getattr(error, "details", None)  # of grpc's
            told = str(details() if callable(details) else getattr(error, "message", "") or error).strip()
            reason = (told or type(error).__name__).splitlines()[0][:200]
            raise StoreError(f"Milvus at {self.address}: {reason}: is it running?") from error

    def _connected(self) -> Any:  # noqa: ANN401 (pymilvus is untyped)
        from pymilvus import MilvusClient

        with self._lock:
            if self._client is None:
                # A pool of its own: a shared one would make a new client wait as long as the one that failed.
                # No pings: every call has a time limit, and milvus-lite drops those who ping it.
                options = {"grpc.use_local_subchannel_pool": 1, "grpc.keepalive_time_ms": 600_000}
                named = {"timeout": QUERY_SECONDS, "dedicated": True, "grpc_options": options}
                self._client = MilvusClient(self._uri, token=self._token, **named)
            return self._client


def connect(address: str) -> Connection:
    """Connect to an address. UsageError for invalid settings."""
    elsewhere, token = os.environ.get(ELSEWHERE, ""), os.environ.get(TOKEN, "")
    if token and not elsewhere:
        raise UsageError(f"{TOKEN} is set, but not for which server: set {ELSEWHERE}={address} too")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # our own errors say the same in one line
    return _connection(elsewhere or address, token)


# Shared by all languages and versions, so that all of them know of a failure.
_connection = cache(Connection)
