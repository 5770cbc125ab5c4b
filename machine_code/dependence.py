"""What machine code of a function depends on: the function and all it refers to, and the compiler.

Nothing of it is listed by hand. A function is identified by its instructions, and by the value of each global name that
they read: another compiled function in the same way, a number, table or record type by its content. Every change that
affects the machine code therefore counts, and a change of a comment does not.
"""

from __future__ import annotations

import builtins
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from importlib.util import find_spec
from opcode import EXTENDED_ARG, opmap
from pathlib import Path
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any, NamedTuple

import llvmlite
import numpy as np

from ..model.kernel import machine_code
from .functions import Compiled, Instruction

_LOAD_GLOBAL = opmap["LOAD_GLOBAL"]
_OUTSIDE = frozenset({"builtins", "math", "numpy"})
"""Packages that are identified by their version."""


class Dependence(NamedTuple):
    """What machine code of a function depends on, except the types of its arguments and the processor."""

    digest: bytes  # digest of all of it
    functions: int  # number of functions that are compiled with it, including itself: a measure of the compile time


def dependence_of(function: Compiled) -> Dependence:
    """What machine code of a function depends on.

    Raises:
        TypeError: the function refers to something for which changes cannot be detected.
    """
    made, known, waiting = hashlib.sha256(_compiler()), {id(function)}, [function]
    for each in waiting:
        said, parts = _said_of(each.py_func)
        made.update(f"{each.inline} {said}\n".encode())
        for other in parts:
            if id(other) not in known:
                known.add(id(other))
                waiting.append(other)
    return Dependence(made.digest(), len(waiting))


@cache
def _said_of(function: Callable[..., Any]) -> tuple[str, tuple[Compiled, ...]]:
    """A function as text, and the other ones to which it refers, in the order of the text."""
    parts: list[Compiled] = []
    given: Any = function
    said = [_said(function, given.__defaults__, parts), _said(function, given.__kwdefaults__, parts)]
    for code in _codes(given.__code__):
        constants = [item for item in code.co_consts if not isinstance(item, CodeType) and item is not given.__doc__]
        said.append(f"{code.co_code.hex()} {constants!r} {code.co_names} {code.co_varnames} {code.co_freevars}")
        for name in _globals(code):
            value = given.__globals__.get(name, getattr(builtins, name, None))
            said.append(f"{name}={_said(function, value, parts)}")
    closure = given.__closure__ or ()
    said += [_said(function, cell.cell_contents, parts) for cell in closure]
    return "\n".join(said), tuple(parts)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _codes(item)


def _globals(code: CodeType) -> list[str]:
    """The global names that are read, in order."""
    instructions, arguments = code.co_code[::2], code.co_code[1::2]
    names: dict[str, None] = {}
    at = instructions.find(_LOAD_GLOBAL)
    while at >= 0:
        number, before = arguments[at], at - 1
        while before >= 0 and instructions[before] == EXTENDED_ARG:
            number |= arguments[before] << 8 * (at - before)
            before -= 1
        names[code.co_names[number >> 1]] = None  # the lowest bit is not part of the name
        at = instructions.find(_LOAD_GLOBAL, at + 1)
    return list(names)


def _said(function: Callable[..., Any], value: Any, parts: list[Compiled]) -> str:
    """A value to which a function refers, as text that differs from that of other values."""
    kind = type(value)
    if isinstance(value, Compiled):
        parts.append(value)
        return f"function {value.py_func.__qualname__}"
    if isinstance(value, Instruction):
        return f"instruction {value.typed.__qualname__} {_file_of(value.typed.__module__).hex()}"
    if isinstance(value, Enum):
        return f"{kind.__qualname__}.{value.name}={value.value!r}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype)):
        return f"{kind.__qualname__} {value!r}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype!r} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"{kind.__qualname__}({', '.join(_said(function, item, parts) for item in value)})"
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(_said(function, item, parts) for item in value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{name!r}: {_said(function, item, parts)}' for name, item in value.items())})"
    if isinstance(value, type) and issubclass(value, tuple):
        return f"{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, type) and issubclass(value, Enum):
        return f"{value.__qualname__}({', '.join(_said(function, item, parts) for item in value)})"
    if isinstance(value, ModuleType) and value.__name__ in _OUTSIDE:
        return f"module {value.__name__}"
    if isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        module = getattr(value, "__module__", None) or "numpy"
        if module.partition(".")[0] in _OUTSIDE:
            return f"{module}.{value.__name__}"
    raise TypeError(
        f"{function.__qualname__} refers to {value!r}, and nobody could tell whether kept machine code of it is still "
        "right; let it refer to compiled functions, numbers, arrays, tuples and types of records only."
    )


@cache
def _file_of(module: str) -> bytes:
    """Digest of the text of a module: an instruction depends on how it is emitted."""
    return hashlib.sha256(Path(str(sys.modules[module].__file__)).read_bytes()).digest()


@cache
def _compiler() -> bytes:
    """What makes machine code: numba and what it builds on, its options, and the text of this package."""
    made = hashlib.sha256(f"{sys.version} {np.__version__} {llvmlite.__version__}".encode())
    # The file in which numba has its version: importing numba for it takes longer than loading a function.
    found = find_spec("numba")
    assert found is not None
    assert found.origin is not None
    made.update(Path(found.origin).with_name("_version.py").read_bytes())
    made.update(
        "".join(f"{name}={os.environ[name]} " for name in sorted(os.environ) if name.startswith("NUMBA_")).encode()
    )
    for file in (*sorted(Path(__file__).parent.glob("*.py")), Path(str(machine_code.__file__))):
        made.update(file.read_bytes())
    return made.digest()
