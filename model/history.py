"""History: what an observer of the whole system would have noted, for properties to speak about.

Nothing in RocketMQ reads these variables; no action depends on them. Constants switch on the variables that a property
needs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from .consume_queue import Message
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    ite,
    not_,
    same,
    variable,
)
from .membership import Consumer, Life
from .process_queue import in_table
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState


class Cause(IntEnum):
    """Why a message may be delivered again: the complete list of causes. A second delivery without one of them is a
    violation.

    No history records SCHEDULE_REPLAY: what the schedule topic delivers again is the same copy at a second offset
    (DL-6, DL-7).
    """

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


class Had(IntEnum):
    """What a listener of one client has already seen of a message."""

    NOTHING = 0
    CALLED = 1
    SUCCEEDED = 2


class Regression(IntEnum):
    """Why the committed offset of a queue decreased: the complete list. UNEXPLAINED is a violation, and is never
    overwritten.
    """

    NONE = 0
    OVERLAP = 1
    LATE_COMMIT = 2
    BROKER_RESTART = 3
    FAIL_OVER = 4
    CORRECTED = 5
    RESET = 6
    RECREATED = 7
    UNEXPLAINED = 8


history = Machine("history", doc="What an observer notes: what was handled, delivered, and why it was delivered again.")


def _watches_windows(k: Constants) -> bool:
    return bool(k.watch_windows)


@history.state
class HistoryState(State):
    """What an observer has noted."""

    causes = constant(0, high=1, doc="1 to note deliveries and the causes of repeated ones")
    repeats = constant(0, high=1, doc="1 to note also why a message was last delivered again")
    watch_offsets = constant(0, high=1, doc="1 to note why committed offsets go back")
    watch_starts = constant(0, high=1, doc="1 to note where the group first starts in each queue")
    watch_clients = constant(0, high=1, doc="1 to note which client has had which message")
    watch_marks = constant(0, high=1, doc="1 to note how far the in-memory offset of a window has come")
    watch_windows = constant(0, high=1, doc="1 to note windows, calls and commits out of turn")
    watch_answers = constant(0, high=1, doc="1 to note what an orderly listener said COMMIT for")
    watch_changes = constant(0, high=1, doc="1 to keep what windows and offsets were before the last step")
    watch_steps = constant(0, high=1, doc="1 to keep what members and locks were before the last step")
    handled = variable(bool, Queue, Message, doc="a listener succeeded, or a retry copy was stored")
    delivered = variable(bool, Queue, Message, when=lambda k: k.causes == 1, doc="a listener has had it")
    cause = variable(Cause, Queue, Message, when=lambda k: k.causes == 1, doc="why it may come again")
    repeated = variable(Cause, when=lambda k: k.repeats == 1, doc="why a message was last delivered again")
    unexplained = variable(bool, when=lambda k: k.causes == 1, doc="a message came again for no known cause")
    processed_after_drop = variable(
        bool,
        when=lambda k: k.causes == 1,
        doc="a result was acted upon though its window had been dropped when the listener returned (U8)",
    )
    had = variable(Had, Consumer, Queue, Message, when=lambda k: k.watch_clients == 1, doc="what each client had")
    had_twice = variable(bool, when=lambda k: k.watch_clients == 1, doc="some client had a message a second time")
    first_start = variable(
        Int(-1, "messages"),
        Consumer,
        Queue,
        when=lambda k: k.watch_clients == 1 and k.group != "known",
        doc="where a client started in a queue for the first time; -1: not yet",
    )
    sent_unowned = variable(bool, when=lambda k: k.watch_offsets == 1, doc="an offset of a foreign queue was sent")
    went_back = variable(Regression, Queue, when=lambda k: k.watch_offsets == 1, doc="why the offset decreased")
    disturbed = variable(
        Regression,
        Consumer,
        Queue,
        when=lambda k: k.watch_offsets == 1,
        doc="who else raised the committed offset above the in-memory one of this window",
    )
    group_start = variable(
        Int(-1, "messages"),
        Queue,
        when=lambda k: k.watch_starts == 1,
        doc="where the group started in a queue for the first time; -1: not yet",
    )
    reached = variable(
        Int(-1, "messages"),
        Consumer,
        Queue,
        when=lambda k: k.watch_marks == 1,
        doc="an in-memory offset that this window has had; -1: none was noted",
    )
    taken_twice = variable(bool, when=_watches_windows, doc="a client took a queue that it had")
    taken_late = variable(bool, when=_watches_windows, doc="a client that shuts down took a queue")
    called_late = variable(bool, when=_watches_windows, doc="a client that shuts down called a listener")
    sent_late = variable(bool, when=_watches_windows, doc="a client sent an offset after its last commit")
    agreed = variable(
        bool, Queue, Message, when=lambda k: k.watch_answers == 1, doc="an orderly listener said COMMIT for it"
    )


history.constraint(
    "repeats", "causes", holds=lambda k: not k.repeats or bool(k.causes), message="repeats are told by causes; set both"
)


@history.action(tells="an observer notes the offset of {c} for {q}", when=lambda k: k.watch_marks == 1)
def look(s: GroupState, c: Consumer, q: Queue) -> None:
    """The observer may look at any time. What is true of its record is therefore true of every state that ever was."""
    s.require(s.owns[c, q], s.reached[c, q] != s.memory[c, q])
    s.reached[c, q] = s.memory[c, q]


def note_delivery(s: GroupState, c: IntLike, q: IntLike, delivered: Callable[[IntLike], BoolLike]) -> None:
    """A listener of ``c`` gets the messages ``delivered`` of ``q``; a repeated delivery uses up its cause."""
    if s.watch_clients:
        again = s.exists(Message, lambda m: all_of(delivered(m), s.had[c, q, m] != Had.NOTHING))
        s.had_twice = any_of(s.had_twice, again)
        s.had[c, q] = lambda m: ite(all_of(delivered(m), s.had[c, q, m] == Had.NOTHING), Had.CALLED, s.had[c, q, m])
    if s.watch_windows:
        s.called_late = any_of(s.called_late, s.life[c] != Life.UP)
    if s.copies and s.watch_retries:
        s.answered[c, q] = lambda m: all_of(not_(delivered(m)), s.answered[c, q, m])
    if not s.causes:
        return
    shared = s.exists(Consumer, lambda d: all_of(not_(same(d, c)), in_table(s, d, q)))

    def unexplained(m: IntLike) -> BoolLike:
        return all_of(delivered(m), s.delivered[q, m], s.cause[q, m] == Cause.NONE, not_(shared))

    s.unexplained = any_of(s.unexplained, s.exists(Message, unexplained))
    if s.repeats:
        s.repeated = _why_again(s, q, delivered)
    s.delivered[q] = lambda m: any_of(s.delivered[q, m], delivered(m))
    s.cause[q] = lambda m: ite(delivered(m), Cause.NONE, s.cause[q, m])


def _why_again(s: GroupState, q: IntLike, delivered: Callable[[IntLike], BoolLike]) -> IntLike:
    """The cause for which a message among ``delivered`` is repeated; without a recorded one, it is that the queue has
    two owners.
    """
    why: IntLike = s.repeated
    for cause in Cause:
        own = Cause.OVERLAP if cause is Cause.NONE else cause

        def repeated(m: IntLike, cause: Cause = cause) -> BoolLike:
            return all_of(delivered(m), s.delivered[q, m], s.cause[q, m] == cause)

        why = ite(s.exists(Message, repeated), own, why)
    return why


def note_cause(s: GroupState, cause: Cause, affected: Callable[[IntLike, IntLike], BoolLike]) -> None:
    """Every message ``affected(q, m)`` that was delivered before may come again, because of ``cause``."""
    if s.causes:
        s.cause = lambda q, m: ite(all_of(affected(q, m), s.delivered[q, m]), cause, s.cause[q, m])


def note_success(s: GroupState, c: IntLike, q: IntLike, succeeded: Callable[[IntLike], BoolLike]) -> None:
    """The listener of ``c`` has succeeded with the messages ``succeeded`` of ``q``."""
    if s.watch_clients:
        s.had[c, q] = lambda m: ite(succeeded(m), Had.SUCCEEDED, s.had[c, q, m])


def note_start(
    s: GroupState, c: IntLike, won: Callable[[IntLike], BoolLike], offset: Callable[[IntLike], IntLike]
) -> None:
    """Windows of ``c`` over queues ``won`` begin at ``offset``."""
    if s.watch_clients and s.group != "known":
        s.first_start[c] = lambda q: ite(all_of(won(q), s.first_start[c, q] == -1), offset(q), s.first_start[c, q])
    if s.watch_starts:
        s.group_start = lambda q: ite(all_of(won(q), s.group_start[q] == -1), offset(q), s.group_start[q])


def note_commit(
    s: GroupState,
    written: Callable[[IntLike], BoolLike],
    offset: Callable[[IntLike], IntLike],
    *,
    by: IntLike | None = None,
    because: Callable[[IntLike], IntLike] | None = None,
    renewed: Callable[[IntLike], BoolLike] | None = None,
) -> None:
    """The committed offset of every queue in ``written`` becomes its ``offset``.

    Args:
        s: the state.
        written: queues whose offset is written.
        offset: what is written.
        by: the client whose window sends its own offset, if one does.
        because: why the offset may decrease. If a window sends its own offset, the only possible reason is whatever
            raised the committed offset above it since the window began: a window alone never goes back.
        renewed: queues over which windows of ``by`` end or begin with it.
    """
    if not s.watch_offsets:
        return

    def reason(q: IntLike) -> IntLike:
        if because is not None:
            return because(q)
        if by is None:
            return Regression.UNEXPLAINED
        return ite(s.disturbed[by, q] == Regression.NONE, Regression.UNEXPLAINED, s.disturbed[by, q])

    def decreases(q: IntLike) -> BoolLike:
        return all_of(written(q), offset(q) < s.committed[q], s.went_back[q] != Regression.UNEXPLAINED)

    def disturbed(c: IntLike, q: IntLike) -> IntLike:
        other = True if by is None or because is not None else not_(same(c, by))
        raised = all_of(other, in_table(s, c, q), written(q), offset(q) > s.memory[c, q])
        kept = ite(raised, Regression.OVERLAP if because is None else because(q), s.disturbed[c, q])
        return kept if renewed is None else ite(all_of(same(c, by), renewed(q)), Regression.NONE, kept)

    s.went_back = lambda q: ite(decreases(q), reason(q), s.went_back[q])
    s.disturbed = disturbed


def note_sender(s: GroupState, c: IntLike, owns: BoolLike) -> None:
    """``c`` sends an offset of a queue that it owns, or that it does not own (U13)."""
    if s.watch_offsets:
        s.sent_unowned = any_of(s.sent_unowned, not_(owns))
    if s.watch_windows and s.leaves:
        s.sent_late = any_of(s.sent_late, s.persisted[c])


def note_taken(s: GroupState, c: IntLike, won: Callable[[IntLike], BoolLike]) -> None:
    """``c`` takes the queues ``won``."""
    if s.watch_windows:
        s.taken_twice = any_of(s.taken_twice, s.exists(Queue, lambda q: all_of(won(q), s.owns[c, q])))
        s.taken_late = any_of(s.taken_late, all_of(s.exists(Queue, won), s.life[c] != Life.UP))


def note_agreed(s: GroupState, q: IntLike, taken: Callable[[IntLike], BoolLike]) -> None:
    """An orderly listener returns COMMIT for the messages of ``q`` that are ``taken``."""
    if s.watch_answers:
        s.agreed[q] = lambda m: any_of(s.agreed[q, m], taken(m))


def note_window(s: GroupState, c: IntLike, renewed: Callable[[IntLike], BoolLike]) -> None:
    """Windows of ``c`` over the queues ``renewed`` end or begin; nothing has disturbed the new ones yet."""
    if s.watch_offsets:
        s.disturbed[c] = lambda q: ite(renewed(q), Regression.NONE, s.disturbed[c, q])


def note_new_windows(s: GroupState, c: IntLike, renewed: Callable[[IntLike], BoolLike]) -> None:
    """Windows of ``c`` over the queues ``renewed`` end or begin; notes about the old windows do not apply to the new
    ones.
    """
    if s.watch_marks:
        s.reached[c] = lambda q: ite(renewed(q), -1, s.reached[c, q])
