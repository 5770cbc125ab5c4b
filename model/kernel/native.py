"""The machine-code form of a machine: successor and property functions over packed states, through LLVM.

The generated module has two functions over 64-bit words:

``successors(state, out, tags) -> count``: writes the next states one after the other to ``out``, and the number of the
instance that led to each to ``tags``; returns ``-1 - number`` if instance ``number`` would write outside a declared
domain.

``properties(state) -> mask``: bit ``i`` is set where the ``i``-th lowered predicate holds.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from llvmlite import binding, ir

from .errors import ModelError
from .layout import WORD_BITS, Layout, Place, layout
from .lowered import Instance, Lowered
from .machine_code import Host
from .plain import program_of
from .program import Op, Program

MAX_PREDICATES = 63
_WORD = ir.IntType(64)
_BIT = ir.IntType(1)
_POINTER = ir.PointerType(_WORD)
_INT64 = 1 << 63
_SPEED_LEVEL = 1
"""LLVM's optimisation level: for such straight-line code a higher one makes the search no faster, and takes longer."""


class CodeCache(Protocol):
    """Stores compiled code between runs."""

    def load(self, key: str) -> bytes | None:
        """The object code stored under ``key``, if any."""

    def store(self, key: str, code: bytes) -> None:
        """Keep object code under ``key``."""


@dataclass(frozen=True)
class NativeMachine:
    """A finite configuration as machine code."""

    lowered: Lowered  # the configuration
    layout: Layout  # how its states are packed
    successors: int  # address of the successor function
    properties: int  # address of the property function
    predicates: tuple[str, ...]  # names of the predicates, in bit order
    _engine: Any = field(repr=False)
    # identifies the machine: it differs for machines that differ in any way, including in their predicates; empty if
    # the steps change
    digest: str = ""
    text: str = field(default="", repr=False)
    """The text that LLVM compiles it from, in any process; see :func:`load_machine`."""


def load_machine(text: str) -> tuple[int, int, Any]:
    """Addresses of the successor and the property function of a machine made elsewhere, and the object that keeps them
    alive.

    Args:
        text: the text of a :class:`NativeMachine`.
    """
    engine = _compile(text, None)
    return engine.get_function_address("successors"), engine.get_function_address("properties"), engine


def compile_machine(lowered: Lowered, *, cache: CodeCache | None = None) -> NativeMachine:
    """Compile a finite configuration.

    Raises:
        ModelError: the configuration is infinite, has more than 63 predicates, or computes with numbers that may exceed
            64 bits.
    """
    lowered.require_finite("compiled search")
    if len(lowered.predicates) > MAX_PREDICATES:
        raise ModelError(
            f"{len(lowered.predicates)} properties at once are too many, {MAX_PREDICATES} are possible; "
            "check them in parts."
        )
    places = layout(lowered)
    module = _module("machine")
    program = program_of(lowered)
    functions = [_emit_instance(module, program, places, instance) for instance in lowered.instances]
    _emit_successors(module, functions, places.words)
    _emit_mask(module, "properties", program, places, [predicate.term for predicate in lowered.predicates.values()])
    _require_64_bits(lowered, program)
    text = str(module)
    engine = _compile(text, cache)
    return NativeMachine(
        lowered,
        places,
        engine.get_function_address("successors"),
        engine.get_function_address("properties"),
        tuple(lowered.predicates),
        engine,
        hashlib.sha256(text.encode()).hexdigest(),
        text,
    )


def compile_properties(lowered: Lowered, *, cache: CodeCache | None = None) -> tuple[int, Any]:
    """The property function alone, as in :class:`NativeMachine`: its address, and the object that keeps it alive."""
    module = _module("properties")
    program = program_of(lowered)
    _emit_mask(module, "properties", program, layout(lowered), [item.term for item in lowered.predicates.values()])
    _require_64_bits(lowered, program)
    engine = _compile(str(module), cache)
    return engine.get_function_address("properties"), engine


@dataclass(frozen=True)
class NativeSteps:
    """Action instances as machine code, each by itself.

    Attributes:
        addresses: for each instance the address of ``step(state, out)``: 1 when taken, 0 when not enabled, -1 when it
            would write outside a declared domain.
    """

    addresses: tuple[int, ...]
    _engine: Any = field(repr=False)


def compile_steps(lowered: Lowered, instances: Sequence[Instance], *, cache: CodeCache | None = None) -> NativeSteps:
    """Compile instances over the cells of a finite configuration; they need not be those of ``lowered``."""
    module = _module("steps")
    program = program_of(lowered)
    places = layout(lowered)
    for number, instance in enumerate(instances):
        _emit_instance(module, program, places, replace(instance, number=number)).linkage = ""
    _require_64_bits(lowered, program)
    engine = _compile(str(module), cache)
    return NativeSteps(
        tuple(engine.get_function_address(f"action_{number}") for number in range(len(instances))), engine
    )


def compile_table(words: int, table: int) -> tuple[int, Any]:
    """A successor function, as in :class:`NativeMachine`, for steps that are listed in a table in memory.

    At the address ``table`` are the number of steps, and their addresses, as 64-bit words; they may change between
    calls. Returns the address of the function, and the object that keeps it alive.
    """
    module = _module("table")
    function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER, _POINTER, _POINTER]), "successors")
    state, out, tags = function.args
    entry, loop, body, wrong, right, done = (
        function.append_basic_block(name) for name in ("entry", "loop", "body", "wrong", "right", "done")
    )
    builder = ir.IRBuilder(entry)
    names = builder.inttoptr(_WORD(table), _POINTER)
    size = builder.load(names, typ=_WORD)
    builder.branch(loop)
    builder = ir.IRBuilder(loop)
    number, count = builder.phi(_WORD), builder.phi(_WORD)
    number.add_incoming(_WORD(0), entry)
    count.add_incoming(_WORD(0), entry)
    builder.cbranch(builder.icmp_signed("<", number, size), body, done)
    builder = ir.IRBuilder(body)
    after = builder.add(number, _WORD(1))
    address = builder.load(builder.gep(names, [after], source_etype=_WORD), typ=_WORD)
    step = ir.FunctionType(_WORD, [_POINTER, _POINTER])
    slot = builder.gep(out, [builder.mul(count, _WORD(words))], source_etype=_WORD)
    taken = builder.call(builder.inttoptr(address, step.as_pointer()), [state, slot])
    builder.cbranch(builder.icmp_signed("<", taken, _WORD(0)), wrong, right)
    builder = ir.IRBuilder(wrong)
    builder.ret(builder.sub(_WORD(-1), number))
    builder = ir.IRBuilder(right)
    builder.store(number, builder.gep(tags, [count], source_etype=_WORD))
    number.add_incoming(after, right)
    count.add_incoming(builder.add(count, taken), right)
    builder.branch(loop)
    ir.IRBuilder(done).ret(count)
    engine = _compile(str(module), None)
    return engine.get_function_address("successors"), engine


@dataclass(frozen=True)
class NativeTruths:
    """Many conditions over the packed states of one configuration as machine code."""

    # address of ``truths(state, out) -> 0``: sets bit ``i % 64`` of word ``i // 64`` of ``out`` where the ``i``-th
    # condition holds
    address: int
    words: int  # number of words it writes
    _engine: Any = field(repr=False)


def compile_truths(lowered: Lowered, terms: Sequence[Any], *, cache: CodeCache | None = None) -> NativeTruths:
    """Compile any number of Z3 truth values over the cells of a finite configuration."""
    lowered.require_finite("compiled search")
    places = layout(lowered)
    module = _module("truths")
    program = program_of(lowered)
    function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER, _POINTER]), "truths")
    for number, start in enumerate(range(0, len(terms), WORD_BITS)):
        part = _emit_mask(module, f"truths_{number}", program, places, terms[start : start + WORD_BITS])
        part.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    parts = [item for item in module.functions if item is not function]
    for number, part in enumerate(parts):
        place = builder.gep(function.args[1], [_WORD(number)], source_etype=_WORD)
        builder.store(builder.call(part, [function.args[0]]), place)
    builder.ret(_WORD(0))
    _require_64_bits(lowered, program)
    engine = _compile(str(module), cache)
    return NativeTruths(engine.get_function_address("truths"), len(parts), engine)


@dataclass(frozen=True)
class NativeMoves:
    """Rearrangements of the bits of packed states as machine code."""

    addresses: tuple[int, ...]  # for each rearrangement the address of ``move(state, out) -> 0``
    _engine: Any = field(repr=False)


Move: TypeAlias = tuple[int, int, int, int]
"""Bits that move together: source word, mask, target word, and by how many bits they move left (right, if negative)."""


def compile_moves(
    words: int, rearrangements: Sequence[Sequence[Move]], *, cache: CodeCache | None = None
) -> NativeMoves:
    """Compile rearrangements of states of the given number of words, each described by the moves of all bits in use."""
    module = _module("moves")
    for number, moves in enumerate(rearrangements):
        function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER, _POINTER]), f"move_{number}")
        builder = ir.IRBuilder(function.append_basic_block())
        before = _load(builder, function.args[0], words)
        after: list[Any] = [_WORD(0)] * words
        for source, mask, target, left in moves:
            bits = builder.and_(before[source], _WORD(mask))
            bits = builder.shl(bits, _WORD(left)) if left >= 0 else builder.lshr(bits, _WORD(-left))
            after[target] = builder.or_(after[target], bits)
        for word, value in enumerate(after):
            builder.store(value, builder.gep(function.args[1], [_WORD(word)], source_etype=_WORD))
        builder.ret(_WORD(0))
    engine = _compile(str(module), cache)
    return NativeMoves(
        tuple(engine.get_function_address(f"move_{number}") for number in range(len(rearrangements))), engine
    )


def _require_64_bits(lowered: Lowered, program: Program) -> None:
    for node in program.nodes:
        if node.low < -_INT64 or node.high >= _INT64:
            raise ModelError(
                f"machine {lowered.configuration.machine.name} computes with numbers of the range "
                f"{node.low}…{node.high}, which takes more than 64 bits; narrow the ranges of its variables."
            )


def compile_term(symbols: Sequence[Any], term: Any) -> Callable[..., int]:
    """Compile a term over whole numbers; arguments and results are 64-bit integers (results wrap beyond them)."""
    module = _module("rule")
    program = Program([(symbol, -_INT64, _INT64 - 1) for symbol in symbols])
    root = program.add(term)
    function = ir.Function(module, ir.FunctionType(_WORD, [_WORD] * len(symbols)), "rule")
    builder = ir.IRBuilder(function.append_basic_block())
    emitter = _Emitter(builder, program, lambda number: function.args[number])
    value = emitter.emit(root)
    builder.ret(builder.zext(value, _WORD) if program.nodes[root].is_bool else value)
    engine = _compile(str(module), None)
    address = engine.get_function_address("rule")
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *([ctypes.c_int64] * len(symbols)))(address)

    def native(*args: int, _engine: Any = engine) -> int:
        return int(call(*args))

    return native


class _Emitter:
    """Emits nodes of a program into LLVM blocks, each node once in a function."""

    def __init__(self, builder: ir.IRBuilder, program: Program, read_cell: Callable[[int], Any]) -> None:
        self.builder = builder
        self.program = program
        self.read_cell = read_cell
        self.values: dict[int, Any] = {}

    def emit(self, root: int) -> Any:
        """The LLVM value of node ``root``, after emitting what it needs."""
        for number in self.program.needed([root]):
            if number not in self.values:
                self.values[number] = self._emit(number)
        return self.values[root]

    def _emit(self, number: int) -> Any:
        node = self.program.nodes[number]
        builder = self.builder
        args = [self.values[arg] for arg in node.args]
        match node.op:
            case Op.CONST:
                return (_BIT if node.is_bool else _WORD)(node.value)
            case Op.CELL:
                return self.read_cell(node.value)
            case Op.NOT:
                return builder.not_(args[0])
            case Op.AND:
                return _chain(builder.and_, args)
            case Op.OR:
                return _chain(builder.or_, args)
            case Op.ADD:
                return _chain(builder.add, args)
            case Op.MUL:
                return _chain(builder.mul, args)
            case Op.LE:
                return builder.icmp_signed("<=", args[0], args[1])
            case Op.EQ:
                return builder.icmp_signed("==", args[0], args[1])
            case Op.ITE:
                return builder.select(args[0], args[1], args[2])
            case Op.DIV | Op.MOD:
                return self._divide(node.op, node.args, args)

    def _divide(self, op: Op, numbers: tuple[int, ...], args: list[Any]) -> Any:
        builder, (left, right) = self.builder, args
        dividend, divisor = (self.program.nodes[number] for number in numbers)
        positive = None
        if divisor.low <= 0:
            positive = builder.icmp_signed(">", right, _WORD(0))
            right = builder.select(positive, right, _WORD(1))
        result = builder.sdiv(left, right) if op is Op.DIV else builder.srem(left, right)
        if dividend.low < 0:
            rest = result if op is Op.MOD else builder.srem(left, right)
            negative = builder.icmp_signed("<", rest, _WORD(0))
            fixed = builder.add(result, right) if op is Op.MOD else builder.sub(result, _WORD(1))
            result = builder.select(negative, fixed, result)
        return result if positive is None else builder.select(positive, result, _WORD(0))


def _chain(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = operation(result, value)
    return result


def _emit_instance(module: ir.Module, program: Program, places: Layout, instance: Instance) -> ir.Function:
    """``action(state, out) -> 1`` when taken, 0 when not enabled, -1 when it leaves a domain."""
    function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER, _POINTER]), f"action_{instance.number}")
    function.linkage = "internal"
    state, out = function.args
    entry, taken, idle = (function.append_basic_block(name) for name in ("entry", "taken", "idle"))
    builder = ir.IRBuilder(entry)
    words = _load(builder, state, places.words)
    emitter = _Emitter(
        builder, program, lambda number: _read(emitter.builder, words, places.places[number], program, number)
    )
    builder.cbranch(emitter.emit(program.add(instance.guard)), taken, idle)
    emitter.builder = builder = ir.IRBuilder(taken)
    inside: Any = None
    for check in instance.checks:
        condition = program.add(check.condition)
        if program.nodes[condition].low == 0:
            value = emitter.emit(condition)
            inside = value if inside is None else builder.and_(inside, value)
    if inside is not None:
        builder = emitter.builder = _leave_unless(function, builder, inside)
    following = list(words)
    for number, update in instance.updates.items():
        place = places.places[number]
        if place.width:
            root = program.add(update)
            value = emitter.emit(root)
            value = builder.zext(value, _WORD) if program.nodes[root].is_bool else value
            if place.low:
                value = builder.sub(value, _WORD(place.low))
            kept = builder.and_(following[place.word], _WORD(~place.mask & (2**64 - 1)))
            following[place.word] = builder.or_(kept, builder.shl(value, _WORD(place.shift)))
    for number, word in enumerate(following):
        builder.store(word, builder.gep(out, [_WORD(number)], source_etype=_WORD))
    builder.ret(_WORD(1))
    ir.IRBuilder(idle).ret(_WORD(0))
    return function


def _leave_unless(function: ir.Function, builder: ir.IRBuilder, inside: Any) -> ir.IRBuilder:
    fine, outside = function.append_basic_block("fine"), function.append_basic_block("outside")
    builder.cbranch(inside, fine, outside)
    ir.IRBuilder(outside).ret(_WORD(-1))
    return ir.IRBuilder(fine)


def _emit_successors(module: ir.Module, functions: Iterable[ir.Function], words: int) -> None:
    function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER, _POINTER, _POINTER]), "successors")
    state, out, tags = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    count: Any = _WORD(0)
    for number, action in enumerate(functions):
        slot = builder.gep(out, [builder.mul(count, _WORD(words))], source_etype=_WORD)
        taken = builder.call(action, [state, slot])
        wrong, right = function.append_basic_block(), function.append_basic_block()
        builder.cbranch(builder.icmp_signed("<", taken, _WORD(0)), wrong, right)
        ir.IRBuilder(wrong).ret(_WORD(-1 - number))
        builder = ir.IRBuilder(right)
        builder.store(_WORD(number), builder.gep(tags, [count], source_etype=_WORD))
        count = builder.add(count, taken)
    builder.ret(count)


def _emit_mask(module: ir.Module, name: str, program: Program, places: Layout, terms: Sequence[Any]) -> ir.Function:
    """``name(state) -> mask``: bit ``i`` is set where the ``i``-th term holds."""
    function = ir.Function(module, ir.FunctionType(_WORD, [_POINTER]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    words = _load(builder, function.args[0], places.words)
    emitter = _Emitter(builder, program, lambda number: _read(builder, words, places.places[number], program, number))
    mask: Any = _WORD(0)
    for bit, term in enumerate(terms):
        value = builder.zext(emitter.emit(program.add(term)), _WORD)
        mask = builder.or_(mask, builder.shl(value, _WORD(bit)))
    builder.ret(mask)
    return function


def _load(builder: ir.IRBuilder, state: Any, words: int) -> list[Any]:
    return [builder.load(builder.gep(state, [_WORD(number)], source_etype=_WORD), typ=_WORD) for number in range(words)]


def _read(builder: ir.IRBuilder, words: list[Any], place: Place, program: Program, number: int) -> Any:
    is_bool = program.nodes[number].is_bool
    if place.width == 0:
        return _WORD(place.low)
    value = builder.lshr(words[place.word], _WORD(place.shift))
    if is_bool:
        return builder.trunc(value, _BIT)
    value = builder.and_(value, _WORD((1 << place.width) - 1))
    return builder.add(value, _WORD(place.low)) if place.low else value


def _module(name: str) -> ir.Module:
    module = ir.Module(name)
    module.triple = binding.get_process_triple()
    return module


def _compile(text: str, cache: CodeCache | None) -> Any:
    host = Host(effort=2)
    key = hashlib.sha256(f"{host.name} {_SPEED_LEVEL}\n{text}".encode()).hexdigest()
    code = cache.load(key) if cache is not None else None
    if code is None:
        parsed = binding.parse_assembly(text)
        options = binding.create_pipeline_tuning_options(speed_level=_SPEED_LEVEL)
        binding.create_pass_builder(host.target, options).getModulePassManager().run(
            parsed, binding.create_pass_builder(host.target, options)
        )
        code = host.target.emit_object(parsed)
        if cache is not None:
            cache.store(key, code)
    return host.load(code)
