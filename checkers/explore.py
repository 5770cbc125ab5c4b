"""Exhaustive search: every reachable state of a finite configuration, breadth-first, with shortest counterexamples."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.kernel import Configuration, ModelError, Predicate, lower
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from .engines import EXPLORE
from .exploration import Exploration, Limits, Progress, judged, judged_deadlock
from .questions import check_question
from .reduction import Reduction
from .search.plain_search import PlainSearch, search_plainly

if TYPE_CHECKING:
    from ..model.kernel.native import CodeCache
    from .search.level_search import LevelSearch
    from .search.table_search import TableSearch

_MAY_END = "may end"
"""The predicate of states in which a run may end."""


def explore(
    configuration: Configuration,
    properties: Sequence[Property] = (),
    *,
    limits: Limits | None = None,
    stop_when_decided: bool = False,
    deadlocks: bool = False,
    may_end: Predicate | None = None,
    idle_actions_allowed: bool = False,
    reduce: Reduction = Reduction.NONE,
    threads: int | None = None,
    folder: Path | str | None = None,
    session: Any = None,
    progress: Callable[[Progress], None] | None = None,
    cache: CodeCache | None = None,
) -> Exploration:
    """Search all reachable states and judge ``properties`` (kinds ALWAYS and SOMETIMES).

    Args:
        configuration: a finite configuration.
        properties: what to judge.
        limits: when to give up; the verdicts are then UNKNOWN, with the limit in ``bounds``.
        stop_when_decided: end as soon as each property has its counterexample or witness.
        deadlocks: also judge the built-in property ``no-deadlock``.
        may_end: states in which a run may end (used with ``deadlocks``).
        idle_actions_allowed: do not treat an action that is never enabled as a modelling error.
        reduce: what may be left out without changing any of the verdicts (see ``reduction``); runs are as short as
            without it. With partial-order reduction, steps that do not affect a verdict are not taken, so idle actions
            are not reported, and a write outside a domain may go unnoticed.
        threads: number of threads that search side by side in wide levels; None for one per core. The results are the
            same with any number. With reductions, or with ``stop_when_decided``, only one thread searches.
        folder: where states are kept if they need not fit into memory: an empty folder, or what an interrupted search
            of the same configuration has left, which is then continued. A limit of states ends such a search after a
            level. Its files are removed once all states are found. With a Spark session, it is a path or URI that all
            workers can reach. It excludes reductions and ``stop_when_decided``.
        session: a Spark session, whose workers search; states are kept in ``folder``, or in a temporary folder of this
            machine.
        progress: called several times a second.
        cache: keeps compiled code between runs.

    Raises:
        ModelError: the configuration is not finite; a step writes outside a declared domain; an action is never
            enabled in any reachable state; a property has another kind; the reduction is not possible.
        FolderError: the folder is in use, or contains something else.
    """
    started = time.perf_counter()
    check_question(EXPLORE, configuration, properties, Kind.ALWAYS, Kind.SOMETIMES)
    if (folder is not None or session is not None) and (reduce or stop_when_decided):
        raise ModelError("a search in a folder cannot be reduced, and does not stop when all is decided.")
    predicates: dict[str, Predicate] = {item.id: item.holds for item in properties}
    if may_end is not None:
        predicates[_MAY_END] = may_end
    lowered, limits, terminal = lower(configuration, predicates), limits or Limits(), may_end is not None
    plain = PlainMachine(lowered)
    with ExitStack() as stack:
        prepared = time.perf_counter()
        engine: PlainSearch | TableSearch | LevelSearch | None = None
        if folder is None and session is None and not reduce and not stop_when_decided:
            engine = search_plainly(plain, properties, limits, terminal=_MAY_END if terminal else "")
        if engine is None:
            from .search.compiled_search import compiled_search

            engine = compiled_search(
                lowered,
                properties,
                limits,
                terminal=terminal,
                stop_when_decided=stop_when_decided,
                deadlocks=deadlocks,
                reduce=reduce,
                threads=threads,
                folder=folder,
                cache=cache,
                session=session,
                stack=stack,
            )
            prepared = time.perf_counter()
        limit = engine.run(progress)
        seconds = time.perf_counter() - prepared
        instances = lowered.instances
        busy = {item.action.name for item in instances if engine.taken[item.number]}
        names = dict.fromkeys(item.action.name for item in instances)
        known = not limit and Reduction.PARTIAL_ORDER not in reduce
        idle = tuple(name for name in names if name not in busy) if known else ()
        exploration = Exploration(
            results=(),
            complete=not limit,
            limit=limit,
            states=engine.states,
            transitions=engine.transitions,
            depth=engine.depth,
            taken={item.label: int(engine.taken[item.number]) for item in instances},
            idle_actions=idle,
            seconds=seconds,
            compile_seconds=prepared - started,
            bytes_per_state=engine.bytes_per_state(),
            reduction=reduce,
        )
        if idle and not idle_actions_allowed:
            raise ModelError(
                f"machine {configuration.machine.name}: action {', '.join(idle)} is never enabled in any of the "
                f"{exploration.states:,} states of {configuration}; mend its guard, or switch it off with when=…."
            )
        results = [judged(item, engine.run_of(number), exploration, plain) for number, item in enumerate(properties)]
        if deadlocks:
            results.append(judged_deadlock(engine.run_to_deadlock(), exploration, plain))
        return replace(exploration, results=tuple(results))
