"""Calls of machine code from compiled search loops, and hints to the processor's cache."""

from __future__ import annotations

from typing import Any

from ...machine_code.functions import Instruction

NOT_FOUND = -1
"""Position of something that a search has not found."""


# numba and LLVM are imported where something is compiled: loading kept code takes much less time without them.
def _call_successors(typing_context: Any, address: Any, state: Any, out: Any, tags: Any) -> Any:
    """Call the native successor function at ``address``."""
    from numba import types

    return types.int64(address, state, out, tags), _emit_call


def _call_properties(typing_context: Any, address: Any, state: Any) -> Any:
    """Call the native property function at ``address``."""
    from numba import types

    return types.int64(address, state), _emit_call


def _call_with_result(typing_context: Any, address: Any, state: Any, out: Any) -> Any:
    """Call a native function at ``address`` that writes its result for a state to ``out``."""
    from numba import types

    return types.int64(address, state, out), _emit_call


def _prefetch(typing_context: Any, address: Any) -> Any:
    """Ask the processor to load the cache line at ``address``."""
    from numba import types

    return types.void(address), _emit_prefetch


def _emit_call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    word = ir.IntType(64)
    function_type = ir.FunctionType(word, [word] * (len(args) - 1))
    return builder.call(builder.inttoptr(args[0], function_type.as_pointer()), list(args[1:]))


def _emit_prefetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
    number = ir.IntType(32)
    function_type = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], function_type)
    builder.call(function, [pointer, number(0), number(3), number(1)])
    return context.get_dummy_value()


call_successors: Any = Instruction(_call_successors)
call_properties: Any = Instruction(_call_properties)
call_with_result: Any = Instruction(_call_with_result)
prefetch: Any = Instruction(_prefetch)
