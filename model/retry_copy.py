"""Retry copies: what a broker stores when a message is sent back, in the order in which it stores it.

A copy is a message of its own, with a count and a delay level. It first waits in the schedule topic (``schedule``), and
gets its offset in the retry queue, the last queue, only when it is delivered there (DL-10). A copy that is not tried
again goes to the dead-letter topic instead. A retry that fails again leads to a further copy: a *chain*. The constant
``copies`` limits the number of copies; once it is reached, nothing can be sent back.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from .consume_queue import Message, is_retry
from .dead_letter import READ, WRITE
from .history import Cause
from .kernel import (
    UNBOUNDED,
    BoolLike,
    Constants,
    Domain,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    ite,
    same,
    variable,
)
from .membership import Consumer
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState


class Copy(Domain, size="copies", label="k"):
    """Retry copies and dead letters, in the order in which they were stored."""


class Place(IntEnum):
    """Where a copy is."""

    NONE = 0
    SCHEDULE_TOPIC = 1
    DELIVERED = 2


retry_copy = Machine("retry_copy", doc="Copies of messages that were sent back, from their storing to their topic.")


def retries(k: Constants) -> bool:
    """Whether retry copies are followed."""
    return isinstance(k.copies, int) and k.copies > 0


def watched(k: Constants) -> bool:
    """Whether it is recorded which delivery led to which copy."""
    return retries(k) and bool(k.watch_retries)


def _codes(k: Constants) -> int:
    return int(k.queues * k.messages) - 1 if retries(k) and isinstance(k.messages, int) else 0


def most_times(k: Constants) -> int:
    """The highest count a copy can have: every listener failure and every failed send-back may add one."""
    return int(k.failures + k.refusals) + 1


@retry_copy.state
class RetryCopyState(State):
    """Copies of messages that were sent back."""

    attempts = constant(1, high=4, doc="maxReconsumeTimes: tries after the first")
    levels = constant(4, low=1, high=18, doc="levels of the delay table (DL-1)")
    watch_retries = constant(0, high=1, doc="1 to note which delivery led to which copy")
    place = variable(Place, Copy, when=retries)
    dead = variable(bool, Copy, when=retries, doc="it is for the dead-letter topic, not the retry topic")
    times = variable(Int(0, most_times), Copy, when=retries, doc="reconsumeTimes")
    level = variable(Int(0, "levels"), Copy, when=retries, doc="delay level; 0 is no delay")
    root = variable(Int(0, _codes), Copy, when=retries, doc="the message of the topic it stems from (UNIQ_KEY)")
    origin_id = variable(Int(0, _codes), Copy, when=retries, doc="ORIGIN_MESSAGE_ID (SB-21)")
    content = variable(Int(0, lambda k: max(int(k.copies) - 1, 0)), Message, when=retries, doc="of the retry queue")
    dead_letter_permission = variable(Int(0, READ | WRITE), when=retries, doc="of the topic; 0: not there yet")
    source = variable(Int(0, _codes), Copy, when=watched, doc="the message whose delivery led to it")
    tries = variable(Int(0, most_times), Copy, when=watched, doc="how often its message was sent back before it")
    reason = variable(Cause, Copy, when=watched, doc="why its message may have further copies")
    answered = variable(bool, Consumer, Queue, Message, when=watched, doc="the last delivery has led to a copy already")
    unexplained_copy = variable(bool, when=watched, doc="one delivery led to two copies for no known reason")


# A constraint is not checked if it names an unbounded constant, so this one does not name the messages.
retry_copy.constraint(
    "copies",
    holds=lambda k: not k.copies or k.messages != UNBOUNDED,
    message="with retry copies the number of messages must be bounded",
)


def code(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """One number that identifies the message at offset ``m`` of ``q``."""
    return q * s.messages + m


def stored(s: GroupState, k: IntLike) -> BoolLike:
    """Whether copy ``k`` has been stored."""
    return s.place[k] != Place.NONE


def next_copy(s: GroupState) -> IntLike:
    """The number the next copy gets."""
    return s.count(Copy, lambda k: stored(s, k))


def times_of(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """The count stored with the message at ``m`` of ``q``; 0 in a queue of the topic."""
    return s.times[s.content[m]] if is_retry(s.constants, q) else 0


def root_of(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """The message of the topic from which the one at ``m`` of ``q`` originates."""
    return s.root[s.content[m]] if is_retry(s.constants, q) else code(s, q, m)


def tries_of(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """How often the message at ``m`` of ``q`` was really sent back before."""
    return s.tries[s.content[m]] if is_retry(s.constants, q) else 0


@retry_copy.definition
def kept_origin(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """SB-21: ORIGIN_MESSAGE_ID of a copy: kept if there is one, otherwise the id of the message itself."""
    return s.origin_id[s.content[m]] if is_retry(s.constants, q) else code(s, q, m)


@retry_copy.definition
def permission_of_new_topic(s: GroupState, by_fallback: bool) -> int:
    """DQ-1: permission with which a dead-letter topic is created, by either of the two ways (since 4.9.2)."""
    return READ | WRITE


@retry_copy.definition
def accepts(s: GroupState) -> BoolLike:
    """Whether the broker accepts requests."""
    return True


@dataclass(frozen=True, kw_only=True)
class NewCopy:
    """A copy about to be stored.

    Attributes:
        q, m: the message that is sent back.
        times: its count.
        level: delay level it is stored with, limited by the table; 0 means no delay.
        dead: whether it is a dead letter.
        reason: why there may be further copies of the same message, or NONE.
        by_fallback: whether it is produced by the client, not copied by the broker.
    """

    q: IntLike
    m: IntLike
    times: IntLike
    level: IntLike
    dead: BoolLike
    reason: Cause = Cause.NONE
    by_fallback: bool = False


def store(s: GroupState, *copies: NewCopy) -> None:
    """The broker appends ``copies``, in this order, each to the schedule topic or directly to its own topic (DL-2)."""
    first = next_copy(s)
    s.require(accepts(s), first + len(copies) <= s.copies)
    for place, copy in enumerate(copies):
        k = first + place
        s.place[k] = ite(copy.level > 0, Place.SCHEDULE_TOPIC, Place.DELIVERED)
        s.dead[k] = copy.dead
        s.times[k] = copy.times
        s.level[k] = copy.level
        s.root[k] = root_of(s, copy.q, copy.m)
        s.origin_id[k] = kept_origin(s, copy.q, copy.m)
        if s.watch_retries:
            s.source[k] = code(s, copy.q, copy.m)
            s.tries[k] = tries_of(s, copy.q, copy.m) + 1
            s.reason[k] = copy.reason
    _create_dead_letter_topic(s, copies)


def _create_dead_letter_topic(s: GroupState, copies: tuple[NewCopy, ...]) -> None:
    """The topic is created with the first dead letter; an existing one keeps its permission."""
    permission = s.dead_letter_permission
    for copy in copies:
        created = all_of(copy.dead, same(permission, 0))
        permission = ite(created, permission_of_new_topic(s, copy.by_fallback), permission)
    s.dead_letter_permission = permission


def in_retry_queue(s: GroupState, k: IntLike) -> BoolLike:
    """Whether the retry queue has copy ``k``."""
    retry = s.queues - 1
    return s.exists(Message, lambda m: all_of(m < s.log_end[retry], same(s.content[m], k)))


def copies_in_retry_queue(s: GroupState, k: IntLike) -> IntLike:
    """How often the retry queue has copy ``k``."""
    retry = s.queues - 1
    return s.count(Message, lambda m: all_of(m < s.log_end[retry], same(s.content[m], k)))


def copied(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether some copy originates from the topic's message at ``m`` of ``q``."""
    return s.exists(Copy, lambda k: all_of(stored(s, k), same(s.root[k], code(s, q, m))))


def readable(permission: IntLike) -> BoolLike:
    """Whether a topic's permission includes read (``PermName#isReadable``)."""
    return any_of(same(permission, READ), same(permission, READ | WRITE))


@retry_copy.mutant(
    "D5",
    "dead-letter-loses-origin-id",
    of=kept_origin,
    killed_by="dead-letter-identifiable",
    constants={"queues": 2, "messages": 3, "retry_room": 2, "consumers": 1, "copies": 2, "failures": 2},
)
def origin_of_last_hop(s: GroupState, q: IntLike, m: IntLike) -> IntLike:
    """The id is set, then overwritten with the properties of the copy that was read: it names the last hop only.

    apache/rocketmq#4050, fixed in 5.0.0.
    """
    return code(s, q, m)


@retry_copy.mutant(
    "D9",
    "dead-letter-topic-write-only",
    of=permission_of_new_topic,
    killed_by="dead-letter-readable",
    constants={
        "queues": 2,
        "messages": 3,
        "retry_room": 2,
        "consumers": 1,
        "copies": 2,
        "failures": 2,
        "refused": 2,
    },
)
def write_only_by_fallback(s: GroupState, by_fallback: bool) -> int:
    """One of two paths creates the topic without read permission: nobody can browse or re-drive what is in it.

    apache/rocketmq#2437 fixed the other path, 4.9.2 this one.
    """
    return WRITE if by_fallback else READ | WRITE
