"""Ground: the right machine in one configuration of the suite, with what is needed to compare wrong ones with it."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...model.kernel import Definition, Lowered, Machine, ModelError, Predicate, Rule
from ...model.kernel.declarations import Action
from ...model.kernel.frame import Frame
from ...model.kernel.layout import layout
from ...model.kernel.lower import exists, lower_action, lower_predicate
from ...model.kernel.lowered import Instance
from ...model.kernel.lowering import Lowering
from ...model.kernel.native import CodeCache, NativeMachine, compile_properties, compile_steps, compile_table
from ...model.kernel.plain import program_of
from ...properties.claim import Claim
from ...properties.property import Kind, Property
from ..liveness.graph import Graph, reachable_graph
from ..suite import Row
from .changes import Change
from .vectors import Vectors

LIVENESS = (Kind.EVENTUALLY, Kind.SETTLES)
_BLOCK = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One finite configuration of the suite, with the rows that are asked about it.

    Attributes:
        machine: the machine.
        constants: as the rows give them.
        rows: claims about states and about whole runs.
        bits: size of a state, by which settings are ordered.
    """

    machine: Machine
    constants: Mapping[str, int | str]
    rows: tuple[Row, ...]
    bits: int

    @property
    def title(self) -> str:
        """Machine and constants in words."""
        return " ".join([self.machine.name, *(f"{name}={value}" for name, value in self.constants.items())])

    def frame(self) -> Frame:
        """What the configuration declares."""
        return Frame(self.machine.configure(**self.constants))


def settings(rows: Iterable[Row]) -> list[Setting]:
    """The finite configurations of a suite, small states first."""
    grouped: dict[object, list[Row]] = {}
    for row in rows:
        if isinstance(row.subject, Claim) and row.engines[0] in ("explore", "liveness"):
            grouped.setdefault((row.machine, tuple(sorted(row.constants.items()))), []).append(row)
    found = []
    for group in grouped.values():
        subject = group[0].subject
        assert isinstance(subject, Claim)
        machine, constants = subject.machine, group[0].constants
        cells = Frame(machine.configure(**constants)).cells.values()
        bits = sum(((cell.family.high or 0) - cell.family.low).bit_length() for cell in cells)
        found.append(Setting(machine=machine, constants=constants, rows=tuple(group), bits=bits))
    return sorted(found, key=lambda item: (item.bits, item.title))


def texts_of(setting: Setting) -> set[types.CodeType]:
    """Code of all functions that the actions of a setting may call, as far as names tell: never too few."""
    machine = setting.machine
    actions = machine.configure(**setting.constants).actions()
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


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            names |= _names(item)
    return names


@dataclass(frozen=True, kw_only=True)
class Question:
    """A row with the bits of its predicates among those of the ground."""

    row: Row
    property: Property
    goal: str
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a wrong machine first does something else than the right one: in a state that both reach alike.

    Attributes:
        state: number of the state in the graph of the right machine.
        depth: steps to it.
        label: the action instance that differs there.
    """

    state: int
    depth: int
    label: str


@dataclass(frozen=True, eq=False)
class Wrong:
    """The wrong machine in this configuration.

    Attributes:
        instances: its action instances, in the order of the table.
        differing: right and wrong instance of each label whose terms differ; None where one does not exist.
    """

    instances: tuple[Instance, ...]
    differing: tuple[tuple[Instance | None, Instance | None], ...] = field(repr=False)


class Ground:
    """The right machine of a setting: terms, reachable states, machine code for each action instance by itself."""

    def __init__(self, setting: Setting, *, max_states: int | None, cache: CodeCache | None = None) -> None:
        self.setting = setting
        self._cache = cache
        self._frame = setting.frame()
        self._interpreter = Lowering(self._frame)
        self._actions = [item for item in setting.machine.actions.values() if exists(self._frame, item)]
        self.uses: dict[types.CodeType, set[str]] = {}
        instances: list[Instance] = []
        for action in self._actions:
            with _noting(self.uses, action.name):
                instances.extend(lower_action(self._interpreter, action))
        self.questions = [_question(row) for row in setting.rows]
        texts: dict[str, Predicate] = {}
        for item in self.questions:
            texts[item.goal] = item.property.holds
            if item.property.after is not None:
                texts[item.after] = item.property.after
        self.lowered = Lowered(
            self._frame.configuration,
            tuple(self._frame.cells.values()),
            tuple(replace(item, number=number) for number, item in enumerate(instances)),
            {name: lower_predicate(self._interpreter, name, text) for name, text in texts.items()},
            (),
        )
        self._max_states = max_states
        self._prepared = False

    def prepare(self) -> None:
        """Compile the right machine and find its states: only when something differs."""
        if self._prepared:
            return
        self._prepared = True
        self.layout = layout(self.lowered)
        self._steps = compile_steps(self.lowered, self.lowered.instances, cache=self._cache)
        self._table = np.zeros(2 * len(self.lowered.instances) + 64, np.uint64)
        self._successors, self._table_code = compile_table(max(1, self.layout.words), self._table.ctypes.data)
        self._properties, self._properties_code = compile_properties(self.lowered, cache=self._cache)
        self._fill(self._steps.addresses)
        self.native = self._native(self.lowered)
        self.graph: Graph = reachable_graph(self.native, max_states=self._max_states)
        self._depths = self.graph.depths()

    def taken(self) -> frozenset[str]:
        """Names of the actions that happen."""
        return frozenset(self.lowered.instances[item].action.name for item in np.unique(self.graph.instances))

    def affected(self, change: Change) -> list[Action]:
        """The actions whose terms may be other ones with a change."""
        assert change.function is not None
        names = self.uses.get(change.function.__code__, set())
        return [action for action in self._actions if action.name in names]

    def wrong(self, change: Change) -> Wrong | None:
        """The wrong machine; None if its terms are those of the right one.

        Raises:
            ModelError: the change speaks of what does not exist here.
        """
        actions = self.affected(change)
        lowered: dict[str, Instance] = {}
        with change.made():
            for action in actions:
                try:
                    lowered.update((item.label, item) for item in lower_action(self._interpreter, action))
                except (ModelError, TypeError, AttributeError, KeyError, IndexError, ValueError) as error:
                    raise ModelError(str(error)) from error
        names = {action.name for action in actions}
        differing: list[tuple[Instance | None, Instance | None]] = []
        instances: list[Instance] = []
        for right in self.lowered.instances:
            if right.action.name not in names:
                instances.append(right)
                continue
            other = lowered.pop(right.label, None)
            if other is not None and _alike(right, other):
                instances.append(right)
                continue
            differing.append((right, other))
            if other is not None:
                instances.append(other)
        for other in lowered.values():
            differing.append((None, other))
            instances.append(other)
        if not differing:
            return None
        numbered = tuple(replace(item, number=number) for number, item in enumerate(instances))
        return Wrong(numbered, tuple(differing))

    def first_difference(self, wrong: Wrong) -> Difference | None:
        """The first reachable state of the right machine in which a step differs: a nearest one to the start."""
        self.prepare()
        program = program_of(self.lowered)
        pairs = [(_Roots.of(program, right), _Roots.of(program, other)) for right, other in wrong.differing]
        words = self.graph.words
        for start in range(0, len(words), _BLOCK):
            vectors = Vectors(program, self.layout, words[start : start + _BLOCK])
            first: tuple[int, str] | None = None
            for (right, other), (one, two) in zip(pairs, wrong.differing, strict=True):
                hits = np.flatnonzero(_differs(vectors, right, other, len(words[start : start + _BLOCK])))
                if len(hits) and (first is None or hits[0] < first[0]):
                    label = (one or two).label  # type: ignore[union-attr]
                    first = int(hits[0]), label
            if first is not None:
                state = start + first[0]
                return Difference(state=state, depth=int(self._depths[state]), label=first[1])
        return None

    def wrong_native(self, wrong: Wrong) -> tuple[NativeMachine, object]:
        """The wrong machine as machine code, valid until the next call; and what keeps its code."""
        old = {item.label: address for item, address in zip(self.lowered.instances, self._steps.addresses, strict=True)}
        new = [other for _, other in wrong.differing if other is not None]
        steps = compile_steps(self.lowered, new)
        changed = {item.label: address for item, address in zip(new, steps.addresses, strict=True)}
        self._fill([changed.get(item.label) or old[item.label] for item in wrong.instances])
        return self._native(replace(self.lowered, instances=wrong.instances)), steps

    def right_native(self) -> NativeMachine:
        """The right machine as machine code, valid until :meth:`wrong_native` is called."""
        self._fill(self._steps.addresses)
        return self.native

    def _native(self, lowered: Lowered) -> NativeMachine:
        return NativeMachine(
            lowered, self.layout, self._successors, self._properties, tuple(self.lowered.predicates), self._table_code
        )

    def _fill(self, addresses: Sequence[int]) -> None:
        self._table[0] = len(addresses)
        self._table[1 : 1 + len(addresses)] = np.array(addresses, np.uint64)


@dataclass(frozen=True)
class _Roots:
    """Nodes of one instance in a program."""

    guard: int
    updates: Mapping[int, int]
    checks: tuple[int, ...]

    @classmethod
    def of(cls, program: Any, instance: Instance | None) -> _Roots | None:
        if instance is None:
            return None
        return cls(
            program.add(instance.guard),
            {number: program.add(value) for number, value in instance.updates.items()},
            tuple(program.add(check.condition) for check in instance.checks),
        )


def _differs(vectors: Vectors, right: _Roots | None, other: _Roots | None, size: int) -> Any:
    """For each state whether the step is possible in one machine only, or leads elsewhere, or leaves a domain."""
    if right is None or other is None:
        one = right or other
        assert one is not None
        return vectors.truth(one.guard)
    before, after = vectors.truth(right.guard), vectors.truth(other.guard)
    differs = before != after if right.guard != other.guard else np.zeros(size, np.bool_)
    both = before & after
    if not both.any():
        return differs
    for check in other.checks:
        differs = differs | (both & ~vectors.truth(check))
    for number in right.updates.keys() | other.updates.keys():
        # A cell that an instance leaves alone keeps its value; cells are the first nodes of a program, in their order.
        kept, written = right.updates.get(number, number), other.updates.get(number, number)
        if kept != written:
            differs = differs | (both & (np.asarray(vectors.value(kept)) != np.asarray(vectors.value(written))))
    return differs


def _alike(one: Instance, two: Instance) -> bool:
    """Whether two instances have the same terms; Z3 makes equal ones once."""
    return (
        one.guard.eq(two.guard)
        and one.updates.keys() == two.updates.keys()
        and all(value.eq(two.updates[number]) for number, value in one.updates.items())
        and len(one.checks) == len(two.checks)
        and all(a.condition.eq(b.condition) for a, b in zip(one.checks, two.checks, strict=True))
    )


def _question(row: Row) -> Question:
    subject = row.subject
    assert isinstance(subject, Claim)
    return Question(row=row, property=subject.property, goal=row.id, after=f"before {row.id}")


class _noting:
    """Notes which functions are called inside the block, under the name of an action."""

    def __init__(self, uses: dict[types.CodeType, set[str]], action: str) -> None:
        self._uses = uses
        self._action = action

    def __enter__(self) -> None:
        def note(frame: types.FrameType, event: str, _argument: object) -> None:
            if event == "call":
                self._uses.setdefault(frame.f_code, set()).add(self._action)

        sys.setprofile(note)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
