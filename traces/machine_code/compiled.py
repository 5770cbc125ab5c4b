"""How folds, the simulated cluster and other loops over events become machine code, and how kept code is told apart.

A function is compiled when it is first called with arguments of a certain form (:mod:`.arguments`). What the compiler
makes of it (:mod:`.compiling`) stays in the user's cache folder, found by all it depends on (:mod:`.dependence`), and
later runs load it without numba, whose import and preparation take longer than checking a small trace.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from ...model.kernel.code_cache import FileCodeCache, user_cache
from ...model.kernel.machine_code import Host
from .arguments import Form, Words, text_of, words_of
from .dependence import dependence_of
from .functions import ENTRY, Compiled

LOG = logging.getLogger(__name__)
"""Is told, at level INFO, which function is being compiled; code that was kept is only loaded."""

_Function = TypeVar("_Function", bound=Callable[..., Any])

# It takes the address of the words of a call, and returns 0 if all went well. Other threads go on meanwhile.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)


class Entry(Compiled):
    """A compiled function that Python calls too, in any thread and beside others; it answers a whole number or None."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._answers = function.__annotations__["return"] not in (None, "None")
        self._loaded: dict[Form, _Loaded] = {}
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Call it.

        Raises:
            TypeError: an argument is no whole number, array without gaps, or named tuple of those.
        """
        words = words_of(arguments)
        loaded = self._loaded.get(words.form)
        if loaded is None:
            with self._lock:
                loaded = self._loaded.get(words.form)
                if loaded is None:
                    loaded = self._loaded[words.form] = self._load(words)
        loaded(words)
        return words.words[0] if self._answers else None

    def _load(self, words: Words) -> _Loaded:
        host, kept = Host(effort=2), _kept()
        key = self._key(words.form, host)
        door, code = kept.load(f"{key}-entry"), kept.load(key)
        if door is None or code is None:
            from .compiling import compile_entry

            LOG.info("compiling %s", self.py_func.__qualname__)
            door, code = compile_entry(self, words, host)
            kept.store(f"{key}-entry", door)
            kept.store(key, code)
        return _Loaded(host.load(door, code), self.py_func.__qualname__)

    def _key(self, form: Form, host: Host) -> str:
        """What kept code is found by: all that it depends on."""
        made = hashlib.sha256(dependence_of(self))
        made.update(f"{self.py_func.__qualname__} {text_of(form)} {host.name}".encode())
        return made.hexdigest()


class _Loaded:
    """Machine code that has been loaded."""

    def __init__(self, engine: Any, name: str) -> None:
        self._engine = engine  # the code goes when the engine goes
        self._name = name
        self._call = _PROTOTYPE(engine.get_function_address(ENTRY))

    def __call__(self, words: Words) -> None:
        failed = self._call(words.words.buffer_info()[0])
        if failed:
            raise RuntimeError(f"compiled code of {self._name} failed with status {failed}.")


def entry(function: _Function) -> _Function:
    """A function that Python calls; its machine code is kept between runs, together with all that it calls."""
    return cast(_Function, Entry(function))


def part(function: _Function) -> _Function:
    """A function that only compiled functions call."""
    return cast(_Function, Compiled(function))


def hot(function: _Function) -> _Function:
    """A part that runs for most events: calls with many arrays are too slow for it."""
    return cast(_Function, Compiled(function, inline=True))


int64: Any = np.int64
"""Makes a number of compiled code one of 64 bits, as all that functions hand on are, lest there be several of each."""


def constant(value: int) -> Any:
    """A number that compiled functions hand on: a plain one would make a version of each function for each value."""
    return np.int64(value)


@cache
def _kept() -> FileCodeCache:
    # Apart from code of searches, of which there is so much that old files have to go.
    return user_cache("traces")
