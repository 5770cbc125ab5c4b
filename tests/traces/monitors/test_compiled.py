"""Kept machine code is forgotten when any of its sources changes."""

from __future__ import annotations

import sys
from types import ModuleType

from numba.core.dispatcher import Dispatcher

from rocketproof.traces.compiled import digest
from rocketproof.traces.monitors import fates, queue_state, queues

HERE = "rocketproof.traces.monitors."


def compiled_modules(start: ModuleType) -> set[str]:
    """The modules that hold the compiled functions which a module uses, one way or another."""
    found: set[str] = set()
    todo = [start]
    while todo:
        module = todo.pop()
        if module.__name__ in found:
            continue
        found.add(module.__name__)
        names = {value.py_func.__module__ for value in vars(module).values() if isinstance(value, Dispatcher)}
        todo += [sys.modules[name] for name in names]
    return found


def test_all_compiled_parts_count() -> None:
    used = {name.removeprefix(HERE) for name in compiled_modules(queues) | compiled_modules(fates)}
    assert used <= set(queue_state.PARTS)
    assert len(used) > 8


def test_the_digest_is_part_of_what_every_function_gets() -> None:
    (name,) = (name for name in queue_state.TERMS.names if name.startswith("sources_"))
    assert len(name) == len("sources_") + len(digest(*queue_state.SOURCES)) == 24
