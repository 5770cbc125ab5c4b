"""The fold that applies the table of :mod:`..claims.steps`: what each process does with each queue, step by step.

It keeps a line for each process and queue, and an item for each message that a listener has, or that has not left its
window. Of each process and queue the first misstep of each kind is told. Threads of one process may be recorded in
another order than they acted in: what comes within :data:`APART` was in time.
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
from ..encoding.names import BROADCASTING, NO_QUEUE, OF_A_TOPIC, ORDERLY, Names
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
) = (_KIND[kind] for kind in STEP_KINDS)
_RESET = _KIND[Kind.RESET]
_FOUND, _NO_NEW, _NO_MATCHED, _OK = (
    _RESULT[result] for result in (Result.FOUND, Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE, Result.OK)
)
_COMMITS, _ROLLS_BACK = _RESULT[Result.COMMIT], _RESULT[Result.ROLLBACK]
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
) = map(int, Misstep)
_NEVER, _UNKNOWN, _NOBODY = -(2**60), -1, -1
_UNJUDGED = OF_A_TOPIC | NO_QUEUE
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
            )
        ),
        ("mark", _WHOLE, (_MARKS,)),  # the last low-water marks
        ("mark_at", _WHOLE, (_MARKS,)),  # and when they were, ms
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
        terms: how far clocks may be apart, ms, whether what
            leaves a window is recorded, whether the recording begins with the first event.
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
                [Order(context.clocks, settings.skew).widest, context.evidence & leaving == leaving, context.complete],
                _WHOLE,
            ),
        )
        # Those of the whole trace, whichever queues this fold is given.
        self._processes = Counter(actor.name for actor in {actor_of(event) for event in context.events})

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
        if q < 0 or not _IS_STEP[kind] or t.flags[q] & _UNJUDGED:
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
                _begin(t, q, actor, now, kind in (_QUERY, _ASSIGN))
            t.latest[q, 0] = n
        line = t.lines[n]
        if now - line.last > _SILENCE:
            line.resumed = now
        line.last = now
        if kind == _DELIVER:
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
                _commit(t, n, offset)
        elif kind == _PULL:
            _pull(t, n, offset)
        elif kind == _PULL_RESULT:
            _answer(t, n, int64(results[i]), offset, nexts[i], lows[i], highs[i], int64(counts[i]))
        elif kind == _ASSIGN:
            _take(t, n, offset)
        elif kind == _REVOKE:
            _give_up(t, n)
        elif kind == _QUERY:
            line.queried = 1
            line.answer = offset if results[i] == _OK else int64(_UNKNOWN)
            line.start = line.answer
        elif kind == _CORRECT:
            line.mended, line.position = offset, _UNKNOWN
        elif kind == _DISCARDED:
            if offset >= 0:
                _discarded(t, n, offset)
        elif kind == _SEND_BACK:
            if results[i] != _OK:
                line.refused = 1
        elif kind == _EXPIRE:
            line.cleaned = 1
            at = _find(t, n, offset)
            if at >= 0:
                t.items[at].expired = 1
    return len(times)


@part
def _begin(t: Any, q: int, actor: int, now: int, fresh: bool) -> None:
    n = int64(t.used[0])
    enter(t.index, q, actor, n)
    line = t.lines[n]
    line.fresh, line.beside = fresh, t.latest[q, 1]
    t.latest[q, 1] = n
    t.used[0] += 1
    line.slot, line.actor, line.last = q, actor, now
    line.late = 0 if fresh or t.terms[2] else _BEFORE
    line.resumed, line.left_at, line.has = _NEVER, _NEVER, -1
    line.asked = line.position = line.start = line.answer = _UNKNOWN
    line.low = line.memory = line.brought = line.mended = line.reset_to = _UNKNOWN
    for place in range(_MARKS):
        line.mark[place], line.mark_at[place] = _UNKNOWN, _NEVER


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
    line.has, line.left_at = 0, line.last
    line.position = _UNKNOWN


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
    if not t.judged[_RETURNED_TWICE]:
        return
    at = _find(t, n, offset)
    if at < 0:
        at = _add(t, n, offset)
        item = t.items[at]
        item.running = item.earlier = item.expired = item.left = 0
        item.passed = _NEVER
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
        return
    item = t.items[at]
    line.manual = line.manual or result in (_COMMITS, _ROLLS_BACK)
    if item.running <= 0 and result == _ROLLS_BACK and item.returned:
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
        if not item.returned and not item.expired:
            _misstep(t, n, _NOT_RETURNED, now, offset, int64(_UNKNOWN))
        if item.passed != _NEVER and now - item.passed > _APART and now - line.resumed > _APART:
            _misstep(t, n, _NOT_LEFT, item.passed, offset, line.low)
        if item.running > 0:
            item.left, item.passed, item.ended = 1, _NEVER, _NEVER
        else:
            _drop(t, at)
    if after < 0:
        return
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
def _memory(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    told = line.refused or line.window == 0 or offset in (line.answer, line.brought, line.mended, line.reset_to)
    for place in range(_MARKS):
        told = told or line.mark[place] == offset
    # There may have been more marks than are kept since the thread that sets it was held up.
    told = told or (line.last - line.mark_at[line.marks % _MARKS] <= _APART and offset <= line.low)
    if not told:
        _misstep(t, n, _NOT_IN_WINDOW, line.last, offset, line.low)
    line.memory = max(line.memory, offset)
    found = t.missteps[n, _BEYOND_MEMORY]
    if found.time != _NEVER and line.last - found.time <= t.terms[0] and found.offset <= line.memory:
        found.time = _NEVER


@part
def _commit(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    if line.memory >= 0 and offset > line.memory and t.flags[line.slot] & BROADCASTING == 0:
        _misstep(t, n, _BEYOND_MEMORY, line.last, offset, line.memory)


@part
def _discarded(t: Any, n: int, offset: int) -> None:
    line = t.lines[n]
    at = _find(t, n, offset)
    excused = line.has != 1 or t.flags[line.slot] & ORDERLY or line.cleaned or not t.terms[1]
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


@entry
def _finish(t: Any) -> None:
    """The recording ends: what should have followed long before."""
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
