"""Connections to Redis with short timeouts, and a circuit breaker that pauses them after a failure."""

import logging
import time
from typing import Any

log = logging.getLogger("passepartout.redis")


def async_options(timeout: float, *, connect: float | None = None) -> dict[str, Any]:
    """Options of an asyncio connection with timeouts, in seconds, for answers and for connecting.

    It does not retry, which redis-py would by default do for many seconds.
    """
    from redis.asyncio.retry import Retry  # redis costs memory: only where it is used
    from redis.backoff import NoBackoff

    return {
        "protocol": 2,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout if connect is None else connect,
        "retry": Retry(NoBackoff(), 0),
    }


class Breaker:
    """A circuit breaker: after a failure, forbids attempts for `pause` seconds, then allows a single one.

    `fallback`, for the log, is what the service does without Redis.
    """

    def __init__(self, pause: float, fallback: str) -> None:
        self._pause, self._fallback = pause, fallback
        self._closed_until: float | None = None

    def allows(self) -> bool:
        if self._closed_until is None:
            return True
        now = time.monotonic()
        if now < self._closed_until:
            return False
        self._closed_until = now + self._pause  # others wait for the outcome of this attempt
        return True

    def worked(self) -> None:
        if self._closed_until is not None:
            log.warning("Redis answers again")
        self._closed_until = None

    def failed(self, error: BaseException) -> None:
        if self._closed_until is None:
            log.warning("Redis failed (%s): %s", type(error).__name__, self._fallback)
        self._closed_until = time.monotonic() + self._pause
