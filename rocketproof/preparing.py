"""What stands between the command and its work: code that is compiled once and kept, and libraries nobody needs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder

from .traces.machine_code.compiled import LOG


def pyarrow_without_pandas() -> None:
    """Let pyarrow believe, for the rest of this process, that pandas is not installed.

    It imports pandas where it can as soon as a list becomes an array, which takes as long as checking a small trace.
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


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=name)


class _Teller(logging.Handler):
    """Says it when the first function is compiled; what is found in the cache compiles nothing."""

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
    """Tell whoever watches standard error that ``what`` is being compiled, if it is, and that it takes ``about``."""
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
