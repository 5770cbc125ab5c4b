"""Simulate: random runs of a machine of any size; one that violates a property is shrunk to a short one by
Hypothesis.

Random runs never prove anything: if no run violates a property, it is UNKNOWN. What they find is real: every run that
is reported was replayed from the initial state. The walks themselves do not use Hypothesis, which makes them some
twenty times faster.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..model.kernel import Configuration, ModelError, lower
from ..model.kernel.plain import PlainMachine, StateTuple
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from .engines import SIMULATE
from .questions import check_question
from .result import Result
from .run import Run, holds, replay
from .stateful import shrink, stateful_machine

__all__ = ["random_run", "shortened", "simulate", "stateful_machine"]

_GUESSES = 4


def simulate(
    configuration: Configuration,
    properties: Sequence[Property],
    *,
    runs: int = 1000,
    steps: int = 50,
    seed: int = 0,
    max_seconds: float | None = None,
) -> list[Result]:
    """Check ``properties`` (kinds ALWAYS and SOMETIMES) on ``runs`` random runs of at most ``steps`` steps.

    An ALWAYS property is VIOLATED, with a shrunk run, or UNKNOWN; a SOMETIMES property HOLDS, with a witness, or is
    UNKNOWN. The shortest run found is shortened further. The same arguments give the same results, unless
    ``max_seconds`` ends the search (the time for shortening is added to it). Nothing is stored between calls.

    Raises:
        ModelError: the configuration is infinite, a step writes outside a declared domain, or a property has another
            kind.
    """
    check_question(SIMULATE, configuration, properties, Kind.ALWAYS, Kind.SOMETIMES)
    started = time.perf_counter()
    machine = PlainMachine(lower(configuration, {prop.id: prop.holds for prop in properties}))
    search = _Search(machine, properties)
    end = None if max_seconds is None else started + max_seconds
    while search.runs < runs and not search.out_of_time:
        search.walk(random.Random(f"{seed} {search.runs}"), steps, end)
    limit = f", stopped after {max_seconds:g} seconds" if search.out_of_time else ""
    covered = f"{search.runs:,} random runs of up to {steps:,} steps (seed {seed}){limit}"

    def result(prop: Property) -> Result:
        always = prop.kind is Kind.ALWAYS
        run: Run | None = None
        if prop.id in search.found:
            number, path = search.found[prop.id]
            run = shortened(machine, prop, path)
            verdict = Verdict.VIOLATED if always else Verdict.HOLDS
            bounds = f"found in random run {number + 1:,} (seed {seed}), shortened from {len(path)} to {len(run)} steps"
        else:
            verdict = Verdict.UNKNOWN
            bounds = f"no {'violation' if always else 'witness'} in {covered}"
        return Result(
            property=prop.id,
            verdict=verdict,
            engine=SIMULATE,
            bounds=bounds,
            seconds=time.perf_counter() - started,
            run=run,
            figures={"runs": search.runs, "steps": search.steps},
        )

    return [result(prop) for prop in properties]


def random_run(machine: PlainMachine, seed: int | str, steps: int) -> Run:
    """A random run of at most ``steps`` steps, without Hypothesis; it ends early if nothing can happen.

    The same seed gives the same run. Each run avoids some actions, drawn at its start, as long as others can happen:
    runs without faults, or without recovery, reach states that evenly mixed ones do not. Of the other enabled actions,
    each is equally likely, and so is each enabled instance of the chosen action.
    """
    states, taken = [machine.initial], []
    for number, state in _walk(machine, random.Random(seed), steps):
        taken.append(number)
        states.append(state)
    return Run(machine.lowered, tuple(states), tuple(taken))


@dataclass
class _Search:
    """The walks of one simulation.

    Attributes:
        found: property id → number of the run and steps of the shortest path found that decides it.
    """

    machine: PlainMachine
    properties: Sequence[Property]
    found: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    runs: int = 0
    steps: int = 0
    out_of_time: bool = False

    def walk(self, chance: random.Random, steps: int, end: float | None) -> None:
        path: list[int] = []
        self._judge(self.machine.initial, path)
        for number, state in _walk(self.machine, chance, steps):
            path.append(number)
            self._judge(state, path)
            self.out_of_time = end is not None and time.perf_counter() > end
            if self.out_of_time or not self._open(path):
                break
        self.runs += 1
        self.steps += len(path)

    def _open(self, path: Sequence[int]) -> list[Property]:
        """The properties for which a run as long as ``path`` would be the shortest so far."""
        return [p for p in self.properties if p.id not in self.found or len(path) < len(self.found[p.id][1])]

    def _judge(self, state: StateTuple, path: Sequence[int]) -> None:
        for prop in self._open(path):
            if _decides(self.machine, prop, state):
                self.found[prop.id] = self.runs, tuple(path)


def _walk(machine: PlainMachine, chance: random.Random, steps: int) -> Iterator[tuple[int, StateTuple]]:
    by_action: dict[str, list[int]] = {}
    for instance in machine.lowered.instances:
        by_action.setdefault(instance.action.name, []).append(instance.number)
    share = chance.random()
    wanted: list[list[int]] = []
    avoided: list[list[int]] = []
    for numbers in by_action.values():
        (avoided if chance.random() < share else wanted).append(numbers)
    state = machine.initial
    for _ in range(steps):
        chosen = _random_step(machine, state, wanted, chance) or _random_step(machine, state, avoided, chance)
        if chosen is None:
            return
        state = chosen[1]
        yield chosen


def _random_step(
    machine: PlainMachine, state: StateTuple, actions: list[list[int]], chance: random.Random
) -> tuple[int, StateTuple] | None:
    for numbers in chance.sample(actions, len(actions)):
        # A few guesses first: if many of many instances are enabled, guessing saves trying all.
        for _ in range(_GUESSES):
            number = numbers[int(chance.random() * len(numbers))]
            following = machine.step(state, number)
            if following is not None:
                return number, following
        for number in chance.sample(numbers, len(numbers)):
            following = machine.step(state, number)
            if following is not None:
                return number, following
    return None


def _decides(machine: PlainMachine, prop: Property, state: StateTuple) -> bool:
    """Whether ``state`` violates an ALWAYS property, or is a witness of a SOMETIMES property."""
    return machine.holds(prop.id, state) is (prop.kind is Kind.SOMETIMES)


def shortened(machine: PlainMachine, prop: Property, steps: tuple[int, ...]) -> Run:
    """Shorten a run that decides ``prop``, and replay it."""
    steps = _without_detours(machine, prop, steps)
    if prop.kind is Kind.ALWAYS:
        steps = _without_detours(machine, prop, shrink(machine.lowered, prop, steps))
    run = replay(machine, steps)
    if holds(machine, prop.id, run.states[-1]) is not (prop.kind is Kind.SOMETIMES):
        raise ModelError(f"the run found for {prop.id} does not show it when replayed; the engine is wrong.")
    return run


def _without_detours(machine: PlainMachine, prop: Property, steps: tuple[int, ...]) -> tuple[int, ...]:
    """The ``steps`` without the parts that are not needed to decide ``prop``, the longest parts removed first."""
    size = len(steps)
    while size:
        parts = (steps[:start] + steps[start + size :] for start in reversed(range(len(steps) - size + 1)))
        shorter = (_until_decided(machine, prop, part) for part in parts)
        found = next((run for run in shorter if run is not None), None)
        steps, size = (steps, size - 1) if found is None else (found, min(size, len(found)))
    return steps


def _until_decided(machine: PlainMachine, prop: Property, steps: tuple[int, ...]) -> tuple[int, ...] | None:
    """The first part of ``steps`` that decides ``prop``, without what cannot happen; None if none does."""
    state, taken = machine.initial, []
    for number in steps:
        if _decides(machine, prop, state):
            break
        following = machine.step(state, number)
        if following is not None:
            taken.append(number)
            state = following
    return tuple(taken) if _decides(machine, prop, state) else None
