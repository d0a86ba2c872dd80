"""The C library's memory allocator, told of a process that trains."""

import ctypes
import sys

# Of <malloc.h>: mallopt's names for its parameters.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = 2**31 - 1  # bytes free at the end of the heap before they are given back


def keep_freed_memory() -> bool:
    """Let this process use memory again that it has freed, not give it back; whether that could be set.

    Each training step frees tensors of megabytes, which glibc hands to the kernel at once: the next step gets
    them back as pages that fault and are zeroed one by one, a third to a half of the time of a step on a CPU.
    Other C libraries are left as they are.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER))
