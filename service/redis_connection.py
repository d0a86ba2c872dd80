"""Connections to Redis that are given up soon, since requests are answered whatever Redis does."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar

log = logging.getLogger("passepartout.redis")

REDIS_SECONDS = 0.02  # until Redis must answer
Result = TypeVar("Result")


def async_options(seconds: float | None = None) -> dict[str, Any]:
    """Options of an asyncio connection that waits at most `seconds` to connect, and for each answer.

    REDIS_SECONDS if left out. It does not retry, which redis-py would by default do for many seconds.
    """
    from redis.asyncio.retry import Retry  # redis costs memory: only where it is used
    from redis.backoff import NoBackoff

    seconds = REDIS_SECONDS if seconds is None else seconds
    return {
        "protocol": 2,
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
    }


class Attempts:
    """Awaits what Redis may fail to do; the log says when it begins to fail, and when it answers again.

    `fallback`, for the log, is what the service does without Redis.
    """

    def __init__(self, fallback: str) -> None:
        self._fallback, self._failing = fallback, False

    async def result(self, act: Awaitable[Result]) -> Result | None:
        """Await `act` for at most REDIS_SECONDS; None if Redis fails in whatever way."""
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                result = await act
        except Exception as error:
            if not self._failing:
                log.warning("Redis failed (%s): %s", type(error).__name__, self._fallback)
            self._failing = True
            return None
        if self._failing:
            log.warning("Redis answers again")
        self._failing = False
        return result
