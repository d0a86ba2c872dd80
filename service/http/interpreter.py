"""Python's interpreter, told of a process that serves."""

import gc
import sys

YOUNG = 10_000  # new objects, less freed ones, after which the collector looks; 700 by default
# Seconds after which the thread that runs lets another. By default 0.005: a batch takes Python's lock some
# five times for long, and on a busy event loop would wait so long each time.
SWITCH = 0.0002


def prepare_to_serve() -> None:
    """Let the collector look at what requests make alone, and threads take turns sooner.

    A request makes no cycles of its own, so its objects are freed without the collector, which took a tenth
    of the time of the event loop to look at what is there for good.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
    sys.setswitchinterval(SWITCH)
