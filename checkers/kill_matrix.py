"""The kill matrix: which other properties notice a mutant, and which engines.

The candidates are all properties that are claimed to hold for the mutant's machine in some configuration. A property
that is violated without the bug in the mutant's configuration, or that refers to variables which do not exist there, is
not claimed there and has no cell. Random runs and bounded proofs can only kill: if they find nothing, nothing follows.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..model.allocation import (
    Averagely,
    AveragelyByCircle,
    ByConfig,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
)
from ..model.kernel import Configuration, ModelError
from ..properties.property import Kind, Property
from ..properties.theorem import Theorem
from ..properties.verdict import Verdict
from .engines import OF_RUNS, STRATEGIES
from .mutants import Entry, MachineMutant, RuleMutant, Trials, about
from .prove import bounded
from .result import Result
from .simulate import simulate
from .strategies import StrategyReport, check_strategy
from .theorems import compute, prove_theorem


class Outcome(enum.StrEnum):
    """The result of one engine for one property of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of the matrix."""

    property: str  # id of the property or theorem, or the laws of a strategy (``laws-of-AVG``)
    engine: str  # name of the engine
    outcome: Outcome  # the engine's result
    steps: int | None = None  # length of the counterexample, if it is a run


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much work is done by engines that only look for counterexamples.

    Attributes:
        runs, steps, seed: number of random runs, their length and their seed.
        depth: length of the runs that a bounded proof considers.
        work: Z3 resource units for each bounded proof.
    """

    runs: int = 30
    steps: int = 40
    seed: int = 0
    depth: int = 8
    work: int = 4_000_000


def cells(entry: Entry, trials: Trials, effort: Effort | None = None) -> list[Cell]:
    """The cells in the row of ``entry``; none for something that is explained or left out."""
    match entry:
        case MachineMutant():
            return list(_machine_cells(entry, trials, effort or Effort()))
        case RuleMutant():
            return list(_rule_cells(entry, trials))
        case _:
            return []


def _machine_cells(entry: MachineMutant, trials: Trials, effort: Effort) -> Iterator[Cell]:
    right = entry.machine.configure(**entry.mutant.constants)
    wrong = entry.machine.mutated(entry.id).configure(**entry.mutant.wrong_constants)
    asked = about(right, about(wrong, (entry.killer, *entry.others)))
    original = {result.property: result for result in trials.original(entry.machine, entry.mutant.constants, asked)}
    claimed = [item for item in asked if original[item.id].verdict is not Verdict.VIOLATED]
    for engine, properties, ask in _questions(entry, wrong, claimed, trials, effort):
        try:
            results = ask()
        except ModelError:  # the mutant leaves the declared domains: nothing is known then
            yield from (Cell(property=item.id, engine=engine, outcome=Outcome.UNKNOWN) for item in properties)
            continue
        yield from (_cell(result, original[result.property].verdict) for result in results)


def _questions(
    entry: MachineMutant, wrong: Configuration, claimed: Sequence[Property], trials: Trials, effort: Effort
) -> Iterator[tuple[str, list[Property], Callable[[], Sequence[Result]]]]:
    """For each engine, its properties and a function that judges them."""
    constants = entry.mutant.wrong_constants
    states = [item for item in claimed if item.kind not in OF_RUNS]
    always = [item for item in states if item.kind is Kind.ALWAYS]
    if states:
        yield "explore", states, partial(trials.check, wrong.machine, constants, states, stop_early=True)
    whole = [item for item in claimed if item.kind in OF_RUNS]
    if whole:
        yield "liveness", whole, partial(trials.check, wrong.machine, constants, whole)
    if always:
        runs = partial(simulate, runs=effort.runs, steps=effort.steps, seed=effort.seed)
        yield "simulate", always, partial(runs, wrong, always)
    if entry.killer in always:
        search = partial(bounded, wrong, entry.killer, depth=effort.depth, work=effort.work)
        yield "prove", [entry.killer], lambda: [search()]


def _rule_cells(entry: RuleMutant, trials: Trials) -> Iterator[Cell]:
    for theorem in entry.theorems:
        if not _uses(entry, theorem):
            continue
        original = trials.original_theorem(theorem)
        if original.verdict is not Verdict.VIOLATED:
            with entry.rule.mutated(entry.id):
                mutated = prove_theorem(theorem)
            yield _cell(mutated, original.verdict)
    for name, check in _STRATEGIES.items():
        with entry.rule.mutated(entry.id) as calls:
            report = check()
        if calls():
            outcome = _outcome(report.verdict, check().verdict)
            yield Cell(property=f"laws-of-{name}", engine=STRATEGIES, outcome=outcome)


def _uses(entry: RuleMutant, theorem: Theorem) -> bool:
    """Whether a theorem calls the rule."""
    with entry.rule.mutated(entry.id) as calls:
        compute(theorem)
    return calls() > 0


def _cell(mutated: Result, original: Verdict) -> Cell:
    return Cell(
        property=mutated.property,
        engine=mutated.engine,
        outcome=_outcome(mutated.verdict, original),
        steps=len(mutated.run) if mutated.run is not None else None,
    )


def _outcome(mutated: Verdict, original: Verdict) -> Outcome:
    if Verdict.UNKNOWN in (mutated, original):
        return Outcome.UNKNOWN
    return Outcome.KILLED if mutated is Verdict.VIOLATED else Outcome.SURVIVED


def _room(name: str) -> str:
    return name.partition("@")[0]


def _laws(strategy: Strategy, expected: Callable[[MessageQueue], bool] = lambda _: True) -> StrategyReport:
    # The first room, in sorted order, has queues but is none of those allowed.
    return check_strategy(strategy, max_queues=6, max_consumers=6, brokers=("r0@b", "r1@b", "r2@b"), expected=expected)


_STRATEGIES: dict[str, Callable[[], StrategyReport]] = {
    "AVG": lambda: _laws(Averagely()),
    "AVG_BY_CIRCLE": lambda: _laws(AveragelyByCircle()),
    "CONFIG": lambda: _laws(ByConfig(()), expected=lambda _: False),
    "MACHINE_ROOM": lambda: _laws(
        ByMachineRoom(frozenset({"r1", "r2"})), expected=lambda queue: _room(queue.broker_name) != "r0"
    ),
    "MACHINE_ROOM_NEARBY": lambda: _laws(
        MachineRoomNearby(
            Averagely(),
            MachineRooms(
                of_queue=lambda queue: _room(queue.broker_name),
                of_client=lambda client: f"r{int(client.removeprefix('c')) % 3}",
            ),
        )
    ),
    "CONSISTENT_HASH": lambda: _laws(ConsistentHash()),
}
