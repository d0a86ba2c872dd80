"""Draining: after SIGTERM the service continues for a moment and tells its clients to reconnect elsewhere."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def draining_on_sigterm(stopping: asyncio.Event, seconds: float) -> Iterator[None]:
    """On SIGTERM, set `stopping`, and pass the signal to the server `seconds` later; a second one at once.

    The server's handler is the one that is installed when the context is entered.
    """
    if threading.current_thread() is not threading.main_thread():  # only that one receives signals
        yield
        return
    loop = asyncio.get_running_loop()
    stop_server = signal.getsignal(signal.SIGTERM)

    def drain(number: int, frame: FrameType | None) -> None:
        if stopping.is_set() or not seconds:
            stop()
        else:
            loop.call_soon_threadsafe(begin)

    def begin() -> None:
        stopping.set()
        loop.call_later(seconds, stop)

    def stop() -> None:
        stopping.set()
        if callable(stop_server):
            stop_server(signal.SIGTERM, None)

    signal.signal(signal.SIGTERM, drain)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, stop_server)
