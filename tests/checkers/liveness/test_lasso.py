"""Fair lassos against an oracle that tries every way of serving the fair instances, state by state."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.checkers.exploration import NO_LIMITS, Limits
from rocketproof.checkers.liveness import components
from rocketproof.checkers.liveness.graph import Graph, reachable_graph
from rocketproof.checkers.liveness.lasso import Lasso, find_fair_lasso, require_fair
from rocketproof.checkers.run import Run
from rocketproof.model.examples import dining_philosophers, peterson
from rocketproof.model.kernel import Int, Machine, ModelError, State, Term, any_of, ite, lower
from rocketproof.model.kernel.native import compile_machine
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples


@dataclass(frozen=True)
class Jumps:
    """A machine with one variable: an action is a table of jumps, and whether it is fair, or even "strongly".

    A run must not stay in ``within`` for ever once it was in ``start``, and come again and again to ``again``.
    """

    size: int
    actions: tuple[tuple[Mapping[int, int], bool | Literal["strongly"]], ...]
    start: frozenset[int]
    within: frozenset[int]
    again: frozenset[int] = frozenset(range(100))

    def machine(self) -> Machine:
        machine = Machine("jumps")
        machine.variable("at", Int(0, self.size - 1))
        for number, (table, fair) in enumerate(self.actions):
            machine.action(fair=fair)(jump(f"jump{number}", table))
        return machine

    def graph(self, *, limits: Limits = NO_LIMITS) -> Graph:
        return reachable_graph(compile_machine(lower(self.machine().configure())), limits=limits)

    def lasso(self, graph: Graph) -> Lasso | None:
        at = [graph.state(number)[0] for number in range(graph.states)]
        start = np.array([value in self.start for value in at])
        within = np.array([value in self.within for value in at])
        fair = [number for number, (_, fair) in enumerate(self.actions) if fair]
        again = np.array([value in self.again for value in at])
        return find_fair_lasso(graph, fair, strongly=sorted(self.strongly), start=start, within=within, again=again)

    @property
    def strongly(self) -> frozenset[int]:
        return frozenset(number for number, (_, fair) in enumerate(self.actions) if fair == "strongly")


def jump(name: str, table: Mapping[int, int]) -> Callable[[State], None]:
    def action(s: State) -> None:
        s.require(any_of(*(s.at == source for source in table)))
        target: Term | int = 0
        for source, there in table.items():
            target = ite(s.at == source, there, target)
        s.at = target

    action.__name__ = name
    return action


def shortest_stems(jumps: Jumps) -> dict[int, int]:
    """For each state in which a run may have come to be bound to stay within: the fewest steps to that."""
    best: dict[tuple[int, bool], int] = {}
    queue = [(0, 0, 0 in jumps.start & jumps.within), (0, 0, False)]
    while queue:
        steps, state, bound = heapq.heappop(queue)
        if (state, bound) in best:
            continue
        best[state, bound] = steps
        for table, _ in jumps.actions:
            if state in table:
                target = table[state]
                if not bound:
                    heapq.heappush(queue, (steps + 1, target, False))
                if target in jumps.within and (bound or target in jumps.start):
                    heapq.heappush(queue, (steps + 1, target, True))
    return {state: steps for (state, bound), steps in best.items() if bound}


def shortest_loop(jumps: Jumps, anchor: int) -> int | None:
    """Length of a shortest fair loop through ``anchor`` within; 0 where a run may stay for ever."""
    fair = {number for number, (_, fair) in enumerate(jumps.actions) if fair}
    demands = fair | {-1}

    def served_in(state: int) -> frozenset[int]:
        return frozenset(
            number
            for number in demands
            if (state in jumps.again if number == -1 else state not in jumps.actions[number][0])
        )

    def wanted_in(state: int) -> frozenset[int]:
        return frozenset(number for number in jumps.strongly if state in jumps.actions[number][0])

    # What was served so far, what was taken, and what strongly fair jumps were possible.
    seen = {(anchor, served_in(anchor), frozenset[int](), wanted_in(anchor))}
    layer = list(seen)
    for steps in itertools.count():
        if any(at == anchor and served == demands and wanted <= taken for at, served, taken, wanted in layer):
            return steps
        following = []
        for state, served, taken, wanted in layer:
            for number, (table, _) in enumerate(jumps.actions):
                if state in table and table[state] in jumps.within:
                    target, does = table[state], {number} & fair
                    after = (target, served | does | served_in(target), taken | does, wanted | wanted_in(target))
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
        if not following:
            return None
        layer = following
    raise AssertionError


def shortest_lasso(jumps: Jumps) -> int | None:
    loops = {state: shortest_loop(jumps, state) for state in shortest_stems(jumps)}
    return min((shortest_stems(jumps)[state] + loop for state, loop in loops.items() if loop is not None), default=None)


@st.composite
def any_jumps(draw: st.DrawFn) -> Jumps:
    size = draw(st.integers(2, 7))
    states = st.integers(0, size - 1)
    table = st.dictionaries(states, states, min_size=1)
    actions = draw(st.lists(st.tuples(table, st.sampled_from((True, "strongly", False))), min_size=1, max_size=5))
    start = draw(st.frozensets(states, min_size=1))
    within = draw(st.frozensets(states, min_size=1))
    again = draw(st.just(frozenset(range(size))) | st.frozensets(states, min_size=1))
    return Jumps(size, tuple(actions), start, within, again)


@given(any_jumps(), st.integers(1, 7))
def test_the_answer_is_that_of_the_oracle(jumps: Jumps, limit: int) -> None:
    shortest = shortest_lasso(jumps)
    graph = jumps.graph()
    lasso = jumps.lasso(graph)
    if lasso is None:
        assert shortest is None
    else:
        assert shortest is not None
        judge(jumps, graph, lasso, shortest)
    part = jumps.graph(limits=Limits(states=limit))
    found = jumps.lasso(part)
    if found is not None:
        assert shortest is not None
        judge(jumps, graph, found, shortest)
    else:
        assert part.limit or shortest is None


def judge(jumps: Jumps, graph: Graph, lasso: Lasso, shortest: int) -> None:
    machine = PlainMachine(graph.lowered)
    run = lasso.replay(machine)
    require_fair(machine, run)
    assert run.loop is not None
    at = [state[0] for state in run.states]
    bound = [place for place, value in enumerate(at[: len(lasso.stem) + 1]) if value in jumps.start]
    assert any(set(at[place:]) <= jumps.within for place in bound)
    assert set(at[run.loop :]) & jumps.again
    assert len(lasso) >= shortest


def random_jumps(seed: int) -> Jumps:
    random = np.random.default_rng(seed)
    size = 8
    tables = [
        {source: int(random.integers(size)) for source in range(size) if random.random() < 0.5} or {0: 1}
        for _ in range(6)
    ]
    fair = [bool(random.random() < 0.7) for _ in tables]
    return Jumps(size, tuple(zip(tables, fair, strict=True)), frozenset({0, 3}), frozenset(range(size)))


def test_nearly_all_lassos_are_shortest() -> None:
    excess = []
    for seed in range(60):
        jumps = random_jumps(seed)
        shortest, lasso = shortest_lasso(jumps), jumps.lasso(jumps.graph())
        assert (shortest is None) == (lasso is None)
        if shortest is not None and lasso is not None and lasso.loop:
            excess.append(len(lasso) - shortest)
    assert Counter(excess) == {0: 38, 1: 4, 2: 1}


BETWEEN = {"start": frozenset({1}), "within": frozenset({1, 2})}
LOOPED = Jumps(3, (({0: 1}, True), ({1: 2, 2: 1}, False)), frozenset({0}), frozenset({0, 1, 2}))


@pytest.mark.parametrize(
    ("jumps", "lasso"),
    [
        # Nothing is fair: the run may stop at once. Then the fair jump has to be taken before the run may stop.
        (replace(LOOPED, actions=(({0: 1}, False), ({1: 2, 2: 1}, False))), Lasso((), ())),
        (LOOPED, Lasso((0,), ())),
        # Now the jump between 1 and 2 is fair too: it goes on for ever.
        (replace(LOOPED, actions=(({0: 1}, True), ({1: 2, 2: 1}, True))), Lasso((0,), (1, 1))),
        # A fair jump that is possible in 1 only, and leaves: a run between 1 and 2 denies it nothing in 2.
        (
            replace(LOOPED, actions=(({0: 1, 1: 0}, True), ({1: 2, 2: 1}, True)), **BETWEEN),
            Lasso((0,), (1, 1)),
        ),
        # It is possible in both: then it cannot be put off.
        (replace(LOOPED, actions=(({0: 1, 1: 0, 2: 0}, True), ({1: 2, 2: 1}, True)), **BETWEEN), None),
        # A fair jump on the spot is a loop, not a stop.
        (replace(LOOPED, actions=(({0: 0}, True),)), Lasso((), (0,))),
        # Two ways through the loop, each needed by one of two fair jumps.
        (
            Jumps(2, (({0: 1}, False), ({1: 0}, True), ({0: 0, 1: 1}, True)), frozenset({0}), frozenset({0, 1})),
            Lasso((), (2,)),
        ),
        (Jumps(2, (({0: 1, 1: 1}, True), ({1: 0, 0: 0}, True)), frozenset({0}), frozenset({0, 1})), Lasso((), (0, 1))),
        # The loop has to come to 2, which is one jump farther; or to a state that is never left.
        (replace(LOOPED, again=frozenset({2})), Lasso((0, 1), ())),
        (
            replace(LOOPED, actions=(({0: 1, 2: 2}, True), ({1: 2, 2: 1}, True)), again=frozenset({2})),
            Lasso((0,), (1, 1)),
        ),
        (replace(LOOPED, again=frozenset({0})), None),
        # A strongly fair jump that is possible in 1 only, and leaves: a run between 1 and 2 denies it again and again.
        (replace(LOOPED, actions=(({0: 1, 1: 0}, "strongly"), ({1: 2, 2: 1}, True)), **BETWEEN), None),
        # It leads on inside: then the loop has to take it.
        (
            replace(LOOPED, actions=(({0: 1, 1: 1}, "strongly"), ({1: 2, 2: 1}, True)), **BETWEEN),
            Lasso((0,), (0, 1, 1)),
        ),
        # In 2 the run may stay on a jump on the spot, past 1, where the jump that leaves is possible.
        (
            replace(LOOPED, actions=(({0: 1, 1: 0}, "strongly"), ({1: 2, 2: 1}, False), ({2: 2}, True)), **BETWEEN),
            Lasso((0, 1), (2,)),
        ),
        # The run must leave `within` between its start and its loop: no.
        (Jumps(3, (({0: 1, 1: 2}, True),), frozenset({0}), frozenset({0, 2})), None),
        # Going always to the nearest jump not yet served comes twice through 3 for nothing.
        (
            Jumps(
                5,
                (
                    ({3: 3, 2: 4, 4: 4, 0: 1, 1: 2}, True),
                    ({0: 4}, True),
                    ({4: 4, 2: 0, 1: 1}, True),
                    ({3: 1}, True),
                    ({2: 3}, False),
                ),
                frozenset({3}),
                frozenset(range(5)),
            ),
            Lasso((0, 0, 4), (3, 0, 4)),
        ),
    ],
)
def test_small_lassos(jumps: Jumps, lasso: Lasso | None) -> None:
    assert jumps.lasso(jumps.graph()) == lasso
    assert shortest_lasso(jumps) == (None if lasso is None else len(lasso))


def as_jumps(graph: Graph, start: str, goal: str) -> tuple[Jumps, Lasso | None]:
    """The graph of a machine for the oracle, and the lasso that the kit finds in it."""
    instances = graph.lowered.instances
    tables: list[dict[int, int]] = [{} for _ in instances]
    for transition, (number, target) in enumerate(zip(graph.instances.tolist(), graph.targets.tolist(), strict=True)):
        tables[number][graph.source(transition)] = target
    fair: list[bool | Literal["strongly"]] = [
        "strongly" if instance.action.strongly_fair else instance.action.fair for instance in instances
    ]
    begins, within = graph.where(start), ~graph.where(goal)
    jumps = Jumps(
        graph.states,
        tuple(zip(tables, fair, strict=True)),
        frozenset(np.flatnonzero(begins).tolist()),
        frozenset(np.flatnonzero(within).tolist()),
    )
    numbers = [number for number, one in enumerate(fair) if one]
    strongly = sorted(jumps.strongly)
    return jumps, find_fair_lasso(graph, numbers, strongly=strongly, start=begins, within=within)


@pytest.mark.parametrize(
    ("order", "stem", "loop"),
    [("left_first", 1, 4), ("last_reversed", 1, 4)],
)
def test_a_philosopher_starves_on_a_shortest_lasso(order: str, stem: int, loop: int) -> None:
    predicates = {"hungry": dining_philosophers.first_hungry, "eats": examples.first_eats.holds}
    graph = reachable_graph(compile_machine(lower(dining_philosophers.machine.configure(order=order), predicates)))
    jumps, lasso = as_jumps(graph, "hungry", "eats")
    assert lasso is not None
    assert (len(lasso.stem), len(lasso.loop)) == (stem, loop)
    assert shortest_lasso(jumps) == stem + loop


@pytest.mark.parametrize("philosophers", [2, 3, 4, 5])
def test_networkx_and_the_arrays_lead_to_the_same_lasso(philosophers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    predicates = {"hungry": dining_philosophers.first_hungry, "eats": examples.first_eats.holds}
    configuration = dining_philosophers.machine.configure(philosophers=philosophers)
    graph = reachable_graph(compile_machine(lower(configuration, predicates)))
    found = []
    for small in (10**9, 0):
        monkeypatch.setattr(components, "SMALL_TRANSITIONS", small)
        found.append([as_jumps(graph, *names)[1] for names in (("hungry", "eats"), ("eats", "hungry"))])
    assert found[0] == found[1]


def peterson_run(steps: Sequence[str], loop: int | None) -> tuple[PlainMachine, Run]:
    machine = PlainMachine(lower(peterson.machine.configure()))
    numbers = {instance.label: instance.number for instance in machine.lowered.instances}
    states = [machine.initial]
    for label in steps:
        following = machine.step(states[-1], numbers[label])
        assert following is not None
        states.append(following)
    return machine, Run(machine.lowered, tuple(states), tuple(numbers[label] for label in steps), loop)


ROUND = ("raise_flag_first(p0)", "give_turn_second(p0)", "enter(p0)", "leave(p0)")


def test_fair_runs_are_accepted() -> None:
    # The turn differs after the first round, so the loop is the second one; or the run may end where all are idle.
    for steps, loop in ((ROUND * 2, 4), (ROUND, 4), ((), 0)):
        require_fair(*peterson_run(steps, loop))


@pytest.mark.parametrize(
    ("steps", "loop", "wrong"),
    [
        (ROUND, None, "the run is not a lasso"),
        (ROUND, 5, "the run is not a lasso"),
        (ROUND, 0, "its loop does not close"),
        (ROUND[:3], 3, r"not weakly fair: leave\(p0\) could happen all along the loop and never does"),
        (
            ("raise_flag_first(p1)", *ROUND[:2]),
            3,
            r"not weakly fair: give_turn_second\(p1\) could happen all along the loop and never does",
        ),
    ],
)
def test_unfair_runs_are_refused(steps: Sequence[str], loop: int | None, wrong: str) -> None:
    machine, run = peterson_run(steps, loop)
    with pytest.raises(ModelError, match=wrong):
        require_fair(machine, run)


def test_a_loop_that_puts_off_a_fair_jump_is_refused() -> None:
    # From 0 to 1 and back, and past a jump on the spot in both; a jump on the spot in 1 only may be passed.
    for spots, wrong in (({0: 0, 1: 1}, "not weakly fair: jump1 could happen"), ({1: 1}, None)):
        machine = Jumps(2, (({0: 1, 1: 0}, True), (spots, True)), frozenset(), frozenset()).machine()
        plain = PlainMachine(lower(machine.configure()))
        run = Lasso((), (0, 0)).replay(plain)
        with pytest.raises(ModelError, match=wrong) if wrong else nullcontext():
            require_fair(plain, run)


def test_a_loop_that_passes_a_strongly_fair_jump_is_refused() -> None:
    for spots, wrong in (
        ({1: 1}, "not strongly fair: jump1 could happen in the loop, again and again"),
        ({2: 2}, None),
    ):
        machine = Jumps(3, (({0: 1, 1: 0}, True), (spots, "strongly")), frozenset(), frozenset()).machine()
        plain = PlainMachine(lower(machine.configure()))
        run = Lasso((), (0, 0)).replay(plain)
        with pytest.raises(ModelError, match=wrong) if wrong else nullcontext():
            require_fair(plain, run)


def test_runs_that_do_not_happen_are_refused() -> None:
    machine, run = peterson_run(ROUND, 4)
    for wrong in (
        replace(run, steps=(run.steps[0], run.steps[0], *run.steps[2:])),
        replace(run, states=(*run.states[:2], run.states[1], *run.states[3:])),
    ):
        with pytest.raises(ModelError, match="where it does not lead to what follows"):
            require_fair(machine, wrong)
    with pytest.raises(ModelError, match="does not begin at the initial state"):
        require_fair(machine, replace(run, states=run.states[1:], steps=run.steps[1:], loop=3))
