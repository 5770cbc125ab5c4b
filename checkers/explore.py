"""Exhaustive search: every reachable state of a finite configuration, breadth-first, with shortest counterexamples."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ..model.kernel import Configuration, ModelError, Predicate, lower
from ..model.kernel.native import CodeCache, compile_machine
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from .disk_search import DiskSearch, alone_in
from .exploration import Exploration, Limits, Progress, judged, judged_deadlock
from .machine_limits import cores
from .reduction import PartialOrder, Reduction, Symmetry
from .table_search import TableSearch


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
    folder: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    cache: CodeCache | None = None,
) -> Exploration:
    """Search all reachable states and judge ``properties`` (kinds ALWAYS and SOMETIMES).

    Args:
        configuration: a finite configuration.
        properties: what to judge.
        limits: when to give up; the verdicts are UNKNOWN then, with the limit in ``bounds``.
        stop_when_decided: end as soon as each property has its counterexample or witness.
        deadlocks: judge the built-in property ``no-deadlock`` as well.
        may_end: states in which a run may end (used with ``deadlocks``).
        idle_actions_allowed: do not treat an action that is never enabled as a modelling error.
        reduce: what may be left out without a change of any verdict asked for (see ``reduction``); runs are as short as
            without. With partial-order reduction, steps that matter to no verdict are not taken, so idle actions are
            not looked for, and a write outside a domain may go unnoticed.
        threads: how many search side by side where a level is wide enough; None for one for each core. All that is
            found is the same with any number. One searches with reductions, and where ``stop_when_decided`` is asked.
        folder: where states are kept that need not fit the memory: an empty folder, or what an interrupted search of
            the same has left, which goes on. A limit of states ends such a search after a level. What it has written
            is removed when all states were found. Not with reductions, nor with ``stop_when_decided``.
        progress: called several times a second.
        cache: keeps compiled code between runs.

    Raises:
        ModelError: the configuration is not finite; a step writes outside a declared domain; an action is never
            enabled in any reachable state; a property has another kind; the reduction is not possible.
        FolderError: the folder is in use, or has something else in it.
    """
    started = time.perf_counter()
    for item in properties:
        if item.kind not in (Kind.ALWAYS, Kind.SOMETIMES):
            raise ModelError(
                f"property {item.id} is of kind {item.kind}; explore judges 'always' and 'sometimes' only."
            )
    predicates: dict[str, Predicate] = {item.id: item.holds for item in properties}
    if may_end is not None:
        predicates["may end"] = may_end
    native = compile_machine(lower(configuration, predicates), cache=cache)
    limits, terminal = limits or Limits(), may_end is not None
    threads = cores() if threads is None else threads
    partial_order = None
    with ExitStack() as stack:
        engine: TableSearch | DiskSearch
        if folder is not None:
            if reduce or stop_when_decided:
                raise ModelError("a search in a folder cannot be reduced, and does not stop when all is decided.")
            stack.enter_context(alone_in(folder))
            engine = DiskSearch(native, properties, limits, folder=folder, terminal=terminal, threads=threads)
        else:
            if Reduction.PARTIAL_ORDER in reduce:
                partial_order = PartialOrder(native, properties, deadlocks=deadlocks, cache=cache)
            engine = TableSearch(
                native,
                properties,
                limits,
                terminal=terminal,
                stop_when_decided=stop_when_decided and bool(properties),
                partial_order=partial_order,
                symmetry=Symmetry(native, cache=cache) if Reduction.SYMMETRY in reduce else None,
                threads=threads,
            )
        stack.callback(engine.close)
        compile_seconds = time.perf_counter() - started
        started = time.perf_counter()
        limit = engine.run(progress)
        seconds = time.perf_counter() - started
        instances = native.lowered.instances
        busy = {item.action.name for item in instances if engine.taken[item.number]}
        names = dict.fromkeys(item.action.name for item in instances)
        idle = tuple(name for name in names if name not in busy) if not limit and partial_order is None else ()
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
            compile_seconds=compile_seconds,
            bytes_per_state=engine.bytes_per_state(),
            reduction=reduce,
        )
        if idle and not idle_actions_allowed:
            raise ModelError(
                f"machine {configuration.machine.name}: action {', '.join(idle)} is never enabled in any of the "
                f"{exploration.states:,} states of {configuration}; mend its guard, or switch it off with when=…."
            )
        plain = PlainMachine(native.lowered)
        results = [judged(item, engine.run_of(number), exploration, plain) for number, item in enumerate(properties)]
        if deadlocks:
            results.append(judged_deadlock(engine.run_to_deadlock(), exploration, plain))
        return replace(exploration, results=tuple(results))
