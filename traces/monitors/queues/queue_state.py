"""What the fold by queue remembers about each queue: offsets, windows, what was pulled, and when things last
happened.

All of it is in arrays with one entry for each slot, so that queues may come interleaved or one after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import constant
from ..terms import NEVER

UNKNOWN = constant(-1)
"""An offset, actor or place that is not known."""

ALWAYS = constant(2**60)
"""The end of something that has not ended."""

WINDOWS = 8
"""Number of windows of a queue that are remembered, the latest ones."""

IN_FLIGHT = 3_000
"""How long a one-way commit may be under way: the timeout of a client's requests (``mqClientApiTimeout``), ms."""

LONG_PULL = 60_000
"""PL-22: an owner pulls, and waits at most 30 s for the answer; silent for twice as long, it stood still, ms."""

PASS_LIMIT = 60_000
"""RB-40: a rebalance pass queries one queue after the other, waits for each answer, and takes all queues at the end;
time from the first answer to that (``RebalanceImpl#updateProcessQueueTableInRebalance``), ms.
"""

PERSISTED = 60_000
"""OF-23: maximum age of the offsets with which a broker starts, or that a replica has, ms."""

_WHOLE = np.int64

_AT_FIRST: Mapping[str, Any] = {
    "flags": 0,  # see ..names
    "broker": UNKNOWN,  # actor code of its broker; UNKNOWN if no event names it as a process
    "group": UNKNOWN,  # its group as in the ends of processes; UNKNOWN if no process ended for it alone
    "commits_by": UNKNOWN,  # the recorder of its commits; UNKNOWN if their clients are
    # Offsets of messages.
    "first": UNKNOWN,  # where the trace begins to follow the queue
    "sure": 0,  # 1: everything from there on is seen to be pulled
    "low": UNKNOWN,  # everything below may be passed by the stored offset, or was reported
    "high": UNKNOWN,  # end of what was delivered or filtered
    "log_end": UNKNOWN,  # maxOffset of the latest pull
    "log_end_time": NEVER,  # when it was seen
    "log_end_actor": UNKNOWN,  # the process that saw it; UNKNOWN for a broker
    "log_back_to": UNKNOWN,  # the log was seen to end here after it had ended later
    "log_back_time": NEVER,
    # The stored offset.
    "stored": UNKNOWN,
    "stored_time": NEVER,
    "stored_actor": UNKNOWN,
    "stored_path": 0,
    "stored_end": UNKNOWN,  # log_end when it was stored
    "recent": UNKNOWN,  # its value before the commits since recent_time, all a short time ago
    "recent_time": NEVER,
    "earlier": UNKNOWN,  # its value before the commits since earlier_time, all within IN_FLIGHT
    "earlier_time": NEVER,
    "lowest": UNKNOWN,  # its lowest value since lowest_time,
    "lowest_before": UNKNOWN,  # and in a time of QUERY_LIMIT or longer before that
    "lowest_time": NEVER,
    "floor": UNKNOWN,  # the same for PERSISTED
    "floor_before": UNKNOWN,
    "floor_time": NEVER,
    "back_from": UNKNOWN,  # its last decrease
    "back_to": UNKNOWN,
    "back_time": NEVER,
    "back_actor": 0,
    "back_reason": 0,  # Regression
    "reset_to": UNKNOWN,  # the operator's last reset
    "reset_time": NEVER,
    "correct_to": UNKNOWN,  # the client's last correction
    "correct_time": NEVER,
    "noted_time": NEVER,  # of the last row with the stored offset
    "passed_from": UNKNOWN,  # what the stored offset last passed although it should not have
    "passed_to": UNKNOWN,
    "passed_time": NEVER,
    # Windows.
    "window": 0,  # the position of the one that was last used
    "explicit": 0,  # 1: an assign or revoke was seen
    "unowned": NEVER,  # since when there is no owner; NEVER if there is one, or never was
    "query_actor": UNKNOWN,  # the last offset query
    "query_time": NEVER,
    "query_stored": UNKNOWN,  # what was stored then, and
    "query_recent": UNKNOWN,  # a short time before, or when it may have been answered
    "query_as_of": NEVER,  # since when what is stored need not be in the answer
    "other_query_actor": UNKNOWN,  # the same for another client that queried before, or is about to
    "other_query_time": NEVER,
    "other_query_stored": UNKNOWN,
    "other_query_recent": UNKNOWN,
    "other_query_as_of": NEVER,
    "nothing_known": 0,  # 1: a query was answered that nothing is stored, and nobody has started since
    "started_new": UNKNOWN,  # where the group started then
    "flapper": UNKNOWN,  # the client that takes the queue again and again
    "flaps": 0,
    "flaps_since": 0,
    "flaps_until": NEVER,
    # Pulls.
    "pulled": NEVER,  # time of the last pull or its result
    "refuser": UNKNOWN,  # whose pulls are refused
    "refusals": 0,
    "refused_since": 0,
    "refused_until": NEVER,
    "illegal_actor": UNKNOWN,
    "illegal_offset": UNKNOWN,  # the request that is illegal
    "illegals": 0,
    "illegal_since": 0,
    "illegal_until": NEVER,
    "illegal_next": UNKNOWN,  # what the broker proposed instead, and
    "illegal_should": UNKNOWN,  # should have proposed
    "ranges": UNKNOWN,  # the first range that was filtered, and
    "last_range": UNKNOWN,  # the last one
    "past": UNKNOWN,  # the last passed range
    # Pages.
    "page": UNKNOWN,
    "page_at": UNKNOWN,
}
"""What is known about a queue, with initial values."""

SLOT = np.dtype([(name, _WHOLE) for name in _AT_FIRST])
"""What is known about a queue."""

WINDOW = np.dtype(
    [
        ("actor", _WHOLE),  # UNKNOWN: the entry is free
        ("how", _WHOLE),  # End
        ("path", _WHOLE),  # of the revoke that ended it
        ("implied", _WHOLE),  # 1: no assign was seen, it is known by its pulls and deliveries
        ("running", _WHOLE),  # listeners that run in it
        ("since", _WHOLE),
        ("until", _WHOLE),  # ALWAYS while it is open
        ("start", _WHOLE),  # where it starts
        ("base", _WHOLE),  # what was stored when its start was asked for, and
        ("recent", _WHOLE),  # a short time before, or when the broker may have answered
        ("base_time", _WHOLE),
        ("seen", _WHOLE),  # last sign of life
        ("woke", _WHOLE),  # when it showed life again after a long silence
        ("pulls", _WHOLE),  # answers to its pulls
        ("asked", _WHOLE),  # when it pulled last
        ("known", _WHOLE),  # what was stored when its last pull was answered; UNKNOWN if no answer was seen
        ("carries", _WHOLE),  # 1: the pull after that may still come with an offset
        ("batch", _WHOLE),  # the lowest offset that came with one asked for, where batches stay whole
        ("called", _WHOLE),  # when its listener was called last
        ("returned", _WHOLE),  # when its listener returned last
        ("next", _WHOLE),  # orderly: end of what was delivered in it
        ("again", _WHOLE),  # orderly: the lowest offset that was put off and not delivered again
    ]
)
"""A window: one client has one queue, from when it takes it to when it gives it up or ends."""

ROOMS = np.dtype([(name, _WHOLE) for name in ("pages", "ranges", "past", "free_range")])
"""How many pages, ranges and passed ranges are in use, and the first range that was freed."""

ACTOR = np.dtype([(name, _WHOLE) for name in ("client", "sends", "ends", "resumed")])
"""A process: 1 if it is a client, 1 if it stamps its commits itself, its first end, and when its recording continued
after the last gap, ms.
"""

END = np.dtype([("time", _WHOLE), ("how", _WHOLE), ("group", _WHOLE)])
"""The end of a process: when, ms, how, and for which group, see :class:`...engine.context.Ends`."""


class State(NamedTuple):
    """Everything on which compiled code works."""

    terms: Any  # one entry of TERMS
    rooms: Any  # one entry of ROOMS
    slots: Any  # SLOT by slot code
    windows: Any  # slots × WINDOWS of WINDOW
    cells: Any  # CELL, page after page
    places: Any  # the hash table of pages
    ranges: Any  # filtered ranges, see :mod:`.ranges`
    past: Any  # passed ranges, see :mod:`.ranges`
    rows: Any  # findings
    used: Any  # how many there are
    counts: Any  # see :mod:`..notes`
    actors: Any  # ACTOR by actor code, and one more entry
    order: Any  # the same, see :mod:`...clocks.order`
    ends: Any  # END, by actor, then time


def new_rooms() -> Any:
    """Nothing is in use."""
    return np.array([(0, 0, 0, UNKNOWN)], ROOMS)


def new_slots(count: int) -> Any:
    """Slots about which nothing is known yet."""
    slots = np.zeros(count, SLOT)
    for name, value in _AT_FIRST.items():
        slots[name] = value
    return slots


def new_windows(count: int) -> Any:
    """Free windows for that many slots."""
    windows = np.zeros((count, WINDOWS), WINDOW)
    windows["actor"] = UNKNOWN
    return windows
