"""Promela text of a finite configuration, so that SPIN can give a second opinion on it.

The text is one process that takes one ``d_step`` at a time, with an option for each action instance and a global
variable for each cell. Intermediate values of a step are in *scratch* variables of as few bits as possible, which are 0
before and after every step, so SPIN has exactly the states and steps of the machine. They are not ``hidden``: with
hidden variables SPIN searches neither breadth-first nor on several cores.

A guard must be one expression, in which a subterm is repeated for each use. If that would make the text too long, the
subterm becomes a *derived* variable: kept up to date by every step and determined by the other variables, it adds
neither states nor transitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model.kernel import Cell, Instance, Lowered, ModelError, nearest
from ..model.kernel.plain import PlainMachine, program_of, python_lines
from ..model.kernel.program import Op, Program

SPIN_OPTIONS = ("-o1", "-o2", "-o3")
"""What ``spin -a`` must be given: without ``-o2`` it drops variables that are never read, and counts fewer states."""

_LONGEST_GUARD_PART = 4_000
_LONGEST_STEP_PART = 400
_WIDEST_FIELD = 16
_SCRATCH_WIDTHS = (1, 4, 8, 16)
_INT_WIDTH = 32
_INT = range(-(2**31), 2**31)
_JOIN = {Op.ADD: " + ", Op.MUL: " * ", Op.AND: " && ", Op.OR: " || ", Op.LE: " <= ", Op.EQ: " == "}

# Words that Promela, or the C that SPIN generates from it, does not accept as the name of a variable.
_RESERVED = """
active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan d_proctype d_step do else empty
enabled end eval false fi for full get_priority goto hidden if in init inline int len local ltl mtype nempty never
nfull notrace np_ od of pc_value pid print printf printm priority proctype provided return run select set_priority
short show skip timeout trace true typedef unless unsigned xr xs
always eventually implies equivalent next release stronguntil until weakuntil
auto case char const continue default double enum extern float long register signed sizeof static struct switch
union void volatile while
machine now uchar uint ulong ushort
"""


def promela(lowered: Lowered, *, invariants: Sequence[str] = ()) -> str:
    """Write a finite configuration in Promela.

    A step that writes outside a declared domain violates an ``assert`` with a number of its own, ``inside && …``. Each
    of ``invariants`` becomes an ``assert`` named ``holds_…`` inside every step, evaluated after it, which adds neither
    states nor transitions (only where the *initial* state violates one, the assertion takes a step of its own before
    the first).

    Raises:
        ModelError: the configuration is infinite, a predicate is unknown, or a number may leave the 32 bits of SPIN.
    """
    lowered.require_finite("export to Promela")
    for name in invariants:
        if name not in lowered.predicates:
            raise ModelError(
                f"export to Promela: no predicate {name!r} was lowered.{nearest(name, lowered.predicates)}"
            )
    return _Export(lowered, invariants).text()


@dataclass(frozen=True)
class _Stored:
    """How a cell is stored: variable, declaration, and the number that is subtracted from the value.

    A cell with a single possible value has no declaration.
    """

    name: str
    declaration: str
    minus: int

    @property
    def value(self) -> str:
        """The expression for the cell's value."""
        return f"({_shifted(self.name, self.minus)})" if self.minus else self.name


@dataclass
class _Step:
    """Statements under construction, with the scratch variables they use."""

    names: dict[int, str]  # variables by the node whose value they hold
    # declarations of the scratch variables that the step uses, by name
    scratch: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)  # the statements

    def keep(self, expression: str, low: int, high: int) -> str:
        """Put the value of ``expression``, from ``low`` to ``high``, into a fresh temporary."""
        width = next((width for width in _SCRATCH_WIDTHS if low >= 0 and high < 1 << width), _INT_WIDTH)
        number = sum(name.startswith(f"temp{width}_") for name in self.scratch)
        name = f"temp{width}_{number}"
        self.scratch[name] = f"int {name}" if width == _INT_WIDTH else f"unsigned {name} : {width}"
        self.lines.append(f"{name} = {expression}")
        return name

    def insist(self, name: str, expression: str, *, told: str = "", comment: str = "") -> None:
        """Assert the value of ``expression``, put into a variable; SPIN reports ``told``, or else the variable."""
        self.scratch[name] = f"bit {name}"
        self.lines.extend((f"{comment}{name} = {expression}", f"assert({told or name})"))


class _Export:
    def __init__(self, lowered: Lowered, invariants: Sequence[str]) -> None:
        self.lowered = lowered
        self.program: Program = program_of(lowered)
        self.guards = [self.program.add(instance.guard) for instance in lowered.instances]
        self.invariants = {
            f"holds_{re.sub(r'[^A-Za-z0-9]', '_', name)}_{number}": (
                name,
                self.program.add(lowered.predicates[name].term),
            )
            for number, name in enumerate(invariants)
        }
        self.stored = list(_store(lowered.cells))
        self.cells = {
            number: self.stored[node.value].value
            for number, node in enumerate(self.program.nodes)
            if node.op is Op.CELL and self.stored[node.value].declaration
        }
        self.derived = self._derive()
        self.state = {**self.cells, **self.derived}
        self.depends = self._dependencies()
        self.checks = 1
        self.scratch: dict[str, str] = {}

    def text(self) -> str:
        """The whole text."""
        options = [line for instance in self.lowered.instances for line in self._option(instance)]
        lines = [
            f"/* {_comment(str(self.lowered.configuration))}",
            f"   spin {' '.join(SPIN_OPTIONS)} -a FILE && cc -O3 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000",
            "   SPIN counts the initial state as a transition: it prints one more than the machine has. */",
            "",
            *self._declarations(),
            "",
            "active proctype machine() {",
            *self._violated_at_once(),
            "end:",
            "  do",
            *(options or ["  :: false -> skip"]),
            "  od",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _derive(self) -> dict[int, str]:
        """The variables for parts of guards that would be too long to write out."""
        derived: dict[int, str] = {}
        texts: dict[int, str] = {}
        for number in self.program.needed(self.guards):
            texts[number] = self.cells.get(number) or _expression(self.program, number, texts)
            if len(texts[number]) > _LONGEST_GUARD_PART:
                texts[number] = derived[number] = f"derived_{len(derived)}"
        return derived

    def _dependencies(self) -> dict[int, frozenset[int]]:
        """For each derived variable, the cells that it is computed from."""
        nodes = self.program.nodes
        return {
            root: frozenset(
                nodes[number].value for number in self.program.needed([root]) if nodes[number].op is Op.CELL
            )
            for root in self.derived
        }

    def _declarations(self) -> Iterator[str]:
        for cell, stored in zip(self.lowered.cells, self.stored, strict=True):
            label = _comment(cell.label) + (f", minus {_number(stored.minus)}" if stored.minus else "")
            if stored.declaration:
                yield f"{stored.declaration} = {cell.initial - stored.minus}; /* {label} */"
            else:
                yield f"/* {label} is always {cell.initial} */"
        if self.derived:
            initial = _evaluate(self.program, list(self.derived), self.lowered.initial_state())
            for (number, name), value in zip(self.derived.items(), initial, strict=True):
                yield f"{'bit' if self.program.nodes[number].is_bool else 'int'} {name} = {value}; /* derived */"
        for name in sorted(
            self.scratch, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
        ):
            label = f" /* {_comment(self.invariants[name][0])} */" if name in self.invariants else ""
            yield f"{self.scratch[name]};{label}"

    def _violated_at_once(self) -> Iterator[str]:
        plain = PlainMachine(self.lowered)
        for name, (label, _) in self.invariants.items():
            if not plain.holds(label, plain.initial):
                yield f"  d_step {{ assert({name}) }} /* {_comment(label)}: violated from the start */"

    def _option(self, instance: Instance) -> Iterator[str]:
        guard = self.guards[instance.number]
        step = _Step(dict(self.state))
        yield f"  :: /* {_comment(instance.label)} */"
        texts: dict[int, str] = dict(self.state)
        for number in _below(self.program, [guard], self.state):
            texts[number] = _expression(self.program, number, texts)
        yield f"     d_step {{ {texts[guard]} ->"
        self._write_checks(step, instance)
        self._write_updates(step, instance)
        changed = frozenset(instance.updates)
        self._write_derived(step, [number for number in self.derived if self.depends[number] & changed])
        after = _Step(dict(self.state), step.scratch, step.lines)
        values = self._values(after, [root for _, root in self.invariants.values()])
        for name, (_, root) in self.invariants.items():
            after.insist(name, values[root])
        self.scratch.update(after.scratch)
        lines = [*after.lines, *(f"{name} = 0" for name in after.scratch)] or ["skip"]
        yield from (f"       {line};" for line in lines[:-1])
        yield f"       {lines[-1]} }}"

    def _write_checks(self, step: _Step, instance: Instance) -> None:
        checks = [(check, self.program.add(check.condition)) for check in instance.checks]
        open_checks = [(check, root) for check, root in checks if self.program.nodes[root].low == 0]
        values = self._values(step, [root for _, root in open_checks])
        for check, root in open_checks:
            label = f"/* {_comment(str(check.label))}: {_comment(check.allowed)} */ "
            step.insist("inside", values[root], told=f"inside && {self.checks}", comment=label)
            self.checks += 1

    def _write_updates(self, step: _Step, instance: Instance) -> None:
        changing = [number for number in instance.updates if self.stored[number].declaration]
        updates = {number: self.program.add(instance.updates[number]) for number in changing}
        values = self._values(step, updates.values())
        # All new values are known before the first is assigned: the updates are simultaneous.
        pending = []
        for number, root in updates.items():
            node, stored = self.program.nodes[root], self.stored[number]
            if node.low == node.high:
                pending.append((stored.name, str(node.low - stored.minus)))
                continue
            value = _shifted(values[root], -stored.minus)
            if len(updates) > 1 and (root not in step.names or root in self.state):
                value = step.keep(value, node.low - stored.minus, node.high - stored.minus)
            pending.append((stored.name, value))
        step.lines.extend(f"{name} = {value}" for name, value in pending)

    def _write_derived(self, step: _Step, numbers: Sequence[int]) -> None:
        fresh = {number: name for number, name in self.state.items() if number not in numbers}
        after = _Step(fresh, step.scratch, step.lines)
        for number in numbers:
            values = self._values(after, [number])
            after.lines.append(f"{self.derived[number]} = {values[number]}")
            after.names[number] = self.derived[number]

    def _values(self, step: _Step, roots: Iterable[int]) -> Mapping[int, str]:
        """Expressions for ``roots``; whatever is used twice, or is long, goes through temporaries."""
        wanted = list(roots)
        numbers = _below(self.program, wanted, step.names)
        uses: dict[int, int] = {}
        for user in [*(arg for number in numbers for arg in self.program.nodes[number].args), *wanted]:
            uses[user] = uses.get(user, 0) + 1
        texts: dict[int, str] = dict(step.names)
        for number in numbers:
            texts[number] = _expression(self.program, number, texts)
            node = self.program.nodes[number]
            shared = uses[number] > 1 or len(texts[number]) > _LONGEST_STEP_PART
            if shared and node.low != node.high:
                texts[number] = step.names[number] = step.keep(texts[number], node.low, node.high)
        return texts


def _below(program: Program, roots: Iterable[int], known: Mapping[int, str]) -> list[int]:
    """The nodes that ``roots`` need and that have no name yet, operands first."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        number = stack.pop()
        if number not in seen and number not in known:
            seen.add(number)
            node = program.nodes[number]
            stack.extend(node.args if node.low != node.high else ())
    return sorted(seen)


def _expression(program: Program, number: int, texts: Mapping[int, str]) -> str:
    """One node as a Promela expression over the expressions of its operands."""
    node = program.nodes[number]
    if node.low == node.high:
        return _number(node.low)
    if node.low not in _INT or node.high not in _INT:
        raise ModelError(
            f"export to Promela: a value of {node.low}…{node.high} may leave the 32 bits SPIN computes with; "
            "narrow the domains of the variables."
        )
    args = [texts[arg] for arg in node.args]
    match node.op:
        case Op.NOT:
            return f"!{args[0]}"
        case Op.ITE:
            return f"({args[0]} -> {args[1]} : {args[2]})"
        case Op.DIV | Op.MOD:
            return _division(program, number, *args)
        case Op.ADD | Op.MUL:
            _check_partial_results(program, node.op, node.args)
            return f"({_JOIN[node.op].join(args)})"
        case _:
            return f"({_JOIN[node.op].join(args)})"


def _division(program: Program, number: int, left: str, right: str) -> str:
    """Quotient rounded down, or the remainder that goes with it; 0 unless the divisor is positive."""
    node = program.nodes[number]
    dividend, divisor = (program.nodes[arg] for arg in node.args)
    if node.op is Op.DIV:
        result = f"{left} / {right}"
        if dividend.low < 0:
            result = f"({left} >= 0 -> {left} / {right} : -(({right} - 1 - {left}) / {right}))"
    else:
        result = f"{left} % {right}"
        if dividend.low < 0:
            result = f"({left} % {right} + {right}) % {right}"
    return f"({right} > 0 -> {result} : 0)" if divisor.low <= 0 else f"({result})"


def _check_partial_results(program: Program, op: Op, args: Sequence[int]) -> None:
    low = high = 0 if op is Op.ADD else 1
    for arg in args:
        node = program.nodes[arg]
        corners = [low * node.low, low * node.high, high * node.low, high * node.high]
        low, high = (low + node.low, high + node.high) if op is Op.ADD else (min(corners), max(corners))
        if low not in _INT or high not in _INT:
            raise ModelError(
                f"export to Promela: a partial result of {low}…{high} may leave the 32 bits SPIN computes with; "
                "narrow the domains of the variables."
            )


def _evaluate(program: Program, roots: Sequence[int], state: Sequence[int]) -> list[int]:
    """Values of ``roots`` in one state."""
    scope: dict[str, Any] = {"s": state}
    exec("\n".join(python_lines(program, roots)), scope)
    return [int(scope[f"v{root}"]) for root in roots]


def _store(cells: Iterable[Cell]) -> Iterator[_Stored]:
    reserved = frozenset(_RESERVED.split())
    taken: set[str] = set()
    for cell in cells:
        name = "_".join([cell.family.name, *map(str, cell.index)])
        while name in taken or name in reserved or re.fullmatch(r"(temp\d+|derived)_\d+|inside|holds_\w+", name):
            name += "_"
        taken.add(name)
        yield _stored(cell, name)


def _stored(cell: Cell, name: str) -> _Stored:
    """Store a cell in as few bits as its domain needs: the smaller SPIN's state, the faster its search."""
    low, high = cell.family.low, cell.family.high
    assert high is not None
    width = (high - low).bit_length()
    if low not in _INT or high not in _INT:
        raise ModelError(f"export to Promela: {cell.label} ranges over {low}…{high}, more than the 32 bits SPIN has.")
    if width == 0:
        return _Stored(name, "", 0)
    if width == 1:
        return _Stored(name, f"bit {name}", low)
    if width <= _WIDEST_FIELD:
        return _Stored(name, f"unsigned {name} : {width}", low)
    return _Stored(name, f"int {name}", 0)


def _shifted(expression: str, by: int) -> str:
    return f"{expression} {'+' if by > 0 else '-'} {abs(by)}" if by else expression


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("…", "..")
