"""History: what an observer of the whole system would have noted, for properties to speak about.

Nothing in RocketMQ reads these variables; no action depends on them. A constant switches on what a property needs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from .consume_queue import Message
from .kernel import BoolLike, IntLike, Machine, State, all_of, any_of, ite, not_, same
from .membership import Consumer
from .rebalance import Queue


class Cause(IntEnum):
    """Why a message may be delivered again: the closed list. A second delivery without one of them is a violation."""

    NONE = 0
    FAILED_SEND_BACK = 1
    STORED_BUT_REFUSED = 2
    REBALANCE = 3
    OVERLAP = 4
    CRASH = 5
    SHUTDOWN = 6
    TIMEOUT = 7
    OFFSET_WENT_BACK = 8
    RESET = 9
    BROKER_RESTART = 10
    SCHEDULE_REPLAY = 11
    SENT_TWICE = 12
    SUSPENDED = 13
    OFFSET_CORRECTED = 14


history = Machine("history", doc="What an observer notes: what was handled, delivered, and why it was delivered again.")
history.constant("causes", 0, high=1, doc="1 to note deliveries and the causes of repeated ones")
history.constant("watch_offsets", 0, high=1, doc="1 to note whether a committed offset ever went back")

history.variable("handled", bool, Queue, Message, doc="a listener succeeded, or a retry copy was stored")
history.variable("delivered", bool, Queue, Message, when=lambda k: k.causes == 1, doc="a listener has had it")
history.variable("cause", Cause, Queue, Message, when=lambda k: k.causes == 1, doc="why it may come again")
history.variable("unexplained", bool, when=lambda k: k.causes == 1, doc="a message came again for no known cause")
history.variable("went_back", bool, Queue, when=lambda k: k.watch_offsets == 1, doc="the committed offset decreased")


def note_delivery(s: State, c: IntLike, q: IntLike, delivered: Callable[[IntLike], BoolLike]) -> None:
    """A listener of ``c`` gets the messages ``delivered`` of ``q``; a repeated one uses up its cause."""
    if s.copies and s.watch_retries:
        s.answered[c, q] = lambda m: all_of(not_(delivered(m)), s.answered[c, q, m])
    if not s.causes:
        return
    shared = s.exists(Consumer, lambda d: all_of(not_(same(d, c)), s.owns[d, q]))

    def unexplained(m: IntLike) -> BoolLike:
        return all_of(delivered(m), s.delivered[q, m], s.cause[q, m] == Cause.NONE, not_(shared))

    s.unexplained = any_of(s.unexplained, s.exists(Message, unexplained))
    s.delivered[q] = lambda m: any_of(s.delivered[q, m], delivered(m))
    s.cause[q] = lambda m: ite(delivered(m), Cause.NONE, s.cause[q, m])


def note_cause(s: State, cause: Cause, affected: Callable[[IntLike, IntLike], BoolLike]) -> None:
    """Whatever of ``affected(q, m)`` was delivered before may come again, because of ``cause``."""
    if s.causes:
        s.cause = lambda q, m: ite(all_of(affected(q, m), s.delivered[q, m]), cause, s.cause[q, m])


def note_commit(s: State, written: Callable[[IntLike], BoolLike], offset: Callable[[IntLike], IntLike]) -> None:
    """The committed offset of every queue ``written`` becomes ``offset`` of it."""
    if s.watch_offsets:
        s.went_back = lambda q: any_of(s.went_back[q], all_of(written(q), offset(q) < s.committed[q]))
