"""glibc's allocator, set so that what a long-running service frees goes back to the system."""

import ctypes

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # parameters of mallopt(3), of <malloc.h>
MAPPED_BYTES = 1 << 20  # blocks from this size on are mapped one by one, and returned when they are freed


def return_freed_memory() -> None:
    """Have large blocks returned when they are freed, and all threads share one heap for the others.

    Left alone, glibc raises the size from which it maps blocks up to 32 MiB, and gives threads heaps of
    their own: both keep what a large request took. Other C libraries have no mallopt and go on as before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def trim_heap() -> None:
    """Return the free pages of the heap, after work that took much in small blocks."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
