"""Alongside: a run of the model that matches a few events of a recording, one after the other.

Each event shows something about a state: that a client owns the queue, that a listener has a message, which offset is
stored. A run matches as long as some step of the recorded kind leads to a state that shows it; between two events there
may be steps that nobody records. All matching runs are kept until an event distinguishes them. What is followed is a
queue (``along_queue``), a message with its retries (``along_retries``) or a group (``along_group``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...model.kernel import Configuration, Machine, lower
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import PlainMachine, StateTuple
from ...properties.property import Property
from .events import Actor, Event

MOST_STATES = 20_000
"""Maximum number of states that are tried for one event."""

MOST_RUNS = 200
"""Maximum number of runs that are kept; if there are more, the shortest are."""

Shows: TypeAlias = Callable[[StateTuple, StateTuple | None], bool]
"""Whether a state shows what an event says; called with the state before the step, or None if no step is taken."""


class Following(ABC):
    """A part of a recording, and how the steps of a machine show it.

    Attributes:
        events: what was recorded, in its order.
        actors: process → its number in the machine.
        constants: those of the machine.
        machine: the configuration in which runs are searched; set by :func:`alongside`.
        cell: label of a variable → its position in a state.
    """

    machine: PlainMachine
    cell: Mapping[str, int]

    def __init__(
        self, events: Sequence[Event], actors: Mapping[Actor, int], of: Machine, constants: Mapping[str, int | str]
    ) -> None:
        self.events, self.actors, self.constants = events, actors, constants
        self._model = of

    def configuration(self) -> Configuration:
        """The machine and its constants.

        Raises:
            ConfigurationError: the model has no such configuration.
        """
        return self._model.configure(**self.constants)

    @abstractmethod
    def names(self) -> list[str]:
        """What the names of the model stand for, such as ``c0 is client-a``."""

    @abstractmethod
    def unrecorded(self, event: Event) -> Collection[str]:
        """The actions that may happen before an event, and that no event shows."""

    @abstractmethod
    def goals(self, event: Event, c: int | None) -> Iterator[tuple[list[Instance], Shows]]:
        """What an event of the process ``c`` (None without one) shows, one thing after the other, each with the steps
        that lead there.
        """

    def may_come_later(self, event: Event) -> bool:
        """Whether the machine may take the step of an event later, together with another one."""
        return False

    def processes(self) -> list[str]:
        """Which client of the model stands for which process."""
        found = sorted(self.actors.items(), key=lambda item: item[1])
        return [f"c{number} is {name}{f'#{count}' if count else ''}" for (name, count), number in found]

    def own(self, names: Collection[str], **arguments: int | None) -> list[Instance]:
        """The steps with these names and, if they have arguments, with these; None matches any."""
        asked = {name: value for name, value in arguments.items() if value is not None}
        return [
            one
            for one in self.machine.lowered.instances
            if one.action.name in names
            and all(one.arguments.get(name, value) == value for name, value in asked.items())
        ]

    def get(self, state: StateTuple, name: str, *index: str) -> int:
        """A variable, such as ``owns`` of ``c0`` and ``q0``, by as many of these indices as it has; 0 without it."""
        for length in range(len(index), -1, -1):
            place = self.cell.get(f"{name}[{', '.join(index[:length])}]" if length else name)
            if place is not None:
                return state[place]
        return 0


@dataclass(frozen=True, kw_only=True)
class Accompanied:
    """An event, and the length of the run once it has happened."""

    event: Event  # the recorded event
    steps: int | None  # number of steps of the run by then; None if no run of the model matches any more


@dataclass(frozen=True, kw_only=True)
class Alongside:
    """A run that matches a part of a recording."""

    steps: tuple[str, ...]  # labels of the steps of the run
    events: tuple[Accompanied, ...]  # each with the length of the run after it

    @property
    def stopped_by(self) -> Event | None:
        """The first event that no run of the model matches; None if all of them are matched."""
        return next((one.event for one in self.events if one.steps is None), None)


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A state, with the step that led to it, and the length of the run after each event so far."""

    state: StateTuple
    before: _Node | None
    step: int
    length: int

    def path(self) -> Iterator[_Node]:
        """From here back to the initial state."""
        node: _Node | None = self
        while node is not None:
            yield node
            node = node.before


def alongside(following: Following, *, wanted: Property | None = None) -> Alongside:
    """The run that matches the most events.

    Of several runs, one is chosen that violates ``wanted``, a property of states.

    Raises:
        ConfigurationError: the model has no such configuration.
    """
    lowered = lower(following.configuration(), {} if wanted is None else {wanted.id: wanted.holds})
    following.machine = machine = PlainMachine(lowered)
    following.cell = {cell.label: number for number, cell in enumerate(lowered.cells)}
    kept = [_Node(machine.initial, None, -1, 0)]
    reached = [kept]
    for event in following.events:
        kept = _after(following, event, kept)
        if not kept:
            break
        reached.append(kept)
    run = _best(machine, reached[-1], wanted)
    on_path = {id(node) for node in run.path()}
    events = []
    for number, event in enumerate(following.events, 1):
        passed = [node for node in reached[number] if id(node) in on_path] if number < len(reached) else []
        events.append(Accompanied(event=event, steps=max(node.length for node in passed) if passed else None))
    labels = [lowered.instances[node.step].label for node in run.path() if node.before is not None]
    return Alongside(steps=tuple(reversed(labels)), events=tuple(events))


def possible(machine: Machine, constants: Mapping[str, int | str]) -> dict[str, int | str]:
    """Constants that a machine accepts: each limited to its maximum."""
    highest = {name: machine.constants[name].high for name in constants}
    return {
        name: min(value, high) if isinstance(value, int) and isinstance(high := highest[name], int) else value
        for name, value in constants.items()
    }


def _best(machine: PlainMachine, nodes: Sequence[_Node], wanted: Property | None) -> _Node:
    """The shortest run that violates the given property, otherwise the shortest run."""

    def rank(node: _Node) -> tuple[bool, int]:
        violates = wanted is not None and any(not machine.holds(wanted.id, each.state) for each in node.path())
        return not violates, node.length

    return min(nodes, key=rank)


def _after(following: Following, event: Event, before: Sequence[_Node]) -> list[_Node]:
    """The runs that match an event; none if the model does not allow it."""
    kept = list(before)
    c = following.actors.get(event.actor) if event.actor is not None else None
    for own, shows in following.goals(event, c):
        found = _reach(following, event, own, shows, kept)
        if found and following.may_come_later(event):
            found = sorted({id(node): node for node in [*found, *kept]}.values(), key=lambda node: node.length)
        kept = found[:MOST_RUNS]
    return kept


def _reach(
    following: Following, event: Event, own: Sequence[Instance], shows: Shows, before: Sequence[_Node]
) -> list[_Node]:
    """Breadth-first through steps that nobody records, then the step that was recorded, if one is needed."""
    machine = following.machine
    quiet = following.own(following.unrecorded(event))
    seen = {node.state for node in before}
    found: dict[StateTuple, _Node] = {}
    level, further = list(before), 1
    while level and further >= 0 and len(seen) < MOST_STATES and len(found) < MOST_RUNS:
        below = []
        for node in level:
            if shows(node.state, None):
                found.setdefault(node.state, node)
        for node in level:
            for instance in own:
                state = machine.step(node.state, instance.number)
                if state is not None and shows(state, node.state):
                    found.setdefault(state, _Node(state, node, instance.number, node.length + 1))
            for instance in quiet:
                state = machine.step(node.state, instance.number)
                if state is not None and state not in seen:
                    seen.add(state)
                    below.append(_Node(state, node, instance.number, node.length + 1))
        level = below
        further -= bool(found)
    return sorted(found.values(), key=lambda node: node.length)
