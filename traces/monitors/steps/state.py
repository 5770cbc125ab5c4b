"""What the monitor of steps knows: a line for each process and queue, an item for each message that a listener has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import constant, hot, int64, part
from ....machine_code.pair_table import enter, remove, value_of
from ...claims.steps import Misstep
from ..terms import NEVER

APART = 1_000
"""Two threads of a process are recorded at most this much later than they acted, ms."""

SHOWN = 120_000
"""A stored message is visible to pulls after this time, ms."""

LATE = 10_000
"""A thread that keeps pace with others needs less time for what it does at once, ms."""

SECOND = 1_000

SHORTEST_PAUSE = 5
"""OR-7: a message that was put off comes after at least 10 ms; this remains of them in whole ms."""

SILENCE = 5_000
"""A process without a record for this long may have been paused meanwhile, ms."""

UNKNOWN, NOBODY = constant(-1), constant(-1)
AT_END = constant(-2)
"""For an offset: the end of the queue, which is not recorded."""

OF_ANOTHER, LATER_QUEUE = 1 << 10, 1 << 11
"""Further flags of slots: a topic for copies of another group; a queue that is not the first one."""

MARKS = 16
"""Number of low-water marks, and of calls with several messages, that are remembered for each line."""

SIGHTS = 32
"""Number of long pulls, and of ends of a queue, that are remembered for each line."""

LEVELS = 19
"""Delay levels of RocketMQ, and one that stands for none (DL-1)."""

WHOLE = np.int64
BITS = 62
"""Number of offsets after a missing one that are known individually."""

LINES, PLACES, ITEMS, FREE = range(4)
"""Indices of :attr:`Tables.used`."""

_BEFORE = 2
"""Pulls of a process that may have been under way when a recording began amid its windows, two of them together."""

_AT_FIRST: Mapping[str, Any] = {
    "slot": NOBODY,  # NOBODY: the entry is free
    "actor": 0,
    "last": 0,  # time of its last event, ms
    "fresh": 0,  # 1: it was recorded from its offset query on, so nothing was given before
    "resumed": NEVER,  # when it was recorded again after a silence, ms
    "quiet": NEVER,  # and after one in which no offset had to be stored
    "window": 0,  # number of its windows so far
    "has": -1,  # 1: it has the queue, 0: it gave it up, -1: neither was recorded
    "left_at": NEVER,  # when it gave it up, ms
    "left_by": 0,  # and why: the code of the path
    "asked": UNKNOWN,  # the offset of the pull under way; -1: there is none
    "asked_at": 0,  # since when, ms
    "pulled": 0,  # 1: some pull of it was recorded
    "late": 0,  # answers that may still come to pulls of earlier windows
    "position": UNKNOWN,  # the offset of the next pull; -1: not known
    "start": UNKNOWN,  # another possible offset, once: the answer of a query; AT_END: nothing is stored
    "queried": 0,  # 1: it has queried since it last took the queue
    "answer": UNKNOWN,  # and the answer; -1: none
    "answered_at": NEVER,  # when that was, ms; NEVER: it did not query
    "low": UNKNOWN,  # low-water mark
    "memory": UNKNOWN,  # highest in-memory offset; -1: not known
    "stood": UNKNOWN,  # in-memory offset of some time ago, which can only have been raised since; -1: not known
    "stands": UNKNOWN,  # and that of ``stands_at``, which replaces it next
    "stands_at": NEVER,
    "present": UNKNOWN,  # the in-memory offset, if it was set in this window; -1: not known
    "present_at": NEVER,  # and since when, ms
    "brought": UNKNOWN,  # the next offset in the last answer without messages; -1: none
    "led": UNKNOWN,  # the same if it lies beyond the end in that answer
    "mended": UNKNOWN,  # the offset of a correction or reset; -1: none
    "reset_to": 0,  # the offset of the last reset; -1: none
    "marks": 0,  # number of low-water marks
    "unmarked": 0,  # 1: not all marks are known, after a failed send-back of a batch, or without ``next``
    "cleaned": 0,  # 1: a message was cleaned because of its time
    "beside": 0,  # position of another line of its slot, NOBODY for none
    "manual": 0,  # 1: its listener commits or rolls back manually, so that a success alone ends nothing (OR-6)
    "batched": 0,  # 1: a listener was called with several messages at once
    "batches": 0,  # number of such calls
    "end": UNKNOWN,  # of a broker: where the next message is stored; of a client: the highest end that it learnt; -1
    "end_at": 0,  # when it learnt that, or a beginning, ms
    "vain_at": NEVER,  # since when its pulls are refused, ms; NEVER: they are not
    "vain": NEVER,  # and when the last one was, ms
    "vain_from": UNKNOWN,  # from where it asks after its group was refused for long; -1: it was not
    "heard": NEVER,  # when it last learnt of any end, or was refused after a long series, ms
    "told_at": 0,  # when it last learnt of any end, ms; of a broker: when it stored before what is missing
    "shown": UNKNOWN,  # of a broker: the end that was stored at ``shown_at``, some time ago; -1: not known
    "shown_at": NEVER,
    "showing": UNKNOWN,  # and that of ``showing_at``, which replaces it next
    "showing_at": NEVER,
    "denied_at": NEVER,  # since when answers are "nothing new" but show a later end; NEVER: they do not
    "whole": UNKNOWN,  # where the batch begins from within which its window was answered (PL-26)
    "beginning": UNKNOWN,  # the highest beginning seen; of a broker: the end before its topic was created again
    "missing": 0,  # offsets from ``first_missing`` on that were left out so far
    "first_missing": 0,
    "filled": 0,  # bits of the stored offsets from there on
    "owed": 0,  # messages that left the window without the in-memory offset being set
    "idle": 0,  # of these, those that did not move the low-water mark: they may have set it again unrecorded
    "owed_at": 0,  # since when nothing was set, ms
    "found": 0,  # messages that its pulls brought
    "given": 0,  # messages that its listeners were given, once for each time that they were in a window
    "sets": 0,  # 1: it has set or stored an offset
    "locked": NEVER,  # when it last locked the queue; NEVER: it did not
    "tried_at": NEVER,  # when it last asked for the lock and got no answer; NEVER: it did not
    "refused_at": NEVER,  # when its lock was first refused since it had it; NEVER: it was not
    "unlocked": NEVER,  # when it last gave the lock back or found it lost, ms
    "given_back": NEVER,  # when it first gave the lock back since it took the queue; NEVER: it did not
    "in_vain": NEVER,  # when it locked the queue that it had given up a while ago; NEVER: it did not
    "lost_at": NEVER,  # when it last found the lock lost, ms; NEVER: it did not
    "renews": 0,  # how often it has renewed its lock in time, one after another,
    "renewed_within": 0,  # and the shortest time between two of these, ms; 0: it has not
    "locks_only": 0,  # 1: nothing except its locks was recorded
    "strays": 0,  # results of messages that had left the window, which may still be discarded
    "removing": NEVER,  # when an offset was stored for giving up the queue; NEVER: it was given up since
    "behind": UNKNOWN,  # in-memory offset that was not stored; -1: none
    "behind_at": NEVER,  # since when, ms
    "sent": UNKNOWN,  # highest offset that it has stored; -1: none
    "unstored": UNKNOWN,  # in-memory offset, not stored, of the queue that it gave up; -1: none
    "unstored_at": 0,  # since when it was in memory when that was first recorded, ms
    "idle_since": NEVER,  # when it took the queue, or got a pull answer; NEVER: it has pulled since
    "taken": 0,  # messages that have left its windows
    "asked_at_leave": 0,  # since when a pull was under way when it gave up the queue, ms
    "calls": 0,  # listeners of this window that have not returned
    "call": 0,  # offset after their batch, and
    "called": 0,  # the offset given last
    "call_size": 0,  # how many messages are told to be in that call, and
    "call_given": 0,  # how many of them were given so far
    "kept": NEVER,  # when it gave up the queue while it had its lock, ms; NEVER: it did not
    "taken_at": NEVER,  # when it last took the queue, ms; NEVER: that was not recorded
    "renewed_at": NEVER,  # when it last requested the lock, ms; NEVER: it did not
    "overdue_at": NEVER,  # when a pull was first answered after the lock was due for renewal, ms; NEVER: none
    "astray": 0,  # 1: it pulled the queue when it had given it up a while ago
    "watched": UNKNOWN,  # offset of the pull whose messages are expected at the listeners; -1: none are
    "watched_end": 0,  # and its next offset
    "awaited": 0,  # how many of them were not given yet
    "overtaken": NEVER,  # since when later ones are given, ms; NEVER: none was
    "unanswered_at": NEVER,  # when a pull was sent that was given up without an answer; NEVER: none was
    "paced": 0,  # 1: it stored offsets periodically about as often as it should
    "persisted_at": NEVER,  # when an offset was last stored periodically, as every 5 s, ms; NEVER: none was
    "held": 0,  # messages that pulls brought into the window and that were not seen to leave it
    "last_held": UNKNOWN,  # lowest possible offset of the last of them; -1: none
    "split": UNKNOWN,  # offset after a call with messages of the expected pull; -1: there was none
    "split_by": 0,  # and its number of messages
    "most": 0,  # maximum number of messages in a listener call; 0: not known
    "largest": 0,  # largest number of messages in a call so far
    "sized_by": 0,  # offset of the pull that last showed this
    "resized": 0,  # 1: it may have been set to another number since
    "got_at": NEVER,  # when it got its present lock, ms; NEVER: it has none
    "told_refused": NEVER,  # when its lock was last refused, long after the first time; NEVER: it was not
    "illegal": UNKNOWN,  # next offset in the last answer for an illegal offset; -1: none
    "told_call": UNKNOWN,  # offset after the call with several messages that returned last; -1: none did
    "told_well": 0,  # 1: its last message succeeded, and
    "each_told": 0,  # 1: there was a call in which some succeeded and some did not
    "still": UNKNOWN,  # offset of the last pull, or of several one after another; -1: none was answered
    "still_since": 0,  # since when it has asked from there, ms
    "still_at": 0,  # when that was last answered, ms
    "still_seen": 0,  # 1: that is the last of the long pulls
    "empty": 0,  # how many answers in a row had nothing new at ``empty_from``
    "empty_from": UNKNOWN,  # -1: the last one had something
    "empty_since": 0,  # since when, ms
    "sights": 0,  # number of long pulls, or of ends of the queue
    "unsent": UNKNOWN,  # offset of the last message that could not be sent back; -1: none
    "unsent_at": 0,  # when that was, ms
    "unsent_count": 0,  # and the count that it had; -1: not known
    # The last low-water marks, when they were, ms, and the offsets after the last calls with several messages.
    **{"mark": (UNKNOWN,) * MARKS, "mark_at": (NEVER,) * MARKS, "batch": (UNKNOWN,) * MARKS},
    "sight": (0,) * SIGHTS,  # offsets of the last long pulls; of a broker: ends of its queue,
    "sight_since": (0,) * SIGHTS,  # since when, ms,
    "sight_at": (0,) * SIGHTS,  # and when they were answered, or the end was valid, ms
    "due": (NEVER,) * LEVELS,  # of a broker, for each delay level: the latest due time of a message from it, ms
    "due_at": (NEVER,) * LEVELS,  # and when that came, ms
    "tardy": (0,) * LEVELS,  # how many messages of the level came late since the last one that was in time,
    "tardy_since": (0,) * LEVELS,  # and since when, ms
}
"""What a process did with a queue, with initial values."""

LINE = np.dtype([(name, WHOLE, np.shape(value)) for name, value in _AT_FIRST.items()])
"""What a process did with a queue."""

ITEM = np.dtype(
    [
        (name, WHOLE)
        for name in (
            "line",  # position of its line; NOBODY: the entry is free
            "offset",  # in a free entry, the position of another one, NOBODY for none
            "running",  # listeners that have not returned, including those of earlier windows
            "earlier",  # listeners of earlier windows, whose results are discarded when they come
            "given",  # when it was first given in its window, ms
            "returned",  # 1: a listener has returned since it was last given
            "origin",
            "attempt",
            "window",  # the window in which it was given
            "expired",  # 1: it was cleaned because of its time
            "sent",  # 1: it was sent back
            "left",  # 1: it has left the window, but a listener still runs, or its result is still to be discarded
            "ended",  # when a listener last returned with success, ms; NEVER: none did
            "call",  # offset after the call with several messages in which it was last given; -1: it was alone
            "well",  # 1: its listener last returned with success
            "put_off",  # when an orderly listener last put it off, ms; NEVER: it did not
            "alone",  # 1: it was last given alone
            "counted",  # the count with which it was last put off, if it was alone; -1: it was not
            "wanted",  # the delay level that its listener requested when it failed; ABSENT: not known
            "passed",  # when the low-water mark passed it, ms; NEVER: it did not
        )
    ]
)
"""A message that a listener was given, and that has not left the window."""

MISSTEP = np.dtype([("time", WHOLE), ("since", WHOLE), ("offset", WHOLE), ("expected", WHOLE)])
"""The first misstep of a kind: when, ms; NEVER if there is none."""

REFUSED = np.dtype([("since", WHOLE), ("last", WHOLE)])
"""Since when all pulls of a queue by a group are refused, ms, NEVER if they are not; and when the last one was."""


class Tables(NamedTuple):
    """What the loop works on.

    Attributes:
        judged: by :class:`Misstep`, whether it is judged.
        flags: flags of slots.
        seen: for each slot, a mask of the kinds that occurred.
        latest: for each slot, the position of the line that was last used, and that of the newest, NOBODY for none.
        waits: for each slot, whether there was a reset and no offset was stored since: the broker may refuse them.
        refused: for each slot, REFUSED.
        lines: LINE; ``index``: their positions by slot and actor.
        missteps: MISSTEP, lines × Misstep.
        items: ITEM; ``places``: their positions by line and offset.
        used: number of lines, of items including free ones, of items, and the position of a free one, NOBODY for none.
        terms: one entry of :data:`..terms.TERMS`.
    """

    judged: Any
    flags: Any
    seen: Any
    latest: Any
    waits: Any
    refused: Any
    lines: Any
    index: Any
    missteps: Any
    items: Any
    places: Any
    used: Any
    terms: Any


def no_lines(count: int) -> Any:
    """Room for that many lines."""
    return np.repeat(np.array([tuple(_AT_FIRST.values())], LINE), count)


def not_refused(count: int) -> Any:
    """Room for the refusals of that many slots."""
    return np.repeat(np.array([(NEVER, NEVER)], REFUSED), count)


def no_missteps(count: int) -> Any:
    """Room for the missteps of that many lines."""
    missteps = np.zeros((count, len(Misstep)), MISSTEP)
    missteps["time"] = NEVER
    return missteps


@part
def begin(t: Any, q: int, actor: int, now: int) -> None:
    """The first event of a process and queue."""
    n = int64(t.used[LINES])
    enter(t.index, q, actor, n)
    line = t.lines[n]
    line.slot, line.actor, line.last, line.locks_only, line.beside = q, actor, now, 1, t.latest[q, 1]
    t.latest[q, 1] = n
    t.used[LINES] += 1
    line.late = 0 if t.terms[0].complete else _BEFORE
    # A client handles the resets of its brokers one after another, 10 s each: it may take the queue before its turn.
    line.reset_to = t.lines[line.beside].reset_to if line.beside >= 0 else UNKNOWN


@part
def note_misstep(t: Any, n: int, what: int, since: int, offset: int, expected: int) -> None:
    """Something does not follow; only the first case of its kind is recorded."""
    found = t.missteps[n, what]
    if t.judged[what] and found.time == NEVER:
        found.time, found.since, found.offset, found.expected = t.lines[n].last, since, offset, expected


@hot
def find(t: Any, line: int, offset: int) -> Any:
    """The position of a message; -1 without one."""
    return value_of(t.places, line, offset)


@hot
def add(t: Any, line: int, offset: int) -> Any:
    """A position for a message that has none."""
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
