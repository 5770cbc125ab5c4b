"""The search of a small space: in the plain Python form, so that no machine code has to be compiled or loaded.

Most questions have a few hundred states. Loading what compiles and calls machine code takes a second of processor time,
a thousand times longer than such a search. A space that turns out to be larger is given up, and searched in machine
code.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from ...model.kernel.plain import PlainMachine, StateTuple
from ...properties.property import Kind, Property
from ..exploration import Limits, Progress
from ..run import Run, replay

MOST_STEPS = 40_000
"""Number of steps to try, taken or not, before a search is given up: a twentieth of a second."""

_MOST_INSTANCES = 64
"""For a machine with more instances, making the plain form of all of them takes longer than loading machine code."""

_BYTES_BESIDE = 100
"""Memory for each state besides the state itself: its places in a list and two dictionaries."""


class PlainSearch:
    """A whole search, with the answers of :class:`.table_search.TableSearch`; see :func:`search_plainly`.

    Attributes:
        states: distinct states.
        transitions: of all of them.
        depth: number of steps to the farthest state.
        taken: number of transitions of each instance.
    """

    def __init__(self, plain: PlainMachine, properties: Sequence[Property], *, terminal: str) -> None:
        self._plain = plain
        self._wanted = [(item.id, item.kind is Kind.SOMETIMES) for item in properties]
        self._terminal = terminal
        self._came_from: dict[StateTuple, tuple[StateTuple, int] | None] = {plain.initial: None}
        self._found: dict[int, StateTuple] = {}
        self._deadlock: StateTuple | None = None
        self.taken = [0] * len(plain.lowered.instances)
        self.transitions = self.depth = 0
        self._judge(plain.initial)

    @property
    def states(self) -> int:
        """Distinct states so far."""
        return len(self._came_from)

    def search(self, limits: Limits) -> bool:
        """Search everything; False if it is too much, or a limit is near.

        Raises:
            ModelError: a step writes outside a declared domain.
        """
        started, followed = time.perf_counter(), 0
        rows = limits.memory() // self.bytes_per_state()
        rows = rows if limits.states is None else min(rows, limits.states - 1)
        level = [self._plain.initial]
        while True:
            following: list[StateTuple] = []
            for state in level:
                followed += 1
                late = limits.seconds is not None and time.perf_counter() - started >= limits.seconds
                if is_too_much(self._plain, followed) or late or self.states > rows:
                    return False
                following += self._expand(state)
            if not following:
                return True
            level = following
            self.depth += 1

    def _expand(self, state: StateTuple) -> list[StateTuple]:
        """Take all steps from a state; returns those of the states reached that are new."""
        fresh, before = [], self.transitions
        for number, following in self._plain.successors(state):
            self.transitions += 1
            self.taken[number] += 1
            if following not in self._came_from:
                self._came_from[following] = state, number
                self._judge(following)
                fresh.append(following)
        if self.transitions == before and self._deadlock is None and not self._may_end(state):
            self._deadlock = state
        return fresh

    def _may_end(self, state: StateTuple) -> bool:
        return bool(self._terminal) and self._plain.holds(self._terminal, state)

    def _judge(self, state: StateTuple) -> None:
        for number, (name, wanted) in enumerate(self._wanted):
            if number not in self._found and self._plain.holds(name, state) is wanted:
                self._found[number] = state

    def run(self, progress: Callable[[Progress], None] | None) -> str:
        """Nothing is left to search, and no limit was reached."""
        return ""

    def bytes_per_state(self) -> float:
        """Approximate memory for each state."""
        return sys.getsizeof(self._plain.initial) + _BYTES_BESIDE

    def run_of(self, number: int) -> Run | None:
        """The run to the first state with the property of that number, if there is one."""
        return self._run_to(self._found.get(number))

    def run_to_deadlock(self) -> Run | None:
        """The run to the first state without a successor, if there is one."""
        return self._run_to(self._deadlock)

    def _run_to(self, state: StateTuple | None) -> Run | None:
        if state is None:
            return None
        steps: list[int] = []
        came_from = self._came_from[state]
        while came_from is not None:
            before, number = came_from
            steps.append(number)
            came_from = self._came_from[before]
        return replay(self._plain, steps[::-1])


def search_plainly(
    plain: PlainMachine, properties: Sequence[Property], limits: Limits, *, terminal: str
) -> PlainSearch | None:
    """Search a small space: the same states in the same order as in machine code; None if it is not small. The
    predicate ``terminal`` excuses states without successors.

    Raises:
        ModelError: a step writes outside a declared domain.
    """
    if not has_few_steps(plain):
        return None
    search = PlainSearch(plain, properties, terminal=terminal)
    return search if search.search(limits) else None


def has_few_steps(plain: PlainMachine) -> bool:
    """Whether making the plain form of a machine is faster than making machine code."""
    return len(plain.lowered.instances) <= min(_MOST_INSTANCES, MOST_STEPS)


def is_too_much(plain: PlainMachine, states: int) -> bool:
    """Whether following that many states takes longer in the plain form than in machine code."""
    return states * len(plain.lowered.instances) > MOST_STEPS
