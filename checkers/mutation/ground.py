"""Ground: the original machine in one configuration of the suite, with what is needed to compare others with it."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...model.kernel import Lowered, Machine, ModelError, Predicate
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
from ...properties.verdict import Verdict
from ..exploration import Limits
from ..liveness.graph import Graph, reachable_graph
from ..suite import Row
from .calls import called_by, calls_noted
from .changes import Change
from .equal import proved_equal
from .reading import Reading
from .steps import Around, Roots, pure_budgets, remembered
from .steps import differs as differs_in
from .vectors import Vectors

_BLOCK = 1 << 14
_NEAR = 32
"""Maximum number of states with a differing step from which a search begins."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One finite configuration of the suite, with the rows that are judged in it."""

    machine: Machine
    constants: Mapping[str, int | str]  # the constants that the rows set
    rows: tuple[Row, ...]  # claims about states and about whole runs
    bits: int  # size of a state, by which settings are ordered

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
    """Code of all functions that the actions of a setting may call, by name; possibly too many, never too few."""
    return called_by(setting.machine, setting.machine.configure(**setting.constants).actions())


@dataclass(frozen=True, kw_only=True)
class Question:
    """A row, with the bits of its predicates among those of the ground."""

    row: Row
    property: Property
    goal: str
    after: str = ""


@dataclass(frozen=True, eq=False)
class Wrong:
    """The wrong machine in this configuration."""

    instances: tuple[Instance, ...]  # its action instances, in the order of the table
    # original and wrong instance of each label whose terms differ; None if one does not exist
    differing: tuple[tuple[Instance | None, Instance | None], ...] = field(repr=False)


class Ground:
    """The original machine of a setting: terms, reachable states, machine code for each action instance by itself."""

    def __init__(self, setting: Setting, *, max_states: int | None, cache: CodeCache | None = None) -> None:
        self.setting = setting
        self._cache = cache
        self._frame = setting.frame()
        self._interpreter = Lowering(self._frame)
        self._actions = [item for item in setting.machine.actions.values() if exists(self._frame, item)]
        self.uses: dict[types.CodeType, set[str]] = {}
        instances: list[Instance] = []
        for action in self._actions:
            with calls_noted() as called:
                instances.extend(lower_action(self._interpreter, action))
            for code in called:
                self.uses.setdefault(code, set()).add(action.name)
        self.questions = [_question(row) for row in setting.rows]
        texts: dict[str, Predicate] = {}
        for item in self.questions:
            asked = item.property.once_begun(self._frame.configuration)
            texts[item.goal] = asked.holds
            if asked.after is not None:
                texts[item.after] = asked.after
        self.lowered = Lowered(
            self._frame.configuration,
            tuple(self._frame.cells.values()),
            tuple(replace(item, number=number) for number, item in enumerate(instances)),
            {name: lower_predicate(self._interpreter, name, text) for name, text in texts.items()},
            (),
        )
        self._max_states = max_states
        self._prepared = False
        self._reading: Reading | None = None

    def prepare(self) -> None:
        """Compile the original machine and find its states; done only once something differs."""
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
        self.graph: Graph = reachable_graph(self.native, limits=Limits(states=self._max_states))
        self._depths = self.graph.depths()

    def taken(self) -> frozenset[str]:
        """Names of the actions that happen."""
        return frozenset(self.lowered.instances[item].action.name for item in np.unique(self.graph.instances))

    def affected(self, change: Change) -> list[Action]:
        """The actions whose terms a change may affect."""
        assert change.function is not None
        names = self.uses.get(change.function.__code__, set())
        return [action for action in self._actions if action.name in names]

    def wrong(self, change: Change) -> Wrong | None:
        """The wrong machine; None if its terms are those of the original one.

        Raises:
            ModelError: the change refers to something that does not exist here.
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

    def difference(self, wrong: Wrong) -> Any | None:
        """Where a step differs in the states of the original machine that were found; None if nowhere.

        If not all were found, these are some such states, packed, which both machines reach in the same way.
        """
        self.prepare()
        program = program_of(self.lowered)
        matters = self._matters(wrong)
        before = remembered(self.lowered)

        def roots(instance: Instance | None) -> Roots | None:
            return Roots.of(program, instance, matters, before)

        pairs = [(roots(right), roots(other)) for right, other in wrong.differing]

        @functools.cache
        def around() -> Around:
            steps = [root for one in self.lowered.instances if (root := roots(one)) is not None]
            return Around(steps, pure_budgets(self.lowered, [*self.lowered.instances, *wrong.instances]))

        words = self.graph.words
        differs = np.zeros(len(words), np.bool_)
        for start in range(0, len(words), _BLOCK):
            block = words[start : start + _BLOCK]
            vectors = Vectors(program, self.layout, block)
            for right, other in pairs:
                differs[start : start + _BLOCK] |= differs_in(vectors, right, other, around, len(block))
            if differs.any() and not self.graph.limit:
                return words[:0]
        if not differs.any():
            return None
        # The wrong machine also reaches a state if no step differs on the path to it.
        surely = np.flatnonzero(differs & ~self._after(differs))
        near = surely[:: 1 + len(surely) // _NEAR]
        return words[near[near > 0]]

    def _after(self, places: Any) -> Any:
        """For each state, whether one of the states on the path from the start to it is one of ``places``."""
        after = np.zeros(len(places), np.bool_)
        ends = np.flatnonzero(np.diff(self._depths)) + 1
        for start, end in zip(ends, [*ends[1:], len(places)], strict=True):
            parents = self.graph.parents[start:end]
            after[start:end] = after[parents] | places[parents]
        return after

    def _matters(self, wrong: Wrong) -> set[int]:
        """Numbers of the cells that are ever observed, in the original machine or in the wrong one."""
        if self._reading is None:
            self._reading = Reading.of(self.lowered, self.lowered.instances, self.lowered.predicates.values())
        return self._reading.closed(Reading.of(self.lowered, [one for _, one in wrong.differing if one is not None]))

    def proved_equal(self, wrong: Wrong) -> bool:
        """Whether Z3 proves the wrong steps equal to the original ones, wherever the claims of the suite hold."""
        known = [
            self.lowered.predicates[item.goal].term
            for item in self.questions
            if item.property.kind is Kind.ALWAYS and item.row.expected is Verdict.HOLDS
        ]
        return proved_equal(self.lowered, known, wrong.differing, self._matters(wrong))

    def wrong_native(self, wrong: Wrong) -> tuple[NativeMachine, object]:
        """The wrong machine as machine code, valid until the next call, and the object that keeps the code alive."""
        old = {item.label: address for item, address in zip(self.lowered.instances, self._steps.addresses, strict=True)}
        new = [other for _, other in wrong.differing if other is not None]
        steps = compile_steps(self.lowered, new)
        changed = {item.label: address for item, address in zip(new, steps.addresses, strict=True)}
        self._fill([changed.get(item.label) or old[item.label] for item in wrong.instances])
        return self._native(replace(self.lowered, instances=wrong.instances)), steps

    def _native(self, lowered: Lowered) -> NativeMachine:
        return NativeMachine(
            lowered, self.layout, self._successors, self._properties, tuple(self.lowered.predicates), self._table_code
        )

    def _fill(self, addresses: Sequence[int]) -> None:
        self._table[0] = len(addresses)
        self._table[1 : 1 + len(addresses)] = np.array(addresses, np.uint64)


def _alike(one: Instance, two: Instance) -> bool:
    """Whether two instances have the same terms; Z3 creates equal terms only once."""
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
