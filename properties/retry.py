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
from .delivery import AT_LEAST_ONCE, EXPLAINED
from .property import Kind, Property


def every_copy(holds: Callable[[GroupState, int], BoolLike]) -> Callable[[GroupState], BoolLike]:
    """The predicate that ``holds`` is true of every stored copy."""
    return lambda s: s.forall(Copy, lambda k: implies(stored(s, k), holds(s, k)))


def _arrived(s: GroupState, k: IntLike) -> BoolLike:
    return any_of(all_of(s.dead[k], s.place[k] == Place.DELIVERED), waits(s, k), in_retry_queue(s, k))


def _passed(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    return m < s.committed[q]


def _never_lost(s: GroupState) -> BoolLike:
    passed_is_handled = s.forall(
        Queue, lambda q: s.forall(Message, lambda m: implies(_passed(s, q, m), s.handled[q, m]))
    )
    return all_of(passed_is_handled, every_copy(_arrived)(s))


def _source_delivered(s: GroupState, k: IntLike) -> BoolLike:
    def is_source(q: IntLike, m: IntLike) -> BoolLike:
        return all_of(same(s.source[k], code(s, q, m)), s.delivered[q, m])

    return s.exists(Queue, lambda q: s.exists(Message, lambda m: is_source(q, m)))


def _level_as_asked(s: GroupState, k: IntLike) -> BoolLike:
    asked = stored_level(retry_level(s.tries[k] - 1, s.listener_level), s.levels)
    return implies(not_(s.dead[k]), same(s.level[k], asked))


def _dead_of_same_root(s: GroupState, j: int, k: int) -> BoolLike:
    return all_of(stored(s, j), stored(s, k), s.dead[j], s.dead[k], same(s.root[j], s.root[k]))


def _pairs(holds: Callable[[GroupState, int, int], BoolLike]) -> Callable[[GroupState], BoolLike]:
    """The predicate that ``holds`` is true of no two copies."""
    return lambda s: not_(s.exists(Copy, lambda j: s.exists(Copy, lambda k: holds(s, j, k) if j < k else False)))


def _at_rest(s: GroupState) -> BoolLike:
    """Every message was handled, in every queue that it entered, and no copy waits."""

    def done(q: IntLike, m: IntLike) -> BoolLike:
        return implies(m < s.log_end[q], s.handled[q, m])

    nothing_waits = s.forall(Copy, lambda k: s.place[k] != Place.SCHEDULE_TOPIC)
    return all_of(nothing_waits, s.forall(Queue, lambda q: s.forall(Message, lambda m: done(q, m))))


def _is_delivered_retry(s: GroupState, k: IntLike) -> BoolLike:
    return all_of(s.place[k] == Place.DELIVERED, not_(s.dead[k]))


ATTEMPTS = Property[GroupState](
    id="attempts-exactly-the-maximum",
    statement=(
        "A message that always fails becomes a dead letter exactly when it was sent back once more than the "
        "maximum allows, neither earlier nor later."
    ),
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: same(s.dead[k], s.tries[k] > s.attempts)),
    assuming=(
        "the listener leaves the level to the broker",
        "no failed send-back was followed by a fallback (SB-6)",
        "no fallback needs a second attempt (SB-8)",
        "the group holds no orderly lock at the broker (SB-15)",
    ),
    rules=("SB-14", "SB-15", "SB-20", "G5", "U9"),
)
COUNT = Property[GroupState](
    id="count-is-tries",
    statement="The reconsumeTimes of a copy says how often its message was sent back.",
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: same(s.times[k], s.tries[k])),
    assuming=("no failed send-back was followed by a fallback (SB-6)", "no fallback needs a second attempt (SB-8)"),
    rules=("SB-14", "U9"),
)
BEGINS_ANEW = Property[GroupState](
    id="second-attempt-carries-no-count",
    statement=(
        "The copy that a client produces at the second attempt has count 0: its message may fail as often as a new one."
    ),
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: implies(s.reason[k] == Cause.SENT_TWICE, s.times[k] == 0)),
    assuming=("no first attempt was stored",),
    rules=("SB-8",),
)
DELAY_AS_ASKED = Property[GroupState](
    id="delay-as-asked",
    statement=(
        "A retry waits at the level that its listener asked for, or at level 3 + attempts if it asked for none."
    ),
    kind=Kind.ALWAYS,
    holds=every_copy(_level_as_asked),
    assuming=("every send-back is answered by the broker", "no listener runs longer than the consume timeout"),
    rules=("SB-14", "CC-14", "G6", "U9"),
)
IN_ITS_TOPIC = Property[GroupState](
    id="retry-in-its-topic",
    statement=(
        "Retries are stored only in the group's retry topic, which has nothing else, and dead letters only in its "
        "dead-letter topic."
    ),
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Copy, lambda k: implies(in_retry_queue(s, k), _is_delivered_retry(s, k))),
    rules=("SB-14", "U12"),
)
DEAD_AT_ONCE = Property[GroupState](
    id="dead-letter-at-once",
    statement="A dead letter does not wait in the schedule topic.",
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: implies(s.dead[k], s.place[k] == Place.DELIVERED)),
    assuming=("request 36 is not refused, or the broker is of 5.x",),
    rules=("SB-14", "SB-15", "DQ-2"),
)
DEAD_IDENTIFIABLE = Property[GroupState](
    id="dead-letter-identifiable",
    statement="The origin id of every retry and dead letter names the original message.",
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: same(s.origin_id[k], s.root[k])),
    rules=("SB-21", "DQ-2"),
)
DEAD_READABLE = Property[GroupState](
    id="dead-letter-readable",
    statement="Dead letters can be read.",
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: implies(s.dead[k], readable(s.dead_letter_permission))),
    assuming=("the topic was created by 4.9.2 or later",),
    rules=("DQ-1",),
)
NEVER_LOST = Property[GroupState](
    id="failed-message-never-lost",
    statement=(
        "A message below the committed offset was handled, or a copy of it is waiting, is in the retry queue, "
        "or is a dead letter."
    ),
    kind=Kind.ALWAYS,
    holds=_never_lost,
    assuming=(
        "the group has a retry queue",
        "no entry of the schedule topic becomes unreadable",
        "no broker loses copies that were not on disk",
    ),
    rules=("CC-12", "CC-13", "SB-12", "G2"),
)
AFTER_DELIVERY = Property[GroupState](
    id="retry-follows-a-delivery",
    statement="Every retry stems from a message that a listener has had.",
    kind=Kind.ALWAYS,
    holds=every_copy(_source_delivered),
    rules=("CC-6", "CC-12"),
)
COPY_HAS_CAUSE = Property[GroupState](
    id="every-copy-has-a-cause",
    statement="One delivery leads to two copies only for a known reason: an answer that was lost, a listener that took "
    "too long, a send that was repeated.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.unexplained_copy),
    rules=("SB-7", "SB-17", "PQ-13", "G3"),
)
NOTHING_AFTER_DROP = Property[GroupState](
    id="nothing-processed-after-a-drop",
    statement="The result of a listener whose window was dropped before it returned leads to no send-back.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.processed_after_drop),
    rules=("CC-9", "U8"),
)
ONE_COPY = Property[GroupState](
    id="one-copy-of-a-message",
    statement="A message that fails once comes again once.",
    kind=Kind.ALWAYS,
    holds=_pairs(lambda s, j, k: all_of(stored(s, j), stored(s, k), same(s.source[j], s.source[k]))),
    rules=("SB-17", "G3"),
)
ONLY_FAILED = Property[GroupState](
    id="retry-only-after-a-failure",
    statement="A message comes again as a retry only because its listener failed.",
    kind=Kind.ALWAYS,
    holds=every_copy(lambda s, k: s.reason[k] != Cause.TIMEOUT),
    rules=("PQ-9", "G3"),
)
ONE_DEAD_LETTER = Property[GroupState](
    id="one-dead-letter-of-a-message",
    statement="A message becomes a dead letter once.",
    kind=Kind.ALWAYS,
    holds=_pairs(_dead_of_same_root),
    rules=("SB-7", "G5"),
)
COMES_TO_REST = Property[GroupState](
    id="failed-message-settles",
    statement=(
        "Once failures end, every message is eventually handled or becomes a dead letter, and no retry waits for ever."
    ),
    kind=Kind.EVENTUALLY,
    holds=_at_rest,
    assuming=("somebody runs", "weak fairness of pulls, listeners, send-backs, timers and deliveries"),
    rules=("CC-12", "DL-5", "G10"),
)
CHAIN = Property[GroupState](
    id="chain-to-the-end",
    statement="A message can fail from its first delivery to the dead-letter topic.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(Copy, lambda k: all_of(stored(s, k), s.dead[k], s.tries[k] > 1)),
    rules=("SB-20", "G5"),
)
COPY_AND_ORIGINAL = Property[GroupState](
    id="copy-and-original",
    statement=(
        "A message that was sent back from a dropped window can be waiting as a retry and be in a window again "
        "at the same time."
    ),
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Queue,
        lambda q: (
            False
            if is_retry(s.constants, q)
            else s.exists(Message, lambda m: all_of(copied(s, q, m), _in_some_window(s, q, m)))
        ),
    ),
    rules=("CC-12", "G3"),
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
        ONE_COPY,
        LOST_REPLY,
        "The broker first stores and then answers: if the answer is lost, the client makes a second copy.",
    )
    yield _claim(
        ONE_COPY,
        SENT_TWICE,
        (
            "The copy that a client produces may be stored although the answer is lost: the second attempt makes "
            "another one, with count 0."
        ),
    )
    yield _claim(
        ONE_COPY,
        EXPIRED_OLD,
        (
            "4.9.8 sends a message back because it took too long, and again because it failed: two copies of "
            "one delivery."
        ),
    )
    yield _claim(
        ONE_COPY,
        DROPPED,
        "If a window is dropped between failure and commit, the message comes again both as a retry and as itself.",
    )
    yield _claim(
        ONLY_FAILED,
        EXPIRED,
        "A listener that runs longer than the consume timeout is not stopped: its message is sent back meanwhile.",
    )
    yield _claim(ONE_DEAD_LETTER, LOST_REPLY, "Every copy has retries of its own, and its own dead letter.")
    yield _claim(
        ATTEMPTS,
        {**FALLBACK, "version": "4.9.8"},
        "In 4.9.8, a message sent back by the fallback becomes a dead letter one try too early.",
    )
    yield _claim(
        ATTEMPTS,
        {**LOCAL_RETRY, "refused": 1},
        "Failed send-backs are counted in the client's memory, and the fallback takes them for tries.",
    )
    yield _claim(
        ATTEMPTS,
        COUNT_LOST,
        "A fallback that needs a second attempt loses the count: the message starts again from 0.",
    )
    yield _claim(
        ATTEMPTS,
        {**FALLBACK, "group_locked": 1},
        (
            "While the group holds an orderly lock, 5.1.1 and later make a fallback a dead letter at once, "
            "whatever its count."
        ),
    )
    yield _claim(
        DELAY_AS_ASKED,
        {**FALLBACK, "listener_level": 1},
        "The fallback ignores the level that the listener asked for, even if that means to give up.",
    )
    yield _claim(DELAY_AS_ASKED, {**EXPIRED, "levels": 5}, "An expired message waits at level 3, whatever its count.")
    yield _claim(
        DEAD_AT_ONCE,
        {**FALLBACK, "version": "4.9.8"},
        "In 4.9.8, a dead letter made by the fallback first waits at its retry level.",
    )
    yield _claim(
        NEVER_LOST,
        {**CHAIN_ONLY, "retry_queues": 0},
        "retryQueueNums 0: the broker answers SUCCESS and stores nothing, so a failed message is lost.",
    )
    yield _claim(
        NEVER_LOST,
        {**CHAIN_ONLY, "power_losses": 1},
        "A retry copy is answered before it is on disk, whatever flushDiskType says: a broker that loses power may "
        "lose a failed message for good.",
    )
    yield _claim(
        COPY_HAS_CAUSE,
        EXPIRED_OLD,
        "4.9.8 sends an expired message back again when its listener finally fails.",
    )
    for property in (ATTEMPTS, COUNT, DELAY_AS_ASKED, DEAD_AT_ONCE, DEAD_IDENTIFIABLE, DEAD_READABLE, CHAIN):
        yield _claim(property, CHAIN_ONLY)
    for property in (ATTEMPTS, COUNT, IN_ITS_TOPIC, DEAD_AT_ONCE, DEAD_IDENTIFIABLE, DEAD_READABLE, NEVER_LOST):
        yield _claim(property, RETRY)
    yield _claim(COPY_HAS_CAUSE, RETRY)
    for property in (ATTEMPTS, COUNT, DELAY_AS_ASKED, DEAD_AT_ONCE, DEAD_READABLE):
        yield _claim(property, FALLBACK)
    yield _claim(DEAD_AT_ONCE, {**CHAIN_ONLY, "listener_level": -1})
    yield _claim(DELAY_AS_ASKED, {**CHAIN_ONLY, "listener_level": 2})
    for constants in (DROPPED, LOCAL_RETRY, EXPIRED, SENT_TWICE, COUNT_LOST):
        yield _claim(NEVER_LOST, constants)
        yield _claim(COPY_HAS_CAUSE, constants)
    for constants in (DROPPED, EXPIRED):
        for property in (EXPLAINED, AT_LEAST_ONCE):
            yield _claim(property, {**constants, "causes": 1})
    yield _claim(AFTER_DELIVERY, {**CHAIN_ONLY, "causes": 1})
    yield _claim(AFTER_DELIVERY, {**COUNT_LOST, "causes": 1})
    yield _claim(BEGINS_ANEW, COUNT_LOST)
    yield _claim(NOTHING_AFTER_DROP, {**DROPPED, "failures": 1, "causes": 1})
    yield _claim(COPY_AND_ORIGINAL, DROPPED)
    for constants in (CHAIN_ONLY, LOST_REPLY, LOCAL_RETRY, EXPIRED, TAKEN_OVER):
        yield _claim(COMES_TO_REST, constants)
