"""Other commands of the front door, each in a process of its own: what one uses or breaks is gone with it."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable

from index.errors import PassepartoutError

PREFIX = "passepartout: "  # of the line that says what went wrong
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, prctl(2)


def call(*arguments: object, threads: int | None = None) -> None:
    """`passepartout ARGUMENTS`; its progress stays visible, its results are read from files.

    It ends when this process does, even when that is killed: nothing may go on writing into a folder that the
    next run goes on with. Raises PassepartoutError with what the command said when it failed.
    """
    words = [sys.executable, "-P", "-m", "passepartout", *map(str, arguments)]
    env = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    said = ""
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=_ends_with(os.getpid()),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            said = line.strip() or said
    if process.returncode:
        why = said.removeprefix(PREFIX) if said.startswith(PREFIX) else _ending(process.returncode, said)
        raise PassepartoutError(f"{' '.join(map(str, arguments[:2]))}: {why}")


def _ends_with(parent: int) -> Callable[[], None]:
    """What the child does before it becomes the command: ask the kernel for its end with its parent's."""
    prctl = ctypes.CDLL(None).prctl  # found here: between fork and exec there is no time for the loader

    def ask() -> None:
        prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # which died before the kernel was asked
            os._exit(1)

    return ask


def _ending(code: int, said: str) -> str:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}: repeat the command, with more memory if it is killed"
    return f"exit code {code}: {said}"
