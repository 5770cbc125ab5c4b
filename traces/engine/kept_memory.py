"""Memory that a process keeps after use: reading a trace and checking it need the same amount."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_KEPT = ((-3, 16 << 20), (-1, 512 << 20))
"""M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of <malloc.h>, bytes."""


def keep_freed_memory() -> None:
    """Make this process, for the rest of its life, keep freed memory, and let Arrow use the same allocator as numpy.

    Memory freed by reading a trace is then reused for checking it: new pages cost more than the work on them. Without
    GNU's C library, nothing changes. A library must not do this to a process, but a command or a worker may do it to
    its own.
    """
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for parameter, value in _KEPT:
            library.mallopt(parameter, value)
        import pyarrow

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
