"""The reachable graph: every state of a finite configuration with all its transitions, as arrays.

Questions about runs that never end (see ``eventually.py``) need the transitions too, not just the states. These are
stored as compressed sparse rows: the transitions of state ``i`` are at ``starts[i] … starts[i + 1] - 1`` of ``targets``
and ``instances``. States are numbered in breadth-first order, so 0 is the initial one and numbers never fall with
depth.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy
from ...model.kernel import Lowered, ModelError
from ...model.kernel.layout import Layout
from ...model.kernel.native import NativeMachine
from ...model.kernel.plain import PlainMachine, StateTuple
from ..exploration import NO_LIMITS, Limits
from ..search.loop import hash_of, same
from ..search.native_calls import call_properties, call_successors

MAX_STATES = 2**31 - 1
MAX_INSTANCES = 2**16

_FRONT, _COUNT, _EDGES, _WRONG = range(4)
_DONE, _PAUSED, _STATES_FULL, _EDGES_FULL, _SLOTS_FULL, _WROTE_OUTSIDE = range(6)

_PAUSE_STATES = 50_000
EDGE_BYTES = 6
STATE_BYTES = 4 + 8 + 8 + 12 + 64
"""Bytes per state besides its words: parent, row start, predicates, hash index, and the analysis afterwards."""


@dataclass(frozen=True, eq=False)
class Graph:
    """States and transitions of a configuration."""

    lowered: Lowered = field(repr=False)  # the configuration it was made from
    layout: Layout = field(repr=False)  # how its states are packed
    words: NDArray[np.uint64] = field(repr=False)  # packed states, one a row
    # for each state, a bit mask of the predicates of ``lowered`` that hold, in their order
    holds: NDArray[np.int64] = field(repr=False)
    # for each state, the one from which it was first reached (the initial state from itself)
    parents: NDArray[np.int32] = field(repr=False)
    # first transition of each followed state, and the end of the last one
    starts: NDArray[np.int64] = field(repr=False)
    targets: NDArray[np.int32] = field(repr=False)  # for each transition, the state to which it leads
    instances: NDArray[np.uint16] = field(repr=False)  # for each transition the number of the action instance
    # which limit ended the search, in words; empty when the graph is complete. States numbered ``followed`` and above
    # then have unknown transitions
    limit: str

    @property
    def states(self) -> int:
        """Number of states found."""
        return len(self.words)

    @property
    def followed(self) -> int:
        """Number of states whose transitions are known; they are numbered from 0."""
        return len(self.starts) - 1

    @property
    def transitions(self) -> int:
        """Number of transitions of the followed states."""
        return len(self.targets)

    def state(self, number: int) -> StateTuple:
        """The state numbered ``number``, one integer for each cell."""
        return self.layout.unpack(self.words[number].tolist())

    def where(self, predicate: str) -> NDArray[np.bool_]:
        """For each state whether the lowered ``predicate`` holds."""
        bit = [*self.lowered.predicates].index(predicate)
        return np.asarray((self.holds >> bit) & 1, np.bool_)

    def depths(self) -> NDArray[np.int32]:
        """For each state the length of the shortest path from the initial state."""
        depths = np.zeros(len(self.parents), np.int32)
        _fill_depths(self.parents, depths)
        return depths

    def path_to(self, number: int) -> list[int]:
        """The states on a shortest path from the initial state to ``number``, both included."""
        path = [number]
        while path[-1] != 0:
            path.append(int(self.parents[path[-1]]))
        return path[::-1]

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """``starts``, ``targets`` and ``instances``, for compiled loops."""
        return self.starts, self.targets, self.instances

    def source(self, transition: int) -> int:
        """The state that the transition at position ``transition`` leaves."""
        return int(np.searchsorted(self.starts, transition, side="right")) - 1

    def instance_between(self, source: int, target: int) -> int:
        """The first action instance that leads from a followed state to another one.

        Raises:
            ModelError: there is no such transition.
        """
        first, last = int(self.starts[source]), int(self.starts[source + 1])
        hits = np.flatnonzero(self.targets[first:last] == target)
        if len(hits) == 0:
            raise ModelError(f"the graph has no transition from state {source} to state {target}.")
        return int(self.instances[first + hits[0]])


def reachable_graph(native: NativeMachine, *, stop_at: str | None = None, limits: Limits = NO_LIMITS) -> Graph:
    """Search breadth-first and keep all transitions.

    Args:
        native: the compiled machine.
        stop_at: name of a predicate; states where it holds are not followed (their transitions are left out, and they
            count as followed).
        limits: when to give up; the memory is that for states, transitions and the analysis after it.

    Raises:
        ModelError: a step writes outside a declared domain, or there are too many action instances.
    """
    return _Builder(native, stop_at, limits).run()


class _Arrays(NamedTuple):
    """The arrays of a graph while it grows; they are reserved at once, but use memory only once written.

    Attributes:
        words, holds, parents, starts, targets, instances: as in :class:`Graph`.
        slots: a hash index over the states.
        out, tags: room for the successors of a state, and for the instances that lead to them.
        control: numbers, at ``_FRONT`` and so on.
    """

    words: NDArray[np.uint64]
    holds: NDArray[np.int64]
    parents: NDArray[np.int32]
    starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    instances: NDArray[np.uint16]
    slots: NDArray[np.uint32]
    out: NDArray[np.uint64]
    tags: NDArray[np.int64]
    control: NDArray[np.int64]


class _Builder:
    """A graph while it grows."""

    def __init__(self, native: NativeMachine, stop_at: str | None, limits: Limits) -> None:
        self._native = native
        self._stop = 0 if stop_at is None else 1 << native.predicates.index(stop_at)
        self._plain = PlainMachine(native.lowered)
        fan = len(native.lowered.instances)
        if fan > MAX_INSTANCES:
            raise ModelError(
                f"{fan:,} action instances are too many, {MAX_INSTANCES:,} are possible; use smaller constants."
            )
        if limits.states is not None and limits.states < 1:
            raise ModelError(f"a limit of {limits.states} states leaves no room for the initial one; give 1 or more.")
        self._limits, self._memory = limits, limits.memory()
        width = max(1, native.layout.words)
        self._state_bytes = width * 8 + STATE_BYTES
        rows = max(1, min(self._memory // self._state_bytes, MAX_STATES, limits.states or MAX_STATES))
        edges = max(1, min(rows * fan, self._memory // EDGE_BYTES))
        self._arrays = _Arrays(
            words=np.empty((rows, width), np.uint64),
            holds=np.empty(rows, np.int64),
            parents=np.empty(rows, np.int32),
            starts=np.empty(rows + 1, np.int64),
            targets=np.empty(edges, np.int32),
            instances=np.empty(edges, np.uint16),
            slots=np.zeros(1 << 12, np.uint32),
            out=np.empty((max(1, fan), width), np.uint64),
            tags=np.empty(max(1, fan), np.int64),
            control=np.zeros(4, np.int64),
        )
        self._control = self._arrays.control
        self._control[_COUNT] = 1
        self._arrays.words[0] = native.layout.pack(self._plain.initial)
        self._arrays.parents[0] = self._arrays.starts[0] = 0
        _index(self._arrays.words, 1, self._arrays.slots)
        _judge_first(native.properties, self._arrays.words, self._arrays.holds)

    def run(self) -> Graph:
        """Search until all is found, or a limit is hit."""
        started, seconds = time.perf_counter(), self._limits.seconds
        limit = ""
        while not limit:
            if seconds is not None and time.perf_counter() - started >= seconds:
                limit = f"time limit of {seconds:g} s reached"
                break
            status = _follow(self._native.successors, self._native.properties, self._stop, self._arrays, _PAUSE_STATES)
            if status == _DONE:
                break
            if status == _WROTE_OUTSIDE:
                self._raise_wrong_write()
            elif status == _SLOTS_FULL:
                self._arrays = self._arrays._replace(slots=np.zeros(len(self._arrays.slots) * 2, np.uint32))
                _index(self._arrays.words, int(self._control[_COUNT]), self._arrays.slots)
            elif status == _STATES_FULL and len(self._arrays.words) == self._limits.states:
                limit = f"limit of {self._limits.states:,} states reached"
            elif status != _PAUSED or self._bytes() > self._memory:
                limit = f"memory limit of {self._memory / 2**20:,.0f} MiB reached"
        return self._graph(limit)

    def _bytes(self) -> int:
        return int(self._control[_COUNT]) * self._state_bytes + int(self._control[_EDGES]) * EDGE_BYTES

    def _graph(self, limit: str) -> Graph:
        front, count, edges = (int(self._control[item]) for item in (_FRONT, _COUNT, _EDGES))
        arrays = self._arrays
        return Graph(
            self._native.lowered,
            self._native.layout,
            arrays.words[:count],
            arrays.holds[:count],
            arrays.parents[:count],
            arrays.starts[: front + 1],
            arrays.targets[:edges],
            arrays.instances[:edges],
            limit,
        )

    def _raise_wrong_write(self) -> None:
        graph = self._graph("")
        number = int(self._control[_WRONG])
        self._plain.step(graph.state(graph.followed), number)
        raise ModelError(
            f"{self._native.lowered.instances[number].label} writes outside a domain in compiled code, but not in the "
            "plain form; the two forms of the machine disagree."
        )


@heavy
def _index(words: Any, count: int, slots: Any) -> None:
    mask = np.uint64(len(slots) - 1)
    for row in range(count):
        place = hash_of(words, row, words.shape[1]) & mask
        while slots[np.intp(place)] != 0:
            place = (place + np.uint64(1)) & mask
        slots[np.intp(place)] = row + 1


@heavy
def _judge_first(properties: int, words: Any, holds: Any) -> None:
    holds[0] = call_properties(properties, words.ctypes.data)


@heavy
def _follow(successors: int, properties: int, stop: int, arrays: Any, pause_after: int) -> int:
    """Follow up to ``pause_after`` more states; one that does not fit is left for the next call, as if untouched."""
    words, holds, parents, starts, targets, instances, slots, out, tags, control = arrays
    width = words.shape[1]
    fan = len(tags)
    mask = np.uint64(len(slots) - 1)
    for _ in range(pause_after):
        front, edges = control[_FRONT], control[_EDGES]
        if front == control[_COUNT]:
            return _DONE
        if holds[front] & stop != 0:
            control[_FRONT] = front + 1
            starts[front + 1] = edges
            continue
        if (control[_COUNT] + fan) * 2 > len(slots):
            return _SLOTS_FULL
        made = call_successors(successors, words.ctypes.data + front * width * 8, out.ctypes.data, tags.ctypes.data)
        if made < 0:
            control[_WRONG] = -1 - made
            return _WROTE_OUTSIDE
        if edges + made > len(targets):
            return _EDGES_FULL
        for item in range(made):
            place = hash_of(out, item, width) & mask
            while True:
                row = np.intp(slots[np.intp(place)]) - 1
                if row < 0:
                    row = control[_COUNT]
                    if row == len(words):
                        return _STATES_FULL
                    slots[np.intp(place)] = row + 1
                    for column in range(width):
                        words[row, column] = out[item, column]
                    parents[row] = front
                    holds[row] = call_properties(properties, words.ctypes.data + row * width * 8)
                    control[_COUNT] = row + 1
                    break
                if same(words, row, out, item, width):
                    break
                place = (place + np.uint64(1)) & mask
            targets[edges + item] = row
            instances[edges + item] = tags[item]
        control[_EDGES] = edges + made
        control[_FRONT] = front + 1
        starts[front + 1] = edges + made
    return _PAUSED


@heavy
def _fill_depths(parents: Any, depths: Any) -> None:
    for number in range(1, len(parents)):
        depths[number] = depths[parents[number]] + 1
