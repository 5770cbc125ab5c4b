"""Clock doubts: findings that rest on the order of recorders whose clocks may be any distance apart.

Folds take an order as certain if the events are further apart than the allowed skew. If the causal pairs of a recording
leave a clock more room than that, no such order is certain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..claims.claim import Monitor
from ..claims.claims import CLAIMS, CODE
from ..claims.evidence import LISTENERS
from ..claims.obligations import Reason
from ..clocks.clocks import Clocks
from ..clocks.order import PLAUSIBLE, Order
from ..encoding.names import Actor, Names
from ..format.coverage import NEVER, Coverage, Hole
from ..format.kinds import Kind
from ..monitors.fold import Outcome
from .context import Context, actor_of
from .findings import Doubt, Note

_ONLY_OWNERS, _RESETS, _OWNED, _MOVES, _WHEN_DUE = (
    CODE["only-owners-commit"],
    CODE["reset-is-followed"],
    CODE["every-queue-gets-an-owner"],
    CODE["every-queue-moves"],
    CODE["delivered-when-due"],
)
_BY_ITSELF = (Reason.NO_PULLS, Reason.NOT_POLLED, Reason.NOT_DELIVERED, Reason.NOT_IN_MEMORY)
"""Reasons for a standstill that depend only on what the owner itself did not do in time, whatever others did
meanwhile. In broadcasting it also stores its offset itself.
"""
_BY_ORDER = np.array([*(claim.monitor is not Monitor.GROUPS for claim in CLAIMS), False])
_OF_ITSELF = np.array([*(claim.of_itself and (Kind.COMMIT,) not in claim.needs for claim in CLAIMS), False])
"""Whether a finding of a claim rests on the recording of one process; brokers record commits."""
_OF_LISTENERS = np.array(
    [
        *(claim.monitor is Monitor.MESSAGES and not {*LISTENERS}.isdisjoint(claim.excused_by) for claim in CLAIMS),
        False,
    ]
)
"""Whether listeners of any client of the group may have done, by their clocks, what a finding of a claim misses."""


def order_doubted(outcome: Outcome, names: Names, context: Context, coverage: Coverage, skew: int) -> Outcome:
    """The outcome of folds, with doubts on findings that name a recorder whose clock is not bounded, or not
    compared.

    A message may come to any client of its group, so for findings about messages all clients count.

    Args:
        outcome: outcome of the folds.
        names: names of queues and processes.
        context: has the clocks of the recorders, and when processes began and ended.
        coverage: says who acted in which group.
        skew: the allowed skew, ms: a clock that is known to be no further off needs no doubt.
    """
    order = Order(context.clocks, skew)
    known = context.clocks.clocks
    never_right = _never_right(context)
    wrong = never_right | _outside_their_lives(outcome.rows, names, context)
    loose = {actor for actor in known if order.is_loose(actor)} | wrong
    off = {actor for actor in known if order.is_off(actor)}
    open_ = {actor for actor in known if order.is_open(actor)}
    about = _taken_anew(outcome.rows, names, order)
    if not (loose or off or open_ or about.any()):
        return outcome
    rows = outcome.rows.copy()
    violated, doubtful = outcome.violated.copy(), outcome.doubtful.copy()

    def named(those: Collection[Actor]) -> Any:
        actors = np.array([*(actor in those for actor in names.actors), False])
        slots = np.array([*(Actor(slot.broker, -1) in those for slot in names.slots), False])
        return actors[rows["actor"]] | actors[rows["other"]] | slots[rows["slot"]]

    of_one = np.array([*(bool(slot.client) for slot in names.slots), False])[rows["slot"]]
    by_itself = np.isin(rows["value"], _BY_ITSELF) | (of_one & (rows["value"] == Reason.NOT_COMMITTED))
    by_itself &= (rows["claim"] == _MOVES) & (rows["late"] > PLAUSIBLE)
    is_long = by_itself | ((rows["claim"] == _OWNED) & (rows["late"] > PLAUSIBLE))
    by_one_clock = _OF_ITSELF[rows["claim"]] & (rows["other"] < 0)
    about |= named(off) & named({actor for actor in known if not order.is_tight(actor)}) & ~by_itself
    about |= ((named(open_) & ~by_one_clock) | named(loose)) & ~is_long
    about |= named(wrong)
    if loose:
        about |= (rows["actor"] < 0) & (rows["other"] < 0)
    groups = {group for group, name, number in coverage.processes if Actor(name, number) in loose}
    of_group = np.array([*(slot.group in groups for slot in names.slots), bool(loose)])
    about |= of_group[rows["slot"]] & _OF_LISTENERS[rows["claim"]]
    if not never_right:  # a broker that keeps a message for this long does so by any clock
        about &= (rows["claim"] != _WHEN_DUE) | (rows["late"] <= PLAUSIBLE)
    about &= (rows["note"] == Note.NONE) & (rows["cause"] == 0) & _BY_ORDER[rows["claim"]]
    for claim in np.unique(rows["claim"][about]).tolist():
        certain = (rows["claim"] == claim) & (rows["note"] == Note.NONE) & (rows["cause"] == 0) & (rows["doubt"] == 0)
        more = int(np.count_nonzero(certain & about))
        if more == np.count_nonzero(certain):  # findings beyond those that are kept are assumed to be like these
            more = int(violated[claim])
        violated[claim] -= more
        doubtful[claim] += more
    rows["doubt"][about] |= int(Doubt.SKEW)
    return replace(outcome, rows=rows, violated=violated, doubtful=doubtful)


def _taken_anew(rows: Any, names: Names, order: Order) -> Any:
    """Which findings are about resets after which, by another clock, the owner may have taken the queue."""
    found, owned = np.zeros(len(rows), np.bool_), rows[rows["note"] == Note.OWNERSHIP]
    for at in np.flatnonzero((rows["claim"] == _RESETS) & (rows["note"] == Note.NONE) & (rows["actor"] >= 0)):
        row = rows[at]
        apart = order.apart(names.actors[row["actor"]], Actor(names.slots[row["slot"]].broker, -1))
        before = row["since"] - owned["since"][(owned["slot"] == row["slot"]) & (owned["actor"] == row["actor"])]
        found[at] = ((before >= 0) & (before <= apart)).any()
    return found


def _never_right(context: Context) -> set[Actor]:
    """Recorders whose times do not fit those of others, or their own due times, from the beginning to the end."""
    return {
        recorder
        for step in context.clocks.steps
        if step.since <= 1000 * context.begin and 1000 * context.end < step.until
        for recorder in step.recorders
    }


def _outside_their_lives(rows: Any, names: Names, context: Context) -> set[Actor]:
    """Processes whose offsets brokers stored before they began or after they stopped, by clocks that nothing bounds."""
    lives: dict[Actor, tuple[int, int]] = {}
    for event in context.events.of_kinds(Kind.CLIENT_START, Kind.CLIENT_STOP):
        actor, time = actor_of(event), int(event["time"])
        begin, end = lives.get(actor, (NEVER, NEVER))
        lives[actor] = (min(begin, time), end) if event["kind"] == Kind.CLIENT_START else (begin, time)
    found = set()
    at = (rows["claim"] == _ONLY_OWNERS) & (rows["note"] == Note.NONE) & (rows["actor"] >= 0)
    for row in rows[at]:
        actor = names.actors[row["actor"]]
        clock = context.clocks.clocks.get(actor)
        if actor in lives and (clock is None or clock.uncertainty is None):
            begin, end = lives[actor]
            if begin < NEVER and not begin <= row["time"] <= end:
                found.add(actor)
    return found


def steps_as_holes(clocks: Clocks, groups: Mapping[Actor, Collection[str]]) -> Sequence[Hole]:
    """The times in which a clock was set, as holes: events in them have no order between recorders.

    A client's clock affects the events of its own groups, a broker's clock those of any group about its queues. Nothing
    happened in a step without length: it was found from the order of its recorder, and the pairs with others say what
    remains open.

    Args:
        clocks: clocks of the recorders.
        groups: groups in which each process acted.
    """
    return [
        Hole(
            since=step.since // 1000,
            until=-(-step.until // 1000),
            why=str(step),
            recorder=_only(step.recorders),
            broker=_only(step.recorders) if all(one.incarnation < 0 for one in step.recorders) else "",
            group=group,
        )
        for step in clocks.steps
        if step.since < step.until
        for group in _groups_of(step.recorders, groups)
    ]


def _groups_of(recorders: Sequence[Actor], groups: Mapping[Actor, Collection[str]]) -> Sequence[str]:
    """The groups that depend on some of these clocks; an empty name stands for any."""
    if not recorders or any(one.incarnation < 0 or not groups.get(one) for one in recorders):
        return [""]
    return sorted({group for one in recorders for group in groups[one]})


def _only(recorders: Sequence[Any]) -> str:
    return recorders[0].name if len(recorders) == 1 else ""
