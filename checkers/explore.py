"""Exhaustive search: every reachable state of a finite configuration, breadth-first, with shortest counterexamples."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..model.kernel import Configuration, Lowered, ModelError, Predicate, lower
from ..model.kernel.native import CodeCache, NativeMachine, compile_machine
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from . import search
from .machine_limits import cores, half_of_memory
from .native_calls import NOT_FOUND
from .parallel_search import NARROW, Team
from .reduction import PartialOrder, Reduction, Symmetry, tables
from .result import Result
from .run import Run, counted, holds, replay, steps_in_words

ENGINE = "explore"
NO_DEADLOCK = "no-deadlock"
"""Id of the built-in property that every state has a successor, or is one where the machine may end."""

_PAUSE_STATES = 200_000
_SLOT_BYTES_PER_STATE = 12


@dataclass(frozen=True)
class Progress:
    """How far a running search is: distinct states, transitions, depth, states still to expand, seconds so far."""

    states: int
    transitions: int
    depth: int
    waiting: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """What a search found.

    Attributes:
        results: one for each property asked, in their order (deadlock last).
        complete: whether all reachable states were seen.
        limit: which limit ended the search, in words, when it did not end by itself.
        states: distinct states.
        transitions: (state, enabled instance) pairs of the expanded states.
        depth: steps to the farthest state expanded so far.
        taken: instance label → how many transitions it made.
        idle_actions: names of actions never enabled (known only when complete).
        seconds: searching; ``compile_seconds``: lowering, compiling and preparing reductions before it.
        bytes_per_state: memory of table, parents and index divided by ``states``.
        reduction: what was left out; counts are those of the states and transitions that were not.
    """

    results: tuple[Result, ...]
    complete: bool
    limit: str
    states: int
    transitions: int
    depth: int
    taken: Mapping[str, int] = field(repr=False)
    idle_actions: tuple[str, ...]
    seconds: float
    compile_seconds: float
    bytes_per_state: float
    reduction: Reduction = Reduction.NONE

    @property
    def bounds(self) -> str:
        """What was covered, in words."""
        seen = f"{counted(self.states, 'state')}, {counted(self.transitions, 'transition')}, depth {self.depth}"
        if self.reduction:
            seen += f" (with {self.reduction} reduction)"
        memory = self.states * self.bytes_per_state
        if memory >= 2**30:
            seen += f", {memory / 2**30:.1f} GiB"
        return f"all {seen}" if self.complete else f"{self.limit}: {seen}"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a search gives up with UNKNOWN.

    Attributes:
        states: distinct states; None for as many as the memory allows.
        seconds: time for searching.
        bytes: memory for table, parents and index; None means half of what there is.
    """

    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None

    def memory(self) -> int:
        """The memory limit in bytes."""
        if self.bytes is not None:
            return self.bytes
        return half_of_memory()


def explore(
    configuration: Configuration,
    properties: Sequence[Property] = (),
    *,
    limits: Limits | None = None,
    stop_when_decided: bool = False,
    deadlocks: bool = False,
    may_end: Predicate | None = None,
    idle_actions_allowed: bool = False,
    reduce: Reduction = Reduction.NONE,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    cache: CodeCache | None = None,
) -> Exploration:
    """Search all reachable states and judge ``properties`` (kinds ALWAYS and SOMETIMES).

    Args:
        configuration: a finite configuration.
        properties: what to judge.
        limits: when to give up; the verdicts are UNKNOWN then, with the limit in ``bounds``.
        stop_when_decided: end as soon as each property has its counterexample or witness.
        deadlocks: judge the built-in property ``no-deadlock`` as well.
        may_end: states in which a run may end (used with ``deadlocks``).
        idle_actions_allowed: do not treat an action that is never enabled as a modelling error.
        reduce: what may be left out without a change of any verdict asked for (see ``reduction``); runs are as short as
            without. With partial-order reduction, steps that matter to no verdict are not taken, so idle actions are
            not looked for, and a write outside a domain may go unnoticed.
        threads: how many search side by side where a level is wide enough; None for one for each core. All that is
            found is the same with any number. One searches with reductions, and where ``stop_when_decided`` is asked.
        progress: called several times a second.
        cache: keeps compiled code between runs.

    Raises:
        ModelError: the configuration is not finite; a step writes outside a declared domain; an action is never
            enabled in any reachable state; a property has another kind; the reduction is not possible.
    """
    started = time.perf_counter()
    for item in properties:
        if item.kind not in (Kind.ALWAYS, Kind.SOMETIMES):
            raise ModelError(
                f"property {item.id} is of kind {item.kind}; explore judges 'always' and 'sometimes' only."
            )
    predicates: dict[str, Predicate] = {item.id: item.holds for item in properties}
    if may_end is not None:
        predicates["may end"] = may_end
    lowered = lower(configuration, predicates)
    native = compile_machine(lowered, cache=cache)
    partial_order = None
    if Reduction.PARTIAL_ORDER in reduce:
        partial_order = PartialOrder(native, properties, deadlocks=deadlocks, cache=cache)
    symmetry = Symmetry(native, cache=cache) if Reduction.SYMMETRY in reduce else None
    engine = _Search(
        native,
        properties,
        limits or Limits(),
        terminal=may_end is not None,
        partial_order=partial_order,
        symmetry=symmetry,
        threads=1 if stop_when_decided or reduce else cores() if threads is None else threads,
    )
    compile_seconds = time.perf_counter() - started
    started = time.perf_counter()
    try:
        limit = engine.run(stop_when_decided=stop_when_decided and bool(properties), progress=progress)
    finally:
        engine.close()
    seconds = time.perf_counter() - started
    idle = engine.idle_actions() if not limit and partial_order is None else ()
    exploration = Exploration(
        results=(),
        complete=not limit,
        limit=limit,
        states=engine.states,
        transitions=engine.transitions,
        depth=engine.depth,
        taken=engine.taken(),
        idle_actions=idle,
        seconds=seconds,
        compile_seconds=compile_seconds,
        bytes_per_state=engine.bytes_per_state(),
        reduction=reduce,
    )
    if idle and not idle_actions_allowed:
        raise ModelError(
            f"machine {configuration.machine.name}: action {', '.join(idle)} is never enabled in any of the "
            f"{exploration.states:,} states of {configuration}; mend its guard, or switch it off with when=…."
        )
    results = [engine.judge(item, exploration) for item in properties]
    if deadlocks:
        results.append(engine.judge_deadlock(exploration))
    return replace(exploration, results=tuple(results))


class _Search:
    """The arrays of one search and what can be read off them."""

    def __init__(
        self,
        native: NativeMachine,
        properties: Sequence[Property],
        limits: Limits,
        *,
        terminal: bool,
        partial_order: PartialOrder | None,
        symmetry: Symmetry | None,
        threads: int,
    ) -> None:
        self._native = native
        self._symmetry = symmetry
        self._partial_order = partial_order  # owns machine code
        self._reductions: tuple[Any, ...] | None = None
        if partial_order is not None or symmetry is not None:
            self._reductions = tables(partial_order, symmetry)
        self._lowered: Lowered = native.lowered
        self._plain = PlainMachine(native.lowered)
        self._limits = limits
        self._properties = properties
        self._watched = (1 << len(properties)) - 1
        self._inverted = sum(1 << bit for bit, item in enumerate(properties) if item.kind is Kind.ALWAYS)
        self._terminal = 1 << len(properties) if terminal else 0
        words = max(1, native.layout.words)
        fan = max(1, len(self._lowered.instances))
        rows = limits.memory() // (words * 8 + 4 + _SLOT_BYTES_PER_STATE)
        rows = min(rows, search.MOST_ROWS, search.MOST_ROWS if limits.states is None else limits.states + fan)
        self._rows = max(rows, fan + 1)
        # Reserved, not used: pages are taken from memory when a state is first written to them.
        self._table = np.empty((self._rows, words), np.uint64)
        self._parents = np.empty(self._rows, np.uint32)
        self._slots = np.zeros(1 << 16, np.uint32)
        self._out = np.empty((fan * search.BLOCK, words), np.uint64)
        self._tags = np.empty(fan * search.BLOCK, np.int64)
        self._control = np.zeros(9, np.int64)
        self._control[[search.DEADLOCK, search.WRONG_STATE, search.WRONG_INSTANCE]] = NOT_FOUND
        self._control[search.COUNT] = self._control[search.LEVEL_END] = 1
        self._control[search.UNDECIDED] = len(properties)
        self._taken = np.zeros(fan, np.int64)
        self._found = np.full(len(properties), NOT_FOUND, np.int64)
        self._table[0] = native.layout.pack(self._plain.initial) if native.layout.words else 0
        self._parents[0] = 0
        self._threads = threads
        self._team: Team | None = None
        search.index(self._table, 1, self._slots)
        search.watch_first(native.properties, self._watched, self._inverted, self._table, self._control, self._found)
        self._advance(stop_when_decided=False, states=0)  # compiles, or loads, the search loop itself

    @property
    def states(self) -> int:
        return int(self._control[search.COUNT])

    @property
    def transitions(self) -> int:
        return int(self._control[search.TRANSITIONS])

    @property
    def depth(self) -> int:
        return int(self._control[search.DEPTH])

    def taken(self) -> dict[str, int]:
        return {item.label: int(count) for item, count in zip(self._lowered.instances, self._taken, strict=False)}

    def idle_actions(self) -> tuple[str, ...]:
        busy = {item.action.name for item in self._lowered.instances if self._taken[item.number]}
        return tuple(dict.fromkeys(i.action.name for i in self._lowered.instances if i.action.name not in busy))

    def bytes_per_state(self) -> float:
        return self._table.itemsize * self._table.shape[1] + 4 + self._slots.nbytes / self.states

    def run(self, *, stop_when_decided: bool, progress: Callable[[Progress], None] | None) -> str:
        """Search to the end, or to a limit: returns the limit in words, or an empty text."""
        started = time.perf_counter()
        if stop_when_decided and self._control[search.UNDECIDED] == 0:
            return "stopped when every property was decided"
        while True:
            status = self._go_on(stop_when_decided=stop_when_decided, states=_PAUSE_STATES)
            seconds = time.perf_counter() - started
            if status == search.DONE:
                return ""
            if status == search.DECIDED:
                return "stopped when every property was decided"
            if status == search.WROTE_OUTSIDE:
                self._raise_wrong_write()
            if status == search.SLOTS_FULL:
                self._grow_slots()
            if status == search.TABLE_FULL:
                if self._limits.states is not None and self.states >= self._limits.states:
                    return f"limit of {self._limits.states:,} states reached"
                return f"memory limit of {self._limits.memory() / 2**30:.1f} GiB reached"
            if self._limits.states is not None and self.states >= self._limits.states:
                return f"limit of {self._limits.states:,} states reached"
            if self._limits.seconds is not None and seconds >= self._limits.seconds:
                return f"time limit of {self._limits.seconds:g} s reached"
            if progress is not None:
                waiting = self.states - int(self._control[search.FRONT])
                progress(Progress(self.states, self.transitions, self.depth, waiting, seconds))

    def judge(self, item: Property, exploration: Exploration) -> Result:
        """The verdict on one property, its run replayed."""
        row = int(self._found[self._properties.index(item)])
        always = item.kind is Kind.ALWAYS
        run = None
        if row != NOT_FOUND:
            run = self._run_to(row)
            if holds(self._plain, item.id, run.states[-1]) == always:
                raise ModelError(
                    f"property {item.id}: replay does not confirm what the search found; this is a defect."
                )
            verdict = Verdict.VIOLATED if always else Verdict.HOLDS
        elif exploration.complete:
            verdict = Verdict.HOLDS if always else Verdict.VIOLATED
        else:
            verdict = Verdict.UNKNOWN
        never = verdict is Verdict.VIOLATED and run is None
        return self._result(item.id, verdict, run, exploration, "It holds in no reachable state." if never else "")

    def judge_deadlock(self, exploration: Exploration) -> Result:
        """The verdict on ``no-deadlock``."""
        row = int(self._control[search.DEADLOCK])
        if row != NOT_FOUND:
            run = self._run_to(row)
            if self._plain.enabled(run.states[-1]):
                raise ModelError("replay does not confirm the deadlock the search found; this is a defect.")
            return self._result(NO_DEADLOCK, Verdict.VIOLATED, run, exploration)
        verdict = Verdict.HOLDS if exploration.complete else Verdict.UNKNOWN
        return self._result(NO_DEADLOCK, verdict, None, exploration)

    def _result(
        self, name: str, verdict: Verdict, run: Run | None, exploration: Exploration, explanation: str = ""
    ) -> Result:
        figures = {
            "states": exploration.states,
            "transitions": exploration.transitions,
            "depth": exploration.depth,
            "complete": exploration.complete,
        }
        bounds = exploration.bounds
        if run is not None:
            searched = "searched " if exploration.complete else ""
            bounds = f"{steps_in_words(run)}; {searched}{bounds}"
        return Result(
            property=name,
            verdict=verdict,
            engine=ENGINE,
            bounds=bounds,
            seconds=exploration.seconds,
            run=run,
            explanation=explanation,
            figures=figures,
        )

    def close(self) -> None:
        """Let the threads of the search end."""
        if self._team is not None:
            self._team.close()
            self._team = None

    def _go_on(self, *, stop_when_decided: bool, states: int) -> int:
        """Expand ``states`` more, where a level is wide on all threads."""
        expanded = 0
        while self._threads > 1 and expanded < states:
            front = int(self._control[search.FRONT])
            rest = int(self._control[search.LEVEL_END]) - front
            if rest <= NARROW:
                status = self._advance(stop_when_decided=stop_when_decided, states=max(1, rest))
            else:
                status = self._advance_together()
            if status == search.TABLE_FULL and rest > NARROW:
                self._threads = 1  # to the last state that the table has room for
                continue
            if status != search.PAUSED:
                return status
            expanded += int(self._control[search.FRONT]) - front
        if expanded:
            return search.PAUSED
        return self._advance(stop_when_decided=stop_when_decided, states=states)

    def _advance_together(self) -> int:
        if self._team is None:
            self._team = Team(self._threads, fan=len(self._taken), words=self._table.shape[1])
        return self._team.advance(
            self._native.successors,
            self._native.properties,
            self._watched,
            self._inverted,
            self._terminal,
            self._table,
            self._parents,
            self._slots,
            self._control,
            self._taken,
            self._found,
        )

    def _advance(self, *, stop_when_decided: bool, states: int) -> int:
        return int(
            search.advance(
                self._native.successors,
                self._native.properties,
                self._watched,
                self._inverted,
                self._terminal,
                stop_when_decided,
                self._table,
                self._parents,
                self._slots,
                self._out,
                self._tags,
                self._control,
                self._taken,
                self._found,
                states,
                self._reductions,
            )
        )

    def _grow_slots(self) -> None:
        size = len(self._slots) * 2
        self._slots = np.zeros(0, np.uint32)  # let the old index go before the new one is made
        self._slots = np.zeros(size, np.uint32)
        if self._team is None:
            search.index(self._table, self.states, self._slots)
        else:
            self._team.index(self._table, self.states, self._slots)

    def _run_to(self, row: int) -> Run:
        """The path by which ``row`` was found, as a replayed run."""
        rows = [row]
        while rows[-1] != 0:
            rows.append(int(self._parents[rows[-1]]))
        rows.reverse()
        state = self._plain.initial
        steps = []
        for row in rows[1:]:
            number, state = self._step_to(state, tuple(self._table[row].tolist()))
            steps.append(number)
        return replay(self._plain, steps)

    def _step_to(self, before: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """A step from ``before`` to a state that packs to ``wanted``, or has it as representative."""
        for number, following in self._plain.successors(before):
            words = self._native.layout.pack(following)
            if wanted == (words if self._symmetry is None else self._symmetry.representative(words)):
                return number, following
        raise ModelError("replay does not know a step that the search took; the two forms of the machine disagree.")

    def _raise_wrong_write(self) -> None:
        run = self._run_to(int(self._control[search.WRONG_STATE]))
        number = int(self._control[search.WRONG_INSTANCE])
        for instance in self._lowered.instances:  # the state may have the elements of symmetric domains exchanged
            self._plain.step(run.states[-1], instance.number)
        raise ModelError(
            f"{self._lowered.instances[number].label} writes outside a domain in compiled code, but not when replayed; "
            "this is a defect."
        )
