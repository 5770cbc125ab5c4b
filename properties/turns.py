"""Things in their proper order: what a client does not do twice, not after it began to stop, and not before it was
notified.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, implies, not_
from ..model.membership import Consumer
from ..model.process_queue import NO_OFFSET
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import progress
from .offsets import caused, owned_only, stored
from .property import always


@always("queue-taken-once", "RB-30", "RB-40")
def taken_once(s: GroupState) -> BoolLike:
    """A client takes a queue only when it does not have it: no window is opened on top of another."""
    return not_(s.taken_twice)


@always("no-queue-taken-while-stopping", "ST-8", "RB-30")
def not_taken_late(s: GroupState) -> BoolLike:
    """A client that has begun to shut down takes no more queues."""
    return not_(s.taken_late)


@always("no-listener-called-while-stopping", "ST-8", "ST-9", assuming=("concurrent listeners",))
def not_called_late(s: GroupState) -> BoolLike:
    """A client that has begun to shut down starts no further listener call."""
    return not_(s.called_late)


@always("last-commit-is-the-last", "ST-8", "ST-9")
def not_sent_late(s: GroupState) -> BoolLike:
    """After the commits of its shutdown, a client commits nothing more, whatever still finishes."""
    return not_(s.sent_late)


@always("committed-only-when-told", "OR-7", assuming=("no message is given up",))
def agreed(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """With autoCommit off, nothing is committed for which the listener did not say COMMIT."""
    return implies(m < s.committed[q], s.agreed[q, m])


@always("each-correction-sets-its-own-offset", "PL-23")
def own_correction(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window that is being corrected is never mistaken for one whose offset is already set."""
    return implies(s.target_set[c, q], s.target[c, q] != NO_OFFSET)


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
        for property in (not_taken_late, not_called_late, not_sent_late, taken_once):
            yield _claim(property, constants)
    for constants in (FIRST, {**WATCHED, "moves": 1, "failed_queries": 1}):
        yield _claim(taken_once, constants)
    yield _claim(agreed, {**MANUAL, "watch_answers": 1, "consumers": 1, "moves": 1})
    yield _claim(progress, {**MANUAL, "consumers": 1})
    yield _claim(
        stored,
        {**MANUAL, "consumers": 1},
        (
            "With autoCommit off, SUCCESS commits nothing: a listener that never says COMMIT starts over after "
            "every restart."
        ),
    )
    yield _claim(own_correction, OLD_CORRECTION)
    for property in (caused, owned_only, stored):
        yield _claim(property, LATE_RESET)
