"""The plain Python form of a machine: for replay, simulation and lessons, and the reference for every other form.

States are tuples with one integer for each cell (truth values are 0 and 1). The code is generated from the same terms
as the machine code, one function for each action instance, when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .errors import ModelError
from .lowered import Instance, Lowered
from .program import Op, Program

StateTuple: TypeAlias = tuple[int, ...]

_JOIN = {Op.ADD: " + ", Op.MUL: " * ", Op.AND: " and ", Op.OR: " or ", Op.LE: " <= ", Op.EQ: " == "}


class PlainMachine:
    """A finite configuration as Python functions."""

    def __init__(self, lowered: Lowered) -> None:
        lowered.require_finite("the plain Python form")
        self.lowered = lowered  # the configuration
        self.initial: StateTuple = lowered.initial_state()  # its initial state
        self._program = program_of(lowered)
        self._steps: dict[int, Callable[[StateTuple], StateTuple | None]] = {}
        self._guards: dict[int, Callable[[StateTuple], int]] = {}
        self._predicates: dict[str, Callable[[StateTuple], int]] = {}

    def step(self, state: StateTuple, number: int) -> StateTuple | None:
        """The state after instance ``number``, or None if it is not enabled.

        Raises:
            ModelError: the step writes outside a declared domain; the message names action, variable and value.
        """
        function = self._steps.get(number)
        if function is None:
            function = self._steps[number] = self._compile_step(self.lowered.instances[number])
        return function(state)

    def enabled(self, state: StateTuple) -> list[int]:
        """Numbers of the instances that can happen in ``state``."""
        return [instance.number for instance in self.lowered.instances if self._guard(instance.number)(state)]

    def successors(self, state: StateTuple) -> Iterable[tuple[int, StateTuple]]:
        """All ``(instance number, next state)`` pairs of ``state``, in instance order."""
        for instance in self.lowered.instances:
            following = self.step(state, instance.number)
            if following is not None:
                yield instance.number, following

    def holds(self, name: str, state: StateTuple) -> bool:
        """Whether the lowered predicate ``name`` holds in ``state``."""
        function = self._predicates.get(name)
        if function is None:
            root = self._program.add(self.lowered.predicates[name].term)
            function = self._predicates[name] = _define([*python_lines(self._program, [root]), f"return v{root}"])
        return bool(function(state))

    def _guard(self, number: int) -> Callable[[StateTuple], int]:
        function = self._guards.get(number)
        if function is None:
            root = self._program.add(self.lowered.instances[number].guard)
            function = self._guards[number] = _define([*python_lines(self._program, [root]), f"return v{root}"])
        return function

    def _compile_step(self, instance: Instance) -> Callable[[StateTuple], StateTuple | None]:
        program = self._program
        guard = program.add(instance.guard)
        lines = python_lines(program, [guard])
        lines.append(f"if not v{guard}: return None")
        checks = [(program.add(check.condition), program.add(check.value), check) for check in instance.checks]
        updates = {number: program.add(value) for number, value in instance.updates.items()}
        done = set(program.needed([guard]))
        roots = [root for condition, value, _ in checks for root in (condition, value)] + list(updates.values())
        lines.extend(python_lines(program, roots, skip=done))
        for number, (condition, value, _) in enumerate(checks):
            lines.append(f"if not v{condition}: raise outside({number}, v{value})")
        parts = [
            f"int(v{updates[number]})" if number in updates else f"s[{number}]"
            for number in range(len(self.lowered.cells))
        ]
        lines.append(f"return ({', '.join(parts)},)")

        def outside(which: int, value: int) -> ModelError:
            check = checks[which][2]  # Spelled only when needed: spelling terms takes long.
            return ModelError(
                f"machine {self.lowered.configuration.machine.name}, action {instance.label}: "
                f"writes {int(value)} to {check.label}, allowed is {check.allowed}."
            )

        return _define(lines, {"outside": outside})


def evaluator(lowered: Lowered, terms: Sequence[Any]) -> Callable[[StateTuple], StateTuple]:
    """A function that computes the values of ``terms`` over a finite configuration from one of its states."""
    program = program_of(lowered)
    roots = [program.add(term) for term in terms]
    values = ", ".join(f"int(v{root})" for root in roots)
    return _define([*python_lines(program, roots), f"return ({values},)"])


def program_of(lowered: Lowered) -> Program:
    """An empty program over the cells of a finite configuration."""
    symbols = []
    for cell in lowered.cells:
        assert cell.family.high is not None
        symbols.append((cell.symbol, cell.family.low, cell.family.high))
    return Program(symbols)


def python_lines(program: Program, roots: Sequence[int], *, skip: Iterable[int] = ()) -> list[str]:
    """Python statements that compute, from the state tuple ``s``, the nodes that ``roots`` need, except ``skip``."""
    skipped = set(skip)
    return [f"v{number} = {_expression(program, number)}" for number in program.needed(roots) if number not in skipped]


def _expression(program: Program, number: int) -> str:
    node = program.nodes[number]
    args = [f"v{arg}" for arg in node.args]
    match node.op:
        case Op.CONST:
            return str(bool(node.value)) if node.is_bool else str(node.value)
        case Op.CELL:
            return f"s[{node.value}]"
        case Op.NOT:
            return f"not {args[0]}"
        case Op.ITE:
            return f"{args[1]} if {args[0]} else {args[2]}"
        case Op.DIV | Op.MOD:
            return f"{args[0]} {node.op.value} {args[1]} if {args[1]} > 0 else 0"
        case _:
            return _JOIN[node.op].join(args)


def _define(lines: list[str], names: Mapping[str, Any] | None = None) -> Callable[[StateTuple], Any]:
    scope: dict[str, Any] = dict(names or {})
    exec("def function(s):\n" + "\n".join("    " + line for line in lines), scope)
    function: Callable[[StateTuple], Any] = scope["function"]
    return function
