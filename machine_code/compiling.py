"""The compiler: what numba makes of a function for arguments of certain types, as object code that can be stored.

Nothing else imports numba at its start, which takes long; see :mod:`.compiled`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum, EnumMeta
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import imputils
from numba.core.registry import cpu_target
from numba.core.typing import templates
from numba.extending import intrinsic, models, register_model, typeof_impl
from numba.np import arrayobj

from ..model.kernel.machine_code import Host
from .arguments import Words
from .functions import ENTRY, Compiled, Instruction, codes_of

# Numba's annotations do not cover all of it.
_njit: Any = numba.njit
_type_of: Any = numba.typeof
_types: Any = numba.types
_arrays: Any = arrayobj
_implementations: Any = imputils
_templates: Any = templates
_intrinsic: Any = intrinsic
_cpu: Any = cpu_target

# Without `_nrt` the compiler does not count references to arrays, which would otherwise take most of the time: nothing
# is allocated, and all arrays belong to the caller.
_OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_WORD = ir.IntType(64)

_ALONE = threading.RLock()
"""A lock: numba begins to compile before it takes its own lock, and takes none for later queries."""

_OF_C = frozenset({"memcpy", "memmove", "memset", "memcmp", "bcmp"})
"""Functions outside the object code that it may call: those that every process has."""


def dispatcher_of(function: Callable[..., Any], *, inline: bool) -> Any:
    """A function as a numba dispatcher; nothing is compiled yet."""
    return _njit(forceinline=inline, **_OPTIONS)(function)


def intrinsic_of(typed: Callable[..., Any]) -> Any:
    """An instruction as a numba intrinsic."""
    return _intrinsic(typed)


def compile_entry(function: Compiled, words: Words, host: Host) -> tuple[bytes, bytes]:
    """Object code of a function for arguments of given types: of ENTRY, and of what it calls.

    Raises:
        TypeError: it needs something at run time that only numba has, such as an array of its own.
    """
    wanted = tuple(_type_of(argument) for argument in words.arguments)
    with _ALONE:
        function.dispatcher.compile(wanted)
        made = function.dispatcher.overloads[wanted]
        _name, _form, (code, text) = made.library.serialize_using_object_code()
        module = binding.parse_bitcode(text)
        outside = {item.name for item in (*module.functions, *module.global_variables) if item.is_declaration}
        missing = sorted(name for name in outside - _OF_C if not name.startswith("llvm."))
        if missing:
            raise TypeError(f"{function.py_func.__qualname__} needs {', '.join(missing)}, and could not be kept.")
        return _door(made, host), code


@typeof_impl.register(Compiled)
def _type_of_compiled(function: Compiled, _context: object) -> Any:
    return _types.Dispatcher(function.dispatcher)


@typeof_impl.register(Instruction)
def _type_of_instruction(instruction: Instruction, _context: object) -> Any:
    made = instruction.intrinsic
    _cpu.typing_context.refresh()  # numba looks for new ones only before it begins to compile
    return _cpu.typing_context.resolve_value_type(made)


class _Words(numba.types.Opaque):
    """An enumeration whose members are 64-bit integers: see :func:`.functions.codes_of`."""

    def __init__(self, words: type[Enum]) -> None:
        self.codes = codes_of(words)
        super().__init__(f"{words.__module__}.{words.__qualname__}")


register_model(_Words)(models.OpaqueModel)


@typeof_impl.register(EnumMeta)
def _type_of_words(words: type[Enum], _context: object) -> Any:
    return _Words(words)


def _words(context: Any, _builder: Any, _type: Any, _value: object) -> Any:
    return context.get_dummy_value()


@_templates.infer_getattr
class _TypeOfWord(_templates.AttributeTemplate):  # type: ignore[misc]
    key = _Words

    def generic_resolve(self, words: _Words, name: str) -> Any:
        return _types.int64 if name in words.codes else None


def _word(context: Any, _builder: Any, words: _Words, _value: object, name: str) -> Any:
    return context.get_constant(_types.int64, words.codes[name])


_implementations.lower_constant(_Words)(_words)
_implementations.lower_getattr_generic(_Words)(_word)


def _door(made: Any, host: Host) -> bytes:
    """Object code of the function ENTRY.

    It takes the address of words (see :mod:`.arguments`), calls numba's function with the arguments that they describe,
    writes the result into the first of them, and returns 0 on success.
    """
    context, called = made.target_context, made.fndesc
    module: ir.Module = context.create_module(ENTRY)
    door = ir.Function(module, ir.FunctionType(ir.IntType(32), [_WORD]), ENTRY)
    builder = ir.IRBuilder(door.append_basic_block())
    pointer = builder.inttoptr(door.args[0], _WORD.as_pointer())
    reader = _Reader(context, builder, pointer)
    with context.push_code_library(made.library):
        status, answer = context.call_conv.call_function(
            builder,
            context.declare_function(module, called),
            called.restype,
            called.argtypes,
            [reader.value(wanted) for wanted in called.argtypes],
        )
        if called.restype != _types.none:
            builder.store(context.cast(builder, answer, called.restype, _types.int64), pointer)
    builder.ret(status.code)
    code: bytes = host.target.emit_object(binding.parse_assembly(str(module)))
    return code


class _Reader:
    """Emits code that reads one word after the other, from the second one on."""

    def __init__(self, context: Any, builder: Any, pointer: Any) -> None:
        self._context, self._builder, self._pointer = context, builder, pointer
        self._at = 0

    def value(self, wanted: Any) -> Any:
        """Code for the value of a type."""
        if isinstance(wanted, _types.Array):
            return self._array(wanted)
        if isinstance(wanted, _types.NoneType):
            return self._context.get_dummy_value()
        if isinstance(wanted, _types.BaseTuple):
            return self._context.make_tuple(self._builder, wanted, [self.value(item) for item in wanted])
        return self._context.cast(self._builder, self._word(), _types.int64, wanted)

    def _word(self) -> Any:
        self._at += 1
        place = self._builder.gep(self._pointer, [_WORD(self._at)], source_etype=_WORD)
        return self._builder.load(place, typ=_WORD)

    def _array(self, wanted: Any) -> Any:
        context, builder = self._context, self._builder
        made = _arrays.make_array(wanted)(context, builder)
        data = builder.inttoptr(self._word(), made.data.type)
        shape = [self._word() for _ in range(wanted.ndim)]
        size = _WORD(context.get_abi_sizeof(context.get_data_type(wanted.dtype)))
        strides = [size]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        _arrays.populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return made._getvalue()
