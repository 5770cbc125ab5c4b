"""Preparations between a command and its work: code that is compiled once and kept, and unneeded libraries."""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder

from ..machine_code.compiled import LOG

_KEPT = ((-3, 16 << 20), (-1, 512 << 20))
"""M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of <malloc.h>, bytes."""


def pyarrow_without_pandas() -> None:
    """Make pyarrow believe, for the rest of this process, that pandas is not installed.

    Otherwise it imports pandas as soon as a list becomes an array, which takes as long as checking a small trace.
    """
    if "pandas" in sys.modules:
        return
    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        import pyarrow

        pyarrow.array([])
    finally:
        sys.meta_path.remove(hidden)


def keep_freed_memory() -> None:
    """Make this process, for the rest of its life, keep freed memory, and let Arrow use the same allocator as numpy.

    Memory freed by reading a trace is then reused for checking it: new pages cost more than the work on them. Without
    GNU's C library, nothing changes. A library must not do this to a process; a command that owns the process may.
    """
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for parameter, value in _KEPT:
            library.mallopt(parameter, value)
        import pyarrow

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=name)


class _Teller(logging.Handler):
    """Prints it when the first function is compiled; cached code compiles nothing."""

    def __init__(self, what: str, about: str) -> None:
        super().__init__()
        self._told = False
        self._text = f"preparing {what}, once: this takes about {about}"

    def emit(self, record: logging.LogRecord) -> None:
        if not self._told:
            self._told = True
            print(self._text, file=sys.stderr)


@contextmanager
def preparing(what: str, about: str) -> Iterator[None]:
    """Report on standard error, if a terminal is watched, that ``what`` is being compiled, if it is, and that it takes
    ``about``.
    """
    if not sys.stderr.isatty():
        yield
        return
    teller, level = _Teller(what, about), LOG.level
    LOG.addHandler(teller)
    LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(teller)
        LOG.setLevel(level)
