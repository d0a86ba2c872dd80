"""glibc's allocator, set for what a process does. Other C libraries lack mallopt(3) and go on as before."""

import ctypes

# mallopt's names for its parameters, of <malloc.h>.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -3, -4, -8
NEVER_TRIM = 2**31 - 1  # free bytes at the end of the heap before they are given back


def return_freed_memory() -> None:
    """Have large blocks returned when they are freed, and all threads share one heap: for a service.

    Left alone, glibc raises the size from which it maps blocks one by one up to 32 MiB, and gives threads
    heaps of their own: both keep what a large request took.
    """
    _set(M_ARENA_MAX, 1)
    _set(M_MMAP_THRESHOLD, 1 << 20)


def trim_heap() -> None:
    """Return the free pages of the heap, after work that took much in small blocks."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


def keep_freed_memory() -> bool:
    """Keep what this process frees; returns whether that could be set: for training on a CPU.

    Each training step frees tensors of megabytes, which glibc returns to the kernel at once: the next step
    gets them back as pages that fault and are zeroed one by one, a third to a half of the time of a step.
    """
    return _set(M_MMAP_MAX, 0) and _set(M_TRIM_THRESHOLD, NEVER_TRIM)


def _set(parameter: int, value: int) -> bool:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(parameter, value))
