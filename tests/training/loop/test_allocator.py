"""Memory that was freed is used again."""

import resource
from multiprocessing import get_context

import torch

from index.malloc import keep_freed_memory

FLOATS = 8_000_000  # of 4 bytes: what glibc would take from the kernel, and give back, each time
PAGES = FLOATS * 4 // resource.getpagesize()
TIMES = 50


def faults() -> int:
    """Pages that were given to this process while it took and freed a tensor many times."""
    assert keep_freed_memory()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(TIMES):
        torch.ones(FLOATS)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_a_tensor_takes_the_memory_of_one_that_was_freed() -> None:
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(faults) < TIMES * PAGES / 3
