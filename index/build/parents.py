"""What a process does when the one that started it has ended: a killed parent tells its children nothing."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import wait
from threading import Thread


def when_parent_ends(act: Callable[[], None]) -> None:
    """Call `act`, in a thread of this process, once its parent has ended, however that comes.

    The parent is that of `multiprocessing`; in a process that has none nothing is done.
    """
    if parent := multiprocessing.parent_process():
        sentinel = parent.sentinel

        def watch() -> None:
            wait([sentinel])
            act()

        Thread(target=watch, daemon=True).start()
