"""Notes: what folds write: findings, with a limit for each claim, and counts of judged instances.

A compiled fold cannot enlarge arrays. It writes into one made by Python, and stops if too few rows are left; Python
enlarges it, and the fold continues. Notes are a named tuple with ``rows``, ``used`` and ``counts``: :class:`Notes`, or
a state that contains these among others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...machine_code.compiled import constant, part
from ..claims.claims import CLAIMS, CODE
from ..clocks.order import gaps
from ..engine.findings import ROW, Doubt, Note
from ..format.message_status import MessageStatus
from .fold import MOST_KEPT, Outcome

JUDGED, VIOLATED, DOUBTFUL, KEPT = range(4)
"""Lines of a tally: judged instances, violations without doubt, violations in doubt, rows kept."""

VIOLATION, CERTAIN, NO_CLAIM = constant(0), constant(0), constant(-1)
"""Cause of a row without a cause, doubt of a row without doubt, claim of a row that belongs to none."""

NOBODY, NOTHING = constant(-1), constant(0)
"""No actor; no value, or no doubt."""

RETRACTION = constant(255)
"""Note of a row that casts doubt on earlier ones: what they missed was recorded by another clock shortly afterwards.

It refers to rows of its claim and slot that contain one of ``offset`` … ``until`` - 1 or, if ``offset`` is -1, whose
``other`` is its actor, and which another process has recorded at a time that is not certainly different. Such rows are
used only by :func:`retract`.
"""

_COLUMNS = len(CLAIMS) + len(Note) + 1
_CLAIMS = len(CLAIMS)
_RETRACTIONS = _COLUMNS - 1
_BY_CLIENTS = (CODE["orderly-one-listener"], CODE["query-answers-what-is-stored"])

_NEW = np.zeros(1, ROW)
_NEW["actor"] = _NEW["other"] = -1


class Notes(NamedTuple):
    """What a fold writes."""

    rows: Any  # room for findings
    used: Any  # one number: how many of them are written
    counts: Any  # see :func:`tally`


def new_notes(*, room: int) -> Notes:
    """Empty notes, with room for that many rows."""
    return Notes(rows=np.zeros(room, ROW), used=np.zeros(1, np.int64), counts=tally())


def with_room(notes: Any, *, room: int) -> Any:
    """The notes, with room for at least that many further rows."""
    if len(notes.rows) - int(notes.used[0]) >= room:
        return notes
    return notes._replace(rows=np.concatenate([notes.rows, np.zeros(len(notes.rows) + room, ROW)]))


def outcome_of(notes: Any, statuses: Any = None) -> Outcome:
    """The written rows as the outcome of a fold."""
    judged, violated, doubtful, _ = notes.counts[:, : len(CLAIMS)].copy()
    return Outcome(
        rows=notes.rows[: int(notes.used[0])].copy(),
        judged=judged,
        violated=violated,
        doubtful=doubtful,
        statuses=np.zeros((0, len(MessageStatus)), np.int64) if statuses is None else statuses,
    )


class Seen(NamedTuple):
    """The event that shows something."""

    time: Any  # ms
    slot: Any  # its queue, or -1
    offset: Any  # its offset in the queue
    actor: Any  # the process that acts, or -1
    origin: Any  # the message


def tally() -> Any:
    """Counters of a fold: one line for each count, one column for each claim, and for each note without one; int64."""
    return np.zeros((4, _COLUMNS), np.int64)


@part
def finding(s: Any, claim: int, cause: int, doubt: int, slot: int, time: int) -> Any:
    """Begin a row: a violation if ``cause`` is 0, otherwise an explained case; returns its position in ``s.rows``.

    Rows of a claim beyond the limit are counted, and not kept.
    """
    if cause == 0:
        s.counts[DOUBTFUL if doubt else VIOLATED, claim] += 1
    at = _begin(s, claim, claim, slot, time)
    s.rows[at].cause = cause
    s.rows[at].doubt = doubt
    return at


@part
def note(s: Any, claim: int, what: int, slot: int, time: int) -> Any:
    """Begin a row that is neither; ``claim`` is -1 for none."""
    column = _RETRACTIONS if what == RETRACTION else _CLAIMS + what
    at = _begin(s, column, claim, slot, time)
    s.rows[at].note = what
    return at


@part
def judge(notes: Any, claim: int) -> None:
    """Record that an instance of ``claim`` is judged."""
    notes.counts[JUDGED, claim] += 1


@part
def violate(notes: Any, claim: int, seen: Any, since: int, other: int, value: int, expected: int, doubt: int) -> Any:
    """Record a violation that began at ``since`` with an act of ``other``; see ``findings.ROW`` for ``value``.

    Returns the position of its row.
    """
    at = finding(notes, claim, VIOLATION, doubt, seen.slot, seen.time)
    _tell(notes.rows[at], seen, since, other, value, expected)
    return at


@part
def explain(notes: Any, claim: int, cause: int, seen: Any, since: int, other: int, value: int, expected: int) -> None:
    """Record something that would be a violation if it did not have this ``cause``."""
    at = finding(notes, claim, cause, CERTAIN, seen.slot, seen.time)
    _tell(notes.rows[at], seen, since, other, value, expected)


@part
def tell_chain(notes: Any, seen: Any, since: int, due: int, status: int, count: int) -> None:
    """Record what became of a message that failed: its status, its highest count, and when a retry is due, or 0."""
    row = notes.rows[note(notes, NO_CLAIM, Note.CHAIN, seen.slot, seen.time)]
    _tell(row, seen, since, NOBODY, status, count)
    row.until = due


@part
def _tell(row: Any, seen: Any, since: int, other: int, value: int, expected: int) -> None:
    row.origin, row.offset, row.actor = seen.origin, seen.offset, seen.actor
    row.since, row.other, row.value, row.expected = since, other, value, expected


@part
def _begin(s: Any, column: int, claim: int, slot: int, time: int) -> Any:
    """The position of a new row; one beyond the limit is written, and overwritten by the next."""
    at = s.used[0]
    if s.counts[KEPT, column] < MOST_KEPT:
        s.counts[KEPT, column] += 1
        s.used[0] += 1
    s.rows[at] = _NEW[0]  # it may have been in use
    row = s.rows[at]
    row.claim, row.slot = claim, slot
    row.since = row.time = time
    return at


def retract(rows: Any, *, order: Any, commits_by: Any, sends: Any) -> Any:
    """The rows without the retractions: the rows to which these refer are in doubt.

    Args:
        rows: rows of a fold.
        order: the order of events of two processes, see :mod:`..clocks.order`.
        commits_by: for each slot, the recorder of its commits; -1 if their clients are.
        sends: for each process, whether it stamps its commits itself.
    """
    is_retraction = rows["note"] == RETRACTION
    retractions, kept = rows[is_retraction], rows[~is_retraction]
    may_be = np.flatnonzero((kept["note"] == 0) & (kept["cause"] == 0))
    whose = _of(kept[may_be])
    by_whose = np.argsort(whose, kind="stable")
    may_be, whose = may_be[by_whose], whose[by_whose]
    # There may be very many of both: each is compared with what refers to its claim and slot.
    starts, ends = (np.searchsorted(whose, _of(retractions), side=side) for side in ("left", "right"))
    for each, start, end in zip(retractions, starts.tolist(), ends.tolist(), strict=True):
        if start == end:
            continue
        at = may_be[start:end]
        told = kept[at]
        # Findings about deliveries and answers have the times of their clients' clocks; all others that are retracted
        # are about commits.
        by_broker = ~np.isin(told["claim"], _BY_CLIENTS) & (commits_by[told["slot"]] >= 0)
        by_broker &= sends[told["actor"]] == 0
        recorder = np.where(by_broker, commits_by[told["slot"]], told["actor"])
        after, before = ((recorder, each["actor"]), (each["actor"], recorder))
        later = each["time"] >= told["time"]
        limit = np.where(later, gaps(order, *after), gaps(order, *before))
        near = (recorder != each["actor"]) & (np.abs(told["time"] - each["time"]) <= limit)
        if each["offset"] < 0:
            near &= (told["other"] == each["actor"]) | (told["actor"] == each["other"])
        else:
            near &= (told["offset"] < each["until"]) & (told["until"] > each["offset"])
        kept["doubt"][at[near]] |= int(Doubt.SKEW)
    return kept


def _of(rows: Any) -> Any:
    """A number for the claim and the slot of each row."""
    return (rows["claim"].astype(np.int64) << 32) + rows["slot"]
