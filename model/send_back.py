"""Send-back: how a failed message becomes a retry copy, and what the window does with the answer.

The client asks the broker to copy the message (request 36). If that fails, or seems to, it produces the copy itself
(SB-4); if that fails as well, it consumes the message again in 5 s (CC-12). A copy is stored before the client knows of
it, so a lost answer leads to a second copy (SB-7, SB-8). Nothing here checks whether a copy exists already (SB-17).
Each way is one step together with the removal from the window: a death or a drop in between has the same effect as one
just before, in a dropped window, or just after, before the offset is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .concurrently import comes_back, consume_again, finished_by_send_back, handle, may_send_back
from .consume_queue import Message
from .delay import stored_level
from .history import Cause, note_success
from .kernel import BoolLike, Constants, IntLike, Machine, State, all_of, any_of, constant, ite, not_, same, variable
from .membership import PROCESS, Consumer
from .process_queue import Orphan, Stage, counts_send_backs, finish, held, take_out
from .retry_copy import NewCopy, retries, store, times_of
from .retry_policy import (
    EXPIRY_LEVEL,
    copy_times,
    fallback_gives_up,
    fallback_level,
    is_dead_letter,
    retry_level,
)
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

send_back = Machine("send_back", doc="The ways from a failed delivery to a retry copy, and what can go wrong on them.")


def _expires(k: Constants) -> bool:
    return retries(k) and bool(k.expiries)


@send_back.state
class SendBackState(State):
    """Failed deliveries on their way back to the broker."""

    listener_level = constant(0, low=-1, high=18, doc="delayLevelWhenNextConsume: 0 leaves it to the broker")
    retry_queues = constant(1, high=1, doc="retryQueueNums; 0 is a configuration that loses messages (SB-12)")
    refused = constant(0, high=4, doc="how often request 36 may fail, nothing stored (SB-9 … SB-14)")
    lost_replies = constant(0, high=2, doc="how often request 36 may store a copy and seem to fail (SB-7)")
    count_resets = constant(0, high=2, doc="how often a fallback may need a second attempt (SB-8)")
    repeated_fallbacks = constant(0, high=2, doc="how often its first attempt may store a copy all the same (SB-8)")
    group_locked = constant(0, high=1, doc="1: the group holds orderly locks at this broker (SB-15)")
    expiries = constant(0, high=2, doc="how often a listener may run longer than the consume timeout (PQ-9)")
    overdue = variable(
        bool,
        Consumer,
        Queue,
        Message,
        when=_expires,
        lives_in=PROCESS,
        doc="its listener runs on after it was sent back, and will return (PQ-9)",
    )


send_back.constraint(
    "copies",
    "listener",
    "mode",
    holds=lambda k: not k.copies or (k.listener == "concurrently" and k.mode == "clustering"),
    message="retry copies are made by concurrent consumers in clustering mode",
)

GROUP_MAXIMUM = 16
"""``retryMaxTimes`` of the group, which applies if the request names no maximum (SB-8)."""


def local_times(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """``reconsumeTimes`` in the client's memory: the stored count plus the failed send-backs since (SB-6)."""
    extra = s.failed_send_backs[c, q, m] if counts_send_backs(s.constants) else 0
    return times_of(s, q, m) + extra


@send_back.definition
def dead_letter_level(s: GroupState, level: IntLike) -> IntLike:
    """SB-14: a dead letter is stored without delay, whatever level it would have had as a retry."""
    return 0


@send_back.definition
def by_request(s: GroupState, q: IntLike, m: IntLike, level: IntLike, reason: Cause) -> NewCopy:
    """SB-14: the copy that the broker makes, from the count that it has stored (``consumerSendMsgBack``)."""
    times = times_of(s, q, m)
    dead = is_dead_letter(times, s.attempts, level)
    waits = stored_level(retry_level(times, level), s.levels)
    return NewCopy(
        q=q,
        m=m,
        times=copy_times(times),
        level=ite(dead, dead_letter_level(s, waits), waits),
        dead=dead,
        reason=reason,
    )


@send_back.definition
def fallback_decision(s: GroupState, local: IntLike) -> tuple[IntLike, BoolLike]:
    """SB-4, SB-15: the count that the client sends, and whether the broker makes a dead letter of it."""
    sent = copy_times(local)
    return sent, fallback_gives_up(s.version, sent, s.attempts, bool(s.group_locked))


def by_fallback(s: GroupState, c: IntLike, q: IntLike, m: IntLike, reason: Cause) -> NewCopy:
    """SB-4: the copy that the client produces, from the count that it has in memory; the listener's level is ignored.

    In 4.9.8 a dead letter made this way keeps its delay (SB-15): the properties the client sends come last.
    """
    local = local_times(s, c, q, m)
    times, dead = fallback_decision(s, local)
    waits = stored_level(fallback_level(local), s.levels)
    level = waits if s.version == "4.9.8" else ite(dead, dead_letter_level(s, waits), waits)
    return NewCopy(q=q, m=m, times=times, level=level, dead=dead, reason=reason, by_fallback=True)


def _attempted_again(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> NewCopy:
    """SB-8: the first attempt consumed the count and the maximum; the second is sent without them."""
    level = stored_level(fallback_level(local_times(s, c, q, m)), s.levels)
    dead = fallback_gives_up(s.version, 0, GROUP_MAXIMUM, bool(s.group_locked))
    return NewCopy(q=q, m=m, times=0, level=level, dead=dead, reason=Cause.SENT_TWICE, by_fallback=True)


def _note_copies(s: GroupState, c: IntLike, q: IntLike, m: IntLike, reason: Cause = Cause.NONE) -> None:
    """For the observer: a delivery led to a copy; a further copy from the same delivery needs a reason."""
    if s.watch_retries:
        if reason is Cause.NONE:
            s.unexplained_copy = any_of(s.unexplained_copy, s.answered[c, q, m])
        s.answered[c, q, m] = True


def _failed(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(may_send_back(s, c), s.stage[c, q, m] == Stage.FAILED)


def _is_sent(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> None:
    """CC-12, CC-13: a message that was sent back counts as finished."""
    handle(s, q, lambda o: same(o, m))
    finish(s, c, q, lambda o: same(o, m))


@send_back.action(fair=True, tells="{c} sends {m} of {q} back", when=lambda k: retries(k) and k.retry_queues)
def send_back_by_request(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-2: request 36 is answered with SUCCESS, and a copy is stored."""
    s.require(_failed(s, c, q, m))
    store(s, by_request(s, q, m, s.listener_level, Cause.NONE))
    _note_copies(s, c, q, m)
    _is_sent(s, c, q, m)


@send_back.action(
    fair=True,
    tells="{c} sends {m} of {q} back, and nothing is stored",
    when=lambda k: retries(k) and not k.retry_queues,
)
def send_back_to_nowhere(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-12: with retryQueueNums ≤ 0 the broker answers SUCCESS and stores nothing (G2-6)."""
    s.require(_failed(s, c, q, m))
    finish(s, c, q, lambda o: same(o, m))


@send_back.action(
    budget="lost_replies", tells="{c} sends {m} of {q} back; the answer is lost, it falls back", when=retries
)
def send_back_twice(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-7: the copy is stored, the answer lost or late (5 s), so the client produces a second one (G3-6)."""
    s.require(_failed(s, c, q, m))
    store(
        s,
        by_request(s, q, m, s.listener_level, Cause.STORED_BUT_REFUSED),
        by_fallback(s, c, q, m, Cause.STORED_BUT_REFUSED),
    )
    _note_copies(s, c, q, m, Cause.STORED_BUT_REFUSED)
    _is_sent(s, c, q, m)


@send_back.action(budget="refused", tells="{c} cannot send {m} of {q} back, and produces a copy", when=retries)
def send_back_by_fallback(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-3, SB-4: the request fails, and nothing is stored by it."""
    s.require(_failed(s, c, q, m))
    store(s, by_fallback(s, c, q, m, Cause.NONE))
    _note_copies(s, c, q, m)
    _is_sent(s, c, q, m)


@send_back.action(budget="count_resets", tells="{c} produces a copy of {m} of {q} at the second attempt", when=retries)
def send_back_without_count(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-8: the request fails, the first attempt of the fallback too; the second goes out with count 0."""
    s.require(_failed(s, c, q, m))
    store(s, _attempted_again(s, c, q, m))
    _note_copies(s, c, q, m, Cause.SENT_TWICE)
    _is_sent(s, c, q, m)


@send_back.action(
    budget="repeated_fallbacks",
    tells="{c} produces a copy of {m} of {q}; the answer is lost, it produces another",
    when=retries,
)
def fallback_stored_twice(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-8: the request fails; the fallback's first attempt is stored, its connection breaks, the second is stored."""
    s.require(_failed(s, c, q, m))
    store(s, by_fallback(s, c, q, m, Cause.SENT_TWICE), _attempted_again(s, c, q, m))
    _note_copies(s, c, q, m, Cause.SENT_TWICE)
    _is_sent(s, c, q, m)


@send_back.action(budget="refusals", tells="{c} can neither send {m} of {q} back nor produce a copy", when=retries)
def send_back_fails_twice(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """SB-5, CC-12: consumed again after 5 s, in the same window, with the count in memory raised by one."""
    s.require(_failed(s, c, q, m))
    if finished_by_send_back(s, False):
        finish(s, c, q, lambda o: same(o, m))
        return
    s.failed_send_backs[c, q, m] = s.failed_send_backs[c, q, m] + 1
    consume_again(s, c, q, m)


def _from_dropped_window(k: Constants) -> bool:
    return bool(retries(k) and k.failures and k.orphans)


@send_back.action(fair=True, tells="{c} sends {m} of {q} back from a dropped window", when=_from_dropped_window)
def orphan_copied(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-12, CC-13: the drop came between check and send-back: a retry copy, and the original comes again (G3-8)."""
    s.require(may_send_back(s, c), s.orphan[c, q, m] == Orphan.FAILED)
    store(s, by_request(s, q, m, s.listener_level, Cause.REBALANCE))
    handle(s, q, lambda o: same(o, m))
    s.orphan[c, q, m] = Orphan.NONE


@send_back.definition
def may_expire(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """PQ-9: a message that waits for a thread never expires, as it has no start time.

    That an earlier call may have left it one is not followed: when a message could not be sent back, or in a copy that
    a client produced (``DefaultMQPushConsumerImpl#sendMessageBackAsNormalMessage`` keeps all properties).
    """
    return s.stage[c, q, m] == Stage.RUNNING


@send_back.action(budget="expiries", tells="{c} sends {m} of {q} back: its listener runs for too long", when=retries)
def clean_expired(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """PQ-9: the first message of the window, if it has been in a listener for longer than the consume timeout.

    It is sent back at level 3 and removed, the offset is not updated, and the listener continues to run
    (``ProcessQueue#cleanExpiredMsg``).
    """
    first = s.forall(Message, lambda o: not_(all_of(o < m, held(s, c, q, o))))
    s.require(may_send_back(s, c), may_expire(s, c, q, m), first)
    store(s, by_request(s, q, m, EXPIRY_LEVEL, Cause.TIMEOUT))
    _note_copies(s, c, q, m, Cause.TIMEOUT)
    handle(s, q, lambda o: same(o, m))
    take_out(s, c, q, lambda o: same(o, m))
    s.overdue[c, q, m] = all_of(s.stage[c, q, m] == Stage.RUNNING, comes_back(s, c, q, m))


def _late_result(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(may_send_back(s, c), s.overdue[c, q, m])


def _update_offset(s: GroupState, c: IntLike, q: IntLike) -> None:
    """CC-13, PQ-2: there is nothing left to remove; the offset follows the mark, unless the window is empty or
    dropped.
    """
    with s.when(all_of(s.owns[c, q], s.exists(Message, lambda o: held(s, c, q, o)))):
        finish(s, c, q, lambda o: False)


@send_back.action(fair=True, tells="the overdue listener of {c} succeeds with {m} of {q}", when=_expires)
def overdue_succeeds(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """G3-7: the message is handled, and its copy is under way."""
    s.require(_late_result(s, c, q, m))
    note_success(s, c, q, lambda o: same(o, m))
    handle(s, q, lambda o: same(o, m))
    _update_offset(s, c, q)
    s.overdue[c, q, m] = False


@send_back.definition
def sent_back_again(s: GroupState) -> bool:
    """PQ-13: a message that is no longer in the window is not sent back; 4.9.8 does not check."""
    return bool(s.version == "4.9.8")


@send_back.action(
    budget="failures", tells="the overdue listener of {c} fails with {m} of {q}", when=lambda k: _expires(k)
)
def overdue_fails(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-12: the late failure of a message that was already sent back for its time."""
    s.require(_late_result(s, c, q, m))
    if sent_back_again(s):
        store(s, by_request(s, q, m, s.listener_level, Cause.NONE))
        _note_copies(s, c, q, m)
    _update_offset(s, c, q)
    s.overdue[c, q, m] = False


_CHAIN = {"consumers": 1, "queues": 2, "messages": 3, "retry_room": 2, "copies": 3, "failures": 3, "watch_retries": 1}
"""One message that fails as often as it is delivered."""


@send_back.mutant(
    "D2",
    "dead-letter-delayed-by-hours",
    of=dead_letter_level,
    killed_by="dead-letter-at-once",
    constants=_CHAIN,
)
def delayed_dead_letter(s: GroupState, level: IntLike) -> IntLike:
    """The delay is not cleared: the store redirects the dead letter to the schedule topic, for up to two hours.

    apache/rocketmq#2724, fixed in 4.9.2.
    """
    return level


@send_back.mutant(
    "D3",
    "orderly-retries-forever-after-max",
    of=fallback_decision,
    killed_by="attempts-exactly-the-maximum",
    constants={**_CHAIN, "refused": 3},
)
def sent_unchanged_given_up_above(s: GroupState, local: IntLike) -> tuple[IntLike, BoolLike]:
    """The client sends the count the message failed at, the broker gives up above the maximum: never.

    apache/rocketmq#6163, #5717, fixed in 5.1.1.
    """
    return local, local > s.attempts


@send_back.mutant(
    "D3-at-maximum",
    "fallback-never-counts",
    of=fallback_decision,
    killed_by="attempts-exactly-the-maximum",
    constants={**_CHAIN, "refused": 3},
)
def sent_unchanged_given_up_at(s: GroupState, local: IntLike) -> tuple[IntLike, BoolLike]:
    """The client sends the count the message failed at, the broker gives up at the maximum: the count never grows."""
    return local, local >= s.attempts


@send_back.mutant(
    "D3-one-less",
    "fallback-gives-up-early",
    of=fallback_decision,
    killed_by="attempts-exactly-the-maximum",
    constants={**_CHAIN, "refused": 3},
)
def sent_next_given_up_at(s: GroupState, local: IntLike) -> tuple[IntLike, BoolLike]:
    """The client sends the count of the copy, the broker gives up at the maximum: one try less, as 4.x does (SB-15)."""
    return copy_times(local), copy_times(local) >= s.attempts


@send_back.mutant(
    "D11",
    "send-back-to-name-server",
    of=send_back_by_request,
    killed_by="delay-as-asked",
    constants={**_CHAIN, "listener_level": 1},
    tells="{c} asks a name server to copy {m} of {q}, is refused, and produces a copy",
)
def request_to_name_server(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """No master is found, and a request without address goes to a name server, which refuses it: every time.

    What is left is the fallback (apache/rocketmq#8963, fixed in 5.3.2).
    """
    s.require(_failed(s, c, q, m))
    store(s, by_fallback(s, c, q, m, Cause.NONE))
    _note_copies(s, c, q, m)
    _is_sent(s, c, q, m)


@send_back.mutant(
    "F2",
    "clean-up-of-unstarted-messages",
    of=may_expire,
    killed_by="retry-follows-a-delivery",
    constants={**_CHAIN, "expiries": 1, "causes": 1},
)
def unstarted_expires(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """A message without a start time counts as expired, so it is sent back without having been delivered.

    apache/rocketmq-client-go#879, #1034, fixed in 2.1.2.
    """
    return held(s, c, q, m)


@send_back.mutant(
    "F3",
    "timeout-copy-plus-late-result",
    of=sent_back_again,
    killed_by="every-copy-has-a-cause",
    constants={**_CHAIN, "expiries": 1},
)
def late_failure_sent_back(s: GroupState) -> bool:
    """The late failure of an expired message is not checked against the window: it is sent back a second time.

    apache/rocketmq#5480, #5481, fixed in 5.1.0.
    """
    return True


send_back.misconfiguration(
    "D6",
    "fallback-send-back-ignores-delay",
    killed_by="delay-as-asked",
    constants={**_CHAIN, "listener_level": 1},
    sets={"refused": 1},
    doc="The listener chooses a delay level, the request fails once, and the fallback takes 3 + attempts instead, even "
    "where the listener asked to give up (apache/rocketmq#3731, #9342; open).",
)

send_back.explanation(
    "F3-late",
    "timeout-copy-while-listener-runs",
    naive="retry-only-after-a-failure",
    exact="every-copy-has-a-cause",
    constants={**_CHAIN, "expiries": 1},
    doc="A call that lasts longer than the consume timeout is sent back at level 3 and goes on; when it succeeds the "
    "copy is delivered all the same (apache/rocketmq#1600, #2625, #7337). Raise consumeTimeout, or shorten the call.",
)
send_back.explanation(
    "C3-design",
    "copy-and-original",
    naive="one-copy-of-a-message",
    exact="nothing-processed-after-a-drop",
    constants={**_CHAIN, "consumers": 2, "copies": 2, "failures": 2, "moves": 1, "orphans": 1, "causes": 1},
    doc="A window is dropped between a failure and the commit: the message is sent back and not passed, so it comes as "
    "a retry and as itself, and each may fail again (apache/rocketmq#7182). Nothing prevents it; consume idempotently.",
)
