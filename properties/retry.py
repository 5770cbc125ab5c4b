"""What can be relied on if listeners fail: how often a message comes again, when, and where it ends.

The arithmetic of counts and levels is proven for every maximum and table in ``retry_policy``. Here are the runs:
answers that are lost, requests that are refused, windows that are dropped, listeners that take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.consume_queue import Message, is_retry
from ..model.consumption import consumption
from ..model.delay import stored_level
from ..model.group import GroupState
from ..model.history import Cause
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.membership import Consumer
from ..model.process_queue import Stage
from ..model.retry_copy import Copy, Place, code, copied, in_retry_queue, readable, stored
from ..model.retry_policy import retry_level
from ..model.route import Queue
from ..model.schedule import waits
from .claim import Claim, Constants, claim_about
from .delivery import at_least_once, explained
from .property import always, eventually, sometimes


def every_copy(holds: Callable[[GroupState, int], BoolLike]) -> Callable[[GroupState], BoolLike]:
    """The predicate that ``holds`` is true of every stored copy."""
    return lambda s: s.forall(Copy, lambda k: implies(stored(s, k), holds(s, k)))


def _arrived(s: GroupState, k: IntLike) -> BoolLike:
    return any_of(all_of(s.dead[k], s.place[k] == Place.DELIVERED), waits(s, k), in_retry_queue(s, k))


def _passed(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    return m < s.committed[q]


def _no_two_copies(s: GroupState, alike: Callable[[int, int], BoolLike]) -> BoolLike:
    def both(j: int, k: int) -> BoolLike:
        return all_of(stored(s, j), stored(s, k), alike(j, k)) if j < k else False

    return not_(s.exists(Copy, lambda j: s.exists(Copy, lambda k: both(j, k))))


def _is_delivered_retry(s: GroupState, k: IntLike) -> BoolLike:
    return all_of(s.place[k] == Place.DELIVERED, not_(s.dead[k]))


@always(
    "attempts-exactly-the-maximum",
    "SB-14",
    "SB-15",
    "SB-20",
    "G5",
    "U9",
    assuming=(
        "the listener leaves the level to the broker",
        "no failed send-back was followed by a fallback (SB-6)",
        "no fallback needs a second attempt (SB-8)",
        "the group holds no orderly lock at the broker (SB-15)",
    ),
)
def attempts(s: GroupState, k: Copy) -> BoolLike:
    """A message that always fails becomes a dead letter exactly when it was sent back once more than the maximum
    allows, neither earlier nor later.
    """
    return implies(stored(s, k), same(s.dead[k], s.tries[k] > s.attempts))


@always(
    "count-is-tries",
    "SB-14",
    "U9",
    assuming=("no failed send-back was followed by a fallback (SB-6)", "no fallback needs a second attempt (SB-8)"),
)
def count(s: GroupState, k: Copy) -> BoolLike:
    """The reconsumeTimes of a copy says how often its message was sent back."""
    return implies(stored(s, k), same(s.times[k], s.tries[k]))


@always("second-attempt-carries-no-count", "SB-8", assuming=("no first attempt was stored",))
def begins_anew(s: GroupState, k: Copy) -> BoolLike:
    """The copy that a client produces at the second attempt has count 0: its message may fail as often as a new one."""
    return implies(stored(s, k), implies(s.reason[k] == Cause.SENT_TWICE, s.times[k] == 0))


@always(
    "delay-as-asked",
    "SB-14",
    "CC-14",
    "G6",
    "U9",
    assuming=("every send-back is answered by the broker", "no listener runs longer than the consume timeout"),
)
def delay_as_asked(s: GroupState, k: Copy) -> BoolLike:
    """A retry waits at the level that its listener asked for, or at level 3 + attempts if it asked for none."""
    asked = stored_level(retry_level(s.tries[k] - 1, s.listener_level), s.levels)
    return implies(stored(s, k), implies(not_(s.dead[k]), same(s.level[k], asked)))


@always("retry-in-its-topic", "SB-14", "U12")
def in_its_topic(s: GroupState, k: Copy) -> BoolLike:
    """Retries are stored only in the group's retry topic, which has nothing else, and dead letters only in its
    dead-letter topic.
    """
    return implies(in_retry_queue(s, k), _is_delivered_retry(s, k))


@always(
    "dead-letter-at-once", "SB-14", "SB-15", "DQ-2", assuming=("request 36 is not refused, or the broker is of 5.x",)
)
def dead_at_once(s: GroupState, k: Copy) -> BoolLike:
    """A dead letter does not wait in the schedule topic."""
    return implies(stored(s, k), implies(s.dead[k], s.place[k] == Place.DELIVERED))


@always("dead-letter-identifiable", "SB-21", "DQ-2")
def dead_identifiable(s: GroupState, k: Copy) -> BoolLike:
    """The origin id of every retry and dead letter names the original message."""
    return implies(stored(s, k), same(s.origin_id[k], s.root[k]))


@always("dead-letter-readable", "DQ-1", assuming=("the topic was created by 4.9.2 or later",))
def dead_readable(s: GroupState, k: Copy) -> BoolLike:
    """Dead letters can be read."""
    return implies(stored(s, k), implies(s.dead[k], readable(s.dead_letter_permission)))


@always(
    "failed-message-never-lost",
    "CC-12",
    "CC-13",
    "SB-12",
    "G2",
    assuming=(
        "the group has a retry queue",
        "no entry of the schedule topic becomes unreadable",
        "no broker loses copies that were not on disk",
    ),
)
def never_lost(s: GroupState) -> BoolLike:
    """A message below the committed offset was handled, or a copy of it is waiting, is in the retry queue, or is a dead
    letter.
    """
    passed_is_handled = s.forall(
        Queue, lambda q: s.forall(Message, lambda m: implies(_passed(s, q, m), s.handled[q, m]))
    )
    return all_of(passed_is_handled, every_copy(_arrived)(s))


@always("retry-follows-a-delivery", "CC-6", "CC-12")
def after_delivery(s: GroupState, k: Copy) -> BoolLike:
    """Every retry stems from a message that a listener has had."""

    def is_source(q: IntLike, m: IntLike) -> BoolLike:
        return all_of(same(s.source[k], code(s, q, m)), s.delivered[q, m])

    return implies(stored(s, k), s.exists(Queue, lambda q: s.exists(Message, lambda m: is_source(q, m))))


@always("every-copy-has-a-cause", "SB-7", "SB-17", "PQ-13", "G3")
def copy_has_cause(s: GroupState) -> BoolLike:
    """One delivery leads to two copies only for a known reason: an answer that was lost, a listener that took too long,
    a send that was repeated.
    """
    return not_(s.unexplained_copy)


@always("nothing-processed-after-a-drop", "CC-9", "U8")
def nothing_after_drop(s: GroupState) -> BoolLike:
    """The result of a listener whose window was dropped before it returned leads to no send-back."""
    return not_(s.processed_after_drop)


@always("one-copy-of-a-message", "SB-17", "G3")
def one_copy(s: GroupState) -> BoolLike:
    """A message that fails once comes again once."""
    return _no_two_copies(s, lambda j, k: same(s.source[j], s.source[k]))


@always("retry-only-after-a-failure", "PQ-9", "G3")
def only_failed(s: GroupState, k: Copy) -> BoolLike:
    """A message comes again as a retry only because its listener failed."""
    return implies(stored(s, k), s.reason[k] != Cause.TIMEOUT)


@always("one-dead-letter-of-a-message", "SB-7", "G5")
def one_dead_letter(s: GroupState) -> BoolLike:
    """A message becomes a dead letter once."""
    return _no_two_copies(s, lambda j, k: all_of(s.dead[j], s.dead[k], same(s.root[j], s.root[k])))


@eventually(
    "failed-message-settles",
    "CC-12",
    "DL-5",
    "G10",
    assuming=("somebody runs", "weak fairness of pulls, listeners, send-backs, timers and deliveries"),
)
def comes_to_rest(s: GroupState) -> BoolLike:
    """Once failures end, every message is eventually handled or becomes a dead letter, and no retry waits for ever."""

    def done(q: IntLike, m: IntLike) -> BoolLike:
        return implies(m < s.log_end[q], s.handled[q, m])

    nothing_waits = s.forall(Copy, lambda k: s.place[k] != Place.SCHEDULE_TOPIC)
    return all_of(nothing_waits, s.forall(Queue, lambda q: s.forall(Message, lambda m: done(q, m))))


@sometimes("chain-to-the-end", "SB-20", "G5")
def chain(s: GroupState, k: Copy) -> BoolLike:
    """A message can fail from its first delivery to the dead-letter topic."""
    return all_of(stored(s, k), s.dead[k], s.tries[k] > 1)


@sometimes("copy-and-original", "CC-12", "G3")
def copy_and_original(s: GroupState, q: Queue) -> BoolLike:
    """A message that was sent back from a dropped window can be waiting as a retry and be in a window again at the same
    time.
    """
    return (
        False
        if is_retry(s.constants, q)
        else s.exists(Message, lambda m: all_of(copied(s, q, m), _in_some_window(s, q, m)))
    )


def _in_some_window(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    return s.exists(Consumer, lambda c: s.stage[c, q, m] == Stage.RUNNING)


RETRY: Constants = {
    "consumers": 2,
    "queues": 2,
    "messages": 3,
    "retry_room": 2,
    "copies": 3,
    "failures": 3,
    "attempts": 1,
    "crashes": 1,
    "refused": 1,
    "lost_replies": 1,
    "watch_retries": 1,
}
"""The preset ``retry``: two clients, one message, retries until it is dead-lettered, and faults at each step."""

CHAIN_ONLY: Constants = {
    "consumers": 1,
    "queues": 2,
    "messages": 3,
    "retry_room": 2,
    "copies": 3,
    "failures": 3,
    "attempts": 2,
    "watch_retries": 1,
}
FALLBACK: Constants = {**CHAIN_ONLY, "refused": 3}
COUNT_LOST: Constants = {**CHAIN_ONLY, "attempts": 1, "count_resets": 1}
LOST_REPLY: Constants = {
    **CHAIN_ONLY,
    "messages": 4,
    "retry_room": 3,
    "copies": 4,
    "attempts": 1,
    "lost_replies": 1,
}
SENT_TWICE: Constants = {
    **CHAIN_ONLY,
    "messages": 4,
    "retry_room": 3,
    "copies": 4,
    "attempts": 1,
    "repeated_fallbacks": 1,
}
DROPPED: Constants = {**CHAIN_ONLY, "consumers": 2, "copies": 2, "failures": 2, "moves": 1, "orphans": 1}
LOCAL_RETRY: Constants = {**CHAIN_ONLY, "refusals": 1, "attempts": 1}
EXPIRED: Constants = {**CHAIN_ONLY, "expiries": 1}
EXPIRED_OLD: Constants = {**EXPIRED, "version": "4.9.8"}

TAKEN_OVER: Constants = {**CHAIN_ONLY, "consumers": 2, "copies": 2, "failures": 2, "crashes": 1}


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about retries, naive ones first."""
    yield _claim(
        one_copy,
        LOST_REPLY,
        "The broker first stores and then answers: if the answer is lost, the client makes a second copy.",
    )
    yield _claim(
        one_copy,
        SENT_TWICE,
        (
            "The copy that a client produces may be stored although the answer is lost: the second attempt makes "
            "another one, with count 0."
        ),
    )
    yield _claim(
        one_copy,
        EXPIRED_OLD,
        (
            "4.9.8 sends a message back because it took too long, and again because it failed: two copies of "
            "one delivery."
        ),
    )
    yield _claim(
        one_copy,
        DROPPED,
        "If a window is dropped between failure and commit, the message comes again both as a retry and as itself.",
    )
    yield _claim(
        only_failed,
        EXPIRED,
        "A listener that runs longer than the consume timeout is not stopped: its message is sent back meanwhile.",
    )
    yield _claim(one_dead_letter, LOST_REPLY, "Every copy has retries of its own, and its own dead letter.")
    yield _claim(
        attempts,
        {**FALLBACK, "version": "4.9.8"},
        "In 4.9.8, a message sent back by the fallback becomes a dead letter one try too early.",
    )
    yield _claim(
        attempts,
        {**LOCAL_RETRY, "refused": 1},
        "Failed send-backs are counted in the client's memory, and the fallback takes them for tries.",
    )
    yield _claim(
        attempts,
        COUNT_LOST,
        "A fallback that needs a second attempt loses the count: the message starts again from 0.",
    )
    yield _claim(
        attempts,
        {**FALLBACK, "group_locked": 1},
        (
            "While the group holds an orderly lock, 5.1.1 and later make a fallback a dead letter at once, "
            "whatever its count."
        ),
    )
    yield _claim(
        delay_as_asked,
        {**FALLBACK, "listener_level": 1},
        "The fallback ignores the level that the listener asked for, even if that means to give up.",
    )
    yield _claim(delay_as_asked, {**EXPIRED, "levels": 5}, "An expired message waits at level 3, whatever its count.")
    yield _claim(
        dead_at_once,
        {**FALLBACK, "version": "4.9.8"},
        "In 4.9.8, a dead letter made by the fallback first waits at its retry level.",
    )
    yield _claim(
        never_lost,
        {**CHAIN_ONLY, "retry_queues": 0},
        "retryQueueNums 0: the broker answers SUCCESS and stores nothing, so a failed message is lost.",
    )
    yield _claim(
        never_lost,
        {**CHAIN_ONLY, "power_losses": 1},
        "A retry copy is answered before it is on disk, whatever flushDiskType says: a broker that loses power may "
        "lose a failed message for good.",
    )
    yield _claim(
        copy_has_cause,
        EXPIRED_OLD,
        "4.9.8 sends an expired message back again when its listener finally fails.",
    )
    for property in (attempts, count, delay_as_asked, dead_at_once, dead_identifiable, dead_readable, chain):
        yield _claim(property, CHAIN_ONLY)
    for property in (attempts, count, in_its_topic, dead_at_once, dead_identifiable, dead_readable, never_lost):
        yield _claim(property, RETRY)
    yield _claim(copy_has_cause, RETRY)
    for property in (attempts, count, delay_as_asked, dead_at_once, dead_readable):
        yield _claim(property, FALLBACK)
    yield _claim(dead_at_once, {**CHAIN_ONLY, "listener_level": -1})
    yield _claim(delay_as_asked, {**CHAIN_ONLY, "listener_level": 2})
    for constants in (DROPPED, LOCAL_RETRY, EXPIRED, SENT_TWICE, COUNT_LOST):
        yield _claim(never_lost, constants)
        yield _claim(copy_has_cause, constants)
    for constants in (DROPPED, EXPIRED):
        for property in (explained, at_least_once):
            yield _claim(property, {**constants, "causes": 1})
    yield _claim(after_delivery, {**CHAIN_ONLY, "causes": 1})
    yield _claim(after_delivery, {**COUNT_LOST, "causes": 1})
    yield _claim(begins_anew, COUNT_LOST)
    yield _claim(nothing_after_drop, {**DROPPED, "failures": 1, "causes": 1})
    yield _claim(copy_and_original, DROPPED)
    for constants in (CHAIN_ONLY, LOST_REPLY, LOCAL_RETRY, EXPIRED, TAKEN_OVER):
        yield _claim(comes_to_rest, constants)
