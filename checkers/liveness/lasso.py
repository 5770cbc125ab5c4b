"""Fair lassos: runs that never end, as a stem and a loop, which stay inside a set of states and are fair.

A run is weakly fair to an action instance when it takes the instance infinitely often or the instance is disabled
infinitely often; strongly fair when it takes it infinitely often or the instance is enabled only finitely often. A run
in a finite graph ends up inside one strongly connected component, counting a single state as one in which the run may
stay for ever (actions that are not fair may simply stop). Call a component *fair* when each weakly fair instance is
disabled in one of its states or taken on one of its transitions. Then a fair run exists exactly when a fair component
can be reached:

- a fair component has a loop through all its states and transitions, which is fair to every instance;
- a fair run repeats for ever some states and transitions of one component. They alone satisfy every instance, and so
  does any larger set of states and transitions. Maximal components are therefore enough; there is no need to look for
  fair ones inside unfair ones.

Staying in one state counts as a loop only if no fair instance is enabled: staying takes none. The demand that a loop
passes through certain states is of the same kind, and as monotone as those of the fair instances.

Strong fairness is not monotone: a component that enables an instance and never takes it may hold a smaller one that
does not enable it. Therefore the states that enable such an instance are removed, and the rest is divided again, until
each component takes what it enables (Emerson and Lei, 1987); these are the components that are considered.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy, part
from ...model.kernel import ModelError
from ...model.kernel.plain import PlainMachine
from ..run import Run, replay
from .fair_components import divided, judge_components
from .graph import Graph

_COMPONENTS_TRIED = 16
_ANCHORS_TRIED = 8


@dataclass(frozen=True)
class Lasso:
    """A run that never ends, as numbers of action instances."""

    stem: tuple[int, ...]  # steps from the initial state to the loop
    loop: tuple[int, ...]  # steps that repeat for ever; empty if the run stays in its last state for ever

    def __len__(self) -> int:
        return len(self.stem) + len(self.loop)

    def replay(self, machine: PlainMachine) -> Run:
        """The run as it happens in the plain Python form; raises :class:`ModelError` if it is not possible there."""
        return replay(machine, self.stem + self.loop, loop=len(self.stem))


def find_fair_lasso(
    graph: Graph,
    fair: Sequence[int],
    *,
    strongly: Sequence[int] = (),
    start: NDArray[np.bool_],
    within: NDArray[np.bool_],
    again: NDArray[np.bool_] | None = None,
) -> Lasso | None:
    """A fair run that stays ``within`` for ever from some state of ``start`` on; None if there is none.

    The shortest of those found is chosen: the stem is a shortest one to its loop, the loop a short one (a shortest loop
    for many fair instances is out of reach: that problem is NP-hard).

    Args:
        graph: the graph to search; only states that were followed can be part of the lasso, so for an incomplete graph
            None means nothing.
        fair: numbers of the fair action instances.
        strongly: those of them that are strongly fair; the others are weakly fair.
        start: states from which the run must stay within; a state of ``start`` counts only when it is ``within``.
        within: states the run must not leave; ``stop_at`` must not have stopped the search at any of them.
        again: states, one of which the run must visit again and again; None demands nothing.
    """
    inside = within.copy()
    inside[graph.followed :] = False
    distances, via = (np.full(graph.states, -1, np.int32) for _ in range(2))
    queue = np.empty(graph.states, np.int32)
    _find_stems(graph.starts, graph.targets, graph.depths(), start & inside, inside, distances, via, queue)
    component = divided(graph, distances >= 0, _flags(graph, strongly))
    again = again if again is not None else np.ones(graph.states, np.bool_)
    loop = _Search(graph, tuple(fair), frozenset(strongly), distances, component, again).best_loop()
    if loop is None:
        return None
    entry, edges = loop
    path = [entry]
    while via[path[-1]] >= 0:
        path.append(int(via[path[-1]]))
    path = graph.path_to(path[-1])[:-1] + path[::-1]
    stem = tuple(graph.instance_between(before, after) for before, after in itertools.pairwise(path))
    return Lasso(stem, tuple(int(graph.instances[edge]) for edge in edges))


def require_fair(machine: PlainMachine, run: Run) -> None:
    """Check in the plain Python form that ``run`` is a lasso of ``machine`` and fair.

    Raises:
        ModelError: it is not; the message says what is wrong.
    """
    lowered = machine.lowered
    if run.loop is None or not 0 <= run.loop < len(run.states) or len(run.states) != len(run.steps) + 1:
        raise ModelError("the run is not a lasso; the engine that made it is wrong.")
    if run.states[0] != machine.initial or run.states[run.loop] != run.states[-1]:
        raise ModelError("the run does not begin at the initial state, or its loop does not close.")
    for (before, after), number in zip(itertools.pairwise(run.states), run.steps, strict=True):
        if machine.step(before, number) != after:
            raise ModelError(f"the run takes {lowered.instances[number].label} where it does not lead to what follows.")
    skipped = {instance.number for instance in lowered.instances if instance.action.fair} - set(run.steps[run.loop :])
    strongly = {number for number in skipped if lowered.instances[number].action.strongly_fair}
    enabled = [set(machine.enabled(state)) for state in run.states[run.loop :]]
    for unserved, kind, how in (
        (skipped.intersection(*enabled), "weakly", "all along the loop"),
        (strongly.intersection(set().union(*enabled)), "strongly", "in the loop, again and again,"),
    ):
        if unserved:
            labels = ", ".join(lowered.instances[number].label for number in sorted(unserved))
            raise ModelError(f"the run is not {kind} fair: {labels} could happen {how} and never does.")


class _Search:
    """The choice of a loop among the fair components. A loop is its entry and its transitions.

    Demands are bits of a mask, one for each fair instance and one for ``again``: a state *serves* the instances that
    are disabled in it, and ``again`` if it is one of these states; a transition serves the instance that it takes. A
    state serves a strongly fair instance only if no state of its component enables it.
    """

    def __init__(
        self,
        graph: Graph,
        fair: tuple[int, ...],
        strongly: frozenset[int],
        distances: NDArray[np.int32],
        component: NDArray[np.int32],
        again: NDArray[np.bool_],
    ) -> None:
        self._graph = graph
        self._distances = distances
        self._component = component
        self._again = again
        self._bit = {number: 1 << position for position, number in enumerate(fair, start=1)}
        self._all = (2 << len(fair)) - 1
        self._strong = _union(self._bit[number] for number in strongly)
        self._enabled_in: dict[int, int] = {}
        # Scratch arrays of the search for the nearest witness, which leaves them as they were: most of its searches end
        # early.
        self._via = np.full(graph.states, -1, np.int64)
        self._queue = np.empty(graph.states, np.int32)
        self._path = np.empty(graph.states + 1, np.int64)

    def best_loop(self) -> tuple[int, list[int]] | None:
        """The loop with the shortest lasso of those tried; None if no component is fair."""
        reached = np.flatnonzero(self._component >= 0)
        members = reached[np.argsort(self._component[reached], kind="stable")]
        strong, weak = self._flags(self._strong), self._flags(self._all & ~self._strong)
        fair, idle = judge_components(self._graph, self._component, members, weak, strong, self._again)
        best = None
        if idle.any():
            best = (self._nearest_of(members[idle], 1)[0], list[int]())
        for anchor in self._anchors(members, fair):
            if best is None or self._distances[anchor] < self._length(best):
                found = self._entered_early(self._without_detours(self._loop_through(anchor)))
                if best is None or self._length(found) < self._length(best):
                    best = found
        return best

    def _anchors(self, members: NDArray[np.int64], fair: NDArray[np.bool_]) -> Iterator[int]:
        """States to look for loops through: in small and near components first, in each the nearest states first."""
        if not fair.any():
            return
        candidates = members[fair]
        names = self._component[candidates]
        first = np.flatnonzero(np.diff(names, prepend=-1))
        last = np.append(first[1:], len(names))
        cost = last - first + np.minimum.reduceat(self._distances[candidates], first)
        for group in np.argsort(cost, kind="stable")[:_COMPONENTS_TRIED]:
            yield from self._nearest_of(candidates[first[group] : last[group]], _ANCHORS_TRIED)

    def _loop_through(self, anchor: int) -> list[int]:
        """A loop through ``anchor`` that serves each fair instance: the path continues to the nearest missing one."""
        at, loop = anchor, list[int]()
        missing = self._all & ~self._served_in(anchor)
        while missing or at != anchor:
            length = _find_nearest(
                *self._graph.rows(),
                self._component,
                at,
                self._flags(missing),
                self._flags(missing & ~self._strong),
                self._again,
                bool(missing & 1),
                -1 if missing else anchor,
                self._via,
                self._queue,
                self._path,
            )
            if not length:
                raise ModelError("a fair component is not connected; the search for components is wrong.")
            for edge in self._path[:length][::-1].tolist():
                at = int(self._graph.targets[edge])
                missing &= ~(self._served_by(edge) | self._served_in(at))
                loop.append(edge)
        return loop

    def _without_detours(self, loop: list[int]) -> list[int]:
        """The loop, cut short where it returns to a state and the rest still serves every instance."""
        served = [self._served_in(self._graph.source(edge)) | self._served_by(edge) for edge in loop]
        before = list(itertools.accumulate(served, operator.or_, initial=0))
        after = list(itertools.accumulate(reversed(served), operator.or_, initial=0))[::-1]
        places = defaultdict(list)
        for place, edge in enumerate(loop):
            places[self._graph.source(edge)].append(place)
        best = loop
        for visits in places.values():
            for position, first in enumerate(visits):
                between = 0
                for previous, last in itertools.pairwise(visits[position:]):
                    between |= _union(served[previous:last])
                    if between == self._all and last - first < len(best):
                        best = loop[first:last]
                    if before[first] | after[last] == self._all and len(loop) - (last - first) < len(best):
                        best = loop[:first] + loop[last:]
        return loop if best is loop else self._without_detours(best)

    def _entered_early(self, loop: list[int]) -> tuple[int, list[int]]:
        """The loop, rotated to begin at its nearest state."""
        sources = [self._graph.source(edge) for edge in loop]
        place = sources.index(self._nearest_of(np.array(sources), 1)[0])
        return sources[place], loop[place:] + loop[:place]

    def _length(self, loop: tuple[int, list[int]]) -> int:
        return int(self._distances[loop[0]]) + len(loop[1])

    def _nearest_of(self, states: NDArray[np.int64], count: int) -> list[int]:
        order: list[int] = states[np.lexsort((states, self._distances[states]))[:count]].tolist()
        return order

    def _served_by(self, edge: int) -> int:
        return self._bit.get(int(self._graph.instances[edge]), 0)

    def _served_in(self, state: int) -> int:
        enabled = self._enabled(state)
        if self._strong:
            enabled |= self._strong & self._enabled_in_component(int(self._component[state]))
        return self._all & ~enabled & ~(0 if self._again[state] else 1)

    def _enabled(self, state: int) -> int:
        row = self._graph.instances[self._graph.starts[state] : self._graph.starts[state + 1]]
        return _union(self._bit.get(number, 0) for number in row.tolist())

    def _enabled_in_component(self, name: int) -> int:
        if name not in self._enabled_in:
            members = np.flatnonzero(self._component == name).tolist()
            self._enabled_in[name] = _union(self._enabled(state) for state in members)
        return self._enabled_in[name]

    def _flags(self, mask: int) -> NDArray[np.bool_]:
        """The instances of ``mask`` as an array over all instances."""
        return _flags(self._graph, [number for number, bit in self._bit.items() if mask & bit])


def _flags(graph: Graph, numbers: Sequence[int]) -> NDArray[np.bool_]:
    flags = np.zeros(len(graph.lowered.instances), np.bool_)
    flags[list(numbers)] = True
    return flags


def _union(masks: Iterable[int]) -> int:
    return functools.reduce(operator.or_, masks, 0)


@heavy
def _find_stems(
    starts: Any, targets: Any, depths: Any, start: Any, inside: Any, distances: Any, via: Any, queue: Any
) -> None:
    """Write, for each state, the length of the shortest stem to it (it is -1 without one), and its predecessor
    ``inside``.

    A stem takes any path to a state of ``start``, which has no predecessor, and from there stays ``inside``.
    """
    size = len(depths)
    head = tail = candidate = level = 0
    while True:
        # States are numbered by depth, so those of ``start`` join in the order of their distance.
        while candidate < size and depths[candidate] <= level:
            if start[candidate] and distances[candidate] < 0:
                distances[candidate] = level
                queue[tail] = candidate
                tail += 1
            candidate += 1
        if head == tail:
            if candidate == size:
                return
            level = depths[candidate]
            continue
        end = tail
        while head < end:
            state = queue[head]
            head += 1
            for edge in range(starts[state], starts[state + 1]):
                target = targets[edge]
                if inside[target] and distances[target] < 0:
                    distances[target] = level + 1
                    via[target] = state
                    queue[tail] = target
                    tail += 1
        level += 1


@heavy
def _find_nearest(
    starts: Any,
    targets: Any,
    instances: Any,
    component: Any,
    source: int,
    wanted: Any,
    spared: Any,
    again: Any,
    wants_again: bool,
    destination: int,
    via: Any,
    queue: Any,
    path: Any,
) -> int:
    """Write the transitions of a shortest path from ``source``, inside its component, that serves a demand or reaches a
    given state, the last one first; returns how many there are.

    It ends with a transition that takes a ``wanted`` instance, or in a state where one of ``spared`` is disabled, or in
    one of ``again`` if that is wanted, or at ``destination``.
    """
    count = 0
    for number in range(len(spared)):
        count += spared[number]
    name = component[source]
    queue[0] = source
    head, tail, hit = 0, 1, -1
    while head < tail and hit < 0:
        state = queue[head]
        head += 1
        for edge in range(starts[state], starts[state + 1]):
            target = targets[edge]
            if component[target] != name:
                continue
            is_new = target != source and via[target] < 0
            if is_new:
                via[target] = edge
                queue[tail] = target
                tail += 1
            serves = wanted[instances[edge]] or target == destination or (wants_again and again[target])
            if is_new and not serves:
                enabled = 0
                for other in range(starts[target], starts[target + 1]):
                    enabled += spared[instances[other]]
                serves = enabled < count
            if serves:
                hit = edge
                break
    length = 0
    while hit >= 0:
        path[length] = hit
        length += 1
        hit = via[_source(starts, hit)]
    for place in range(tail):
        via[queue[place]] = -1
    return length


@part
def _source(starts: Any, edge: int) -> int:
    """The state that a transition leaves."""
    low, high = 0, len(starts) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= edge:
            low = middle
        else:
            high = middle
    return low
