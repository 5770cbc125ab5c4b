"""The fold that applies the table of :mod:`...claims.steps`: what each process does with each queue, step by step.

It keeps a line for each process (including brokers) and queue, and an item for each message that a listener has, or
that has not left its window. For each process and queue, the first misstep of each kind is reported. Threads of one
process may be recorded in another order than they acted: anything within :data:`APART` was in time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from ....machine_code.compiled import entry, int64
from ....machine_code.pair_table import new_pairs, roomy, value_of
from ...claims.claims import CODE
from ...claims.settings import Settings
from ...claims.steps import Misstep
from ...encoding.coding import Coded
from ...encoding.names import BROADCASTING, NO_QUEUE, OF_A_TOPIC, ORDERLY, Names
from ...engine.context import Context, actor_named
from ...engine.findings import ROW, Doubt, Note
from ...format.coverage import evidence_mask
from ...format.kinds import IN_WINDOW, LOCKS, Kind, Path, codes
from ..fold import FoldOfTables, Outcome, nothing
from ..queues.queue_events import QueueEvents
from ..terms import NEVER, terms_of
from .circumstances import Circumstances
from .limits import HIGHEST_LIMIT, mend, move, put_off
from .listeners import deliver, discarded, expire, removed, result, send_back, tell_if_not_handed, waits_for_commit
from .offsets import commit, keep, set_in_memory, tell_if_forgotten, tell_if_passed_over
from .pulls import answer, pull
from .state import (
    APART,
    ITEM,
    ITEMS,
    LATE,
    LATER_QUEUE,
    LINES,
    NOBODY,
    OF_ANOTHER,
    PLACES,
    SHOWN,
    SIGHTS,
    SILENCE,
    UNKNOWN,
    WHOLE,
    Tables,
    begin,
    no_lines,
    no_missteps,
    not_refused,
    note_misstep,
)
from .stores import COPIES, stored
from .windows import (
    give_up,
    lock,
    lose,
    query,
    reset,
    take,
    tell_if_kept,
    tell_if_locked_for_nothing,
    tell_if_unstored,
    unlock,
)

_KIND = codes(Kind)
STORES = (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)
"""Kinds that this fold also reads in queues of ordinary topics without a group."""

STEP_KINDS = (
    Kind.PULL,
    Kind.PULL_RESULT,
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.OFFSET_QUERY,
    *IN_WINDOW,
    Kind.COMMIT_MEMORY,
    Kind.COMMIT,
    Kind.CORRECT,
    Kind.SEND_BACK,
    *STORES,
    *LOCKS,
    Kind.FLOW_CONTROL,
)
"""Kinds that this fold reads, and resets."""

_CLAIMS = np.array([CODE[one.step.claim] for one in Misstep])
_ROOM = 64
_IS_STEP = np.zeros(256, np.bool_)
_IS_STEP[[_KIND[kind] for kind in (*STEP_KINDS, Kind.RESET)]] = True


class StepFold(FoldOfTables):
    """The monitor of steps; see :class:`..fold.Fold`."""

    given = ("judged", "terms")

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names, self._context = names, context
        judged = np.zeros(len(Misstep), WHOLE)
        for one in Misstep:
            needs = evidence_mask(one.step.needs)
            judged[one] = context.evidence & needs == needs and (context.complete or not one.step.complete)
        self._tables = Tables(
            judged=judged,
            flags=np.zeros(0, WHOLE),
            seen=np.zeros(0, WHOLE),
            latest=np.zeros((0, 2), WHOLE),
            waits=np.zeros(0, np.bool_),
            refused=not_refused(0),
            lines=no_lines(_ROOM),
            index=new_pairs(_ROOM),
            missteps=no_missteps(_ROOM),
            items=np.zeros(_ROOM, ITEM),
            places=new_pairs(_ROOM),
            used=np.array([0, 0, 0, NOBODY], WHOLE),
            terms=terms_of(settings, context),
        )
        self._circumstances = Circumstances(names=names, settings=settings, context=context)
        # Those of the whole trace, whichever queues this fold is given.
        actors = {actor_named(*who) for who in context.events.different("client", "incarnation", "broker")}
        self._processes = Counter(actor.name for actor in actors)

    def feed(self, coded: Coded) -> None:
        """Process events."""
        events, at = QueueEvents.of(coded), 0
        while at < len(coded):
            self._make_room()
            at = _run(self._tables, at, events)

    def finish(self) -> Outcome:
        """The result: all missteps, and how many lines were judged for each claim."""
        self._make_room()
        _finish(self._tables)
        self._tell_of_heartbeats()
        used = int(self._tables.used[0])
        lines, missteps = self._tables.lines[:used], self._tables.missteps[:used]
        beside = np.array([evidence_mask(one.step.beside) for one in Misstep])
        seen = self._tables.seen[lines["slot"]]
        told = (missteps["time"] != NEVER) & (seen[:, None] & beside == beside)
        # A broker does not know which of several processes with one client id has sent a commit.
        is_shared = np.array([*(self._processes[actor.name] > 1 for actor in self._names.actors), False])
        told[:, [Misstep.BEYOND_MEMORY, Misstep.PASSED_OVER]] &= ~is_shared[lines["actor"]][:, None]
        # A broker accepts no offset of a topic that was deleted, and created again when somebody stored a message.
        of_broker = np.array([actor.incarnation < 0 for actor in self._names.actors], np.bool_)[lines["actor"]]
        made_again = lines["slot"][of_broker & (lines["beginning"] >= 0)]
        told[:, [Misstep.LEFT_UNSTORED, Misstep.PASSED_OVER]] &= ~np.isin(lines["slot"], made_again)[:, None]
        told[:, [Misstep.NEVER_RESET, Misstep.LEGAL]] &= (seen & (1 << _KIND[Kind.RESET]) == 0)[:, None]
        for line, what in np.argwhere(told):
            told[line, what] = not self._circumstances.cover(lines[line], int(what), missteps[line, what], lines)
        at, misstep = np.nonzero(told)
        found = missteps[at, misstep]
        columns = {name: found[name] for name in ("time", "since", "offset", "expected")}
        rows = _rows(misstep, lines[at], until=found["offset"] + 1, **columns)
        of_two = np.isin(misstep, [Misstep.LOCKED_TWICE, Misstep.REFUSED_FREE]) & (found["expected"] >= 0)
        rows["other"][of_two] = found["expected"][of_two]  # who had the lock
        # In a compacted topic, the older messages of a key are gone, and compaction is not recorded.
        rows["doubt"][(misstep == Misstep.LEFT_OUT) & (found["since"] == found["time"])] = Doubt.EVIDENCE
        # Nobody records how much a client may hold.
        rows["doubt"][(misstep == Misstep.TOO_FULL) & (found["expected"] <= HIGHEST_LIMIT)] = Doubt.EVIDENCE
        # Nor is the size of batches recorded, which may be set while a client runs.
        rows["doubt"][(misstep == Misstep.BATCH_ABOVE) & (found["since"] < found["time"])] = Doubt.EVIDENCE
        # Whether its topic was created again is also known only at the end.
        rows["note"][misstep == Misstep.END_BACK] = Note.END
        rows = np.concatenate([rows, self._queue_ends(lines)])
        judged = np.zeros(len(CODE), WHOLE)
        for claim in {one.step.claim for one in Misstep}:
            is_judged = any(self._tables.judged[one] for one in Misstep if one.step.claim == claim)
            judged[CODE[claim]] = used if is_judged else 0
        return replace(nothing(0), judged=judged).with_rows(rows)

    def _tell_of_heartbeats(self) -> None:
        """Check whether processes pulled from brokers to which they send no heartbeats."""
        if not self._tables.judged[Misstep.NO_HEARTBEAT]:
            return
        for n in np.flatnonzero(self._tables.lines["told_at"][: int(self._tables.used[0])] > 0).tolist():
            line, found = self._tables.lines[n], self._tables.missteps[n, Misstep.NO_HEARTBEAT]
            since = self._circumstances.unheard_since(line)
            if since != NEVER:
                found["time"], found["since"] = line["told_at"], since

    def _queue_ends(self, lines: Any) -> Any:
        """The ends of queues, as clients learnt them and as brokers have stored: the two are in different folds.

        A restarted broker may have lost messages that it reported or stored, and a broker that is not heard of later
        may have stored more.
        """
        slots, actors = self._names.slots, self._names.actors
        until = np.array([self._circumstances.heard.get(slot.broker, NEVER) for slot in slots], WHOLE)[lines["slot"]]
        of_copies = np.array([slot.topic.startswith("%") for slot in slots], np.bool_)[lines["slot"]]
        known = (lines["end"] >= 0) & (until != NEVER)
        apart = self._circumstances.apart(lines)
        ahead = known & ~of_copies & (lines["end_at"] + apart < until)
        rows = [_ends(lines[ahead], Misstep.END_AHEAD, np.maximum(lines["end"], lines["beginning"])[ahead], "end_at")]
        of_broker = np.array([actor.incarnation < 0 for actor in actors], np.bool_)[lines["actor"]]
        again = of_broker & (lines["beginning"] >= 0)
        rows.append(_ends(lines[again], Misstep.END_BACK, lines["beginning"][again], "last"))
        stored = known & of_broker & ~again
        ends = np.maximum(lines["end"], lines["vain_from"])  # who is refused from there on was told of nothing beyond
        told = ~of_broker & (ends >= 0) & (until != NEVER)
        rows.append(_ends(lines[told], Misstep.END_BEHIND, ends[told], "heard", -apart[told]))
        unreached = [line["heard"] > line["told_at"] and not self._are_reached(line, lines) for line in lines[told]]
        rows[-1]["doubt"][np.array(unreached, np.bool_)] = Doubt.EVIDENCE
        rows.append(_ends(lines[stored], Misstep.END_BEHIND, lines["end"][stored], "last"))
        rows.append(_ends(lines[stored], Misstep.END_BEHIND, lines["shown"][stored], "shown_at"))
        kinds = (Misstep.END_AHEAD, Misstep.END_BACK, *[Misstep.END_BEHIND] * 3)
        judged = [self._tables.judged[what] for what in kinds]
        if self._tables.judged[Misstep.WOKEN_LATE]:
            polls = lines[known & (lines["sights"] > 0)]
            rows += [self._polls(line) for line in polls if self._circumstances.takes_all(line)]
            judged += [True] * (len(rows) - len(judged))
        return np.concatenate([np.zeros(0, ROW), *(each for each, kept in zip(rows, judged, strict=True) if kept)])

    def _are_reached(self, line: Any, lines: Any) -> bool:
        """Whether a broker answered all that it refused in the two minutes before the last refusal of ``line``."""
        of_queue = lines[(lines["slot"] == line["slot"]) & (lines["vain"] > line["heard"] - SHOWN)]
        reached = [self._circumstances.is_reached(each) for each in of_queue if each["vain"] - each["vain_at"] > LATE]
        return bool(reached) and all(reached)

    def _polls(self, line: Any) -> Any:
        """Rows for a client's long pulls, or for the ends of a broker's queue."""
        at = np.arange(max(0, line["sights"] - SIGHTS), line["sights"]) % SIGHTS
        columns = {"offset": line["sight"][at], "since": line["sight_since"][at], "time": line["sight_at"][at]}
        rows = _rows(Misstep.WOKEN_LATE, line, note=Note.END, **columns)
        if self._names.actors[line["actor"]].incarnation >= 0:
            rows["time"] -= self._circumstances.apart(line)
            rows["until"] = [self._circumstances.answered_before(line, int(time)) for time in rows["time"]]
        return rows

    def _flags(self, code: int) -> int:
        slot, flags = self._names.slots[code], self._names.flags[code]
        if flags & COPIES and slot.group and not slot.topic.endswith(f"%{slot.group}"):
            flags |= OF_ANOTHER
        return flags | (LATER_QUEUE if slot.queue > 0 else 0)

    def _make_room(self) -> None:
        """Add new queues, and enlarge tables that are half full."""
        tables, names = self._tables, self._names
        known = len(tables.flags)
        if len(names.slots) > known:
            slots, more = range(known, len(names.slots)), len(names.slots) - known
            tables = tables._replace(
                flags=np.concatenate([tables.flags, np.array([self._flags(code) for code in slots], WHOLE)]),
                seen=np.concatenate([tables.seen, np.zeros(more, WHOLE)]),
                latest=np.concatenate([tables.latest, np.full((more, 2), (0, NOBODY), WHOLE)]),
                waits=np.concatenate([tables.waits, np.zeros(more, np.bool_)]),
                refused=np.concatenate([tables.refused, not_refused(more)]),
            )
        lines, _, items, _ = map(int, tables.used)
        if lines >= len(tables.lines):
            tables = tables._replace(
                lines=np.concatenate([tables.lines, no_lines(lines)]),
                missteps=np.concatenate([tables.missteps, no_missteps(lines)]),
            )
        if items >= len(tables.items):
            tables = tables._replace(items=np.concatenate([tables.items, np.zeros(items, ITEM)]))
        self._tables = tables._replace(index=roomy(tables.index, lines), places=roomy(tables.places, items))


def _ends(lines: Any, what: Misstep, ends: Any, at: str, later: Any = 0) -> Any:
    """Rows for the ends of the queues of lines; ``at``: the field with the time, and ``later`` an addition to it."""
    when = lines[at] + later
    return _rows(what, lines, note=Note.END, offset=ends, since=when, time=when, until=ends + 1)


def _rows(what: Any, lines: Any, **columns: Any) -> Any:
    """Rows about lines, with what each of them shows, a misstep, and with values of columns."""
    rows = np.zeros(len(columns["offset"]), ROW)
    rows["claim"], rows["value"], rows["other"] = _CLAIMS[what], what, NOBODY
    rows["slot"], rows["actor"] = lines["slot"], lines["actor"]
    for name, values in columns.items():
        rows[name] = values
    return rows


@entry
def _run(t: Any, start: int, e: Any) -> Any:
    """Process events ``e`` from ``start`` on; returns where to continue once there is more room, or the end."""
    for i in range(start, len(e.time)):
        q, actor, kind = int64(e.slot[i]), int64(e.actor[i]), int64(e.kind[i])
        if q < 0 or not _IS_STEP[kind] or t.flags[q] & NO_QUEUE:
            continue
        is_store = kind in (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)
        if t.flags[q] & OF_A_TOPIC and not is_store:
            continue
        t.seen[q] |= int64(1) << kind
        now, offset = e.time[i], max(e.offset[i], UNKNOWN)
        if kind == Kind.RESET:
            reset(t, q, offset)
            continue
        if actor < 0:
            continue
        if t.used[ITEMS] >= len(t.items) or 2 * (t.used[ITEMS] + 1) > len(t.places):
            return i
        n = int64(t.latest[q, 0])
        if t.lines[n].slot != q or t.lines[n].actor != actor:
            n = value_of(t.index, q, actor)
            if n < 0:
                if t.used[LINES] >= len(t.lines) or 2 * (t.used[LINES] + 1) > len(t.index):
                    return i
                n = int64(t.used[LINES])
                begin(t, q, actor, now)
            t.latest[q, 0] = n
        line = t.lines[n]
        if line.locks_only and kind not in (Kind.LOCK, Kind.LOCK_LOST):
            line.locks_only, line.fresh = 0, kind in (Kind.OFFSET_QUERY, Kind.ASSIGN)
            if line.fresh:
                line.late = 0
        if now - line.last > SILENCE:
            line.resumed = now
            if line.behind < 0 or now - line.behind_at <= t.terms[0].persist + APART:
                line.quiet = now
        line.last = now
        if is_store:
            if offset >= 0:
                stored(t, n, kind, offset, int64(e.attempt[i]))
            if kind == Kind.DELAY_DELIVER:
                move(t, n, offset, int64(e.level[i]), e.due[i])
        elif kind == Kind.DELIVER and offset >= 0:
            deliver(t, n, offset, e.next[i], int64(e.count[i]), e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.RESULT and offset >= 0:
            result(t, n, offset, int64(e.result[i]), e.origin[i], int64(e.attempt[i]), int64(e.level[i]))
        elif kind == Kind.REMOVED and offset >= 0:
            removed(t, n, offset, e.next[i])
        elif kind == Kind.COMMIT_MEMORY:
            set_in_memory(t, n, offset)
        elif kind == Kind.COMMIT:
            path = int64(e.path[i])
            if offset >= 0 and path in (Path.PERIODIC, Path.PIGGYBACK, Path.REMOVAL, Path.SHUTDOWN):
                commit(t, n, offset, path)
            elif offset >= 0 and t.flags[q] & BROADCASTING:
                keep(t, n, offset)
            else:
                line.persisted_at = now  # the path is not recorded
        elif kind == Kind.PULL:
            pull(t, n, offset)
        elif kind == Kind.PULL_RESULT:
            answer(t, n, int64(e.result[i]), offset, e.next[i], e.low[i], e.high[i], int64(e.count[i]))
        elif kind == Kind.ASSIGN:
            take(t, n, offset)
        elif kind == Kind.REVOKE:
            give_up(t, n, int64(e.path[i]))
        elif kind == Kind.OFFSET_QUERY:
            query(t, n, int64(e.result[i]), offset)
        elif kind == Kind.LOCK:
            lock(t, n, int64(e.result[i]))
        elif kind == Kind.LOCK_LOST:
            lose(t, n)
        elif kind == Kind.UNLOCK:
            unlock(t, n)
        elif kind == Kind.FLOW_CONTROL:
            put_off(t, n, int64(e.path[i]))
        elif kind == Kind.CORRECT:
            mend(t, n, offset)
            line.mended, line.position = offset, UNKNOWN
            line.watched = UNKNOWN
        elif kind == Kind.DISCARDED and offset >= 0:
            discarded(t, n, offset, e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.SEND_BACK:
            send_back(t, n, offset, int64(e.result[i]), int64(e.path[i]), int64(e.attempt[i]), int64(e.level[i]))
        elif kind == Kind.EXPIRE:
            expire(t, n, offset)
    return len(e.time)


@entry
def _finish(t: Any) -> None:
    """The recording ends: check what should have followed long before."""
    for n in range(t.used[LINES]):
        line = t.lines[n]
        if line.missing > 0 and t.terms[0].end - line.end_at > LATE:
            note_misstep(t, n, Misstep.NOT_STORED, line.told_at, line.first_missing, line.end)
        if line.removing != NEVER and line.last - line.removing > LATE:
            note_misstep(t, n, Misstep.NO_REMOVAL, line.removing, line.memory, UNKNOWN)
        tell_if_not_handed(t, n)
        tell_if_passed_over(t, n)
        tell_if_unstored(t, n, int64(t.terms[0].end))
        tell_if_kept(t, n, int64(t.terms[0].end))
        tell_if_locked_for_nothing(t, n)
        tell_if_forgotten(t, n, line.low - 1)
        if line.sets and line.window == 0 and not line.queried:
            note_misstep(t, n, Misstep.NEVER_ASKED, line.last, line.memory, UNKNOWN)
    for at in range(t.used[PLACES]):
        item = t.items[at]
        if item.line < 0 or item.left or not t.terms[0].leaving:
            continue
        n = int64(item.line)
        line = t.lines[n]
        is_over = line.has == 0 or line.window != item.window
        if is_over and item.returned and item.running <= 0 and item.ended != NEVER and item.ended > line.left_at:
            is_late = t.terms[0].end - item.ended > LATE and line.fresh and t.flags[line.slot] & ORDERLY == 0
            if is_late and not line.batched:
                note_misstep(t, n, Misstep.NOT_DISCARDED, item.ended, item.offset, UNKNOWN)
        if line.window != item.window:
            continue
        since = item.passed if item.passed != NEVER else item.ended
        if since == NEVER or (line.last if line.has == 1 else line.left_at) - since <= LATE:
            continue
        if item.passed == NEVER and waits_for_commit(t, line):
            continue
        found = t.missteps[n, Misstep.NOT_LEFT]
        if found.time == line.last and item.offset < found.offset:
            found.time = NEVER  # of several at the end, the first one is reported, whatever their order
        note_misstep(t, n, Misstep.NOT_LEFT, since, item.offset, line.low)
