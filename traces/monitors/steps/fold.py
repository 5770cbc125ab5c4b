"""The fold that applies the table of :mod:`...claims.steps`: what each process does with each queue, step by step.

It keeps a line for each process and queue, brokers among them, and an item for each message that a listener has, or
that has not left its window. Of each process and queue the first misstep of each kind is told. Threads of one process
may be recorded in another order than they acted in: what comes within :data:`APART` was in time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...claims.claims import CODE
from ...claims.settings import Settings
from ...claims.steps import Misstep
from ...clocks.order import Order
from ...encoding.coding import Coded
from ...encoding.names import BROADCASTING, NO_QUEUE, OF_A_TOPIC, ORDERLY, Actor, Names
from ...engine.context import Context, actor_of
from ...engine.findings import ROW, Doubt, Note
from ...format.coverage import evidence_mask
from ...format.kinds import Kind, Path, codes
from ...machine_code.compiled import entry, int64
from ...machine_code.pair_table import new_pairs, roomy, value_of
from ..fold import Carried, Outcome, learnt, nothing
from ..queue_events import QueueEvents
from ..subscriptions import parse_subscription
from .listeners import deliver, discarded, expire, removed, result, send_back, tell_if_not_handed, waits_for_commit
from .offsets import commit, keep, set_in_memory, tell_if_forgotten
from .pulls import HELD, answer, pull
from .state import (
    APART,
    COMPLETE,
    END,
    ITEM,
    ITEMS,
    LATE,
    LATER_QUEUE,
    LEAVING,
    LINES,
    NEVER,
    NOBODY,
    OF_ANOTHER,
    PLACES,
    SHORTEST_TIMEOUT,
    SILENCE,
    UNKNOWN,
    WHOLE,
    WIDEST,
    Tables,
    begin,
    no_lines,
    no_missteps,
    note_misstep,
)
from .stores import COPIES, stored
from .windows import STUCK, STUCK_ORDERLY, UNLOCKS, give_up, lock, query, reset, take, tell_if_unstored, unlock

_KIND, _PATH = codes(Kind), codes(Path)
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

_SENT = sum(1 << _PATH[path] for path in (Path.PERIODIC, Path.PIGGYBACK, Path.REMOVAL, Path.SHUTDOWN))
_RESTARTS = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
_MAY_LOSE = (Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
_OF_BROKERS = (Kind.MEMBERS, Kind.FILE_PERSIST, Kind.FILE_LOAD, Kind.BROKER_STOP)
_LEAVES = (Kind.UNREGISTER, Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
_ROOM = 64
_IS_STEP = np.zeros(256, np.bool_)
_IS_STEP[[_KIND[kind] for kind in (*STEP_KINDS, Kind.RESET)]] = True


_GIVEN = ("judged", "terms")


class StepFold:
    """The monitor of steps; see :class:`..fold.Fold`."""

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names, self._context = names, context
        judged = np.zeros(len(Misstep), WHOLE)
        for one in Misstep:
            needs = evidence_mask(one.step.needs)
            judged[one] = context.evidence & needs == needs
        leaving = evidence_mask((Kind.DELIVER, Kind.RESULT, Kind.REMOVED))
        self._tables = Tables(
            judged=judged,
            flags=np.zeros(0, WHOLE),
            seen=np.zeros(0, WHOLE),
            latest=np.zeros((0, 2), WHOLE),
            waits=np.zeros(0, np.bool_),
            lines=no_lines(_ROOM),
            index=new_pairs(_ROOM),
            missteps=no_missteps(_ROOM),
            items=np.zeros(_ROOM, ITEM),
            places=new_pairs(_ROOM),
            used=np.array([0, 0, 0, NOBODY], WHOLE),
            terms=np.array(
                [
                    Order(context.clocks, settings.skew).widest,
                    context.evidence & leaving == leaving,
                    context.complete,
                    context.end,
                    context.evidence & evidence_mask((Kind.SEND_BACK,)) != 0,
                    settings.lock_life,
                    settings.lock_life_told,
                    min(settings.consume_timeout, SHORTEST_TIMEOUT) if settings.consume_timeout_told else NEVER,
                ],
                WHOLE,
            ),
        )
        self._restarts: dict[str, list[int]] = {}
        self._heard: dict[str, int] = {}
        self._starts: dict[str, set[int]] = {}
        self._gaps: dict[str, list[tuple[int, int]]] = {}
        self._passes: dict[Actor, list[int]] = {}
        self._ends: dict[Actor, list[int]] = {}
        self._answered: dict[tuple[Actor, str], list[int]] = {}
        self._expressions: dict[tuple[str, str], set[str]] = {}
        self._end = context.end
        self._learnt = settings.route_poll + settings.persist + SILENCE
        # Those of the whole trace, whichever queues this fold is given.
        self._processes = Counter(actor.name for actor in {actor_of(event) for event in context.events})
        for event in context.events:
            if event["kind"] in _RESTARTS:
                self._restarts.setdefault(event.get("broker") or "", []).append(event["time"])
                if event["kind"] == Kind.BROKER_START:
                    self._starts.setdefault(event.get("broker") or "", set()).add(event["time"])
            elif event["kind"] == Kind.GAP and event.get("broker"):
                since = context.begin if event.get("due") is None else event["due"]
                self._gaps.setdefault(event["broker"], []).append((since, event["time"]))
            elif event["kind"] == Kind.REBALANCE:
                self._passes.setdefault(actor_of(event), []).append(event["time"])
                # RB-4: some broker of the topic has told who is in the group.
                asked = {queue.rpartition(":")[0] for queue in event.get("queues") or ()}
                if len(asked) == 1 and event.get("members"):
                    self._answered.setdefault((actor_of(event), *asked), []).append(event["time"])
            elif event["kind"] == Kind.HEARTBEAT:
                for text in event.get("subscriptions") or ():
                    topic, expression, _ = parse_subscription(text)
                    key = event.get("group") or "", topic
                    self._expressions.setdefault(key, set()).add(expression or "*")
            elif event["kind"] in _LEAVES:
                self._ends.setdefault(actor_of(event), []).append(event["time"])
            if event["kind"] in _OF_BROKERS and not event.get("client"):
                self._heard[event.get("broker") or ""] = event["time"]
        began = Counter(event.get("broker") or "" for event in context.events if event["kind"] == Kind.BROKER_START)
        unsure = {event.get("broker") or "" for event in context.events if event["kind"] in _MAY_LOSE}
        for broker in unsure | self._gaps.keys() | {name for name, times in began.items() if times > 1}:
            self._heard.pop(broker, None)

    def feed(self, coded: Coded) -> None:
        """Go on with events."""
        events, at = QueueEvents.of(coded), 0
        while at < len(coded):
            self._make_room()
            at = _run(self._tables, at, events)

    def carried(self) -> Carried:
        """See :class:`..fold.Fold`."""
        return learnt(self._tables, _GIVEN)

    def carry_on(self, carried: Carried) -> None:
        """See :class:`..fold.Fold`."""
        self._tables = self._tables._replace(**carried)

    def finish(self) -> Outcome:
        """Say what has come out: all missteps, and how many lines were judged of each claim."""
        self._make_room()
        _finish(self._tables)
        used = int(self._tables.used[0])
        lines, missteps = self._tables.lines[:used], self._tables.missteps[:used]
        beside = np.array([evidence_mask(one.step.beside) for one in Misstep])
        seen = self._tables.seen[lines["slot"]]
        told = (missteps["time"] != NEVER) & (seen[:, None] & beside == beside)
        # A broker does not know which of several processes with one client id has sent a commit.
        is_shared = np.array([*(self._processes[actor.name] > 1 for actor in self._names.actors), False])
        told[:, Misstep.BEYOND_MEMORY] &= ~is_shared[lines["actor"]]
        for line, what in np.argwhere(told):
            told[line, what] = not self._is_excused(lines[line], int(what), missteps[line, what])
        at, misstep = np.nonzero(told)
        found = missteps[at, misstep]
        rows = np.zeros(len(at), ROW)
        rows["claim"] = np.array([CODE[one.step.claim] for one in Misstep])[misstep]
        rows["other"] = NOBODY
        rows["slot"], rows["actor"] = lines["slot"][at], lines["actor"][at]
        rows["value"] = misstep
        for name in ("time", "since", "offset", "expected"):
            rows[name] = found[name]
        rows["until"] = rows["offset"] + 1
        # Of a topic that is compacted the older messages of a key are gone, and nobody records that it is.
        rows["doubt"][(misstep == Misstep.LEFT_OUT) & (found["since"] == found["time"])] = Doubt.EVIDENCE
        sure = rows["doubt"] == 0
        violated, doubtful = (np.bincount(rows["claim"][which], minlength=len(CODE)) for which in (sure, ~sure))
        rows = np.concatenate([rows, self._queue_ends(lines)])
        judged = np.zeros(len(CODE), WHOLE)
        for claim in {one.step.claim for one in Misstep}:
            is_judged = any(self._tables.judged[one] for one in Misstep if one.step.claim == claim)
            judged[CODE[claim]] = used if is_judged else 0
        return replace(nothing(0), rows=rows, judged=judged, violated=violated, doubtful=doubtful)

    def _queue_ends(self, lines: Any) -> Any:
        """Where queues ended, as clients were told and as brokers have stored: the two are in different folds.

        A broker that began anew may have lost what it told of, and one of which nothing is heard later may have stored
        more.
        """
        if not self._tables.judged[Misstep.END_AHEAD]:
            return np.zeros(0, ROW)
        slots = self._names.slots
        heard = [NEVER if slot.topic.startswith("%") else self._heard.get(slot.broker, NEVER) for slot in slots]
        apart = APART + int(self._tables.terms[WIDEST])
        ends = lines[(lines["end"] >= 0) & (lines["end_at"] + apart < np.array(heard, WHOLE)[lines["slot"]])]
        rows = np.zeros(len(ends), ROW)
        rows["claim"], rows["note"] = CODE[Misstep.END_AHEAD.step.claim], Note.END
        rows["value"], rows["other"] = Misstep.END_AHEAD, NOBODY
        rows["slot"], rows["actor"], rows["offset"] = ends["slot"], ends["actor"], ends["end"]
        rows["since"] = rows["time"] = ends["end_at"]
        rows["until"] = rows["offset"] + 1
        return rows

    def _is_excused(self, line: Any, misstep: int, found: Any) -> bool:
        """Whether a restart of the broker, or the end of the process, makes it right."""
        broker = self._names.slots[line["slot"]].broker
        times, gaps = self._restarts.get(broker, ()), self._gaps.get(broker, ())
        apart = APART + int(self._tables.terms[WIDEST])
        if misstep == Misstep.OTHER_BATCH:
            return not self._context.complete and found["time"] <= self._context.begin  # it may begin in mid-batch
        if misstep == Misstep.NOT_PULLED_ON:
            return not self._is_idle(line, found["since"], found["time"], apart)
        if misstep == Misstep.LEFT_OUT:
            # What lies before the beginning of the queue may be removed while a pull reads it.
            slot = self._names.slots[line["slot"]]
            return line["beginning"] > found["offset"] or self._expressions.get((slot.group, slot.topic)) != {"*"}
        if misstep in (Misstep.NOT_ANSWERED, Misstep.REFUSED_FREE):
            since, until = int(found["since"]), int(found["time"])
            answered = self._answered.get((self._names.actors[line["actor"]], broker), ())
            # The request is sent one way: who gave the lock back was heard by the broker when it did.
            waits = [(since + LATE, until)]
            if misstep == Misstep.REFUSED_FREE:
                given = self._answered.get((self._names.actors[int(found["expected"])], broker), ())
                if not any(since - LATE < time < since + apart for time in given):
                    return True
            if misstep == Misstep.NOT_ANSWERED:
                waits = [(begin, begin + HELD) for begin in (since, int(found["expected"]))]
            is_heard = all(any(begin < time < end for time in answered) for begin, end in waits)
            restarts = any(since - LATE <= time <= until + apart for time in times)
            lost = any(begin <= until and since - LATE <= end for begin, end in gaps)
            return not is_heard or restarts or lost
        if misstep in (Misstep.LEFT_UNSTORED, Misstep.NOT_WRITTEN):
            # ST-8: offsets are stored before the process leaves its group, while listeners still return.
            ends = self._ends.get(self._names.actors[line["actor"]], ())
            is_last = any(time - APART <= line["unstored_at"] and time <= found["since"] for time in ends)
            return is_last or (
                misstep == Misstep.LEFT_UNSTORED and self._is_unheard(line, found["since"], found["since"])
            )
        if misstep == Misstep.NOT_UNLOCKED:
            # What waits when the process ends, or stands still, is not sent.
            until = found["since"] + UNLOCKS + SILENCE
            is_alive = any(until < time for time in self._passes.get(self._names.actors[line["actor"]], ()))
            return not is_alive or self._is_unheard(line, found["since"], until)
        if misstep == Misstep.NOT_DISCARDED:
            ends = self._ends.get(self._names.actors[line["actor"]], ())
            return any(found["since"] <= time <= found["since"] + LATE for time in ends)
        if misstep == Misstep.LOCKED_TWICE:
            names = self._names.actors
            is_same = names[line["actor"]].name == names[found["expected"]].name
            return is_same or any(found["since"] - apart <= time <= found["time"] + apart for time in times)
        if misstep in (Misstep.END_BACK, Misstep.NOT_STORED, Misstep.STORED_TWICE):
            return any(found["since"] - apart <= time <= found["time"] + apart for time in times)
        if misstep == Misstep.NO_SHUTDOWN:
            times = self._ends.get(self._names.actors[line["actor"]], ())
            return self._end - found["time"] <= LATE or any(abs(time - found["time"]) <= LATE for time in times)
        return False

    def _is_idle(self, line: Any, since: int, until: int, apart: int) -> bool:
        """Whether a process pulled nothing for long although it went on and its broker answered all the while.

        One that its application has suspended makes no passes (RB-3), and one as soon as it is resumed.
        """
        broker = self._names.slots[line["slot"]].broker
        away = [(time - LATE, time + LATE + apart) for time in self._restarts.get(broker, ())]
        away += [(begin - LATE, end + LATE) for begin, end in self._gaps.get(broker, ())]
        starts = self._starts.get(broker, set())
        times = since, *self._restarts.get(broker, ())
        away += [(before, time) for before, time in pairwise(times) if time in starts]
        passes = self._passes.get(self._names.actors[line["actor"]], ())
        longest, begin = STUCK_ORDERLY if self._names.flags[line["slot"]] & ORDERLY else STUCK, since
        for left, right in sorted([*away, (until, until)]):
            end = min(left, until)
            is_awake = any(begin + APART < time < end - SILENCE for time in passes)
            if end - begin > longest and is_awake:
                return True
            begin = max(begin, right)
        return False

    def _is_unheard(self, line: Any, since: int, until: int) -> bool:
        """Whether what a process sends a broker may be lost: the broker is down, or about to end (OF-20).

        Until clients learn that it is back, they send to its slave, if there is one (OF-4).
        """
        broker = self._names.slots[line["slot"]].broker
        times, gaps = self._restarts.get(broker, ()), self._gaps.get(broker, ())
        if any(begin - SILENCE <= until and since <= end + SILENCE for begin, end in gaps):
            return True
        before = [time for time in times if time <= until + SILENCE]
        passes = self._passes.get(self._names.actors[line["actor"]], ())
        is_newer = before and passes and passes[0] > before[-1]  # it has learnt of the broker since
        learnt = SILENCE if is_newer else self._learnt
        is_up = before and before[-1] < since - learnt and before[-1] in self._starts.get(broker, ())
        return bool(before) and not is_up

    def _flags(self, code: int) -> int:
        slot, flags = self._names.slots[code], self._names.flags[code]
        if flags & COPIES and slot.group and not slot.topic.endswith(f"%{slot.group}"):
            flags |= OF_ANOTHER
        return flags | (LATER_QUEUE if slot.queue > 0 else 0)

    def _make_room(self) -> None:
        """Learn of new queues, and make tables larger that are half full."""
        tables, names = self._tables, self._names
        known = len(tables.flags)
        if len(names.slots) > known:
            slots, more = range(known, len(names.slots)), len(names.slots) - known
            tables = tables._replace(
                flags=np.concatenate([tables.flags, np.array([self._flags(code) for code in slots], WHOLE)]),
                seen=np.concatenate([tables.seen, np.zeros(more, WHOLE)]),
                latest=np.concatenate([tables.latest, np.full((more, 2), (0, NOBODY), WHOLE)]),
                waits=np.concatenate([tables.waits, np.zeros(more, np.bool_)]),
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


@entry
def _run(t: Any, start: int, e: Any) -> Any:
    """Take events ``e`` from ``start`` on; the answer is where to go on when there is more room, or the end."""
    for i in range(start, len(e.time)):
        q, actor, kind = int64(e.slot[i]), int64(e.actor[i]), int64(e.kind[i])
        if q < 0 or not _IS_STEP[kind] or t.flags[q] & NO_QUEUE:
            continue
        is_store = kind in (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER)
        if t.flags[q] & OF_A_TOPIC and not is_store:
            continue
        t.seen[q] |= int64(1) << kind
        now, offset = e.time[i], max(e.offset[i], int64(UNKNOWN))
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
        line.last = now
        if is_store:
            if offset >= 0:
                stored(t, n, kind, offset, int64(e.attempt[i]))
        elif kind == Kind.DELIVER:
            if offset >= 0:
                deliver(t, n, offset, e.next[i], int64(e.count[i]), e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.RESULT:
            if offset >= 0:
                result(t, n, offset, int64(e.result[i]), e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.REMOVED:
            if offset >= 0:
                removed(t, n, offset, e.next[i])
        elif kind == Kind.COMMIT_MEMORY:
            set_in_memory(t, n, offset)
        elif kind == Kind.COMMIT:
            if offset >= 0 and (int64(1) << int64(e.path[i])) & _SENT:
                commit(t, n, offset, int64(e.path[i]))
            elif offset >= 0 and t.flags[q] & BROADCASTING:
                keep(t, n, offset)
        elif kind == Kind.PULL:
            pull(t, n, offset)
        elif kind == Kind.PULL_RESULT:
            answer(
                t,
                n,
                int64(e.result[i]),
                offset,
                e.next[i],
                e.low[i],
                e.high[i],
                int64(e.count[i]),
            )
        elif kind == Kind.ASSIGN:
            take(t, n, offset)
        elif kind == Kind.REVOKE:
            give_up(t, n, int64(e.path[i]))
        elif kind == Kind.OFFSET_QUERY:
            query(t, n, int64(e.result[i]), offset)
        elif kind == Kind.LOCK:
            lock(t, n, int64(e.result[i]))
        elif kind == Kind.LOCK_LOST:
            line.unlocked = now
        elif kind == Kind.UNLOCK:
            unlock(t, n)
        elif kind == Kind.CORRECT:
            line.mended, line.position = offset, UNKNOWN
            line.watched = UNKNOWN
        elif kind == Kind.DISCARDED:
            if offset >= 0:
                discarded(t, n, offset, e.origin[i], int64(e.attempt[i]))
        elif kind == Kind.SEND_BACK:
            send_back(t, n, offset, int64(e.result[i]))
        elif kind == Kind.EXPIRE:
            expire(t, n, offset)
    return len(e.time)


@entry
def _finish(t: Any) -> None:
    """The recording ends: what should have followed long before."""
    for n in range(t.used[LINES]):
        line = t.lines[n]
        if line.missing > 0 and t.terms[END] - line.end_at > LATE:
            note_misstep(t, n, Misstep.NOT_STORED, line.end_at, line.first_missing, line.end)
        if line.removing != NEVER and line.last - line.removing > LATE:
            note_misstep(t, n, Misstep.NO_REMOVAL, line.removing, line.memory, int64(UNKNOWN))
        tell_if_not_handed(t, n)
        tell_if_unstored(t, n, int64(t.terms[END]))
        if line.kept != NEVER and t.terms[END] - line.kept > UNLOCKS + SILENCE:
            note_misstep(t, n, Misstep.NOT_UNLOCKED, line.kept, int64(UNKNOWN), int64(UNKNOWN))
        tell_if_forgotten(t, n, line.low - 1)
        if t.terms[COMPLETE] and line.sets and line.window == 0 and not line.queried:
            note_misstep(t, n, Misstep.NEVER_ASKED, line.last, line.memory, int64(UNKNOWN))
    for at in range(t.used[PLACES]):
        item = t.items[at]
        if item.line < 0 or item.left or not t.terms[LEAVING]:
            continue
        n = int64(item.line)
        line = t.lines[n]
        is_over = line.has == 0 or line.window != item.window
        if is_over and item.returned and item.running <= 0 and item.ended != NEVER and item.ended > line.left_at:
            is_late = t.terms[END] - item.ended > LATE and line.fresh and t.flags[line.slot] & ORDERLY == 0
            if is_late and not line.batched:
                note_misstep(t, n, Misstep.NOT_DISCARDED, item.ended, item.offset, int64(UNKNOWN))
        if line.window != item.window:
            continue
        since = item.passed if item.passed != NEVER else item.ended
        if since == NEVER or (line.last if line.has == 1 else line.left_at) - since <= LATE:
            continue
        if item.passed == NEVER and waits_for_commit(t, line):
            continue
        found = t.missteps[n, Misstep.NOT_LEFT]
        if found.time == line.last and item.offset < found.offset:
            found.time = NEVER  # of several at the end the first one is told, in whatever order they stand
        note_misstep(t, n, Misstep.NOT_LEFT, since, item.offset, line.low)
