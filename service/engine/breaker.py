"""Leaving alone what failed: used for Redis, which the service can do without."""

import logging
import time

log = logging.getLogger("passepartout.redis")


class Breaker:
    """Says whether to try: after a failure not for `pause` seconds, then one try before all the others.

    `meanwhile` is what the log says that the service does without Redis.
    """

    def __init__(self, pause: float, meanwhile: str) -> None:
        self._pause, self._meanwhile = pause, meanwhile
        self._closed_until: float | None = None

    def allows(self) -> bool:
        if self._closed_until is None:
            return True
        now = time.monotonic()
        if now < self._closed_until:
            return False
        self._closed_until = now + self._pause  # the others wait for what this one finds
        return True

    def worked(self) -> None:
        if self._closed_until is not None:
            log.warning("Redis answers again")
        self._closed_until = None

    def failed(self, error: BaseException) -> None:
        if self._closed_until is None:
            log.warning("Redis failed (%s): %s", type(error).__name__, self._meanwhile)
        self._closed_until = time.monotonic() + self._pause
