"""What the monitor of steps knows: a line for each process and queue, an item for each message that a listener has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...claims.steps import Misstep
from ...machine_code.compiled import hot, int64, part
from ...machine_code.pair_table import enter, remove, value_of

APART = 1_000
"""Two threads of a process are recorded at most so much later than they acted, ms."""

SHOWN = 120_000
"""What is stored is visible to who asks for it after so long, ms."""

LATE = 10_000
"""A thread that goes on as long as others do needs less for what it does at once, ms."""

SHORTEST_PAUSE = 5
"""OR-7: what was put off comes after 10 ms at least; so much is left of them where clocks count whole ms."""

SHORTEST_TIMEOUT = 60_000
"""PQ-9: ``consumeTimeout`` counts whole minutes, and a client whose timeout is 0 does not start; ms."""

SILENCE = 5_000
"""A process of which nothing was recorded for so long may have been stopped meanwhile, ms."""

NEVER, UNKNOWN, NOBODY = -(2**60), -1, -1
OF_ANOTHER, LATER_QUEUE = 1 << 10, 1 << 11
"""Further flags of slots: a topic of copies of another group; a queue that is not the first one."""

MARKS = 16
"""So many low-water marks, and so many calls with several messages, are remembered of each line."""

SIGHTS = 32
"""So many long pulls, and so many ends of a queue, are remembered of each line."""

LEVELS = 19
"""Delay levels of RocketMQ, and one that stands for none (DL-1)."""

WHOLE = np.int64
BITS = 62
"""So many offsets behind a missing one are known one by one."""

LINES, PLACES, ITEMS, FREE = range(4)
"""What stands where in :attr:`Tables.used`."""

WIDEST, LEAVING, COMPLETE, END, SENDS_BACK, LOCK_LIFE, LIFE_TOLD, TIMEOUT, PERSIST, IDLE, LOSS = range(11)
"""What stands where in :attr:`Tables.terms`."""

_BEFORE = 2
"""Pulls of a process that may have been under way when a recording began amid its windows, two of them together."""

LINE = np.dtype(
    [
        *(
            (name, WHOLE)
            for name in (
                "slot",  # NOBODY: the entry is free
                "actor",
                "last",  # time of its last event, ms
                "fresh",  # 1: it was recorded from when it asked for the offset, so nothing was given before
                "resumed",  # when it was recorded again after a silence, ms
                "window",  # number of its windows so far
                "has",  # 1: it has the queue, 0: it gave it up, -1: neither was recorded
                "left_at",  # when it gave it up, ms
                "left_by",  # and why: the code of the path
                "asked",  # where the pull under way asks from; -1: there is none
                "asked_at",  # since when, ms
                "pulled",  # 1: some pull of it was recorded
                "late",  # answers that may come to pulls of earlier windows
                "position",  # where the next pull asks from; -1: not known
                "start",  # where it may ask from besides, once: what a query answered
                "queried",  # 1: it has asked since it took the queue last
                "answer",  # and the answer; -1: none
                "answered_at",  # when that was, ms; NEVER: it did not ask
                "low",  # low-water mark
                "memory",  # highest in-memory offset; -1: not known
                "stood",  # in-memory offset of some time ago, which it can only have raised since; -1: not known
                "stands",  # and that of ``stands_at``, which is to be it next
                "stands_at",
                "present",  # the in-memory offset, as far as it was set in this window; -1: not known
                "present_at",  # and since when, ms
                "brought",  # what the last answer told to go on from; -1: none
                "led",  # the same where that lies beyond the end that it told
                "mended",  # what a correction or reset told; -1: none
                "reset_to",  # what the last reset told; -1: none
                "marks",  # how many low-water marks there were
                "refused",  # 1: a send-back failed, so that a batch may end without a message that left
                "cleaned",  # 1: a message was cleaned for its time
                "beside",  # place of another line of its slot, NOBODY for none
                "manual",  # 1: its listener commits or rolls back itself, so that a success alone ends nothing (OR-6)
                "batched",  # 1: a listener was called with several messages at once
                "batches",  # how many such calls there were
                "end",  # of a broker: where the next message is stored; of a client: the highest end it was told; -1
                "end_at",  # when it was told that, or a beginning, ms
                "vain_at",  # since when its pulls are refused, ms; NEVER: they are not
                "vain",  # and when the last one was, ms
                "heard",  # when it was told of any end last, or refused as it had been for long, ms
                "told_at",  # when it was told of any end last, ms; of a broker: when it stored before what is missing
                "shown",  # of a broker: the end that was stored at ``shown_at``, some time ago; -1: not known
                "shown_at",
                "showing",  # and that of ``showing_at``, which is to be it next
                "showing_at",
                "denied_at",  # since when it is told that there is nothing, and of a later end; NEVER: it is not
                "beginning",  # the highest beginning it was told; of a broker: the end before its topic was made again
                "missing",  # offsets from ``first_missing`` on that were left out so far
                "first_missing",
                "filled",  # a bit for each offset from there on that was stored
                "owed",  # messages that left the window for which the in-memory offset was not set
                "idle",  # of these, those that did not move the low-water mark: whether they set it again is not told
                "owed_at",  # since when nothing was set, ms
                "found",  # messages that its pulls brought
                "given",  # messages that its listeners were given, once for each time they were in a window
                "sets",  # 1: it has set or stored an offset
                "locked",  # when it locked the queue last; NEVER: it did not
                "refused_at",  # when its lock was refused first since it had it; NEVER: it was not
                "unlocked",  # when it gave the lock back or found it lost last, ms
                "given_back",  # when it gave the lock back first since it took the queue; NEVER: it did not
                "locks_only",  # 1: nothing but its locks was recorded
                "strays",  # results of messages that had left the window, which may be discarded still
                "removing",  # when an offset was stored for giving up the queue; NEVER: it was given up since
                "behind",  # in-memory offset that was not stored; -1: none
                "behind_at",  # since when, ms
                "sent",  # highest offset that it has stored; -1: none
                "unstored",  # in-memory offset of the queue that it gave up and has not stored; -1: none
                "unstored_at",  # since when it was in memory when that was told first, ms
                "idle_since",  # when it took the queue, or was answered a pull and has not pulled on; NEVER: it has
                "taken",  # messages that have left its windows
                "asked_at_leave",  # since when a pull was under way when it gave the queue up, ms
                "calls",  # listeners of this window that have not returned
                "call",  # offset behind their batch, and
                "called",  # the offset given last
                "kept",  # when it gave the queue up with its lock, ms; NEVER: it did not
                "taken_at",  # when it took the queue last, ms; NEVER: that was not recorded
                "renewed_at",  # when it asked for the lock last, ms; NEVER: it did not
                "overdue_at",  # when it was answered a pull first after it was to ask again, ms; NEVER: it was not
                "watched",  # where the pull asked from whose messages are awaited at the listeners; -1: none are
                "watched_end",  # and where it went on
                "awaited",  # how many of them were not given yet
                "overtaken",  # since when later ones are given, ms; NEVER: none was
                "unanswered_at",  # when a pull was sent that was given up without an answer; NEVER: none was
                "paced",  # 1: it stored offsets by themselves about as often as it should
                "persisted_at",  # when an offset was stored by itself last, as every 5 s, ms; NEVER: none was
                "held",  # messages that pulls brought into the window and that were not seen to leave it
                "last_held",  # offset that the last of them has at least; -1: none
                "split",  # offset behind a call with messages of the pull that is awaited; -1: there was none
                "split_by",  # and with how many messages that was
                "most",  # with how many messages a listener is called at most; 0: not known
                "largest",  # with how many it was called at most so far
                "sized_by",  # where the pull asked from that told so last
                "resized",  # 1: somebody has set it to another number since
                "got_at",  # when it got the lock that it has, ms; NEVER: it has none
                "told_refused",  # when its lock was refused last, long after the first time; NEVER: it was not
                "illegal",  # where to go on from was told last of an illegal offset; -1: of none
                "told_call",  # offset behind the call with several messages that returned last; -1: none did
                "told_well",  # 1: its last message went well, and
                "each_told",  # 1: there was a call of which some did and some did not
                "sights",  # how many long pulls, or ends of the queue, there were
                "unsent",  # offset of the message that could not be sent back last; -1: none
                "unsent_at",  # when that was, ms
                "unsent_count",  # and the count that it had; -1: not known
            )
        ),
        ("mark", WHOLE, (MARKS,)),  # the last low-water marks
        ("mark_at", WHOLE, (MARKS,)),  # and when they were, ms
        ("batch", WHOLE, (MARKS,)),  # offsets behind the last calls with several messages
        ("sight", WHOLE, (SIGHTS,)),  # where the last long pulls asked from; of a broker: ends of its queue,
        ("sight_since", WHOLE, (SIGHTS,)),  # since when, ms,
        ("sight_at", WHOLE, (SIGHTS,)),  # and when they were answered, or it was the end, ms
        ("due", WHOLE, (LEVELS,)),  # of a broker, for each delay level: the latest due time of what came from it, ms
        ("due_at", WHOLE, (LEVELS,)),  # and when that came, ms
    ]
)
"""What a process did with a queue."""

ITEM = np.dtype(
    [
        (name, WHOLE)
        for name in (
            "line",  # place of its line; NOBODY: the entry is free
            "offset",  # of a free entry the place of another one, NOBODY for none
            "running",  # listeners that have not returned, of earlier windows too
            "earlier",  # listeners of earlier windows, whose results are discarded when they come
            "given",  # when it was given first in its window, ms
            "returned",  # 1: one has, since it was given last
            "origin",
            "attempt",
            "window",  # in which it was given
            "expired",  # 1: it was cleaned for its time
            "sent",  # 1: it was sent back
            "left",  # 1: it has left the window, and a listener runs still, or its result is still to be discarded
            "ended",  # when a listener returned with success last, ms; NEVER: none did
            "call",  # offset behind the call with several messages in which it was given last; -1: it was alone
            "well",  # 1: its listener returned with success last
            "put_off",  # when an orderly listener put it off last, ms; NEVER: it did not
            "alone",  # 1: it was given alone last
            "counted",  # with which count it was put off last, where it was alone; -1: it was not
            "wanted",  # the delay level that its listener asked for when it failed; ABSENT: not known
            "passed",  # when the low-water mark passed it, ms; NEVER: it did not
        )
    ]
)
"""A message that a listener was given and that has not left the window."""

MISSTEP = np.dtype([("time", WHOLE), ("since", WHOLE), ("offset", WHOLE), ("expected", WHOLE)])
"""The first misstep of a kind: when, ms, NEVER where there is none."""


class Tables(NamedTuple):
    """What the loop works on.

    Attributes:
        judged: by :class:`Misstep`, whether it is.
        flags: of slots.
        seen: for each slot a mask of the kinds that there were.
        latest: for each slot the place of the line that was used last, and that of the newest, NOBODY for none.
        waits: for each slot whether there was a reset, and no offset was stored since: the broker may refuse them.
        lines: LINE; ``index``: their places by slot and actor.
        missteps: MISSTEP, lines × Misstep.
        items: ITEM; ``places``: where they are by line and offset.
        used: lines, items with those that are free, items, and the place of a free one, NOBODY for none.
        terms: how far clocks may be apart, ms; whether what leaves a window is recorded; whether the recording begins
            with the first event; when it ends; whether send-backs are recorded; how long a lock lasts, ms,
            and whether that was told; how long a listener may run at least, ms, NEVER where nothing was told; how
            often a client stores its offsets, ms; how long a queue may not be pulled before it is dropped, ms; whether
            lost locks are recorded.
    """

    judged: Any
    flags: Any
    seen: Any
    latest: Any
    waits: Any
    lines: Any
    index: Any
    missteps: Any
    items: Any
    places: Any
    used: Any
    terms: Any


def no_lines(count: int) -> Any:
    """Room for so many lines."""
    lines = np.zeros(count, LINE)
    lines["slot"] = NOBODY
    return lines


def no_missteps(count: int) -> Any:
    """Room for the missteps of so many lines."""
    missteps = np.zeros((count, len(Misstep)), MISSTEP)
    missteps["time"] = NEVER
    return missteps


@part
def begin(t: Any, q: int, actor: int, now: int) -> None:
    """The first event of a process and queue."""
    n = int64(t.used[LINES])
    enter(t.index, q, actor, n)
    line = t.lines[n]
    line.locks_only, line.beside = 1, t.latest[q, 1]
    t.latest[q, 1] = n
    t.used[LINES] += 1
    line.slot, line.actor, line.last = q, actor, now
    line.late = 0 if t.terms[COMPLETE] else _BEFORE
    line.resumed, line.left_at, line.has = NEVER, NEVER, -1
    line.asked = line.position = line.start = line.answer = UNKNOWN
    line.low = line.memory = line.brought = line.led = line.mended = UNKNOWN
    # A client handles the resets of its brokers one after another, 10 s each: it may take the queue before its turn.
    line.reset_to = t.lines[line.beside].reset_to if line.beside >= 0 else UNKNOWN
    line.end = line.beginning = line.stood = line.stands = line.present = UNKNOWN
    line.stands_at = line.present_at = NEVER
    line.shown = line.showing = UNKNOWN
    line.vain_at = line.vain = line.heard = line.denied_at = line.shown_at = line.showing_at = NEVER
    line.answered_at = NEVER
    line.removing = line.locked = line.unlocked = line.given_back = line.refused_at = NEVER
    line.taken_at = line.renewed_at = line.overdue_at = NEVER
    line.behind_at = line.idle_since = line.kept = line.overtaken = line.unanswered_at = line.persisted_at = NEVER
    line.sent = line.unstored = line.behind = line.watched = UNKNOWN
    line.last_held = line.split = line.illegal = line.unsent = UNKNOWN
    line.got_at = line.told_refused = NEVER
    line.told_call = UNKNOWN
    for place in range(MARKS):
        line.mark[place], line.mark_at[place], line.batch[place] = UNKNOWN, NEVER, UNKNOWN
    for level in range(LEVELS):
        line.due[level] = line.due_at[level] = NEVER


@part
def note_misstep(t: Any, n: int, what: int, since: int, offset: int, expected: int) -> None:
    """Something does not follow; the first of its kind is told."""
    found = t.missteps[n, what]
    if t.judged[what] and found.time == NEVER:
        found.time, found.since, found.offset, found.expected = t.lines[n].last, since, offset, expected


@hot
def find(t: Any, line: int, offset: int) -> Any:
    """The place of a message, -1 without one."""
    return value_of(t.places, line, offset)


@hot
def add(t: Any, line: int, offset: int) -> Any:
    """A place for a message that has none."""
    at = int64(t.used[FREE])
    if at >= 0:
        t.used[FREE] = t.items[at].offset
    else:
        at = int64(t.used[PLACES])
        t.used[PLACES] += 1
    t.used[ITEMS] += 1
    t.items[at].line, t.items[at].offset = line, offset
    enter(t.places, line, offset, at)
    return at


@part
def drop(t: Any, at: int) -> None:
    """Forget a message."""
    item = t.items[at]
    remove(t.places, int64(item.line), item.offset)
    item.line, item.offset = NOBODY, t.used[FREE]
    t.used[FREE] = at
    t.used[ITEMS] -= 1
