"""Concurrent consumption: many listeners run at once, in any order, and each result counts individually.

``ConsumeMessageConcurrentlyService`` (section 6 of the rules). A task is a chunk of a pulled list (CC-1). Whether its
window was dropped is checked before the listener starts (CC-3), and again when it returns (CC-9); when the drop comes,
relative to these checks, decides what is lost, repeated, or both. With ``copies=0`` a message that was sent back counts
as handled; with copies, ``send_back`` follows it further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import Message, is_retry
from .history import Cause, note_cause, note_delivery, note_success
from .kernel import (
    BoolLike,
    Constants,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    not_,
    same,
    variable,
)
from .membership import Consumer, Life
from .offsets import broadcasting
from .process_queue import WINDOW, Orphan, Stage, count_out, finish, working
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

concurrently = Machine("concurrently", doc="Concurrent listeners: tasks, results, and what a drop does to them.")


@concurrently.state
class ConcurrentlyState(State):
    """Tasks of concurrent listeners."""

    listener = constant("concurrently", choices=("concurrently", "orderly"), doc="kind of listener")
    batch = constant(1, low=1, high=4, doc="consumeMessageBatchMaxSize: messages of one task (CC-1)")
    failures = constant(0, high=6, doc="how often a listener may fail")
    failures_left: IntLike
    refusals = constant(0, high=3, doc="how often a send-back and its fallback may both fail (SB-5)")
    joined = variable(
        bool,
        Consumer,
        Queue,
        Message,
        when=lambda k: k.batch > 1,
        lives_in=WINDOW,
        doc="in one task with the offset before it",
    )


def concurrent(k: Constants) -> bool:
    """Whether listeners are concurrent."""
    return bool(k.listener == "concurrently")


def _fails(k: Constants) -> bool:
    return bool(concurrent(k) and k.failures > 0)


def _abstract(k: Constants) -> bool:
    """Whether failures happen, and the fate of a message that is sent back is not followed."""
    return _fails(k) and not k.copies and not broadcasting(k)


def in_task(s: GroupState, c: IntLike, q: IntLike, first: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` belongs to the task that starts at ``first``."""
    if s.batch == 1:
        return same(m, first)
    between = s.forall(Message, lambda o: implies(all_of(first < o, o <= m), s.joined[c, q, o]))
    return all_of(first <= m, between)


def starts_task(s: GroupState, c: IntLike, q: IntLike, m: IntLike, stage: Stage) -> BoolLike:
    """Whether a task in ``stage`` starts at ``m``."""
    first = not_(s.joined[c, q, m]) if s.batch > 1 else True
    return all_of(s.stage[c, q, m] == stage, first)


@concurrently.definition
def may_begin(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """CC-3: a task of a dropped window ends before its listener starts, as does one of a stopped service."""
    return all_of(working(s, c), s.owns[c, q])


@concurrently.action(fair=True, tells="{c} starts a listener with {m} of {q}", when=concurrent)
def begin(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-6: the listener is called with the messages of one task (``ConsumeRequest#run``)."""
    s.require(may_begin(s, c, q), starts_task(s, c, q, m, Stage.WAITING))
    note_delivery(s, c, q, lambda o: in_task(s, c, q, m, o))
    s.stage[c, q] = lambda o: ite(in_task(s, c, q, m, o), Stage.RUNNING, s.stage[c, q, o])


def returns(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """CC-9: the listener of the task at ``m`` returns, and its window was not dropped."""
    alive = any_of(working(s, c), s.life[c] == Life.STOPPING)
    return all_of(alive, s.owns[c, q], starts_task(s, c, q, m, Stage.RUNNING), comes_back(s, c, q, m))


@concurrently.definition
def comes_back(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the listener call of the task at ``m`` ever returns."""
    return True


def handle(s: GroupState, q: IntLike, handled: object) -> None:
    """The messages for which ``handled`` is true need no further delivery."""
    s.handled[q] = lambda m: any_of(s.handled[q, m], handled(m))  # type: ignore[operator]


@concurrently.action(fair=True, tells="the listener of {c} succeeds with {m} of {q}", when=concurrent)
def succeed(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-10, CC-13: CONSUME_SUCCESS: the task is removed, the in-memory offset follows the mark.

    ``ConsumeMessageConcurrentlyService#processConsumeResult``.
    """
    s.require(returns(s, c, q, m))
    note_success(s, c, q, lambda o: in_task(s, c, q, m, o))
    handle(s, q, lambda o: in_task(s, c, q, m, o))
    finish(s, c, q, lambda o: in_task(s, c, q, m, o))


@concurrently.definition
def sent_back(s: GroupState, c: IntLike, q: IntLike, first: IntLike, m: IntLike) -> BoolLike:
    """CC-12: which messages are sent back when the task at ``first`` fails: all of its own."""
    return in_task(s, c, q, first, m)


@concurrently.action(budget="failures", tells="the listener of {c} fails with {m} of {q}", when=concurrent)
def fail(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-7, CC-10: RECONSUME_LATER, null or an exception: ackIndex becomes -1, so all of the task is to be sent back.

    In broadcasting the failed messages are logged and count as finished (CC-11).
    """
    s.require(returns(s, c, q, m))
    if broadcasting(s.constants):
        finish(s, c, q, lambda o: in_task(s, c, q, m, o))
    else:
        s.stage[c, q] = lambda o: ite(sent_back(s, c, q, m, o), Stage.FAILED, s.stage[c, q, o])


@concurrently.action(
    budget="failures",
    tells="the listener of {c} succeeds with {m} of {q} up to {last}",
    when=lambda k: concurrent(k) and k.batch > 1,
)
def succeed_up_to(s: GroupState, c: Consumer, q: Queue, m: Message, last: Message) -> None:
    """CC-10: CONSUME_SUCCESS with an ackIndex that leaves out the tail of the task: the tail failed."""

    def done(o: IntLike) -> BoolLike:
        return all_of(in_task(s, c, q, m, o), o <= last)

    def failed(o: IntLike) -> BoolLike:
        return all_of(in_task(s, c, q, m, o), o > last)

    s.require(returns(s, c, q, m), in_task(s, c, q, m, last), s.exists(Message, failed))
    note_success(s, c, q, done)
    handle(s, q, done)
    if broadcasting(s.constants):
        finish(s, c, q, lambda o: in_task(s, c, q, m, o))
    else:
        s.stage[c, q] = lambda o: ite(failed(o), Stage.FAILED, ite(done(o), Stage.ABSENT, s.stage[c, q, o]))
        count_out(s, c, q, done)
        s.joined[c, q] = lambda o: all_of(s.joined[c, q, o], not_(failed(o)))


@concurrently.definition
def finished_by_send_back(s: GroupState, sent: bool) -> bool:
    """CC-12, CC-13: only a message whose send-back succeeded is removed; the others stay, and hold back the low-water
    mark.
    """
    return sent


@concurrently.action(fair=True, tells="{c} sends {m} of {q} back", when=_abstract)
def send_back(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-12: the broker stores a retry copy; the message counts as finished (SB-2)."""
    s.require(may_send_back(s, c), s.stage[c, q, m] == Stage.FAILED)
    handle(s, q, lambda o: same(o, m))
    finish(s, c, q, lambda o: same(o, m))


@concurrently.action(budget="refusals", tells="{c} cannot send {m} of {q} back", when=_abstract)
def send_back_fails(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-12, SB-5: neither way works; the message stays in the window and is consumed again after 5 s."""
    s.require(may_send_back(s, c), s.stage[c, q, m] == Stage.FAILED)
    if finished_by_send_back(s, False):
        finish(s, c, q, lambda o: same(o, m))
        return
    consume_again(s, c, q, m)


def consume_again(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> None:
    """CC-12: the message becomes a task of its own in the same window."""
    s.stage[c, q, m] = Stage.WAITING
    if s.batch > 1:
        s.joined[c, q] = lambda o: all_of(s.joined[c, q, o], not_(any_of(same(o, m), same(o, m + 1))))
    note_cause(s, Cause.FAILED_SEND_BACK, lambda p, o: all_of(same(p, q), same(o, m)))


def may_send_back(s: GroupState, c: IntLike) -> BoolLike:
    """Whether the process of ``c`` runs, even if it is shutting down: the shutdown does not wait for its workers
    (ST-9).
    """
    return any_of(working(s, c), s.life[c] == Life.STOPPING)


@concurrently.definition
def orphan_after_failure(s: GroupState) -> Orphan:
    """CC-9: the result of a listener whose window was dropped is thrown away, whatever it is."""
    return Orphan.NONE


@concurrently.action(
    tells="the listener of {c} in a dropped window fails with {m} of {q}", when=lambda k: _fails(k) and k.orphans
)
def orphan_listener_fails(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-9: no send-back, no removal, no offset."""
    s.require(may_send_back(s, c), s.orphan[c, q, m] == Orphan.RUNNING)
    s.orphan[c, q, m] = orphan_after_failure(s)
    if s.causes and orphan_after_failure(s) is not Orphan.NONE:
        s.processed_after_drop = True


@concurrently.action(
    fair=True,
    tells="the listener of {c} in a dropped window succeeds with {m} of {q}",
    when=lambda k: concurrent(k) and k.orphans,
)
def orphan_succeeds(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-9: the work is done, but the success is not recorded: the next window delivers the message again."""
    s.require(may_send_back(s, c), s.orphan[c, q, m] == Orphan.RUNNING)
    note_success(s, c, q, lambda o: same(o, m))
    handle(s, q, lambda o: same(o, m))
    s.orphan[c, q, m] = Orphan.NONE


@concurrently.action(
    fair=True, tells="{c} sends {m} of {q} back from a dropped window", when=lambda k: _abstract(k) and k.orphans
)
def orphan_sends_back(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-12, CC-13: the drop came between check and send-back: a retry copy is stored, and the original comes again
    (G3-8).
    """
    s.require(may_send_back(s, c), s.orphan[c, q, m] == Orphan.FAILED)
    handle(s, q, lambda o: same(o, m))
    s.orphan[c, q, m] = Orphan.NONE


@concurrently.mutant(
    "G5-sent-back",
    "broadcast-failure-sent-back",
    killed_by="broadcast-no-send-back",
    of=fail,
    constants={"mode": "broadcasting", "messages": 1, "failures": 1},
)
def fail_as_in_clustering(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """A failed message waits for a send-back, although nobody subscribes to the retry topic (EN-10)."""
    s.require(returns(s, c, q, m))
    s.stage[c, q] = lambda o: ite(in_task(s, c, q, m, o), Stage.FAILED, s.stage[c, q, o])


@concurrently.mutant(
    "D1",
    "failed-send-back-still-acked",
    of=finished_by_send_back,
    killed_by="at-least-once",
    constants={"consumers": 1, "failures": 1, "refusals": 1},
)
def finished_in_any_case(s: GroupState, sent: bool) -> bool:
    """A message is removed from the window with the rest of its batch, whether sending it back worked or not.

    apache/rocketmq-client-cpp#208, apache/rocketmq-client-go#860.
    """
    return True


@concurrently.mutant(
    "C2",
    "sub-batch-failure-returns-whole-pull",
    of=sent_back,
    killed_by="sent-back-only-after-failing",
    constants={"consumers": 1, "failures": 1, "pull_batch": 2, "causes": 1},
)
def whole_window_sent_back(s: GroupState, c: IntLike, q: IntLike, first: IntLike, m: IntLike) -> BoolLike:
    """The failure branch of one small batch goes over the whole pulled list: messages that did not fail come again.

    apache/rocketmq-client-go#504, fixed in 2.1.0.
    """
    return s.stage[c, q, m] != Stage.ABSENT


@concurrently.mutant(
    "C3",
    "result-of-dropped-queue-half-applied",
    of=orphan_after_failure,
    killed_by="nothing-processed-after-a-drop",
    constants={"messages": 1, "moves": 1, "orphans": 1, "failures": 1, "causes": 1},
)
def orphan_sent_back(s: GroupState) -> Orphan:
    """When the listener returns, nobody checks whether the window was dropped: the message is sent back, and the offset
    stays.

    Original and copy are both delivered; with each restart their number doubles (apache/rocketmq#7182).
    """
    return Orphan.FAILED


@concurrently.mutant(
    "D7",
    "retries-never-reach-listener",
    of=begin,
    killed_by="retry-follows-a-delivery",
    constants={
        "consumers": 1,
        "queues": 2,
        "messages": 3,
        "retry_room": 2,
        "copies": 3,
        "failures": 2,
        "attempts": 2,
        "causes": 1,
        "watch_retries": 1,
    },
    tells="{c} looks for a listener for {m} of {q}",
)
def begin_by_physical_topic(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """The listener is looked up by the retry topic's name, none is found, and that counts as a failure.

    The message is sent back until it is dead-lettered, and user code ran once (apache/rocketmq-client-go#437, #971).
    """
    s.require(may_begin(s, c, q), starts_task(s, c, q, m, Stage.WAITING))
    retry = is_retry(s.constants, q)
    if not retry:
        note_delivery(s, c, q, lambda o: in_task(s, c, q, m, o))
    stage = Stage.FAILED if retry else Stage.RUNNING
    s.stage[c, q] = lambda o: ite(in_task(s, c, q, m, o), stage, s.stage[c, q, o])


concurrently.explanation(
    "C1",
    "ack-index-ignored-on-failure",
    naive="only-the-failed-message-sent-back",
    exact="sent-back-only-after-failing",
    constants={"messages": 2, "causes": 1, "batch": 2, "pull_batch": 2, "failures": 1},
    doc="A failure makes the ackIndex -1 (CC-10), so all messages of the task are sent back, even those that the "
    "listener was done with. The index counts with CONSUME_SUCCESS only. Source: #1815, #1382, #7332.",
)
