"""Calls of machine code from compiled search loops, and hints to the processor's cache."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

NOT_FOUND = -1
"""Position of something that a search has not found."""


def _call_successors(typing_context: Any, address: Any, state: Any, out: Any, tags: Any) -> Any:
    """Call the native successor function at ``address``."""
    return types.int64(address, state, out, tags), _emit_call


def _call_properties(typing_context: Any, address: Any, state: Any) -> Any:
    """Call the native property function at ``address``."""
    return types.int64(address, state), _emit_call


def _call_with_result(typing_context: Any, address: Any, state: Any, out: Any) -> Any:
    """Call a native function at ``address`` that writes its result for a state to ``out``."""
    return types.int64(address, state, out), _emit_call


def _prefetch(typing_context: Any, address: Any) -> Any:
    """Ask the processor to load the cache line at ``address``."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], function_type)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(address), emit


def _emit_call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    word = ir.IntType(64)
    function_type = ir.FunctionType(word, [word] * (len(args) - 1))
    return builder.call(builder.inttoptr(args[0], function_type.as_pointer()), list(args[1:]))


call_successors: Any = intrinsic(_call_successors)
call_properties: Any = intrinsic(_call_properties)
call_with_result: Any = intrinsic(_call_with_result)
prefetch: Any = intrinsic(_prefetch)
