"""What searches that keep their states in files have in common: levels, checkpoints, limits, runs.

The known states are the levels themselves, and merged sets of several levels, so that there are few sets. After each
level a checkpoint is written, from which an interrupted search can continue. Parents are not stored: a run is
reconstructed backwards, by searching each level for a predecessor of the state in the next one.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...model.kernel.native import NativeMachine
from ...model.kernel.plain import PlainMachine
from ...properties.property import Kind, Property
from ..exploration import Limits, Progress, run_through
from ..run import Run
from .folder_error import FolderError
from .native_calls import NOT_FOUND

MOST_RUNS = 4
"""Maximum number of sorted sets of known states; beyond it, the smallest are merged."""

CHECKPOINT = "search.json"


@dataclass(kw_only=True)
class Known:
    """What is known after a level; a checkpoint."""

    machine: str  # identifies the search: differs for other machines, constants and properties
    # name and number of states of the sorted sets that together contain all states of all levels
    runs: list[tuple[str, int]]
    # position of the first state with each property: its level, its share if there are several, and its place there; -1
    # if there is none
    found: list[tuple[int, ...]]
    deadlock: tuple[int, ...]  # position of the first state without a successor
    shares: int = 1  # number of shares into which the states of a level are divided
    # number of states in each level; the last level is still to be expanded
    levels: list[int] = field(default_factory=lambda: [1])
    merged: int = 0  # number of sets merged so far
    transitions: int = 0  # of all expanded levels; ``taken``: by instance
    taken: list[int] = field(default_factory=list)

    def smallest_two(self) -> int:
        """Position of the first of the two adjacent sorted sets to merge: the smallest pair, not counting the last set.

        The last set, found most recently, is large.
        """
        sizes = [one[1] + other[1] for one, other in pairwise(self.runs[:-1])]
        return sizes.index(min(sizes))


class LevelSearch(ABC):
    """A search that keeps its states in files.

    Args:
        native: the machine.
        properties: the properties whose first states are wanted, in the order of the machine's predicates.
        limits: when to give up.
        terminal: whether the predicate after those of the properties excuses states without successors.
    """

    _known: Known

    def __init__(
        self, native: NativeMachine, properties: Sequence[Property], limits: Limits, *, terminal: bool
    ) -> None:
        self.native = native
        self.terminal = 1 << len(properties) if terminal else 0
        self.words = max(1, native.layout.words)
        self.fan = max(1, len(native.lowered.instances))
        self._limits = limits
        self._properties = len(properties)
        self._inverted = sum(1 << bit for bit, item in enumerate(properties) if item.kind is Kind.ALWAYS)
        self._plain = PlainMachine(native.lowered)
        self.initial = np.array([native.layout.pack(self._plain.initial) or (0,)], np.uint64)
        self._deadline: float | None = None

    def _first(self, name: str, *, shares: int, nowhere: tuple[int, ...]) -> Known:
        """What is known at the beginning, including the set of the first level."""
        return Known(
            machine=self._machine,
            shares=shares,
            runs=[(name, 1)],
            taken=[0] * self.fan,
            found=[nowhere] * self._properties,
            deadlock=nowhere,
        )

    def _interrupted(self, folder: object, checkpoint: str | bytes | None, *, is_empty: bool) -> Known | None:
        """What an interrupted search has left in a folder; None if the folder is empty.

        Raises:
            FolderError: the folder contains something else.
        """
        if checkpoint is not None:
            told = json.loads(checkpoint)
            if told["machine"] != self._machine:
                raise FolderError(
                    f"{folder} has an interrupted search of another machine, other constants or other "
                    "properties; empty the folder, or name another."
                )
            return Known(**{**told, "runs": [tuple(run) for run in told["runs"]]})
        if not is_empty:
            raise FolderError(f"{folder} is not empty, and no search was interrupted in it; name an empty folder.")
        return None

    @property
    def _machine(self) -> str:
        return f"{self.native.digest} {self._inverted} {self._properties} {self.terminal}"

    @property
    def states(self) -> int:
        """Distinct states so far."""
        return sum(self._known.levels)

    @property
    def depth(self) -> int:
        """The last level that was expanded, or that is being expanded."""
        levels = self._known.levels
        return len(levels) - (2 if not levels[-1] else 1)

    @property
    def transitions(self) -> int:
        """Transitions of the levels that were expanded."""
        return self._known.transitions

    @property
    def taken(self) -> Sequence[int]:
        """Number of transitions of each instance."""
        return self._known.taken

    def run(self, progress: Callable[[Progress], None] | None) -> str:
        """Search to the end, or to a limit; returns the limit in words, or an empty string."""
        started = time.perf_counter()
        limit = f"time limit of {self._limits.seconds:g} s reached" if self._limits.seconds is not None else ""
        self._deadline = None if self._limits.seconds is None else started + self._limits.seconds
        while self._known.levels[-1]:
            seconds = time.perf_counter() - started
            if self._limits.states is not None and self.states >= self._limits.states:
                return f"limit of {self._limits.states:,} states reached"
            if self.is_late():
                return limit
            if progress is not None:
                progress(Progress(self.states, self.transitions, self.depth, self._known.levels[-1], seconds))
            if not self._next_level():
                return limit
        return ""

    def is_late(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.perf_counter() >= self._deadline

    def run_of(self, number: int) -> Run | None:
        """The run to the first state with the property of that number, if there is one."""
        return self._run_to(*self._known.found[number])

    def run_to_deadlock(self) -> Run | None:
        """The run to the first state without a successor, if there is one."""
        return self._run_to(*self._known.deadlock)

    def _run_to(self, level: int, *place: int) -> Run | None:
        """The path to a state of a level, as a replayed run: each state is a successor of the one before."""
        if level == NOT_FOUND:
            return None
        path = [self._state_at(level, *place)]
        for number in range(level - 1, -1, -1):
            path.append(self._state_before(number, path[-1]))
        words = [tuple(state[0].tolist()) for state in reversed(path)]
        return run_through(self._plain, words, self.native.layout)

    @abstractmethod
    def bytes_per_state(self) -> float:
        """Bytes in files for each state."""

    @abstractmethod
    def close(self) -> None:
        """Remove the files if all states were found; otherwise the search can be continued from them."""

    @abstractmethod
    def _next_level(self) -> bool:
        """Expand the last level and write the next; returns False if the time is over."""

    @abstractmethod
    def _state_at(self, level: int, *place: int) -> Any:
        """A state of a level, as a table of one row."""

    @abstractmethod
    def _state_before(self, level: int, wanted: Any) -> Any:
        """The first state of a level that leads to another one, both as tables of one row."""
