"""The fold that applies the table of :mod:`..claims.steps`: what each process does with each queue, step by step.

It keeps a line for each process and queue, brokers among them, and an item for each message that a listener has, or
that has not left its window. Of each process and queue the first misstep of each kind is told. Threads of one process
may be recorded in another order than they acted in: what comes within :data:`APART` was in time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..claims.claims import CODE
from ..claims.settings import Settings
from ..claims.steps import STEPS, Misstep
from ..clocks.order import Order
from ..encoding.coding import Coded
from ..encoding.names import (
    BROADCASTING,
    DEAD_LETTER_TOPIC,
    NO_QUEUE,
    OF_A_TOPIC,
    ORDERLY,
    RETRY_TOPIC,
    Actor,
    Names,
)
from ..engine.context import Context, actor_of
from ..engine.findings import ROW
from ..format.coverage import evidence_mask
from ..format.kinds import Kind, Path, Result, codes
from ..machine_code.compiled import entry, hot, int64, part
from ..machine_code.pair_table import enter, new_pairs, remove, roomy, value_of
from .fold import Outcome, nothing

APART = 1_000
"""Two threads of a process are recorded at most so much later than they acted, ms."""

SILENCE = 5_000
"""A process of which nothing was recorded for so long may have been stopped meanwhile, ms."""

LATE = 10_000
"""A thread that goes on as long as others do needs less for what it does at once, ms."""

SOON = 900
"""A pull that failed is not repeated sooner, ms: ``pullTimeDelayMillsWhenException`` is 1 s and more (PL-22)."""

_WHOLE = np.int64
_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)
STORES = (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)
"""Kinds that this fold looks at in queues of topics too, which no group has for its own."""

STEP_KINDS = (
    Kind.PULL,
    Kind.PULL_RESULT,
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.OFFSET_QUERY,
    Kind.DELIVER,
    Kind.RESULT,
    Kind.REMOVED,
    Kind.DISCARDED,
    Kind.EXPIRE,
    Kind.COMMIT_MEMORY,
    Kind.COMMIT,
    Kind.CORRECT,
    Kind.SEND_BACK,
    *STORES,
    Kind.LOCK,
    Kind.UNLOCK,
    Kind.LOCK_LOST,
)
"""Kinds that this fold looks at, and resets."""

(
    _PULL,
    _PULL_RESULT,
    _ASSIGN,
    _REVOKE,
    _QUERY,
    _DELIVER,
    _RESULT_OF,
    _REMOVED,
    _DISCARDED,
    _EXPIRE,
    _MEMORY,
    _COMMIT,
    _CORRECT,
    _SEND_BACK,
    _STORE,
    _DELAY_DELIVER,
    _DEAD_LETTER,
    _LOCK,
    _UNLOCK,
    _LOCK_LOST,
) = (_KIND[kind] for kind in STEP_KINDS)
_RESET = _KIND[Kind.RESET]
_FOUND, _NO_NEW, _NO_MATCHED, _OK = (
    _RESULT[result] for result in (Result.FOUND, Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE, Result.OK)
)
_COMMITS, _ROLLS_BACK = _RESULT[Result.COMMIT], _RESULT[Result.ROLLBACK]
_BY_HAND = sum(1 << _RESULT[result] for result in (Result.COMMIT, Result.ROLLBACK))
_SHUTDOWN, _REMOVAL = _PATH[Path.SHUTDOWN], _PATH[Path.REMOVAL]
_REFUSED = sum(1 << _RESULT[result] for result in (Result.ERROR, Result.FAILED, Result.TIMEOUT))
_SENT = sum(1 << _PATH[path] for path in (Path.PERIODIC, Path.PIGGYBACK, Path.REMOVAL, Path.SHUTDOWN))
(
    _NOT_ASKED,
    _ELSEWHERE,
    _ASKED_TWICE,
    _TAKEN_TWICE,
    _NOT_HAD,
    _NO_QUERY,
    _RETURNED_TWICE,
    _NOT_RETURNED,
    _NOT_LEFT,
    _NOT_IN_WINDOW,
    _BEYOND_MEMORY,
    _KEPT,
    _OTHER_ANSWER,
    _OTHER_START,
    _OTHER_MESSAGE,
    _OTHER_COUNT,
    _OTHER_NEXT,
    _IMPOSSIBLE,
    _OTHER_BATCH,
    _END_BACK,
    _NOT_REMEMBERED,
    _NEVER_RETURNED,
    _NO_SHUTDOWN,
    _NO_REMOVAL,
    _NOT_STORED,
    _STORED_TWICE,
    _FIRST_COUNT,
    _OTHER_TOPIC,
    _NEVER_ASKED,
    _NOT_BROUGHT,
    _NOT_LOCKED,
    _UNLOCKED_EARLY,
    _LOCK_OVER,
) = map(int, Misstep)
_NEVER, _UNKNOWN, _NOBODY = -(2**60), -1, -1
_COPIES = RETRY_TOPIC | DEAD_LETTER_TOPIC
_RESTARTS = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
_LEAVES = (Kind.UNREGISTER, Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
_ROOM = 64
_MARKS = 16
_BEFORE = 2
"""Pulls of a process that may have been under way when a recording began amid its windows, two of them together."""
_FARTHEST = 4_096
_IS_STEP = np.zeros(256, np.bool_)
_IS_STEP[[_KIND[kind] for kind in (*STEP_KINDS, Kind.RESET)]] = True
_APART, _SILENCE, _LATE, _SOON = APART, SILENCE, LATE, SOON

LINE = np.dtype(
    [
        *(
            (name, _WHOLE)
            for name in (
                "slot",  # _NOBODY: the entry is free
                "actor",
                "last",  # time of its last event, ms
                "fresh",  # 1: it was recorded from when it asked for the offset, so nothing was given before
                "resumed",  # when it was recorded again after a silence, ms
                "window",  # number of its windows so far
                "has",  # 1: it has the queue, 0: it gave it up, -1: neither was recorded
                "left_at",  # when it gave it up, ms
                "asked",  # where the pull under way asks from; -1: there is none
                "asked_at",  # since when, ms
                "pulled",  # 1: some pull of it was recorded
                "late",  # answers that may come to pulls of earlier windows
                "position",  # where the next pull asks from; -1: not known
                "start",  # where it may ask from besides, once: what a query answered
                "queried",  # 1: it has asked since it took the queue last
                "answer",  # and the answer; -1: none
                "low",  # low-water mark
                "memory",  # highest in-memory offset; -1: not known
                "brought",  # what the last answer told to go on from; -1: none
                "mended",  # what a correction or reset told; -1: none
                "reset_to",  # what the last reset told; -1: none
                "marks",  # how many low-water marks there were
                "refused",  # 1: a send-back failed, so that a batch may end without a message that left
                "cleaned",  # 1: a message was cleaned for its time
                "beside",  # place of another line of its slot, _NOBODY for none
                "manual",  # 1: its listener commits or rolls back itself, so that a success alone ends nothing (OR-6)
                "batched",  # 1: a listener was called with several messages at once
                "batches",  # how many such calls there were
                "end",  # of a broker: where the next message is stored; of a client: the highest end it was told; -1
                "end_at",  # when, ms
                "beginning",  # the highest beginning it was told
                "missing",  # offsets from ``first_missing`` on that were left out so far
                "first_missing",
                "owed",  # messages that left the window for which the in-memory offset was not set
                "idle",  # of these, those that did not move the low-water mark: whether they set it again is not told
                "owed_at",  # since when nothing was set, ms
                "found",  # messages that its pulls brought
                "given",  # messages that its listeners were given, once for each time they were in a window
                "sets",  # 1: it has set or stored an offset
                "locked",  # when it locked the queue last; _NEVER: it did not
                "refused_at",  # when its lock was refused first since it had it; _NEVER: it was not
                "unlocked",  # when it gave the lock back or found it lost last, ms
                "given_back",  # when it gave the lock back first since it took the queue; _NEVER: it did not
                "locks_only",  # 1: nothing but its locks was recorded
                "strays",  # results of messages that had left the window, which may be discarded still
                "removing",  # when an offset was stored for giving up the queue; _NEVER: it was given up since
            )
        ),
        ("mark", _WHOLE, (_MARKS,)),  # the last low-water marks
        ("mark_at", _WHOLE, (_MARKS,)),  # and when they were, ms
        ("batch", _WHOLE, (_MARKS,)),  # offsets behind the last calls with several messages
    ]
)
"""What a process did with a queue."""

ITEM = np.dtype(
    [
        (name, _WHOLE)
        for name in (
            "line",  # place of its line; _NOBODY: the entry is free
            "offset",  # of a free entry the place of another one, _NOBODY for none
            "running",  # listeners that have not returned, of earlier windows too
            "earlier",  # listeners of earlier windows, whose results are discarded when they come
            "returned",  # 1: one has, since it was given last
            "origin",
            "attempt",
            "window",  # in which it was given
            "expired",  # 1: it was cleaned for its time
            "sent",  # 1: it was sent back
            "left",  # 1: it has left the window, and a listener runs still, or its result is still to be discarded
            "ended",  # when a listener returned with success last, ms; _NEVER: none did
            "passed",  # when the low-water mark passed it, ms; _NEVER: it did not
        )
    ]
)
"""A message that a listener was given and that has not left the window."""

MISSTEP = np.dtype([("time", _WHOLE), ("since", _WHOLE), ("offset", _WHOLE), ("expected", _WHOLE)])
"""The first misstep of a kind: when, ms, _NEVER where there is none."""


class Tables(NamedTuple):
    """What the loop works on.

    Attributes:
        judged: by :class:`Misstep`, whether it is.
        flags: of slots.
        seen: for each slot a mask of the kinds that there were.
        latest: for each slot the place of the line that was used last, and that of the newest, _NOBODY for none.
        lines: LINE; ``index``: their places by slot and actor.
        missteps: MISSTEP, lines × Misstep.
        items: ITEM; ``places``: where they are by line and offset.
        used: lines, items with those that are free, items, and the place of a free one, _NOBODY for none.
        terms: how far clocks may be apart, ms; whether what leaves a window is recorded; whether the recording begins
            with the first event; when it ends; whether send-backs are recorded; how long a lock lasts, ms.
    """

    judged: Any
    flags: Any
    seen: Any
    latest: Any
    lines: Any
    index: Any
    missteps: Any
    items: Any
    places: Any
    used: Any
    terms: Any


class StepFold:
    """The monitor of steps; see :class:`.fold.Fold`."""

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names = names
        judged = np.zeros(len(Misstep), _WHOLE)
        for one in STEPS:
            needs = evidence_mask(one.needs)
            judged[one.misstep] = context.evidence & needs == needs
        leaving = evidence_mask((Kind.DELIVER, Kind.RESULT, Kind.REMOVED))
        self._tables = Tables(
            judged=judged,
            flags=np.zeros(0, _WHOLE),
            seen=np.zeros(0, _WHOLE),
            latest=np.zeros((0, 2), _WHOLE),
            lines=_no_lines(_ROOM),
            index=new_pairs(_ROOM),
            missteps=_no_missteps(_ROOM),
            items=np.zeros(_ROOM, ITEM),
            places=new_pairs(_ROOM),
            used=np.array([0, 0, 0, _NOBODY], _WHOLE),
            terms=np.array(
                [
                    Order(context.clocks, settings.skew).widest,
                    context.evidence & leaving == leaving,
                    context.complete,
                    context.end,
                    context.evidence & evidence_mask((Kind.SEND_BACK,)) != 0,
                    settings.lock_life,
                ],
                _WHOLE,
            ),
        )
        self._restarts: dict[str, list[int]] = {}
        self._ends: dict[Actor, list[int]] = {}
        self._end = context.end
        # Those of the whole trace, whichever queues this fold is given.
        self._processes = Counter(actor.name for actor in {actor_of(event) for event in context.events})
        for event in context.events:
            if event["kind"] in _RESTARTS:
                self._restarts.setdefault(event.get("broker") or "", []).append(event["time"])
            elif event["kind"] in _LEAVES:
                self._ends.setdefault(actor_of(event), []).append(event["time"])

    def feed(self, coded: Coded) -> None:
        """Go on with events."""
        at = 0
        while at < len(coded):
            self._make_room()
            at = _run(
                self._tables,
                at,
                coded.time,
                coded.kind,
                coded.result,
                coded.path,
                coded.slot,
                coded.actor,
                coded.offset,
                coded.next,
                coded.low,
                coded.high,
                coded.count,
                coded.origin,
                coded.attempt,
            )

    def finish(self) -> Outcome:
        """Say what has come out: all missteps, and how many lines were judged of each claim."""
        self._make_room()
        _finish(self._tables)
        used = int(self._tables.used[0])
        lines, missteps = self._tables.lines[:used], self._tables.missteps[:used]
        beside = np.array([evidence_mask(step.beside) for step in STEPS])
        seen = self._tables.seen[lines["slot"]]
        told = (missteps["time"] != _NEVER) & (seen[:, None] & beside == beside)
        # A broker does not know which of several processes with one client id has sent a commit.
        is_shared = np.array([*(self._processes[actor.name] > 1 for actor in self._names.actors), False])
        told[:, _BEYOND_MEMORY] &= ~is_shared[lines["actor"]]
        for line, misstep in np.argwhere(told):
            told[line, misstep] = not self._is_excused(lines[line], int(misstep), missteps[line, misstep])
        at, misstep = np.nonzero(told)
        found = missteps[at, misstep]
        rows = np.zeros(len(at), ROW)
        rows["claim"] = np.array([CODE[step.claim] for step in STEPS])[misstep]
        rows["other"] = _NOBODY
        rows["slot"], rows["actor"] = lines["slot"][at], lines["actor"][at]
        rows["value"] = misstep
        for name in ("time", "since", "offset", "expected"):
            rows[name] = found[name]
        rows["until"] = rows["offset"] + 1
        judged = np.zeros(len(CODE), _WHOLE)
        for claim in {step.claim for step in STEPS}:
            is_judged = any(self._tables.judged[step.misstep] for step in STEPS if step.claim == claim)
            judged[CODE[claim]] = used if is_judged else 0
        return replace(nothing(0), rows=rows, judged=judged, violated=np.bincount(rows["claim"], minlength=len(CODE)))

    def _is_excused(self, line: Any, misstep: int, found: Any) -> bool:
        """Whether a restart of the broker, or the end of the process, makes it right."""
        if misstep in (_END_BACK, _NOT_STORED, _STORED_TWICE):
            times = self._restarts.get(self._names.slots[line["slot"]].broker, ())
            apart = APART + int(self._tables.terms[0])
            return any(found["since"] - apart <= time <= found["time"] + apart for time in times)
        if misstep == _NO_SHUTDOWN:
            times = self._ends.get(self._names.actors[line["actor"]], ())
            return self._end - found["time"] <= LATE or any(abs(time - found["time"]) <= LATE for time in times)
        return False

    def _make_room(self) -> None:
        """Learn of new queues, and make tables larger that are half full."""
        tables, names = self._tables, self._names
        known = len(tables.flags)
        if len(names.slots) > known:
            more = len(names.slots) - known
            tables = tables._replace(
                flags=np.concatenate([tables.flags, np.array(names.flags[known : known + more], _WHOLE)]),
                seen=np.concatenate([tables.seen, np.zeros(more, _WHOLE)]),
                latest=np.concatenate([tables.latest, np.full((more, 2), (0, _NOBODY), _WHOLE)]),
            )
        lines, _, items, _ = map(int, tables.used)
        if lines >= len(tables.lines):
            tables = tables._replace(
                lines=np.concatenate([tables.lines, _no_lines(lines)]),
                missteps=np.concatenate([tables.missteps, _no_missteps(lines)]),
            )
        if items >= len(tables.items):
            tables = tables._replace(items=np.concatenate([tables.items, np.zeros(items, ITEM)]))
        self._tables = tables._replace(index=roomy(tables.index, lines), places=roomy(tables.places, items))


def _no_lines(count: int) -> Any:
    lines = np.zeros(count, LINE)
    lines["slot"] = _NOBODY
    return lines


def _no_missteps(count: int) -> Any:
    missteps = np.zeros((count, len(Misstep)), MISSTEP)
    missteps["time"] = _NEVER
    return missteps


@hot
def _find(t: Any, line: int, offset: int) -> Any:
    """The place of a message, -1 without one."""
    return value_of(t.places, line, offset)


@hot
def _add(t: Any, line: int, offset: int) -> Any:
    """A place for a message that has none."""
    at = int64(t.used[3])
    if at >= 0:
        t.used[3] = t.items[at].offset
    else:
        at = int64(t.used[1])
        t.used[1] += 1
    t.used[2] += 1
    t.items[at].line, t.items[at].offset = line, offset
    enter(t.places, line, offset, at)
    return at


@part
def _drop(t: Any, at: int) -> None:
    item = t.items[at]
    remove(t.places, int64(item.line), item.offset)
    item.line, item.offset = _NOBODY, t.used[3]
    t.used[3] = at
    t.used[2] -= 1


@entry
def _run(
    t: Any,
    start: int,
    times: Any,
    kinds: Any,
    results: Any,
    paths: Any,
    slots: Any,
    actors: Any,
    offsets: Any,
    nexts: Any,
    lows: Any,
    highs: Any,
    counts: Any,
    origins: Any,
    attempts: Any,
) -> Any:
    """Take events from ``start`` on; the answer is where to go on when there is more room, or the end."""
    for i in range(start, len(times)):
        q, actor, kind = int64(slots[i]), int64(actors[i]), int64(kinds[i])
        if q < 0 or not _IS_STEP[kind] or t.flags[q] & NO_QUEUE:
            continue
        is_store = kind in (_STORE, _DELAY_DELIVER, _DEAD_LETTER)
        if t.flags[q] & OF_A_TOPIC and not is_store:
            continue
        t.seen[q] |= int64(1) << kind
        now, offset = times[i], max(offsets[i], int64(_UNKNOWN))
        if kind == _RESET:
            _reset(t, q, offset)
            continue
        if actor < 0:
            continue
        if t.used[2] >= len(t.items) or 2 * (t.used[2] + 1) > len(t.places):
            return i
        n = int64(t.latest[q, 0])
        if t.lines[n].slot != q or t.lines[n].actor != actor:
            n = value_of(t.index, q, actor)
            if n < 0:
                if t.used[0] >= len(t.lines) or 2 * (t.used[0] + 1) > len(t.index):
                    return i
                n = int64(t.used[0])
                _begin(t, q, actor, now)
            t.latest[q, 0] = n
        line = t.lines[n]
        if line.locks_only and kind not in (_LOCK, _LOCK_LOST):
            line.locks_only, line.fresh = 0, kind in (_QUERY, _ASSIGN)
            if line.fresh:
                line.late = 0
        if now - line.last > _SILENCE:
            line.resumed = now
        line.last = now
        if is_store:
            if offset >= 0:
                _stored(t, n, kind, offset, int64(attempts[i]))
        elif kind == _DELIVER:
            if offset >= 0:
                _deliver(t, n, offset, nexts[i], int64(counts[i]), origins[i], int64(attempts[i]))
        elif kind == _RESULT_OF:
            if offset >= 0:
                _result(t, n, offset, int64(results[i]), origins[i], int64(attempts[i]))
        elif kind == _REMOVED:
            if offset >= 0:
                _removed(t, n, offset, nexts[i])
        elif kind == _MEMORY:
            _memory(t, n, offset)
        elif kind == _COMMIT:
            if offset >= 0 and (int64(1) << int64(paths[i])) & _SENT:
                _commit(t, n, offset, int64(paths[i]))
        elif kind == _PULL:
            _pull(t, n, offset)
        elif kind == _PULL_RESULT:
            _answer(t, n, int64(results[i]), offset, nexts[i], lows[i], highs[i], int64(counts[i]))
        elif kind == _ASSIGN:
            _take(t, n, offset)
        elif kind == _REVOKE:
            _give_up(t, n)
        elif kind == _QUERY:
            if (int64(1) << int64(results[i])) & _REFUSED == 0:
                line.queried = 1
            line.answer = offset if results[i] == _OK else int64(_UNKNOWN)
            line.start = line.answer
        elif kind == _LOCK:
            if results[i] == _OK:
                line.locked, line.refused_at = now, _NEVER
            elif line.refused_at == _NEVER:
                line.refused_at = now
        elif kind == _LOCK_LOST:
            line.unlocked = now
        elif kind == _UNLOCK:
            line.unlocked = now
            if line.has == 1 and line.given_back == _NEVER:
                line.given_back = now
        elif kind == _CORRECT:
            line.mended, line.position = offset, _UNKNOWN
        elif kind == _DISCARDED:
            if offset >= 0:
                _discarded(t, n, offset)
        elif kind == _SEND_BACK:
            if results[i] != _OK:
                line.refused = 1
            else:
                at = _find(t, n, offset)
                if at >= 0:
                    t.items[at].sent = 1
        elif kind == _EXPIRE:
            line.cleaned = 1
            at = _find(t, n, offset)
            if at >= 0:
                t.items[at].expired = 1
    return len(times)


@part
def _begin(t: Any, q: int, actor: int, now: int) -> None:
    n = int64(t.used[0])
    enter(t.index, q, actor, n)
    line = t.lines[n]
    line.locks_only, line.beside = 1, t.latest[q, 1]
    t.latest[q, 1] = n
    t.used[0] += 1
    line.slot, line.actor, line.last = q, actor, now
    line.late = 0 if t.terms[2] else _BEFORE
    line.resumed, line.left_at, line.has = _NEVER, _NEVER, -1
    line.asked = line.position = line.start = line.answer = _UNKNOWN
    line.low = line.memory = line.brought = line.mended = line.reset_to = _UNKNOWN
    line.end = line.beginning = _UNKNOWN
    line.removing = line.locked = line.unlocked = line.given_back = line.refused_at = _NEVER
    for place in range(_MARKS):
        line.mark[place], line.mark_at[place], line.batch[place] = _UNKNOWN, _NEVER, _UNKNOWN


@part
def _misstep(t: Any, n: int, what: int, since: int, offset: int, expected: int) -> None:
    """Something does not follow; the first of its kind is told."""
    found = t.missteps[n, what]
    if t.judged[what] and found.time == _NEVER:
        found.time, found.since, found.offset, found.expected = t.lines[n].last, since, offset, expected


@part
def _reset(t: Any, q: int, offset: int) -> None:
    """An operator sets the offset: all that have the queue may go on from there."""
    n = t.latest[q, 1]
    while n >= 0:
        line = t.lines[n]
        line.mended, line.position, line.memory = offset, _UNKNOWN, _UNKNOWN
        line.reset_to = offset  # OF-31: a client sets it 10 s after it has dropped the queue
        n = line.beside


@part
def _take(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    now = line.last
    if line.has == 1 and line.mended < 0:
        _misstep(t, n, _TAKEN_TWICE, now, int64(_UNKNOWN), int64(_UNKNOWN))
    if t.flags[line.slot] & BROADCASTING == 0:
        if not line.queried and (line.window > 0 or t.terms[2]):
            _misstep(t, n, _NO_QUERY, now, int64(_UNKNOWN), int64(_UNKNOWN))
        elif line.answer >= 0 and offset >= 0 and offset != line.answer and offset != line.mended:
            _misstep(t, n, _OTHER_START, now, offset, line.answer)
    if t.flags[line.slot] & ORDERLY and t.flags[line.slot] & BROADCASTING == 0:
        known = line.locked != _NEVER or t.terms[2]
        if known and (line.locked == _NEVER or line.locked < line.unlocked - _APART):
            _misstep(t, n, _NOT_LOCKED, now, offset, int64(_UNKNOWN))
    line.given_back = _NEVER
    if line.asked >= 0:
        line.late += 1
    line.window += 1
    line.has, line.asked, line.position, line.queried, line.start = 1, _UNKNOWN, offset, 0, _UNKNOWN
    line.low, line.brought = offset, _UNKNOWN


@part
def _give_up(t: Any, n: int) -> None:
    line = t.lines[n]
    if line.has == 0:
        _misstep(t, n, _NOT_HAD, line.left_at, int64(_UNKNOWN), int64(_UNKNOWN))
    if line.given_back != _NEVER and line.last - line.given_back > t.terms[5]:
        _misstep(t, n, _UNLOCKED_EARLY, line.given_back, int64(_UNKNOWN), int64(_UNKNOWN))
    line.given_back = _NEVER
    line.has, line.left_at = 0, line.last
    line.position, line.owed, line.idle, line.removing = _UNKNOWN, 0, 0, _NEVER


@part
def _pull(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    now = line.last
    line.pulled = 1
    if offset >= 0:
        if line.asked >= 0 and now - line.asked_at < _SOON and line.asked == offset:
            _misstep(t, n, _ASKED_TWICE, line.asked_at, offset, line.asked)
        if line.position >= 0 and offset not in (line.position, line.start, line.mended):
            _misstep(t, n, _ELSEWHERE, line.asked_at if line.asked >= 0 else now, offset, line.position)
        line.position, line.start, line.mended = offset, _UNKNOWN, _UNKNOWN
    line.asked, line.asked_at = offset, now


@part
def _answer(t: Any, n: int, result: int, offset: int, after: int, low: int, high: int, count: int) -> None:
    line = t.lines[n]
    now = line.last
    if line.asked < 0:
        if line.late > 0:
            line.late -= 1
            line.position = _UNKNOWN
            return
        if line.pulled and (int64(1) << result) & _REFUSED == 0:
            # An answer whose handling fails is told as an error besides.
            _misstep(t, n, _NOT_ASKED, now, offset, int64(_UNKNOWN))
    elif offset >= 0 and offset != line.asked:
        if line.late > 0:
            line.late -= 1
            line.position = _UNKNOWN
            return
        _misstep(t, n, _OTHER_ANSWER, line.asked_at, offset, line.asked)
    line.asked = _UNKNOWN
    served = result in (_FOUND, _NO_NEW, _NO_MATCHED)
    if served:
        known = low >= 0 and high >= 0 and after >= 0 and offset >= 0
        wrong = known and (low > high or after < offset)
        if result == _FOUND:
            # While the broker reads, more may be stored than there was when it looked up the end (PL-19).
            wrong = wrong or (known and (offset >= high or offset < low or count > after - offset))
        elif count > 0:
            wrong = True
        if wrong:
            _misstep(t, n, _IMPOSSIBLE, now, offset, after)
        if known and line.late == 0:
            if high < line.end:
                _misstep(t, n, _END_BACK, line.end_at, high, line.end)
            elif low < line.beginning:
                _misstep(t, n, _END_BACK, line.end_at, low, line.beginning)
            line.end, line.beginning, line.end_at = max(line.end, high), max(line.beginning, low), now
        if result == _FOUND:
            line.found += count if count >= 0 else _FARTHEST * _FARTHEST
        line.brought = after
        line.position = after if line.has == 1 else int64(_UNKNOWN)
    elif (int64(1) << result) & _REFUSED == 0:
        line.position = _UNKNOWN
        line.brought = after
        # Whether the broker still holds the pull it has found illegal is not known.
        line.late += 1


@part
def _deliver(t: Any, n: int, offset: int, after: int, count: int, origin: int, attempt: int) -> None:
    line = t.lines[n]
    now = line.last
    if count == 1 and after >= 0 and after != offset + 1:
        _misstep(t, n, _OTHER_NEXT, now, offset, after)
    is_refused = line.refused_at != _NEVER and now - line.refused_at > _APART
    if is_refused and line.locked != _NEVER and now - line.locked > t.terms[5] and t.flags[line.slot] & ORDERLY:
        _misstep(t, n, _LOCK_OVER, line.refused_at, offset, int64(_UNKNOWN))
    if count > 1:
        line.batched = 1
        known = after < 0
        for place in range(_MARKS):
            known = known or line.batch[place] == after
        if not known:
            if offset > after - count:
                _misstep(t, n, _OTHER_BATCH, now, offset, after)
            line.batch[line.batches % _MARKS] = after
            line.batches += 1
    if not t.judged[_RETURNED_TWICE]:
        return
    at = _find(t, n, offset)
    if at < 0:
        at = _add(t, n, offset)
        item = t.items[at]
        item.running = item.earlier = item.expired = item.left = item.sent = 0
        item.passed = _NEVER
        line.given += 1
        if line.given > line.found > 0 and line.fresh and t.terms[1]:
            _misstep(t, n, _NOT_BROUGHT, now, offset, line.found)
    item = t.items[at]
    if item.window != line.window:
        item.earlier = item.running
    item.running += 1
    item.returned = item.left = 0
    item.origin, item.attempt, item.window, item.ended = origin, attempt, line.window, _NEVER


@part
def _result(t: Any, n: int, offset: int, result: int, origin: int, attempt: int) -> None:
    line = t.lines[n]
    now = line.last
    at = _find(t, n, offset)
    if at < 0:
        # A listener that commits by hand tells the status of messages that it was given before.
        if line.fresh and (int64(1) << result) & _BY_HAND == 0:
            _misstep(t, n, _RETURNED_TWICE, now, offset, int64(_UNKNOWN))
        return
    item = t.items[at]
    line.manual = line.manual or result in (_COMMITS, _ROLLS_BACK)
    if item.running <= 0 and (int64(1) << result) & _BY_HAND:
        if result == _ROLLS_BACK and item.returned:
            item.ended = _NEVER  # OR-7: with its batch all that was not committed before is rolled back
        return
    if item.running <= 0:
        _misstep(t, n, _RETURNED_TWICE, now, offset, int64(_UNKNOWN))
        return
    item.running -= 1
    item.returned = 1
    if origin != 0 and item.origin != 0 and origin != item.origin:
        _misstep(t, n, _OTHER_MESSAGE, now, offset, int64(_UNKNOWN))
    if attempt >= 0 and item.attempt >= 0 and attempt != item.attempt:
        _misstep(t, n, _OTHER_COUNT, now, offset, item.attempt)
    if item.running > 0:
        return
    if not t.terms[1] or (item.left and item.earlier == 0):
        line.strays += 1
        _drop(t, at)
    elif result == _OK and item.window == line.window and line.has == 1 and not item.expired:
        item.ended = now


@part
def _removed(t: Any, n: int, offset: int, after: int) -> None:
    line = t.lines[n]
    now = line.last
    at = _find(t, n, offset)
    if at < 0:
        if line.fresh:
            _misstep(t, n, _NOT_RETURNED, now, offset, int64(_UNKNOWN))
    else:
        item = t.items[at]
        if not item.returned and not (item.expired and (item.sent or not t.terms[4])):
            _misstep(t, n, _NOT_RETURNED, now, offset, int64(_UNKNOWN))
        if item.passed != _NEVER and now - item.passed > _APART and now - line.resumed > _APART:
            _misstep(t, n, _NOT_LEFT, item.passed, offset, line.low)
        if item.running > 0:
            item.left, item.passed, item.ended = 1, _NEVER, _NEVER
        else:
            _drop(t, at)
    if after < 0:
        return
    if line.owed == 0:
        line.owed_at = now
    _forgets(t, n, offset)
    line.owed += 1
    if after <= line.low:
        line.idle += 1
    if line.low >= 0 and after > line.low:
        for passed in range(line.low, min(after, line.low + _FARTHEST)):
            other = _find(t, n, passed)
            if other >= 0 and not t.items[other].left and t.items[other].window == line.window:
                t.items[other].passed = now
    line.low = max(line.low, after)
    # A thread may set the in-memory offset when its window has ended, so marks outlive it.
    line.mark[line.marks % _MARKS], line.mark_at[line.marks % _MARKS] = after, now
    line.marks += 1


@part
def _forgets(t: Any, n: int, offset: int) -> None:
    """Whether a message that left the window long ago was not made an in-memory offset."""
    line = t.lines[n]
    is_calm = line.last - line.owed_at > _LATE and line.last - line.resumed > _LATE
    if (
        line.owed > line.idle
        and is_calm
        and line.has == 1
        and not line.batched
        and not line.refused
        and not line.cleaned
    ):
        _misstep(t, n, _NOT_REMEMBERED, line.owed_at, offset, line.low)


@part
def _memory(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    line.sets = 1
    unheard = not (line.fresh or t.terms[2]) or t.flags[line.slot] & BROADCASTING
    told = line.refused or (line.window == 0 and unheard)
    told = told or offset in (line.answer, line.brought, line.mended, line.reset_to)
    marked = False
    for place in range(_MARKS):
        marked = marked or line.mark[place] == offset
    # There may have been more marks than are kept since the thread that sets it was held up.
    marked = marked or (line.last - line.mark_at[line.marks % _MARKS] <= _APART and offset <= line.low)
    # A thread whose window has just ended may set it still.
    is_owed = line.owed > 0 or not line.fresh or line.batched or line.last - line.left_at <= _LATE
    if line.owed > 0:
        line.owed, line.owed_at = line.owed - 1, line.last
        if line.idle > 0 and (offset <= line.memory or line.owed < line.idle):
            line.idle -= 1
    if not told and not (marked and is_owed):
        _misstep(t, n, _NOT_IN_WINDOW, line.last, offset, line.low)
    line.memory = max(line.memory, offset)
    found = t.missteps[n, _BEYOND_MEMORY]
    if found.time != _NEVER and line.last - found.time <= t.terms[0] and found.offset <= line.memory:
        found.time = _NEVER


@part
def _commit(t: Any, n: int, offset: int, path: int) -> None:
    line = t.lines[n]
    line.sets = 1
    _forgets(t, n, offset)
    if path == _SHUTDOWN:
        _misstep(t, n, _NO_SHUTDOWN, line.last, offset, int64(_UNKNOWN))
    elif path == _REMOVAL and line.has == 1 and line.removing == _NEVER and t.flags[line.slot] & ORDERLY == 0:
        if line.last - line.left_at > _LATE:  # else it may be of the window before
            line.removing = line.last
    elif line.removing != _NEVER and line.last - line.removing > _LATE:
        _misstep(t, n, _NO_REMOVAL, line.removing, offset, int64(_UNKNOWN))
    # The thread that sets the in-memory offset may tell so later than the one that stores it.
    sets = offset <= line.low and line.marks > 0 and line.last - line.mark_at[(line.marks - 1) % _MARKS] <= _APART
    if line.memory >= 0 and offset > line.memory and not sets and t.flags[line.slot] & BROADCASTING == 0:
        _misstep(t, n, _BEYOND_MEMORY, line.last, offset, line.memory)


@part
def _discarded(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    at = _find(t, n, offset)
    excused = line.has != 1 or t.flags[line.slot] & ORDERLY or line.cleaned or not t.terms[1]
    known = at >= 0 and (t.items[at].returned or t.items[at].running <= 0)
    if not known and line.strays > 0:
        line.strays -= 1
    elif not known and line.fresh and t.flags[line.slot] & ORDERLY == 0:
        _misstep(t, n, _NEVER_RETURNED, line.last, offset, int64(_UNKNOWN))
    if at >= 0:
        item = t.items[at]
        excused = excused or item.expired or item.left or item.earlier > 0 or item.window != line.window
        item.earlier = max(item.earlier - 1, int64(0))
        if item.running <= 0:
            _drop(t, at)
    if not excused:
        _misstep(t, n, _KEPT, line.last, offset, int64(_UNKNOWN))


@part
def _waits_for_commit(t: Any, line: Any) -> Any:
    """OR-6: whether a listener may be one that commits itself: it was seen to, or nothing has left so far."""
    return t.flags[line.slot] & ORDERLY != 0 and (line.manual or line.marks == 0)


@part
def _stored(t: Any, n: int, kind: int, offset: int, attempt: int) -> None:
    """A broker stores a message."""
    line = t.lines[n]
    now = line.last
    is_copy = t.flags[line.slot] & _COPIES != 0
    if kind == _STORE:
        if attempt > 0 and not is_copy:
            _misstep(t, n, _FIRST_COUNT, now, offset, attempt)
    elif kind == _DEAD_LETTER:
        if t.flags[line.slot] & DEAD_LETTER_TOPIC == 0:
            _misstep(t, n, _OTHER_TOPIC, now, offset, int64(_UNKNOWN))
    elif attempt > 0 and not is_copy:
        _misstep(t, n, _OTHER_TOPIC, now, offset, int64(_UNKNOWN))
    if line.end >= 0 and offset != line.end:
        if offset > line.end:
            if line.missing == 0:
                line.first_missing, line.end_at = line.end, now
            line.missing += offset - line.end
        elif line.missing > 0 and offset >= line.first_missing:
            line.missing -= 1
        else:
            _misstep(t, n, _STORED_TWICE, now, offset, line.end)
    if line.missing > 0 and now - line.end_at > _APART:
        _misstep(t, n, _NOT_STORED, line.end_at, line.first_missing, line.end)
        line.missing = 0
    line.end = max(line.end, offset + 1)


@entry
def _finish(t: Any) -> None:
    """The recording ends: what should have followed long before."""
    for n in range(t.used[0]):
        line = t.lines[n]
        if line.missing > 0 and t.terms[3] - line.end_at > _LATE:
            _misstep(t, n, _NOT_STORED, line.end_at, line.first_missing, line.end)
        if line.removing != _NEVER and line.last - line.removing > _LATE:
            _misstep(t, n, _NO_REMOVAL, line.removing, line.memory, int64(_UNKNOWN))
        _forgets(t, n, line.low - 1)
        if t.terms[2] and line.sets and line.window == 0 and not line.queried:
            _misstep(t, n, _NEVER_ASKED, line.last, line.memory, int64(_UNKNOWN))
    for at in range(t.used[1]):
        item = t.items[at]
        if item.line < 0 or item.left or not t.terms[1] or t.lines[item.line].window != item.window:
            continue
        n = int64(item.line)
        line = t.lines[n]
        since = item.passed if item.passed != _NEVER else item.ended
        if since == _NEVER or (line.last if line.has == 1 else line.left_at) - since <= _LATE:
            continue
        if item.passed == _NEVER and _waits_for_commit(t, line):
            continue
        found = t.missteps[n, _NOT_LEFT]
        if found.time == line.last and item.offset < found.offset:
            found.time = _NEVER  # of several at the end the first one is told, in whatever order they stand
        _misstep(t, n, _NOT_LEFT, since, item.offset, line.low)
