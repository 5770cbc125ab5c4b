"""Preparations between a command and its work: code that is compiled once and kept, and unneeded libraries."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder

from ..machine_code.compiled import LOG


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
    """Tell on standard error, if a terminal is watched, that ``what`` is being compiled, if so, and for how long."""
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
