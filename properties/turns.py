"""Things in their proper order: what a client does not do twice, not after it began to stop, and not before it was
notified.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import implies, not_
from ..model.membership import Consumer
from ..model.process_queue import NO_OFFSET
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import PROGRESS, every_message
from .offsets import CAUSED, OWNED_ONLY, STORED
from .property import Kind, Property

TAKEN_ONCE = Property[GroupState](
    id="queue-taken-once",
    statement="A client takes a queue only when it does not have it: no window is opened on top of another.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.taken_twice),
    rules=("RB-30", "RB-40"),
)
NOT_TAKEN_LATE = Property[GroupState](
    id="no-queue-taken-while-stopping",
    statement="A client that has begun to shut down takes no more queues.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.taken_late),
    rules=("ST-8", "RB-30"),
)
NOT_CALLED_LATE = Property[GroupState](
    id="no-listener-called-while-stopping",
    statement="A client that has begun to shut down starts no further listener call.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.called_late),
    assuming=("concurrent listeners",),
    rules=("ST-8", "ST-9"),
)
NOT_SENT_LATE = Property[GroupState](
    id="last-commit-is-the-last",
    statement="After the commits of its shutdown, a client commits nothing more, whatever still finishes.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.sent_late),
    rules=("ST-8", "ST-9"),
)
AGREED = Property[GroupState](
    id="committed-only-when-told",
    statement="With autoCommit off, nothing is committed for which the listener did not say COMMIT.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: implies(m < s.committed[q], s.agreed[q, m])),
    assuming=("no message is given up",),
    rules=("OR-7",),
)
OWN_CORRECTION = Property[GroupState](
    id="each-correction-sets-its-own-offset",
    statement="A window that is being corrected is never mistaken for one whose offset is already set.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: s.forall(Queue, lambda q: implies(s.target_set[c, q], s.target[c, q] != NO_OFFSET))
    ),
    rules=("PL-23",),
)

WATCHED: Constants = {"messages": 1, "consumers": 1, "watch_windows": 1}
STOPPED: Constants = {**WATCHED, "leaves": 1}
FIRST: Constants = {**WATCHED, "consumers": 2, "group": "new", "starts": "steps", "from_where": "LAST_OFFSET"}
MANUAL: Constants = {"listener": "orderly", "clock": "stopped", "auto_commit": 0, "messages": 2, "failures": 1}
OLD_CORRECTION: Constants = {
    "messages": 2,
    "consumers": 1,
    "truncations": 1,
    "corrections": "steps",
    "version": "4.9.8",
    "held_updates": 1,
}
LATE_RESET: Constants = {
    "messages": 1,
    "consumers": 1,
    "resets": 1,
    "corrections": "steps",
    "late_commits": 1,
    "watch_offsets": 1,
}

_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about the order of things."""
    for constants in (STOPPED, {**STOPPED, "messages": 2}):
        for property in (NOT_TAKEN_LATE, NOT_CALLED_LATE, NOT_SENT_LATE, TAKEN_ONCE):
            yield _claim(property, constants)
    for constants in (FIRST, {**WATCHED, "moves": 1, "failed_queries": 1}):
        yield _claim(TAKEN_ONCE, constants)
    yield _claim(AGREED, {**MANUAL, "watch_answers": 1, "consumers": 1, "moves": 1})
    yield _claim(PROGRESS, {**MANUAL, "consumers": 1})
    yield _claim(
        STORED,
        {**MANUAL, "consumers": 1},
        (
            "With autoCommit off, SUCCESS commits nothing: a listener that never says COMMIT starts over after "
            "every restart."
        ),
    )
    yield _claim(OWN_CORRECTION, OLD_CORRECTION)
    for property in (CAUSED, OWNED_ONLY, STORED):
        yield _claim(property, LATE_RESET)
