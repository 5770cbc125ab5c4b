"""The ledger of a compiled monitor: rows and counts together, and the two things that it notes of a claim."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..claims.claims import CLAIMS
from ..engine.findings import ROW, Note
from ..machine_code.compiled import int64, part
from .fold import MOST_KEPT, Outcome
from .rows import clear

COUNT = np.dtype([("judged", np.int64), ("violated", np.int64), ("doubtful", np.int64), ("kept", np.int64)])
"""Of a claim: instances looked at, violations without doubt, in doubt, and rows kept. Chains have a place of their own,
behind all claims."""

# Whole numbers of numpy as constants: functions are compiled anew for each literal that they are called with.
NOBODY = int64(-1)
NOTHING = int64(0)

_CHAIN = int(Note.CHAIN)


class Ledger(NamedTuple):
    """What kernels write to.

    Attributes:
        rows: room for findings; ``size[0]`` of them are written.
        size: one number.
        counts: COUNT, by claim.
    """

    rows: Any
    size: Any
    counts: Any


def new_ledger(*, room: int) -> Ledger:
    """An empty ledger with room for so many rows."""
    return Ledger(
        rows=np.zeros(room, ROW),
        size=np.zeros(1, np.int64),
        counts=np.zeros(len(CLAIMS) + 1, COUNT),
    )


def with_room(ledger: Ledger, *, room: int) -> Ledger:
    """The ledger with room for at least so many further rows."""
    size = int(ledger.size[0])
    if len(ledger.rows) - size >= room:
        return ledger
    rows = np.zeros(2 * len(ledger.rows) + room, ROW)
    rows[:size] = ledger.rows[:size]
    return ledger._replace(rows=rows)


def outcome_of(ledger: Ledger, statuses: Any) -> Outcome:
    """What has been written, as the outcome of a fold."""
    counts = ledger.counts[: len(CLAIMS)]
    return Outcome(
        rows=ledger.rows[: int(ledger.size[0])].copy(),
        judged=counts["judged"].copy(),
        violated=counts["violated"].copy(),
        doubtful=counts["doubtful"].copy(),
        statuses=statuses,
    )


class Seen(NamedTuple):
    """The event that shows something.

    Attributes:
        time: ms.
        slot: its queue, or -1.
        offset: in it.
        actor: who acts, or -1.
        origin: the message.
    """

    time: Any
    slot: Any
    offset: Any
    actor: Any
    origin: Any


@part
def judge(ledger: Any, claim: int) -> None:
    """Note that an instance of ``claim`` is looked at."""
    ledger.counts[claim].judged += 1


@part
def violate(ledger: Any, claim: int, seen: Any, since: int, other: int, value: int, expected: int, doubt: int) -> None:
    """Note a violation that began at ``since`` with an act of ``other``; see ``findings.ROW`` for ``value``."""
    if doubt:
        ledger.counts[claim].doubtful += 1
    else:
        ledger.counts[claim].violated += 1
    row = _begin(ledger, claim, claim, seen, since, other, value, expected)
    row.doubt = doubt


@part
def explain(ledger: Any, claim: int, cause: int, seen: Any, since: int, other: int, value: int, expected: int) -> None:
    """Note what would be a violation, had it not this ``cause``."""
    row = _begin(ledger, claim, claim, seen, since, other, value, expected)
    row.cause = cause


@part
def tell_chain(ledger: Any, seen: Any, since: int, due: int, fate: int, count: int) -> None:
    """Note what became of a message that failed: its fate, its highest count, and when a retry is due, or 0."""
    row = _begin(ledger, int64(len(ledger.counts) - 1), NOBODY, seen, since, NOBODY, fate, count)
    row.note = _CHAIN
    row.until = due


@part
def _begin(ledger: Any, column: int, claim: int, seen: Any, since: int, other: int, value: int, expected: int) -> Any:
    """A new row; one that is too many is written, and overwritten by the next."""
    at = ledger.size[0]
    if ledger.counts[column].kept < MOST_KEPT:
        ledger.counts[column].kept += 1
        ledger.size[0] += 1
    row = ledger.rows[at]
    clear(row, claim, seen.slot, seen.time)
    row.origin = seen.origin
    row.offset = seen.offset
    row.since = since
    row.actor = seen.actor
    row.other = other
    row.value = value
    row.expected = expected
    return row
