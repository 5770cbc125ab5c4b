"""Obligations of a queue: what has to follow what, within which time, and which exceptions apply; a table for one
loop.

:data:`OBLIGATIONS` says which mark of a queue (:mod:`.marks`), in which condition, has to come how far by when. The
order of the obligations is that of their causes: if an earlier one is broken, a later one on the same queue at the same
time is not reported, as it could not be met. Explanations for a late one, such as the death of its process, are in
``monitors/queues/late.py``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from ..format.kinds import Kind
from .evidence import PULLS, RestsOn
from .marks import Condition, Mark
from .settings import CONSUME_TIMEOUT, Settings


@enum.unique
class Reason(enum.IntEnum):
    """What does not come; rows of the claims of :data:`OBLIGATIONS` have it in ``value``."""

    UNKNOWN = 0  # it is pulled, but messages that exist do not come
    NO_OWNER = 1  # nobody has the queue (A2, A7, A9)
    NO_PULLS = 2  # its owner does not pull (A9, E1, F1)
    PINNED = 3  # message ``offset`` is not finished by ``other``, and everything behind it has to wait (F4)
    NOT_LOCKED = 4  # its owner cannot lock it at the broker (E4)
    REFUSED = 5  # its owner's pulls are refused: subscription or offset (A2, A4, G4)
    NOT_COMMITTED = 6  # all is finished up to ``until``, and the stored offset ``offset`` does not follow (B8)
    NOT_DELIVERED = 7  # message ``offset`` was pulled, and no listener is given it
    NOT_IN_MEMORY = 8  # all is finished up to ``until``, and the in-memory offset ``offset`` does not follow
    NOT_RESET = 9  # for ``reset-is-followed``: its owner continues as if there had been no reset
    NOT_RENEWED = 10  # for ``orderly-lock-is-renewed``: its owner does not renew its lock
    NOT_POLLED = 11  # its owner no longer asks whether there are messages
    OWNER_STOOD_STILL = 12  # whatever was due: its owner did nothing at all in that time


@enum.unique
class Blocked(enum.IntEnum):
    """What prevents the message at the mark FINISHED from being finished."""

    NOTHING = 0
    WAITING = 1  # it was given to no listener of the owner
    RUNNING = 2  # its listener runs
    FAILED = 3  # it failed, and was not sent back
    SUSPENDED = 4  # an orderly listener put it off
    RETURNED = 5  # its listener returned, and its result was ignored


class Listeners(enum.Flag):
    """The queues for which an obligation is meant: those to which all of these apply."""

    ALL = 0
    CONCURRENT = enum.auto()
    ORDERLY = enum.auto()
    BROADCASTING = enum.auto()


@dataclass(frozen=True, kw_only=True)
class Obligation(RestsOn):
    """Something that has to come, and the evidence for its absence.

    Attributes:
        claim: id of the claim that a late one violates.
        reason: name of the case in which it does not come.
        statement: what has to come, in one sentence.
        within: time after which it is late, ms.
        owned: whether it is the owner's; otherwise the queue must get an owner.
        mark: the position that has to move; as long as it is not known, nothing is required of an owner.
        behind: the position up to which it must move, if both are known; None if the message at ``mark`` waits.
        whole: whether it must move all the way to that position, not only on.
        blocked: only while this keeps the message at the mark FINISHED.
        idle: only while everything pulled is finished: nothing in the cache keeps the owner from pulling (PL-7).
        during: only in these conditions.
        unless: not in these conditions, which excuse it as long as they last.
        balances: only while its owner is seen to balance: a client recorded only by its messages may poll unrecorded.
        met_by: events of the owner, each of which meets it.
        moves: whether every move of the position meets it; otherwise only the end of the conditions does.
        broadcasting: whether it is also meant for broadcasting groups.
        listeners: groups for which it is meant.
        needs: kinds that must be recorded; one of each tuple is enough.
        excused_by: kinds that must be recorded for a late one to count: the awaited event may be one of them.
        rules: rules of RocketMQ on which it rests.
    """

    claim: str = "every-queue-moves"
    reason: Reason
    statement: str
    within: Callable[[Settings], int]
    owned: bool = True
    mark: Mark
    behind: Mark | None = None
    whole: bool = False
    blocked: Blocked | None = None
    idle: bool = False
    during: Condition = Condition.NONE
    unless: Condition = Condition.NONE
    balances: bool = False
    met_by: tuple[Kind, ...] = ()
    moves: bool = True
    broadcasting: bool = True
    listeners: Listeners = Listeners.ALL
    needs: tuple[tuple[Kind, ...], ...] = ()
    excused_by: tuple[Kind, ...] = ()
    rules: tuple[str, ...]


_NO_COMMITS = Condition.COPIED | Condition.UNANSWERED | Condition.REFUSED

OBLIGATIONS = (
    Obligation(
        reason=Reason.NO_OWNER,
        statement="A queue with messages left has an owner while its group lives.",
        within=lambda t: t.silent_death + t.rounds + t.route_poll,
        owned=False,
        mark=Mark.PULLED,
        behind=Mark.LOG_END,
        needs=((Kind.ASSIGN,),),
        of_others=(Kind.ASSIGN,),
        rules=("RB-1", "RB-20", "ST-6"),
    ),
    Obligation(
        reason=Reason.NOT_LOCKED,
        statement="The owner of an orderly queue gets its lock, or another client's lock of it ends.",
        within=lambda t: t.stuck + t.lock_life,
        mark=Mark.PULLED,
        during=Condition.UNLOCKED,
        seen_or_told=(Kind.LOCK,),
        rules=("OR-1", "OR-9", "RB-35"),
    ),
    Obligation(
        claim="reset-is-followed",
        reason=Reason.NOT_RESET,
        statement="A broker tells an owner that keeps pulling of a reset, with its next pull or by a request.",
        within=lambda t: t.rounds + t.rebalance,
        mark=Mark.PULLED,
        during=Condition.WENT_ON,
        moves=False,
        unless=Condition.UNANSWERED,
        broadcasting=False,
        listeners=Listeners.CONCURRENT,
        needs=((Kind.RESET,), (Kind.ASSIGN,), (Kind.PULL_RESULT,)),
        rules=("OF-30", "OF-31", "PL-18"),
    ),
    Obligation(
        claim="reset-is-followed",
        reason=Reason.NOT_RESET,
        statement="An owner takes a queue whose offset was reset again, and continues where the offset was set to.",
        within=lambda t: t.stuck + t.rounds,
        mark=Mark.PULLED,
        during=Condition.RESET,
        moves=False,
        unless=Condition.UNANSWERED,
        broadcasting=False,
        needs=((Kind.RESET,), (Kind.ASSIGN,), (Kind.PULL_RESULT,)),
        rules=("OF-30", "OF-31"),
    ),
    Obligation(
        claim="orderly-lock-is-renewed",
        reason=Reason.NOT_RENEWED,
        statement="A client asks every 20 s to renew the locks of its queues.",
        within=lambda t: t.stuck,
        mark=Mark.LOCKED,
        unless=Condition.UNANSWERED,
        moves=False,
        met_by=(Kind.LOCK, Kind.LOCK_LOST),
        broadcasting=False,
        listeners=Listeners.ORDERLY,
        needs=((Kind.LOCK,), (Kind.ASSIGN,), (Kind.PULL_RESULT,)),
        rules=("OR-9", "OR-11"),
    ),
    Obligation(
        reason=Reason.REFUSED,
        statement="Pulls of a queue with messages left are not refused for long.",
        within=lambda t: t.stuck,
        mark=Mark.PULLED,
        behind=Mark.LOG_END,
        during=Condition.REFUSED,
        needs=((Kind.PULL_RESULT,),),
        rules=("PL-16", "PL-23"),
    ),
    Obligation(
        reason=Reason.NO_PULLS,
        statement=(
            "A client pulls each of its queues that has messages left, as long as nothing of the queue waits in "
            "the client's cache."
        ),
        within=lambda t: t.silent_death + t.rounds,
        mark=Mark.PULLED,
        behind=Mark.LOG_END,
        idle=True,
        unless=Condition.UNLOCKED,
        met_by=PULLS,
        needs=(PULLS,),
        seen_or_told=(Kind.PULL, Kind.PULL_RESULT),
        of_itself=True,
        rules=("PL-1", "PL-22", "PQ-11"),
    ),
    Obligation(
        reason=Reason.NOT_POLLED,
        statement="A client pulls a queue again and again, whether or not there are messages: a long poll ends.",
        within=lambda t: t.silent_death + t.rounds,
        mark=Mark.PULLED,
        idle=True,
        during=Condition.POLLING,
        unless=Condition.UNLOCKED,
        met_by=PULLS,
        moves=False,
        needs=((Kind.PULL,), (Kind.PULL_RESULT,), (Kind.DELIVER,), (Kind.RESULT,)),
        of_itself=True,
        rules=("PL-1", "PL-22"),
    ),
    Obligation(
        reason=Reason.NOT_POLLED,
        statement="A client that rebalances, and got an answer when it pulled a queue, keeps pulling.",
        within=lambda t: t.silent_death + t.rounds,
        mark=Mark.PULLED,
        idle=True,
        during=Condition.ASKING,
        unless=Condition.UNLOCKED,
        balances=True,
        met_by=PULLS,
        moves=False,
        needs=((Kind.PULL,), (Kind.PULL_RESULT,), (Kind.DELIVER,), (Kind.RESULT,), (Kind.REBALANCE,)),
        of_itself=True,
        rules=("PL-1", "PL-22"),
    ),
    Obligation(
        reason=Reason.UNKNOWN,
        statement="What is stored in a queue is pulled by the owner that pulls from it.",
        within=lambda t: t.stuck,
        mark=Mark.PULLED,
        behind=Mark.LOG_END,
        idle=True,
        unless=Condition.UNLOCKED | Condition.REFUSED,
        needs=((Kind.PULL_RESULT,), (Kind.DELIVER, Kind.COMMIT)),
        seen_or_told=(Kind.PULL, Kind.PULL_RESULT),
        of_itself=True,
        rules=("PL-19", "PL-22"),
    ),
    Obligation(
        reason=Reason.NOT_DELIVERED,
        statement=(
            "A message is given to a listener before those that were pulled with it or later, or soon after them."
        ),
        within=lambda t: t.given_late,
        mark=Mark.FINISHED,
        behind=Mark.DELIVERED,
        blocked=Blocked.WAITING,
        needs=((Kind.PULL_RESULT,), (Kind.DELIVER,)),
        seen_or_told=(Kind.DELIVER,),
        of_itself=True,
        rules=("CC-1", "PQ-1", "OR-3"),
    ),
    Obligation(
        reason=Reason.NOT_DELIVERED,
        statement="What was pulled is given to a listener, is filtered out, or its window ends.",
        within=lambda t: t.given_late,
        mark=Mark.FINISHED,
        behind=Mark.PULLED,
        blocked=Blocked.WAITING,
        met_by=(Kind.DELIVER,),
        unless=Condition.UNLOCKED,
        needs=((Kind.PULL_RESULT,), (Kind.DELIVER,)),
        seen_or_told=(Kind.DELIVER,),
        of_itself=True,
        rules=("CC-1", "PQ-1", "OR-3"),
    ),
    Obligation(
        reason=Reason.PINNED,
        statement="A running listener does not keep a queue with messages left from being pulled for long.",
        within=lambda t: t.stuck,
        mark=Mark.PULLED,
        behind=Mark.LOG_END,
        blocked=Blocked.RUNNING,
        met_by=(Kind.DELIVER, Kind.RESULT),
        needs=((Kind.PULL_RESULT,), (Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.RESULT,),
        excused_by=(Kind.SEND_BACK,),
        of_itself=True,
        rules=("PL-7", "PL-9"),
    ),
    Obligation(
        reason=Reason.PINNED,
        statement="A listener returns, or the client cleans the message after the consume timeout.",
        within=lambda t: 2 * t.consume_timeout,
        mark=Mark.FINISHED,
        blocked=Blocked.RUNNING,
        listeners=Listeners.CONCURRENT,
        needs=((Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.RESULT,),
        excused_by=(Kind.SEND_BACK,),
        of_itself=True,
        rules=("PQ-9", "CC-7"),
    ),
    Obligation(
        reason=Reason.PINNED,
        statement=(
            "An orderly listener, whose messages never expire, returns within twice the default consume timeout "
            "of other listeners."
        ),
        within=lambda t: 2 * max(t.consume_timeout, CONSUME_TIMEOUT),
        mark=Mark.FINISHED,
        blocked=Blocked.RUNNING,
        listeners=Listeners.ORDERLY,
        needs=((Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.RESULT,),
        of_itself=True,
        rules=("PQ-9", "OR-3"),
    ),
    Obligation(
        reason=Reason.PINNED,
        statement="A failed message is sent back, or is tried again by its owner.",
        within=lambda t: t.stuck,
        mark=Mark.FINISHED,
        blocked=Blocked.FAILED,
        broadcasting=False,
        listeners=Listeners.CONCURRENT,
        needs=((Kind.DELIVER,), (Kind.RESULT,), (Kind.SEND_BACK,)),
        seen_or_told=(Kind.SEND_BACK,),
        of_itself=True,
        rules=("CC-12", "SB-5"),
    ),
    Obligation(
        reason=Reason.PINNED,
        statement="An orderly message that was put off is delivered again.",
        within=lambda t: t.stuck,
        mark=Mark.FINISHED,
        blocked=Blocked.SUSPENDED,
        listeners=Listeners.ORDERLY,
        unless=Condition.UNLOCKED,
        needs=((Kind.DELIVER,), (Kind.RESULT,)),
        of_itself=True,
        rules=("OR-7", "OR-8"),
    ),
    Obligation(
        reason=Reason.NOT_IN_MEMORY,
        statement="The in-memory offset reaches what is finished.",
        within=lambda t: t.commit_late,
        mark=Mark.MEMORY,
        behind=Mark.FINISHED,
        whole=True,
        unless=Condition.EXPIRED | Condition.AGAIN,
        listeners=Listeners.CONCURRENT,
        needs=((Kind.COMMIT_MEMORY,), (Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.COMMIT_MEMORY,),
        of_itself=True,
        rules=("CC-13", "PQ-2"),
    ),
    Obligation(
        reason=Reason.NOT_COMMITTED,
        statement="The stored offset reaches the in-memory one, whatever else is stored in between.",
        within=lambda t: t.commit_late,
        mark=Mark.STORED,
        behind=Mark.MEMORY,
        whole=True,
        unless=_NO_COMMITS,
        broadcasting=False,
        needs=((Kind.COMMIT_MEMORY,), (Kind.COMMIT,)),
        seen_or_told=(Kind.COMMIT,),
        at_broker=(Kind.COMMIT,),
        rules=("OF-5", "OF-6"),
    ),
    Obligation(
        reason=Reason.NOT_COMMITTED,
        statement="The file of a broadcasting client reaches its in-memory offset.",
        within=lambda t: t.commit_late,
        mark=Mark.STORED,
        behind=Mark.MEMORY,
        whole=True,
        unless=Condition.UNANSWERED | Condition.REFUSED,
        listeners=Listeners.BROADCASTING,
        needs=((Kind.ASSIGN,), (Kind.COMMIT_MEMORY,), (Kind.COMMIT,)),
        seen_or_told=(Kind.COMMIT,),
        rules=("OF-10",),
    ),
    Obligation(
        reason=Reason.NOT_COMMITTED,
        statement="The stored offset reaches what is finished, whatever else is stored in between.",
        within=lambda t: t.commit_late,
        mark=Mark.STORED,
        behind=Mark.FINISHED,
        whole=True,
        unless=_NO_COMMITS | Condition.EXPIRED | Condition.AGAIN,
        broadcasting=False,
        listeners=Listeners.CONCURRENT,
        needs=((Kind.COMMIT,), (Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.COMMIT,),
        at_broker=(Kind.COMMIT,),
        rules=("OF-5", "OF-6", "CC-13"),
    ),
    Obligation(
        reason=Reason.NOT_COMMITTED,
        statement="The file of a broadcasting client reaches what is finished, and what failed, which is dropped.",
        within=lambda t: t.commit_late,
        mark=Mark.STORED,
        behind=Mark.FINISHED,
        whole=True,
        unless=Condition.UNANSWERED | Condition.REFUSED | Condition.EXPIRED | Condition.AGAIN,
        listeners=Listeners.BROADCASTING | Listeners.CONCURRENT,
        needs=((Kind.ASSIGN,), (Kind.COMMIT,), (Kind.DELIVER,), (Kind.RESULT,)),
        seen_or_told=(Kind.COMMIT,),
        rules=("CC-11", "CC-13", "OF-10"),
    ),
)
"""What has to follow on a queue; the order is that of causes."""
