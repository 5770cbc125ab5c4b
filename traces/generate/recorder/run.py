"""Runs of machines as traces: one pass over the states, step by step.

A run that repeats for ever is unrolled: each turn takes as long as one rebalance pass (RB-1), with heartbeats of the
live clients, so that whatever never happens is missing for long enough to be noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ....model.kernel import Constants, Lowered
from ....model.membership import Life
from ....model.offsets import broadcasting
from ...errors import TraceError
from ...format.kinds import BROKER_RUNS, CLIENT_ENDS, IN_WINDOW, LOCKS, OWNERSHIP, Kind
from ...format.schema import Header
from .actions import ACTIONS, UNSEEN
from .cluster import GROUP
from .faults import begins
from .offsets import stores
from .pace import Pace
from .rebalances import divided, listed
from .step import Event, Recorder, Transition, View, alive, group_of
from .truth import Truth
from .windows import in_memory, table

TURNS = 12
"""Number of turns for which a run that repeats for ever is unrolled: four minutes, with one rebalance pass per turn."""


class Run(Protocol):
    """A run of a machine, as engines find it.

    Attributes:
        lowered: the configuration it belongs to.
        states: the states passed, the initial one first.
        steps: number of the instance taken between two states.
        loop: for a run that never ends: the position in ``states`` of the state that equals the last one, or the last
            position itself if nothing happens any more; None for other runs.
    """

    @property
    def lowered(self) -> Lowered: ...  # noqa: D102
    @property
    def states(self) -> Sequence[tuple[int, ...]]: ...  # noqa: D102
    @property
    def steps(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def loop(self) -> int | None: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recorded run."""

    header: Header  # of the trace
    events: list[Event]  # of the trace, in their order: dictionaries with the names of the fields of the schema
    truth: Truth  # what the machine knows about the run


def record_run(run: Run, *, pace: Pace | None = None, turns: int = TURNS) -> Recording:
    """The trace that recorders at all processes would write of ``run``; if that repeats for ever, it is unrolled so
    many times.

    Raises:
        TraceError: an action of another machine, for which there is no function here that records it.
    """
    name = run.lowered.configuration.machine.name
    if "consumers" not in run.lowered.configuration.constants:
        raise TraceError(
            f"runs of the machine {name} cannot be recorded; those of consumption, everything and assignment can."
        )
    recorder = Recorder(run.lowered, pace or Pace())
    truth = Truth()
    _begin(recorder, run)
    for at in range(len(run.steps)):
        truth.note(_step(recorder, run, at))
    if run.loop is not None:
        for _ in range(turns):
            _turn(recorder, run)
            for at in range(run.loop, len(run.steps)):
                truth.note(_step(recorder, run, at))
    return Recording(header=header_of(run.lowered, recorder.pace), events=recorder.events, truth=truth)


def header_of(lowered: Lowered, pace: Pace) -> Header:
    """The header of the trace of a run of ``lowered``."""
    k = lowered.configuration.constants
    return Header(
        source=f"a run of the machine {lowered.configuration.machine.name}",
        evidence=evidence_of(k),
        delays=pace.levels(int(k.levels)) if "levels" in k else "",
        release=str(k.get("version", "5.3.3")),
        groups={GROUP: group_of(k)},
        complete=True,
    )


def evidence_of(k: Constants) -> frozenset[Kind]:
    """The kinds that are recorded in this configuration whenever they happen.

    A pull that flow control suppresses is not an action of a machine.
    """
    kinds = set(_PROCESSES)
    if "members" in k or "running" in k:
        kinds |= _MEMBERSHIP
    if "messages" in k:
        kinds |= _CONSUMPTION
        if not broadcasting(k):
            kinds |= _BY_BROKER
        if k.listener == "orderly":
            kinds |= set(LOCKS)
        if k.copies:
            kinds |= {Kind.DELAY_DELIVER, Kind.DEAD_LETTER}
    return frozenset(kinds)


_PROCESSES = CLIENT_ENDS | BROKER_RUNS | {Kind.CLIENT_START, Kind.HEARTBEAT, Kind.UNREGISTER, *OWNERSHIP, Kind.GAP}
_MEMBERSHIP = frozenset({Kind.MEMBERS, Kind.ROUTE, Kind.REBALANCE})
_CONSUMPTION = frozenset(
    {
        Kind.STORE,
        Kind.PULL,
        Kind.PULL_RESULT,
        Kind.CORRECT,
        *IN_WINDOW,
        Kind.SEND_BACK,
        Kind.COMMIT_MEMORY,
        Kind.COMMIT,
        Kind.RESET,
        Kind.FILE_LOAD,
        Kind.FILE_PERSIST,
    }
)
_BY_BROKER = frozenset({Kind.OFFSET_QUERY, Kind.DELAY_STORE})


def _begin(recorder: Recorder, run: Run) -> None:
    """The events before the first step: messages are stored, processes run, queues are divided."""
    nothing, initial = View({}, ()), recorder.view(tuple(run.states[0]))
    now = Transition(recorder, nothing, initial, {})
    if "messages" in recorder.constants:
        for q in recorder.cluster.of_topic():
            for m in range(initial("log_end", q, default=len(now.messages))):
                stores(now, q, m)
    running = [c for c in now.clients if initial("life", c, default=Life.UP) == Life.UP]
    for c in running:
        recorder.starts(c)
        begins(Transition(recorder, nothing, initial, {"c": c}))
    for b in range(int(recorder.constants.get("brokers", 0))):
        if running:
            listed(now, b)
    for c in running:
        if initial.has("view", c, 0):
            divided(now, c)
    table(now)


def _step(recorder: Recorder, run: Run, at: int) -> Transition:
    instance = run.lowered.instances[run.steps[at]]
    recorder.time += recorder.pace.step
    before, after = recorder.view(tuple(run.states[at])), recorder.view(tuple(run.states[at + 1]))
    now = Transition(recorder, before, after, instance.arguments)
    name = instance.action.name
    record = ACTIONS.get(instance.action.function.__name__) or ACTIONS.get(name)
    if record is not None:
        record(now)
    elif name not in UNSEEN:
        raise TraceError(
            f"machine {run.lowered.configuration.machine.name}: nobody knows how to record the action {name}; runs of "
            "the machines consumption, everything and assignment can be recorded. What processes see of an action that "
            "a mutant adds, or why they see nothing, is said in traces/generate/recorder/actions.py."
        )
    in_memory(now)
    return now


def _turn(recorder: Recorder, run: Run) -> None:
    """One more turn of a run that never ends begins."""
    recorder.time += recorder.pace.turn
    last = recorder.view(tuple(run.states[-1]))
    now = Transition(recorder, last, last, {})
    for c in now.clients:
        if alive(last, c):
            now.beats(c)
