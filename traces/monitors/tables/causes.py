"""The fold that applies the table of :mod:`...claims.causes`: what each process did with each queue, from the
beginning.

It runs together with the fold by queue, which passes on the results that no delivery can have caused. A cause may be
recorded later than its effect by up to the skew. For each process and queue, the first event without each cause is
reported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import constant, entry, hot, int64, part
from ....machine_code.pair_table import enter, new_pairs, roomy, value_of
from ...claims.causes import Missing
from ...claims.claims import CODE
from ...claims.settings import Settings
from ...encoding.names import NO_QUEUE, OF_A_TOPIC, Actor, Names
from ...engine.context import Context, actor_of
from ...engine.findings import ROW
from ...format.coverage import evidence_mask
from ...format.kinds import Kind, Result, codes
from ..fold import FoldOfTables
from ..queues.queue_events import QueueEvents
from ..terms import NEVER, terms_of

_WHOLE = np.int64
_KIND, _RESULT = codes(Kind), codes(Result)
_CLAIM = CODE["nothing-without-its-cause"]
_NOBODY, _UNKNOWN = constant(-1), constant(-1)
_UNJUDGED = OF_A_TOPIC | NO_QUEUE
_ROOM = 64

PROCESS = np.dtype(
    [
        (name, _WHOLE)
        for name in (
            "slot",  # _NOBODY: the entry is free
            "actor",
            "since",  # its beginning, ms; NEVER if it was not recorded: it is then not judged
            "assigned",  # when it last took the queue
            "blind",  # 1: the content of some pull was not recorded
            "begin",  # what was pulled since then: from here
            "end",  # to here
            "hole",  # except what is from here
            "hole_end",  # to here
            "before",  # what was pulled in the window before: from here
            "before_end",  # to here
        )
    ]
)
"""What a process did with a queue."""

LACK = np.dtype([("time", _WHOLE), ("offset", _WHOLE)])
"""An event without a cause: when, ms, NEVER if there is none; and for which message."""


class Tables(NamedTuple):
    """What the loop works on."""

    beginnings: Any  # of processes, by actor code, ms; NEVER if it was not recorded
    judged: Any  # by kind, a mask of :class:`Missing`
    flags: Any  # of slots
    latest: Any  # for each slot, the position of the process that used it last
    processes: Any  # PROCESS
    index: Any  # their positions by slot and actor
    lacks: Any  # LACK, processes × Missing
    used: Any  # number of processes
    terms: Any  # one entry of TERMS


class CauseFold(FoldOfTables):
    """The fold: feed it events, then ask for what had no cause."""

    given = ("beginnings", "judged", "terms")

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names, self._complete, self._begin = names, context.complete, context.begin
        self._starts: dict[Actor, int] = {}
        for event in context.events.of_kinds(Kind.CLIENT_START):
            self._starts.setdefault(actor_of(event), int(event["time"]))
        judged = np.zeros(256, _WHOLE)
        for one in Missing:
            needs = evidence_mask(one.step.needs)
            if context.evidence & needs == needs:
                for kind in one.step.of:
                    judged[_KIND[kind]] |= 1 << one
        self._tables = Tables(
            beginnings=np.zeros(0, _WHOLE),
            judged=judged,
            flags=np.zeros(0, _WHOLE),
            latest=np.zeros(0, _WHOLE),
            processes=_free(_ROOM),
            index=new_pairs(_ROOM),
            lacks=_no_lacks(_ROOM),
            used=np.zeros(1, _WHOLE),
            terms=terms_of(settings, context),
        )

    def feed(self, events: QueueEvents, uncaused: Any) -> None:
        """Process further events; ``uncaused`` is 1 for what a process does with a message that it cannot have
        been given.
        """
        at = 0
        while at < len(events.time):
            self._make_room()
            at = _run(self._tables, at, events, uncaused)

    def finish(self) -> tuple[Any, Any]:
        """Rows for what has no cause, and for each claim, how many pairs of a process and a queue were judged."""
        processes, lacks = self._tables.processes, self._tables.lacks
        judged = np.zeros(len(CODE), np.int64)
        judged[_CLAIM] = np.count_nonzero((processes["slot"] >= 0) & (processes["since"] != NEVER))
        at, missing = np.nonzero(lacks["time"] != NEVER)
        rows = np.zeros(len(at), ROW)
        rows["claim"], rows["other"] = _CLAIM, _NOBODY
        rows["slot"], rows["actor"] = processes["slot"][at], processes["actor"][at]
        rows["since"], rows["time"] = processes["since"][at], lacks["time"][at, missing]
        rows["offset"] = lacks["offset"][at, missing]
        rows["until"] = rows["offset"] + 1
        rows["value"] = missing
        return rows, judged

    def _make_room(self) -> None:
        """Add new names, and enlarge the table if it is half full."""
        tables, names = self._tables, self._names
        known = len(tables.beginnings)
        if len(names.actors) > known:
            unknown = self._begin if self._complete else NEVER
            new = [
                self._starts.get(actor, unknown) if actor.incarnation >= 0 else NEVER for actor in names.actors[known:]
            ]
            tables = tables._replace(beginnings=np.concatenate([tables.beginnings, np.array(new, _WHOLE)]))
        known = len(tables.flags)
        if len(names.slots) > known:
            more = len(names.slots) - known
            tables = tables._replace(
                flags=np.concatenate([tables.flags, np.array(names.flags[known : known + more], _WHOLE)]),
                latest=np.concatenate([tables.latest, np.zeros(more, _WHOLE)]),
            )
        used = int(tables.used[0])
        if used >= len(tables.processes):
            tables = tables._replace(
                processes=np.concatenate([tables.processes, _free(used)]),
                lacks=np.concatenate([tables.lacks, _no_lacks(used)]),
            )
        self._tables = tables._replace(index=roomy(tables.index, used))


def _free(count: int) -> Any:
    processes = np.zeros(count, PROCESS)
    processes["slot"] = _NOBODY
    return processes


def _no_lacks(count: int) -> Any:
    lacks = np.zeros((count, len(Missing)), LACK)
    lacks["time"] = NEVER
    return lacks


@entry
def _run(t: Any, start: int, e: Any, uncaused: Any) -> Any:
    """Process events ``e`` from ``start`` on; returns where to continue once there is more room, or the end."""
    for i in range(start, len(e.time)):
        q, actor, kind = int64(e.slot[i]), int64(e.actor[i]), int64(e.kind[i])
        judged = t.judged[kind]
        if q < 0 or actor < 0 or (judged == 0 and kind != Kind.ASSIGN) or t.flags[q] & _UNJUDGED:
            continue
        at = int64(t.latest[q])
        if t.processes[at].slot != q or t.processes[at].actor != actor:
            at = value_of(t.index, q, actor)
            if at < 0:
                if t.used[0] >= len(t.processes) or 2 * (t.used[0] + 1) > len(t.index):
                    return i
                at = int64(t.used[0])
                _begin(t, at, q, actor, e.time[i])
            t.latest[q] = at
        if t.processes[at].since == NEVER:
            continue
        now, offset = e.time[i], max(e.offset[i], _UNKNOWN)
        if kind == Kind.ASSIGN:
            _take(t, at, now)
            continue
        if t.processes[at].assigned == NEVER and judged & (1 << Missing.ASSIGNMENT):
            _lacks(t, at, Missing.ASSIGNMENT, now, offset if kind == Kind.DELIVER else _UNKNOWN)
        if kind == Kind.PULL_RESULT:
            if judged & (1 << Missing.PROGRESS) and e.result[i] == Result.FOUND and 0 <= e.next[i] < offset:
                _lacks(t, at, Missing.PROGRESS, now, offset)
            if e.result[i] == Result.FOUND or e.result[i] == Result.NONE:
                _bring(t, at, now, offset, e.next[i], int64(e.count[i]))
        elif kind == Kind.DELIVER:
            if offset >= 0:
                lack = t.lacks[at, Missing.DELIVERY]
                if lack.offset == offset and now - lack.time <= t.terms[0].skew:
                    lack.time = NEVER
                if judged & (1 << Missing.PULL) and not _is_pulled(t, at, now, offset):
                    _lacks(t, at, Missing.PULL, now, offset)
        elif uncaused[i] and judged & (1 << Missing.DELIVERY):
            _lacks(t, at, Missing.DELIVERY, now, offset)
    return len(e.time)


@part
def _begin(t: Any, at: int, q: int, actor: int, now: int) -> None:
    process = t.processes[at]
    enter(t.index, q, actor, at)
    t.used[0] += 1
    process.slot, process.actor, process.since = q, actor, t.beginnings[actor]
    if process.since > now + t.terms[0].skew:
        process.since = NEVER  # it ran before its recorded start
    process.assigned, process.blind = NEVER, 0
    process.begin = process.end = process.hole = process.hole_end = process.before = process.before_end = _UNKNOWN


@part
def _take(t: Any, at: int, now: int) -> None:
    """A window begins. A listener may still be given what was pulled in the previous one."""
    process, lack = t.processes[at], t.lacks[at, Missing.ASSIGNMENT]
    if now - lack.time <= t.terms[0].skew:
        lack.time = NEVER
    process.assigned = now
    process.before, process.before_end = process.begin, process.end
    process.begin = process.end = process.hole = process.hole_end = _UNKNOWN


@part
def _bring(t: Any, at: int, now: int, offset: int, after: int, count: int) -> None:
    """A pull brings messages; if it does not say which, it may have brought any."""
    process, lack = t.processes[at], t.lacks[at, Missing.PULL]
    if offset < 0 or after < 0:
        process.blind = 1
        lack.time = NEVER
        return
    # A batch that is stored as one comes as a whole, even if it begins before the requested offset.
    first = min(offset, after - count) if count > 0 else offset
    if process.end < 0:
        process.begin, process.end = first, after
    else:
        if first > process.end:
            process.hole, process.hole_end = process.end, first
        elif first < process.hole_end and after > process.hole:
            process.hole = process.hole_end = _UNKNOWN
        process.begin, process.end = min(process.begin, first), max(process.end, after)
    if now - lack.time <= t.terms[0].skew and first <= lack.offset < after:
        lack.time = NEVER


@hot
def _is_pulled(t: Any, at: int, now: int, offset: int) -> bool:
    process = t.processes[at]
    return bool(
        process.assigned == NEVER
        or process.blind
        or (process.begin <= offset < process.end and not process.hole <= offset < process.hole_end)
        or (process.before <= offset < process.before_end and now - process.assigned <= t.terms[0].stuck)
    )


@part
def _lacks(t: Any, at: int, missing: int, now: int, offset: int) -> None:
    """An event has no cause so far."""
    lack = t.lacks[at, missing]
    if lack.time == NEVER:
        lack.time, lack.offset = now, offset
