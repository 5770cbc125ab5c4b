"""Alongside: a run of the model that goes along with an excerpt of a recording, event by event.

Each event shows something of a state: that a client owns the queue, that a listener has a message, which offset is
stored. A run goes along as long as some step of the kind that was recorded leads to a state that shows it; between two
events may be steps that nobody records. All runs that go along are kept until an event tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ...model.consumption import consumption
from ...model.kernel import lower
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import PlainMachine, StateTuple
from ...model.membership import Life
from ...model.process_queue import Orphan, Stage
from ...properties.property import Property
from ..format.kinds import SUCCESSES, Kind, Result
from .events import Event
from .excerpt import Excerpt, stops

MOST_STATES = 20_000
"""States that are looked at for one event."""

MOST_RUNS = 200
"""Runs that are kept side by side; of more the shortest."""

_QUIET = (
    "remove remove_by_force remove_and_unlock_later unlock_later pull_expires tick renew recompute_offset "
    "late_commit_arrives commit_late persist put_batch_back keep_taken roll_back"
)
_UNRECORDED = frozenset(_QUIET.split())
"""Actions that no event of an excerpt shows."""

_SHUTTING_DOWN = frozenset({"stop", "persist_at_stop", "unregister"})

_STEPS: Mapping[Kind, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        Kind.ASSIGN: "take allocate_again",
        Kind.REVOKE: "drop drop_losing_commit drop_delaying_commit drop_in_order",
        Kind.PULL_RESULT: "pull",
        Kind.DELIVER: "begin begin_batch",
        Kind.RESULT: "succeed fail orphan_succeeds orphan_listener_fails succeed_in_order suspend say_commit "
        "say_rollback return_to_dropped_window",
        Kind.SEND_BACK: "send_back orphan_sends_back publish_batch",
        Kind.REMOVED: "succeed send_back commit_taken publish_batch",
        Kind.COMMIT: "commit persist persist_at_stop late_commit_arrives",
        Kind.CLIENT_STOP: "end_stop",
        Kind.CLIENT_CRASH: "die",
    }.items()
}
"""Kind → the actions that it records; the other kinds of an excerpt show nothing of a state."""

_OF_ONE_MESSAGE = frozenset({Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.REMOVED})
_FAIL = frozenset({"fail", "orphan_listener_fails", "suspend", "say_rollback"})

Shows: TypeAlias = Callable[[StateTuple, StateTuple | None], bool]
"""Whether a state shows what an event says; with the state before the step, or None if no step is taken."""


@dataclass(frozen=True, kw_only=True)
class Accompanied:
    """An event, and how far the run has come when it has happened.

    Attributes:
        event: as it was recorded.
        steps: how many steps the run has taken by then; None where no run of the model goes along any more.
    """

    event: Event
    steps: int | None


@dataclass(frozen=True, kw_only=True)
class Alongside:
    """A run that goes along with an excerpt.

    Attributes:
        excerpt: what was recorded.
        steps: labels of the steps of the run.
        events: each with how far the run has come.
    """

    excerpt: Excerpt
    steps: tuple[str, ...]
    events: tuple[Accompanied, ...]

    @property
    def stopped_by(self) -> Event | None:
        """The first event that no run of the model goes along with; None if all of them are."""
        return next((one.event for one in self.events if one.steps is None), None)


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A state, with the step that led to it, and how far the run was after each event so far."""

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


def alongside(excerpt: Excerpt, *, wanted: Property | None = None) -> Alongside:
    """The run that goes along with most events of an excerpt.

    Args:
        excerpt: what was recorded.
        wanted: a property of states: of several runs one that violates it is taken.

    Raises:
        ConfigurationError: the model has no such configuration.
    """
    configuration = consumption.configure(**excerpt.constants())
    lowered = lower(configuration, {} if wanted is None else {wanted.id: wanted.holds})
    search = _Search(excerpt, PlainMachine(lowered))
    kept = [_Node(search.machine.initial, None, -1, 0)]
    reached = [kept]
    for event in excerpt.events:
        kept = search.after(event, kept)
        if not kept:
            break
        reached.append(kept)
    run = _best(search.machine, reached[-1], wanted)
    on_path = {id(node) for node in run.path()}
    events = []
    for number, event in enumerate(excerpt.events, 1):
        passed = [node for node in reached[number] if id(node) in on_path] if number < len(reached) else []
        events.append(Accompanied(event=event, steps=max(node.length for node in passed) if passed else None))
    labels = [lowered.instances[node.step].label for node in run.path() if node.before is not None]
    return Alongside(excerpt=excerpt, steps=tuple(reversed(labels)), events=tuple(events))


def _best(machine: PlainMachine, nodes: Sequence[_Node], wanted: Property | None) -> _Node:
    """The shortest run that violates what is wanted to be violated, else the shortest."""

    def rank(node: _Node) -> tuple[bool, int]:
        violates = wanted is not None and any(not machine.holds(wanted.id, each.state) for each in node.path())
        return not violates, node.length

    return min(nodes, key=rank)


def _may_come_later(event: Event) -> bool:
    """Whether the machine may take the step later: with that in which the message leaves the window."""
    return event.kind is Kind.SEND_BACK or (event.kind is Kind.RESULT and event.result in SUCCESSES)


class _Search:
    """From the states in which an event finds the machine to those in which it leaves it."""

    def __init__(self, excerpt: Excerpt, machine: PlainMachine) -> None:
        self.machine = machine
        self._excerpt = excerpt
        lowered = machine.lowered
        self._cell = {cell.label: number for number, cell in enumerate(lowered.cells)}
        self._batched = int(lowered.configuration.constants["batch"]) > 1
        self._quiet = [one for one in lowered.instances if one.action.name in _UNRECORDED]
        self._down = [one for one in lowered.instances if one.action.name in _SHUTTING_DOWN]

    def after(self, event: Event, before: Sequence[_Node]) -> list[_Node]:
        """The runs that go along with an event; none if the model does not."""
        kept = list(before)
        for own, shows in self._goals(event):
            found = self._reach(event, own, shows, kept)
            if found and _may_come_later(event):
                found = sorted({id(node): node for node in [*found, *kept]}.values(), key=lambda node: node.length)
            kept = found[:MOST_RUNS]
        return kept

    def _reach(self, event: Event, own: Sequence[Instance], shows: Shows, before: Sequence[_Node]) -> list[_Node]:
        """Breadth first through what nobody records, then the step that was recorded, if one is needed."""
        quiet = self._quiet + (self._down if stops(event) else [])
        seen = {node.state for node in before}
        found: dict[StateTuple, _Node] = {}
        level, further = list(before), 1
        while level and further >= 0 and len(seen) < MOST_STATES and len(found) < MOST_RUNS:
            following = []
            for node in level:
                if shows(node.state, None):
                    found.setdefault(node.state, node)
            for node in level:
                for instance in own:
                    state = self.machine.step(node.state, instance.number)
                    if state is not None and shows(state, node.state):
                        found.setdefault(state, _Node(state, node, instance.number, node.length + 1))
                for instance in quiet:
                    state = self.machine.step(node.state, instance.number)
                    if state is not None and state not in seen:
                        seen.add(state)
                        following.append(_Node(state, node, instance.number, node.length + 1))
            level = following
            further -= bool(found)
        return sorted(found.values(), key=lambda node: node.length)

    def _goals(self, event: Event) -> Iterator[tuple[list[Instance], Shows]]:
        """What an event shows, one thing after the other, each with the steps that lead there."""
        c = self._excerpt.actors.get(event.actor) if event.actor is not None else None
        kind = event.kind
        if kind not in _STEPS or (c is None and kind is not Kind.COMMIT):
            return
        names = _STEPS[kind] | (_SHUTTING_DOWN if stops(event) else frozenset())
        m = None if event.offset is None else self._excerpt.place(event.offset)
        own = self._own(names, c, m if kind in _OF_ONE_MESSAGE and not self._batched else None)
        get = self._get
        if kind is Kind.ASSIGN:
            yield own, lambda s, p: p is not None and get(s, "owns", c) == 1 and m in (None, get(s, "next_offset", c))
        elif kind is Kind.REVOKE:
            stopping = stops(event)
            yield (
                own,
                lambda s, p: (stopping or p is not None) and (get(s, "owns", c) == 0 or get(s, "life", c) != Life.UP),
            )
        elif kind is Kind.PULL_RESULT and event.next is not None and m is not None:
            for end in range(m + 1, self._excerpt.place(event.next) + 1):
                yield own, partial(self._pulled, c, end)
        elif kind is Kind.DELIVER:
            yield own, lambda s, p: (p is not None or self._batched) and get(s, "stage", c, m) == Stage.RUNNING
        elif kind is Kind.RESULT:
            good = event.result in SUCCESSES
            yield self._with_outcome(own, good), lambda s, p: p is not None and self._returned(s, p, c)
        elif kind in (Kind.SEND_BACK, Kind.REMOVED):
            if kind is Kind.REMOVED or event.result is Result.OK:
                yield (
                    own,
                    lambda s, p: (
                        get(s, "stage", c, m) == Stage.ABSENT
                        and (get(s, "orphan", c, m) == Orphan.NONE or kind is Kind.REMOVED)
                    ),
                )
        elif kind is Kind.COMMIT and m is not None:
            yield own, lambda s, p: self._stored(s, c) == m
        elif kind in (Kind.CLIENT_STOP, Kind.CLIENT_CRASH):
            yield own, lambda s, p: get(s, "life", c) == Life.GONE

    def _pulled(self, c: int | None, end: int, state: StateTuple, _: StateTuple | None) -> bool:
        return self._get(state, "next_offset", c) == end

    def _own(self, names: Collection[str], c: int | None, m: int | None) -> list[Instance]:
        """The steps of these names of a client, and of a message, where they name one."""
        return [
            one
            for one in self.machine.lowered.instances
            if one.action.name in names
            and (c is None or one.arguments.get("c", c) == c)
            and (m is None or one.arguments.get("m", m) == m)
        ]

    def _with_outcome(self, steps: Iterable[Instance], good: bool) -> list[Instance]:
        """Of the steps that end a call those that end it well, or those that do not."""
        return [
            one
            for one in steps
            if (one.action.name in _FAIL) is not good and one.arguments.get("success", int(good)) == int(good)
        ]

    def _returned(self, state: StateTuple, before: StateTuple, c: int | None) -> bool:
        """Whether some listener of a client runs no more."""
        return self._running(state, c) < self._running(before, c)

    def _running(self, state: StateTuple, c: int | None) -> int:
        """How many messages listeners of a client have, whose result is not known."""
        if self._get(state, "result", c) > 0:
            return 0
        messages = range(len(self._excerpt.messages))
        return sum(
            self._get(state, "stage", c, m) == Stage.RUNNING or self._get(state, "orphan", c, m) == Orphan.RUNNING
            for m in messages
        )

    def _stored(self, state: StateTuple, c: int | None) -> int:
        of_queue = self._cell.get("committed[q0]")
        return state[of_queue] if of_queue is not None else self._get(state, "file", c)

    def _get(self, state: StateTuple, name: str, c: int | None, m: int | None = None) -> int:
        """A variable of a client, and a message; 0 where the configuration has none."""
        for label in (f"{name}[c{c}, q0, m{m}]", f"{name}[c{c}, q0]", f"{name}[c{c}]"):
            if label in self._cell:
                return state[self._cell[label]]
        return 0
