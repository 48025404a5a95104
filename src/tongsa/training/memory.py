"""Keep freed memory in the process: a training allocates the same large buffers thousands of times over.

glibc gives large buffers back to the system at once, which then hands them out again page by zeroed page. Elsewhere
than on glibc this does nothing.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # <malloc.h>


def keep_freed_memory() -> None:
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(_TOP_PAD, 64 << 20)
