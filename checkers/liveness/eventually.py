"""Liveness: what must happen sooner or later, on every fair run of a finite configuration.

A property of kind EVENTUALLY is violated by a run that must reach the goal and never does: by a fair lasso (see
``lasso.py``) among the states without the goal. One of kind SETTLES is violated by a run that leaves the goal again and
again: by a fair lasso with a state without the goal in its loop. The lasso is replayed and judged in the plain Python
form before it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...model.kernel import Configuration, ModelError, Predicate, lower
from ...model.kernel.native import CodeCache
from ...model.kernel.plain import PlainMachine
from ...properties.property import Kind, Property
from ...properties.verdict import Verdict
from ..engines import LIVENESS, OF_RUNS
from ..exploration import NO_LIMITS, Limits
from ..questions import check_question
from ..result import Result
from ..run import Run, counted, holds
from .graph import Graph
from .lasso import Lasso, find_fair_lasso, require_fair
from .small_graph import graph_of

_GOAL = "goal"
_AFTER = "after"


def check_eventually(
    configuration: Configuration,
    property: Property,
    *,
    limits: Limits = NO_LIMITS,
    cache: CodeCache | None = None,
) -> Result:
    """Judge a property of kind EVENTUALLY or SETTLES on all fair runs; the limits are those of finding states, and the
    analysis after it takes less time.

    Action instances are weakly fair if their action is declared ``fair=True``: such an instance is not enabled for ever
    without being taken. An instance of an action declared ``fair="strongly"`` is not enabled again and again without
    being taken. All other actions may stop for ever. A violation found before a limit was reached counts; otherwise the
    verdict is then UNKNOWN, with the limit in ``bounds``.

    Raises:
        ModelError: the configuration is not finite; a step writes outside a declared domain; the property has another
            kind.
    """
    return check_all_eventually(configuration, [property], limits=limits, cache=cache)[0]


def check_all_eventually(
    configuration: Configuration,
    properties: Sequence[Property],
    *,
    limits: Limits = NO_LIMITS,
    cache: CodeCache | None = None,
) -> list[Result]:
    """Like :func:`check_eventually`, for several properties of one configuration, whose states are found only once."""
    check_question(LIVENESS, configuration, properties, *OF_RUNS)
    started = time.perf_counter()
    properties = [item.once_begun(configuration) for item in properties]
    predicates: dict[str, Predicate] = {}
    for item in properties:
        predicates[_named(_GOAL, item, properties)] = item.holds
        if item.after is not None:
            predicates[_named(_AFTER, item, properties)] = item.after
    lowered = lower(configuration, predicates)
    # If the only goal must be reached from the initial state only, whatever follows it does not matter.
    goal_ends = len(properties) == 1 and properties[0].kind is Kind.EVENTUALLY and properties[0].after is None
    graph = graph_of(lowered, stop_at=_GOAL if goal_ends else None, limits=limits, cache=cache)
    found = time.perf_counter() - started
    results = []
    for item in properties:
        started = time.perf_counter()
        result = _judge(graph, item, properties, goal_ends=goal_ends)
        results.append(replace(result, seconds=found + time.perf_counter() - started))
    return results


def _judge(graph: Graph, item: Property, properties: Sequence[Property], *, goal_ends: bool) -> Result:
    lowered = graph.lowered
    goal, after = _named(_GOAL, item, properties), _named(_AFTER, item, properties)
    lasso = violating_lasso(graph, item, goal=goal, after=after)
    run = None
    if lasso is not None:
        own = {_GOAL: lowered.predicates[goal]}
        if item.after is not None:
            own[_AFTER] = lowered.predicates[after]
        machine = PlainMachine(replace(lowered, predicates=own))
        run = lasso.replay(machine)
        require_counterexample(machine, run, item.kind)
        verdict = Verdict.VIOLATED
    else:
        verdict = Verdict.UNKNOWN if graph.limit else Verdict.HOLDS
    return Result(
        property=item.id,
        verdict=verdict,
        engine=LIVENESS,
        bounds=_bounds(graph, run, goal_ends=goal_ends),
        seconds=0.0,
        run=run,
        explanation=_explanation(graph, verdict, triggered=item.after is None or bool(graph.where(after).any())),
        figures={
            "states": graph.states,
            "transitions": graph.transitions,
            "depth": int(graph.depths().max()),
            "complete": not graph.limit,
            "fair_instances": sum(instance.action.fair for instance in lowered.instances),
        },
    )


def violating_lasso(graph: Graph, item: Property, *, goal: str, after: str, unfair: str = "") -> Lasso | None:
    """A fair run that violates a property of kind EVENTUALLY or SETTLES; None if there is none.

    Args:
        graph: the graph to search.
        item: the property.
        goal: name of its goal among the predicates of the graph.
        after: name of its trigger there, if it has one.
        unfair: name of an action for which no fairness is assumed.
    """
    instances = graph.lowered.instances
    fair = [number for number, one in enumerate(instances) if one.action.fair and one.action.name != unfair]
    strongly = [number for number in fair if instances[number].action.strongly_fair]
    without_goal = ~graph.where(goal)
    start = graph.where(after) if item.after is not None else np.arange(graph.states) == 0
    if item.kind is Kind.EVENTUALLY:
        return find_fair_lasso(graph, fair, strongly=strongly, start=start, within=without_goal)
    everywhere = np.ones_like(start)
    return find_fair_lasso(graph, fair, strongly=strongly, start=start, within=everywhere, again=without_goal)


def _named(what: str, item: Property, properties: Sequence[Property]) -> str:
    """Name of the goal or of the trigger of a property among all predicates."""
    return what if len(properties) == 1 else f"{what} of {item.id}"


def require_counterexample(machine: PlainMachine, run: Run, kind: Kind) -> None:
    """Check in the plain Python form that ``run`` is fair and violates the property it was made for.

    Raises:
        ModelError: it is no counterexample; the engine that made it is wrong.
    """
    require_fair(machine, run)
    assert run.loop is not None
    if kind is Kind.SETTLES:
        violates = not all(holds(machine, _GOAL, state) for state in run.states[run.loop :])
    elif _AFTER in machine.lowered.predicates:
        owing = [place for place, state in enumerate(run.states) if holds(machine, _AFTER, state)]
        # A goal that is due inside the loop is due in each round, so it must be absent from the whole loop.
        violates = any(_never(machine, run, min(place, run.loop)) for place in owing)
    else:
        violates = _never(machine, run, 0)
    if not violates:
        raise ModelError("the run does not violate the property; the engine that made it is wrong.")


def _never(machine: PlainMachine, run: Run, place: int) -> bool:
    return not any(holds(machine, _GOAL, state) for state in run.states[place:])


def _bounds(graph: Graph, run: Run | None, *, goal_ends: bool) -> str:
    covered = f"{graph.states:,} states, {graph.transitions:,} transitions, depth {int(graph.depths().max())}"
    searched = (
        f"{graph.limit}: {covered}" if graph.limit else f"all {covered}" + (" up to the goal" if goal_ends else "")
    )
    if run is None:
        return searched
    assert run.loop is not None
    loop = len(run) - run.loop
    steps = counted(run.loop, "step")
    return f"{steps}, then {f'a loop of {loop}' if loop else 'nothing more'}; searched {searched}"


def _explanation(graph: Graph, verdict: Verdict, *, triggered: bool) -> str:
    if verdict is Verdict.VIOLATED:
        return ""
    if verdict is Verdict.UNKNOWN:
        return f"{graph.states - graph.followed:,} of the {graph.states:,} states found were not followed."
    if not triggered:
        return "No reachable state owes the goal: the property says nothing about this configuration."
    instances = graph.lowered.instances
    fair = [instance.action for instance in instances if instance.action.fair]
    assumed = []
    for kind, is_strong in (("weak", False), ("strong", True)):
        names = dict.fromkeys(action.name for action in fair if action.strongly_fair == is_strong)
        if names:
            assumed.append(f"{kind} fairness of {', '.join(names)}")
    return f"Assumes {' and '.join(assumed) or 'no fairness'}."
