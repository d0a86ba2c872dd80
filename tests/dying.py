"""Processes of their own that kill themselves at the moment when a part of what they do becomes durable."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

# Forked from a process that has imported what takes long: a child begins in milliseconds.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["index.build.changes"])


def never(count: int) -> bool:
    return False


def run_apart(due: Callable[[int], bool], act: Callable[..., object], *given: object) -> tuple[int, int]:
    """Call `act` in a process that dies at the durable call (fsync, rename, replace) whose number is due.

    Returns its exit code, and how many such calls it came to.
    """
    count = FORKS.RawValue("i", 0)
    process = FORKS.Process(target=_run, args=(count, due, act, given))
    process.start()
    process.join()
    return process.exitcode or 0, count.value


def _run(count, due, act, given) -> None:  # noqa: ANN001
    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*args: object, **kwargs: object) -> object:
            count.value += 1
            if due(count.value):
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return wrapped

    # Checksums of files that have not changed for a while are remembered, durably, too: sometimes.
    os.environ["XDG_CACHE_HOME"] = os.devnull
    os.fsync, os.rename, Path.replace = map(counted, (os.fsync, os.rename, Path.replace))  # type: ignore[assignment]
    act(*given)
