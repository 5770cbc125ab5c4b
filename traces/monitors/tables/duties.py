"""Duties: :mod:`...claims.marks` and :mod:`...claims.obligations` in the form that compiled code reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claims.claims import CODE
from ...claims.marks import MOVES, TURNS, Mark, Who
from ...claims.obligations import Listeners, Obligation, Reason
from ...claims.settings import Settings
from ...encoding.names import BROADCASTING, ORDERLY, RETRY_TOPIC
from ...format.kinds import Kind, Path, Result, codes

_WHOLE = np.int64
_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)
NEVER, UNKNOWN, ANY = -(2**60), -1, -1
BEGIN, MEET, END, MOVE, TURN, MET = range(6)
"""What an event does: it begins a window, shows its owner, ends it; it is one of MOVES, of TURNS; or meets a duty."""

KEPT, CONDITIONS = 1 << len(Mark), 16
"""Bits of the dependences of an obligation, after those of marks: what keeps a message; the first of the conditions."""

STEP = np.dtype(
    [
        (name, _WHOLE)
        for name in (
            "do",  # BEGIN … MET
            "results",  # mask of the results for which it is done
            "paths",
            "owner",  # 1: only for events of the owner
            "only",  # flags that a slot must have
            "at",  # the mark, or the obligation that is met
            "to",  # Value; for a turn Beside
            "forward",  # 1: it never goes back
            "given",  # conditions
            "begins",
            "ends",
        )
    ]
)
"""What one kind of event does: a row of MOVES or TURNS, in the form that compiled code reads."""

DUTY = np.dtype(
    [
        (name, _WHOLE)
        for name in (
            "claim",
            "within",
            "owned",
            "mark",
            "behind",  # -1 for none
            "whole",
            "floor",  # 1: not below the floor of the queue
            "blocked",  # -1 for any
            "idle",
            "moves",
            "during",
            "unless",
            "only",  # flags that a slot must have, and
            "never",  # must not have
            "watches",  # what it depends on: bits of marks, KEPT, and conditions from CONDITIONS on
        )
    ]
)
"""An obligation, in the form that compiled code reads."""

UNPULLED = np.dtype([(name, _WHOLE) for name in ("claim", "duty", "within")])
"""The claim and the duty about queues that are not pulled, and the time after which that is late."""


def can_be_seen(one: Obligation, recorded: frozenset[Kind]) -> bool:
    """Whether the kinds that an obligation needs were recorded."""
    return all(recorded.intersection(kinds) for kinds in one.needs)


def steps_of(obligations: tuple[Obligation, ...], *, assigns: bool) -> list[tuple[int, tuple[int, ...]]]:
    """The kind and the fields of all steps, by kind; those of one kind in the order of the tables."""

    def step(do: int, **fields: int) -> tuple[int, ...]:
        values = {"do": do, "results": ANY, "paths": ANY, **fields}
        return tuple(int(values.get(name, 0)) for name in STEP.names or ())

    steps = [
        (_KIND[Kind.ASSIGN], step(BEGIN)),
        (_KIND[Kind.REVOKE], step(END)),
        *((_KIND[kind], step(MEET, forward=not assigns)) for kind in (Kind.PULL, Kind.PULL_RESULT, Kind.DELIVER)),
    ]
    for move in MOVES:
        only = RETRY_TOPIC if move.of_retries else BROADCASTING if move.of_broadcasting else 0
        fields = {"results": _mask(move.results, _RESULT), "owner": move.who is Who.OWNER, "only": only}
        steps.append((_KIND[move.kind], step(MOVE, at=move.mark, to=move.to, forward=move.only_forward, **fields)))
    for turn in TURNS:
        fields = {"results": _mask(turn.results, _RESULT), "paths": _mask(turn.paths, _PATH)}
        fields |= {"given": turn.given, "begins": turn.begins, "ends": turn.ends, "owner": turn.who is Who.OWNER}
        steps.append((_KIND[turn.kind], step(TURN, to=turn.at, **fields)))
    for at, one in enumerate(obligations):
        steps += [(_KIND[kind], step(MET, at=at, owner=1)) for kind in one.met_by]
    return sorted(steps, key=lambda each: each[0])


def unpulled_of(obligations: tuple[Obligation, ...], settings: Settings) -> Any:
    """When a queue that was never pulled is reported even if nobody saw its end; never without pulls."""
    for duty, one in enumerate(obligations):
        if one.reason is Reason.NO_PULLS:
            return np.array([(CODE[one.claim], duty, one.within(settings))], UNPULLED)
    return np.array([(0, 0, -NEVER)], UNPULLED)


def _mask(words: tuple[Any, ...], code: Any) -> int:
    return sum(1 << code[word] for word in words) or ANY


def duty_of(one: Obligation, settings: Settings) -> tuple[int, ...]:
    """An obligation as the fields of DUTY."""
    only = ORDERLY if Listeners.ORDERLY in one.listeners else 0
    only |= BROADCASTING if Listeners.BROADCASTING in one.listeners else 0
    never = ORDERLY if Listeners.CONCURRENT in one.listeners else 0
    if not one.broadcasting:
        never |= BROADCASTING
    marks = {one.mark} | ({one.behind} if one.behind is not None else set())
    marks |= {Mark.FINISHED, Mark.PULLED} if one.idle else set()
    watches = sum(1 << mark for mark in marks) | (one.during | one.unless) << CONDITIONS
    watches |= KEPT if one.blocked is not None else 0
    return (
        CODE[one.claim],
        one.within(settings),
        one.owned,
        one.mark,
        UNKNOWN if one.behind is None else one.behind,
        one.whole,
        one.whole and one.behind is Mark.FINISHED,
        ANY if one.blocked is None else one.blocked,
        one.idle,
        one.moves,
        one.during,
        one.unless,
        only,
        never,
        watches,
    )
