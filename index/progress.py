"""Progress of long work on standard error: a bar on a terminal, else a line every few seconds.

Who does the work for others hears of it instead: `with heard_by(listener): ...`.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TextIO

BAR_WIDTH = 24
TERMINAL_SECONDS = 0.1
LINE_SECONDS = 5.0
HEARD_SECONDS = 0.5


@dataclass(frozen=True)
class Step:
    """How far one part of the work is: `done` of `total` units."""

    label: str
    done: int
    total: int
    unit: str


Listener = Callable[[Step], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell the listener, at most every half second, what would be shown; what it raises ends the work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class Progress:
    """`with Progress(total, unit="sentences", label="encode") as bar: bar.advance(n)`."""

    def __init__(self, total: int, *, unit: str, label: str, stream: TextIO | None = None) -> None:
        self.total, self.unit, self.label = total, unit, label
        self.done = 0
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._listener = _listener.get()
        self._every = TERMINAL_SECONDS if self._terminal else LINE_SECONDS
        if self._listener:
            self._every = HEARD_SECONDS

    def __enter__(self) -> "Progress":
        self._start = self._shown = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Work that failed has nothing to tell but its error, nor to show if it failed at once.
        if kind is None or (self._shown > self._start and not self._listener):
            self._show(end=True)

    def advance(self, count: int = 1) -> None:
        """Count work as done; shows it when enough time has passed."""
        self.done += count
        if time.monotonic() - self._shown >= self._every:
            self._show()

    def _show(self, end: bool = False) -> None:
        self._shown = time.monotonic()
        if self._listener:
            self._listener(Step(self.label, self.done, self.total, self.unit))
            return
        line = self._line(self._shown - self._start, end)
        if self._terminal:
            self._stream.write(f"\r\x1b[K{line}" + ("\n" if end else ""))
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def _line(self, seconds: float, end: bool) -> str:
        rate = self.done / seconds if seconds > 0 else 0.0
        share = self.done / self.total if self.total else 1.0
        filled = min(BAR_WIDTH, int(BAR_WIDTH * share))
        bar = f" [{'#' * filled}{'.' * (BAR_WIDTH - filled)}]" if self._terminal else ""
        time_text = f"in {duration(seconds)}" if end else f"{duration(self._left(rate))} left"
        return f"{self.label}{bar} {self.done}/{self.total} {self.unit} ({rate:,.0f}/s, {time_text})"

    def _left(self, rate: float) -> float | None:
        return max(0, self.total - self.done) / rate if rate else None


def duration(seconds: float | None) -> str:
    """Seconds for people: 9s, 1m05s, 2h03m; `?` where unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
