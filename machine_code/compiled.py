"""How folds, the simulated cluster, and the loops of searches become machine code, and how stored code is identified.

A function is compiled when it is first called with arguments of certain types (:mod:`.arguments`). The compiler's
output (:mod:`.compiling`) stays in the user's cache folder, identified by everything it depends on
(:mod:`.dependence`), and later runs load it without numba, whose import and preparation take longer than checking a
small trace.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import threading
import time
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, TypeVar, cast

import numpy as np

from ..model.kernel.machine_code import Host
from .arguments import Signature, Words, text_of, words_of
from .code_cache import FileCodeCache, user_cache
from .dependence import Dependence, dependence_of
from .functions import ENTRY, Compiled

SMALL = 1 << 17
"""Up to this number of events, columns are processed without compiling anything."""

PATIENCE = 0.05
"""Seconds for each function that is compiled together with a function, plus ten more such functions, after which it was
interpreted for long enough: its next call is compiled. A function is thus never interpreted for much longer than its
compilation takes.
"""

LOG = logging.getLogger(__name__)
"""Logs, at level INFO, which function is being compiled; stored code is only loaded."""

_Function = TypeVar("_Function", bound=Callable[..., Any])

# It takes the address of the words of a call, and returns 0 on success. Other threads continue meanwhile.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)


class Entry(Compiled):
    """A compiled function that Python calls too, in any thread and concurrently; it returns a whole number or None.

    It is compiled once there is enough to do: as long as no machine code of it is stored, small calls are interpreted.
    """

    def __init__(self, function: Callable[..., Any], *, heavy: bool = False) -> None:
        super().__init__(function)
        self._heavy = heavy
        self._answers = function.__annotations__["return"] not in (None, "None")
        self._loaded: dict[Signature, _Loaded | None] = {}
        self._interpreted = 0.0  # seconds of processor time
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Call it.

        Raises:
            TypeError: an argument is no whole number, contiguous array, None, or tuple of those.
            RuntimeError: the function raised an exception.
        """
        words = words_of(arguments)
        loaded = self._loaded.get(words.signature)
        if loaded is None:
            with self._lock:
                loaded = self._load(words)
        if loaded is None:
            answer = self._interpret(words)
        else:
            loaded(words)
            answer = words.words[0]
        return answer if self._answers else None

    def _load(self, words: Words) -> _Loaded | None:
        """Its machine code for arguments of these types; None if none is stored and compiling is not worth the time."""
        loaded = self._loaded.get(words.signature)
        if loaded is not None:
            return loaded
        patience = PATIENCE * (10 + self._dependence.functions)
        is_small = not self._heavy and words.size <= SMALL and self._interpreted < patience
        if words.signature in self._loaded and is_small:
            return None
        host, kept = Host(effort=2), _kept()
        key = self._key(words.signature, host)
        code = kept.load(key)
        if code is None and not is_small:
            with kept.alone(key):
                code = kept.load(key)
                if code is None:
                    code = self._compiled(words, host)
                    kept.store(key, code)
        made = None if code is None else _Loaded(host.load(*_halves(code)), self.py_func.__qualname__)
        self._loaded[words.signature] = made
        return made

    def _compiled(self, words: Words, host: Host) -> bytes:
        from .compiling import compile_entry

        LOG.info("compiling %s", self.py_func.__qualname__)
        return _joined(*compile_entry(self, words, host))

    def _interpret(self, words: Words) -> Any:
        from .interpreting import interpret

        started = time.thread_time()
        try:
            return interpret(self, words.arguments)
        except Exception as failure:
            raise RuntimeError(f"{self.py_func.__qualname__} failed: {failure}") from failure
        finally:
            self._interpreted += time.thread_time() - started

    @cached_property
    def _dependence(self) -> Dependence:
        return dependence_of(self)

    def _key(self, signature: Signature, host: Host) -> str:
        """The key of stored code: everything on which it depends."""
        made = hashlib.sha256(self._dependence.digest)
        made.update(f"{self.py_func.__qualname__} {text_of(signature)} {host.name}".encode())
        return made.hexdigest()


class _Loaded:
    """Machine code that has been loaded."""

    def __init__(self, engine: Any, name: str) -> None:
        self._engine = engine  # the code is freed together with the engine
        self._name = name
        self._call = _PROTOTYPE(engine.get_function_address(ENTRY))

    def __call__(self, words: Words) -> None:
        failed = self._call(words.words.buffer_info()[0])
        if failed:
            raise RuntimeError(f"compiled code of {self._name} failed with status {failed}.")


def _joined(door: bytes, code: bytes) -> bytes:
    return len(door).to_bytes(8, "little") + door + code


def _halves(kept: bytes) -> tuple[bytes, bytes]:
    end = 8 + int.from_bytes(kept[:8], "little")
    return kept[8:end], kept[end:]


def entry(function: _Function) -> _Function:
    """A function that Python calls; its machine code is stored between runs, together with everything that it calls."""
    return cast(_Function, Entry(function))


def heavy(function: _Function) -> _Function:
    """The same, for a function with much to do whatever its arguments are; it is compiled at once."""
    return cast(_Function, Entry(function, heavy=True))


def part(function: _Function) -> _Function:
    """A function that only compiled functions call."""
    return cast(_Function, Compiled(function))


def hot(function: _Function) -> _Function:
    """A part that runs for most events: it is inlined, as calls with many arrays are too slow for it."""
    return cast(_Function, Compiled(function, inline=True))


int64: Any = np.int64
"""Makes a number in compiled code a 64-bit integer, as functions pass it on: there is one version of each."""


def constant(value: int) -> Any:
    """A number that compiled functions pass on: a plain one would lead to a version of each function for each value.

    Members of enumerations do not need this: ``Kind.PULL`` is such a number by itself (:func:`.functions.codes_of`).
    """
    return np.int64(value)


@cache
def _kept() -> FileCodeCache:
    # Separate from the code of configurations, of which there is so much that old files are deleted.
    return user_cache("traces")
