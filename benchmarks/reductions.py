"""Symmetry and partial-order reduction against the search without them: states, transitions, time, in one run.

Both judge the same properties, stop when all are decided, and must give the same answers with runs as short. Of each,
the best of several rounds counts, since other work on the machine only ever adds time. ``all together`` asks all
properties in one search; the other figures ask one alone, for which more can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocketproof.checkers.exploration import Exploration
from rocketproof.checkers.explore import explore
from rocketproof.checkers.reduction import Reduction
from rocketproof.model.assignment import assignment
from rocketproof.model.consumption import consumption
from rocketproof.model.examples import dining_philosophers, two_phase_commit
from rocketproof.model.kernel import Configuration
from rocketproof.properties import assignment as owning
from rocketproof.properties import delivery
from rocketproof.properties.examples import DINING_PHILOSOPHERS, TWO_PHASE_COMMIT
from rocketproof.properties.property import Kind, Property

ROUNDS = 2
SYMMETRY, PARTIAL_ORDER = Reduction.SYMMETRY, Reduction.PARTIAL_ORDER


@dataclass(frozen=True, kw_only=True)
class Case:
    """A configuration with what is asked of it, and the reductions that are possible."""

    configuration: Configuration
    properties: Sequence[Property]
    reductions: Sequence[Reduction]


CASES: Mapping[str, Case] = {
    "two-phase-commit-8": Case(
        configuration=two_phase_commit.machine.configure(managers=8),
        properties=TWO_PHASE_COMMIT,
        reductions=(SYMMETRY, PARTIAL_ORDER, SYMMETRY | PARTIAL_ORDER),
    ),
    "dining-philosophers-9": Case(
        configuration=dining_philosophers.machine.configure(philosophers=9, order="last_reversed"),
        properties=[item for item in DINING_PHILOSOPHERS if item.kind is not Kind.EVENTUALLY],
        reductions=(PARTIAL_ORDER,),
    ),
    "assignment-3-2": Case(
        configuration=assignment.configure(
            consumers=3, running=2, brokers=2, leaves=1, crashes=1, broker_restarts=1, cuts=1
        ),
        properties=(owning.partition_lemma, owning.one_owner, owning.no_orphan),
        reductions=(PARTIAL_ORDER,),
    ),
    "consumption-faults": Case(
        configuration=consumption.configure(**delivery.FAULTS, late_commits=1, broker_restarts=1),
        properties=(
            delivery.offset_safe,
            delivery.mark,
            delivery.explained,
            delivery.failed_before,
            delivery.one_listener,
        ),
        reductions=(SYMMETRY, PARTIAL_ORDER, SYMMETRY | PARTIAL_ORDER),
    ),
}


def measure() -> Iterator[dict[str, Any]]:
    """For each case and reduction one figure for all properties together, and one for each property alone."""
    for name, case in CASES.items():
        yield from compare(name, "all together", case, case.properties, case.reductions)
        for item in case.properties:
            yield from compare(name, item.id, case, [item], case.reductions[-1:])


def compare(
    name: str, asked: str, case: Case, properties: Sequence[Property], reductions: Sequence[Reduction]
) -> Iterator[dict[str, Any]]:
    """Search with and without each of the reductions, alternately, ``ROUNDS`` times.

    Raises:
        RuntimeError: a verdict, or the length of a run, is not the same.
    """
    found: dict[Reduction, list[Exploration]] = {item: [] for item in (Reduction.NONE, *reductions)}
    for _ in range(ROUNDS):
        for reduction, runs in found.items():
            runs.append(
                explore(
                    case.configuration, properties, reduce=reduction, idle_actions_allowed=True, stop_when_decided=True
                )
            )
    best = {reduction: min(runs, key=lambda run: run.seconds) for reduction, runs in found.items()}
    whole = best[Reduction.NONE]
    for reduction in reductions:
        reduced = best[reduction]
        if _answers(reduced) != _answers(whole):
            raise RuntimeError(f"{name}, {asked}: the answers with {reduction} reduction are not those without.")
        yield {
            "figure": f"{reduction} reduction, factor of states",
            "ratio": round(whole.states / reduced.states, 2),
            "ratio_transitions": round(whole.transitions / max(1, reduced.transitions), 2),
            "ratio_seconds": round(whole.seconds / reduced.seconds, 2),
            "configuration": name,
            "asked": asked,
            "equal_answers": True,
            "without": _figures(whole),
            "with": _figures(reduced),
            "rounds": ROUNDS,
        }


def _answers(found: Exploration) -> list[tuple[str, int | None]]:
    return [(item.verdict, None if item.run is None else len(item.run)) for item in found.results]


def _figures(found: Exploration) -> dict[str, Any]:
    return {
        "states": found.states,
        "transitions": found.transitions,
        "search_seconds": round(found.seconds, 3),
        "compile_seconds": round(found.compile_seconds, 3),
        "states_per_second": round(found.states / found.seconds),
    }
