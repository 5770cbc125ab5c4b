"""Whatever has begun comes to its end: a stop, a delayed update of an offset, the lock of a dead client.

Messages are handled whether or not these end, so an end that never comes is noticed only here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.assignment import assignment
from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, all_of, not_
from ..model.lock import holds_lock
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET, Stage
from ..model.route import Queue
from .claim import Claim, Constants, claim_about, claims_of
from .delivery import progress
from .members import stop_ends
from .offsets import stored
from .property import Property, eventually


def _held_up(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.held_update[c, q] != NO_OFFSET))


@eventually("late-update-comes-at-last", "CC-13", "OF-1", after=_held_up)
def updated_at_last(s: GroupState) -> BoolLike:
    """A worker that is suspended before it updates an offset eventually continues, unless its process ends."""
    return not_(_held_up(s))


@eventually(
    "every-queue-is-taken", "RB-30", "RB-40", after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP)
)
def taken(s: GroupState) -> BoolLike:
    """A client that is alone eventually has every queue, whatever the broker answers when it is asked for the
    offset.
    """
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: s.owns[c, q]))


def _locked_by_the_dead(s: GroupState) -> BoolLike:
    return s.exists(Queue, lambda q: s.exists(Consumer, lambda c: all_of(holds_lock(s, c, q), s.life[c] == Life.GONE)))


@eventually("abandoned-lock-is-free-again", "OR-1", after=_locked_by_the_dead)
def lock_expires(s: GroupState) -> BoolLike:
    """A lock that its client can no longer give back eventually becomes free again."""
    return not_(_locked_by_the_dead(s))


def _ordered_meanwhile(s: GroupState) -> BoolLike:
    return s.exists(Consumer, lambda c: all_of(s.reset_due[c], s.resetting[c]))


@eventually("reset-ordered-meanwhile-follows", "OF-31", after=_ordered_meanwhile, assuming=("one client, which lives",))
def reset_afterwards(s: GroupState) -> BoolLike:
    """A reset that is ordered while a client carries out another one is carried out afterwards."""
    return s.exists(Consumer, lambda c: all_of(s.reset_due[c], not_(s.resetting[c])))


def _failed_somewhere(s: GroupState) -> BoolLike:
    failed = Stage.FAILED
    return s.exists(
        Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: s.stage[c, q, m] == failed))
    )


@eventually("failed-message-leaves-its-window", "CC-12", "SB-12", after=_failed_somewhere)
def failed_leaves(s: GroupState) -> BoolLike:
    """A message with which a listener failed eventually leaves its window, whatever the broker does with it."""
    return not_(_failed_somewhere(s))


_ALONE: Constants = {"messages": 1, "consumers": 1}
_COARSE: Constants = {"listener": "orderly", "client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
_SENT_BACK: Constants = {"messages": 2, "consumers": 1, "queues": 2, "retry_room": 1, "copies": 1, "failures": 1}


def claims() -> Iterator[Claim]:
    """All claims about ends."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_ALONE, "leaves": 1}, (stop_ends,)),
        ({**_ALONE, "arriving": 1, "group": "new"}, (stored,)),
        ({**_ALONE, "messages": 3, "batch": 2, "pull_batch": 3, "failures": 1}, (progress,)),
        ({**_COARSE, "messages": 1, "crashes": 1, "orphans": 1}, (lock_expires,)),
        ({**_ALONE, "mode": "broadcasting", "leaves": 1}, (stop_ends,)),
        ({**_ALONE, "messages": 2, "held_updates": 1}, (updated_at_last,)),
        ({**_SENT_BACK, "retry_queues": 0}, (failed_leaves,)),
        ({**_ALONE, "version": "4.9.8", "resets": 2}, (reset_afterwards,)),
        # A new queue holds its first message in memory: the broker answers 0 (OF-21).
        (
            {**_ALONE, "queues": 2, "group": "scaled", "arriving": 1, "head_in_memory": 1, "starts": "steps"},
            (taken,),
        ),
    )
    yield from claims_of(consumption, asked)
    yield claim_about(assignment, lock_expires, {"consumers": 2, "running": 2, "queues": 2, "orderly": 1, "crashes": 1})
