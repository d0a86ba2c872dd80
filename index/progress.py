"""Progress of long work on standard error: click's bar on a terminal, else a line every few seconds.

A caller can listen instead: `with heard_by(listener): ...`.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TextIO

import click

LINE_SECONDS = 5.0
HEARD_SECONDS = 0.5


@dataclass(frozen=True)
class ProgressStep:
    """How far one part of the work is: `done` of `total` units."""

    label: str
    done: int
    total: int
    unit: str


Listener = Callable[[ProgressStep], None]
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
        self._stream, self._listener = stream or sys.stderr, _listener.get()
        self._terminal = self._stream.isatty() and not self._listener
        self._every = HEARD_SECONDS if self._listener else LINE_SECONDS
        self._bar: Any = click.progressbar(
            length=total,
            label=label,
            file=self._stream,
            show_pos=True,
            item_show_func=lambda _: unit,
            hidden=not self._terminal,
        )

    def __enter__(self) -> "Progress":
        self._start = self._shown = time.monotonic()
        self._bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        # Work that failed has nothing to tell but its error.
        if kind is None:
            self._show(end=True)
        self._bar.__exit__(kind, *error)

    def advance(self, count: int = 1) -> None:
        """Count work as done; shows it when enough time has passed."""
        self.done += count
        if self._terminal:
            self._bar.update(count, self.unit)
        elif time.monotonic() - self._shown >= self._every:
            self._show()

    def _show(self, end: bool = False) -> None:
        self._shown = time.monotonic()
        if self._listener:
            self._listener(ProgressStep(self.label, self.done, self.total, self.unit))
        elif not self._terminal:
            seconds = self._shown - self._start
            left = seconds * max(0, self.total - self.done) / max(1, self.done)
            timing = f"in {duration(seconds)}" if end else f"{duration(left)} left"
            rate = self.done / seconds if seconds else 0
            told = f"{self.label} {self.done}/{self.total} {self.unit} ({rate:,.0f}/s, {timing})"
            self._stream.write(f"{told}\n")
            self._stream.flush()


def duration(seconds: float) -> str:
    """Seconds for people: 9s, 1m05s, 2h03m."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
