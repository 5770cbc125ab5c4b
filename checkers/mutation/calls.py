"""Calls: which functions of the model an action may call, judged by names; possibly too many, but never too few."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...model.kernel import Definition, Machine, Rule


def called_by(machine: Machine, actions: Iterable[str]) -> set[types.CodeType]:
    """Code of the named actions and of all functions they may call."""
    waiting: list[types.FunctionType] = [machine.actions[name].function for name in actions]  # type: ignore[misc]
    found: set[types.CodeType] = set()
    while waiting:
        function = waiting.pop()
        if function.__code__ in found:
            continue
        found.add(function.__code__)
        for name in _names(function.__code__):
            called = function.__globals__.get(name)
            if isinstance(called, Definition):
                replaced = machine.replacements.get(called.name)
                waiting.extend(item for item in (called.function, replaced) if isinstance(item, types.FunctionType))
            elif isinstance(called, types.FunctionType):
                waiting.append(called)
            elif isinstance(called, Rule):
                waiting.append(called.__wrapped__)  # type: ignore[attr-defined]
            elif isinstance(called, type) or (called is not None and hasattr(called, "__wrapped__")):
                inner = vars(called).values() if isinstance(called, type) else (called.__wrapped__,)
                waiting.extend(item for item in inner if isinstance(item, types.FunctionType))
    return found


@contextmanager
def calls_noted() -> Iterator[set[types.CodeType]]:
    """The code of all functions that are called inside the block."""
    found: set[types.CodeType] = set()

    def note(frame: types.FrameType, event: str, _argument: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            names |= _names(item)
    return names
