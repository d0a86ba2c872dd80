"""Something that happens in a while unless it is called off, for next to nothing."""

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `act` when it was started and not stopped for `seconds`.

    To set and cancel a timer of the loop for every request takes as long as to read it. So one that is set
    stays when this is stopped or started anew, and what is due is looked at when it rings.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, act: Callable[[], None]) -> None:
        self._loop, self._seconds, self._act = loop, seconds, act
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None

    def start(self) -> None:
        """Unless it has been started."""
        if self._due is None:
            self.put_off(self._seconds)

    def put_off(self, seconds: float) -> None:
        """Start anew, with another time."""
        self._due = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._ring)

    def stop(self) -> None:
        self._due = None

    def end(self) -> None:
        """Stop for good: nothing refers to what would be done any more."""
        self._due = None
        self._act = _nothing
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._ring)
        else:
            self._due = None
            self._act()


def _nothing() -> None:
    pass
