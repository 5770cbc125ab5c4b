"""The search in memory: one table of packed states, in the order in which they are found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...model.kernel.native import NativeMachine
from ...model.kernel.plain import PlainMachine
from ...properties.property import Kind, Property
from ..exploration import Limits, Progress, raise_wrong_write, run_through
from ..reduction.partial_order import PartialOrder
from ..reduction.symmetry import Symmetry
from ..reduction.tables import tables
from ..run import Run
from . import loop as search
from .native_calls import NOT_FOUND
from .parallel_search import NARROW, Team

_PAUSE_STATES = 200_000
_SLOT_BYTES_PER_STATE = 12


class TableSearch:
    """The arrays of one search, given what :class:`.level_search.LevelSearch` takes, and what can be read off them.
    ``partial_order`` leaves out steps, ``symmetry`` represents states by others; without both, and unless it stops when
    decided, ``threads`` search side by side.
    """

    def __init__(
        self,
        native: NativeMachine,
        properties: Sequence[Property],
        limits: Limits,
        *,
        terminal: bool,
        stop_when_decided: bool,
        partial_order: PartialOrder | None,
        symmetry: Symmetry | None,
        threads: int,
    ) -> None:
        self._native = native  # owns machine code
        self._stop_when_decided = stop_when_decided
        self._symmetry = symmetry
        self._partial_order = partial_order  # owns machine code
        self._reductions: tuple[Any, ...] | None = None
        if partial_order is not None or symmetry is not None:
            self._reductions = tables(partial_order, symmetry)
        self._plain = PlainMachine(native.lowered)
        self._limits = limits
        self._asked = search.Asked(
            successors=native.successors,
            properties=native.properties,
            watched=(1 << len(properties)) - 1,
            inverted=sum(1 << bit for bit, item in enumerate(properties) if item.kind is Kind.ALWAYS),
            terminal=1 << len(properties) if terminal else 0,
        )
        words = max(1, native.layout.words)
        fan = max(1, len(native.lowered.instances))
        rows = limits.memory() // (words * 8 + 4 + _SLOT_BYTES_PER_STATE)
        rows = min(rows, search.MOST_ROWS, search.MOST_ROWS if limits.states is None else limits.states + fan)
        initial = np.array([native.layout.pack(self._plain.initial) or (0,)], np.uint64)
        self._space = search.space_of(initial, rows=max(rows, fan + 1), fan=fan, predicates=len(properties))
        self._room = search.room_of(fan, words)
        self._threads = 1 if stop_when_decided or self._reductions is not None else threads
        self._team: Team | None = None
        search.watch_first(self._asked, self._space)
        self._advance(0)  # compiles, or loads, the search loop itself

    @property
    def states(self) -> int:
        """Distinct states so far."""
        return int(self._space.control[search.COUNT])

    @property
    def transitions(self) -> int:
        """Transitions of the states that were expanded."""
        return int(self._space.control[search.TRANSITIONS])

    @property
    def depth(self) -> int:
        """Steps to the farthest state that was expanded."""
        return int(self._space.control[search.DEPTH])

    @property
    def taken(self) -> Sequence[int]:
        """Number of transitions of each instance."""
        taken: list[int] = self._space.taken.tolist()
        return taken

    def bytes_per_state(self) -> float:
        """Memory of table, parents and index for each state."""
        return float(self._space.table[0].nbytes + 4 + self._space.slots.nbytes / self.states)

    def run(self, progress: Callable[[Progress], None] | None) -> str:
        """Search to the end, or to a limit; returns the limit in words, or an empty string."""
        started = time.perf_counter()
        if self._stop_when_decided and self._space.control[search.UNDECIDED] == 0:
            return "stopped when every property was decided"
        while True:
            status = self._go_on(_PAUSE_STATES)
            seconds = time.perf_counter() - started
            if status == search.DONE:
                return ""
            if status == search.DECIDED:
                return "stopped when every property was decided"
            if status == search.WROTE_OUTSIDE:
                run = self._run_to(int(self._space.control[search.WRONG_STATE]))
                assert run is not None
                raise_wrong_write(self._plain, run, int(self._space.control[search.WRONG_INSTANCE]))
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
                waiting = self.states - int(self._space.control[search.FRONT])
                progress(Progress(self.states, self.transitions, self.depth, waiting, seconds))

    def run_of(self, number: int) -> Run | None:
        """The run to the first state with the property of that number, if there is one."""
        return self._run_to(int(self._space.found[number]))

    def run_to_deadlock(self) -> Run | None:
        """The run to the first state without a successor, if there is one."""
        return self._run_to(int(self._space.control[search.DEADLOCK]))

    def close(self) -> None:
        """Let the threads of the search end."""
        if self._team is not None:
            self._team.close()
            self._team = None

    def _go_on(self, states: int) -> int:
        """Expand ``states`` more; if a level is wide, with all threads."""
        expanded = 0
        while self._threads > 1 and expanded < states:
            front = int(self._space.control[search.FRONT])
            rest = int(self._space.control[search.LEVEL_END]) - front
            if rest <= NARROW:
                status = self._advance(max(1, rest))
            else:
                status = self._advance_together()
            if status == search.TABLE_FULL and rest > NARROW:
                self._threads = 1  # up to the last state for which the table has room
                continue
            if status != search.PAUSED:
                return status
            expanded += int(self._space.control[search.FRONT]) - front
        if expanded:
            return search.PAUSED
        return self._advance(states)

    def _advance_together(self) -> int:
        if self._team is None:
            self._team = Team(self._threads, fan=len(self._space.taken), words=self._space.table.shape[1])
        return self._team.advance(self._asked, self._space)

    def _advance(self, states: int) -> int:
        return int(
            search.advance(self._asked, self._space, self._room, states, self._stop_when_decided, self._reductions)
        )

    def _grow_slots(self) -> None:
        size = len(self._space.slots) * 2
        self._space = self._space._replace(slots=np.zeros(0, np.uint32))  # release the old before the new one is made
        self._space = self._space._replace(slots=np.zeros(size, np.uint32))
        if self._team is None:
            search.index(self._space.table, self.states, self._space.slots, 0, 1)
        else:
            self._team.index(self._space.table, self.states, self._space.slots)

    def _run_to(self, row: int) -> Run | None:
        """The path by which ``row`` was found, as a replayed run."""
        if row == NOT_FOUND:
            return None
        rows = [row]
        while rows[-1] != 0:
            rows.append(int(self._space.parents[rows[-1]]))
        path = [tuple(self._space.table[row].tolist()) for row in reversed(rows)]
        return run_through(self._plain, path, self._native.layout, self._symmetry)
