"""Waiting for what another process, thread or task does: by looking again, with a deadline."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
LOOK_AGAIN = 0.02  # seconds


class Server:
    """A process that serves, which can be frozen and killed."""

    _process: "subprocess.Popen[bytes]"

    def freeze(self) -> None:
        """Stop it, and wait until it stands still: before, it may answer once more."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def until(
    condition: Callable[[], Value], missing: str, seconds: float = 60, *, every: float = LOOK_AGAIN
) -> Value:
    """Call `condition` until its result is true, and return that; fail with `missing` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"after {seconds} s: {missing}"
        time.sleep(every)
    return value


async def until_in_loop(condition: Callable[[], object], missing: str, seconds: float = 10) -> None:
    """As `until`, for what other tasks of the running event loop do."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"after {seconds} s: {missing}"
        await asyncio.sleep(0.001)


async def tasks_begun() -> None:
    """Let every task that was created run until it first waits."""
    await asyncio.sleep(0)
