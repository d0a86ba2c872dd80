"""Python's collector of cycles, told of a process that serves."""

import gc

YOUNG = 10_000  # new objects, less freed ones, after which it looks; 700 by default


def spare_the_collector() -> None:
    """Let it look at what requests make alone: what is there already stays, and is large.

    A request makes no cycles of its own, so its objects are freed without the collector, which took a tenth
    of the time of the event loop.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
