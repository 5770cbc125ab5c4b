"""Kept machine code is forgotten when any of its sources changes."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from rocketproof.traces.machine_code.compiled import Compiled, digest
from rocketproof.traces.monitors import message_status, messages, queue_state, queues, retry_status, retry_terms


def compiled_modules(start: ModuleType) -> set[str]:
    """The modules that hold the compiled functions which a module uses, one way or another."""
    found: set[str] = set()
    todo = [start]
    while todo:
        module = todo.pop()
        if module.__name__ in found:
            continue
        found.add(module.__name__)
        names = {value.py_func.__module__ for value in vars(module).values() if isinstance(value, Compiled)}
        todo += [sys.modules[name] for name in names]
    return found


@pytest.mark.parametrize(
    ("starts", "sources"),
    [((queues, message_status), queue_state.SOURCES), ((messages, retry_status), retry_terms.SOURCES)],
    ids=["by queue", "by message"],
)
def test_all_compiled_parts_count(starts: tuple[ModuleType, ...], sources: tuple[str, ...]) -> None:
    used = {name.removeprefix("rocketproof.") for start in starts for name in compiled_modules(start)}
    assert used <= set(sources)
    assert len(used) > 8


def test_the_digest_is_part_of_what_every_function_gets() -> None:
    (name,) = (name for name in queue_state.TERMS.names if name.startswith("sources_"))
    assert len(name) == len("sources_") + len(digest(*queue_state.SOURCES)) == 24
