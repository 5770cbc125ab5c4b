"""What limits on cached messages promise: limits by bytes, and limits for a topic that several queues share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.flow_control import divided_limit, whole_mib
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, implies, ite, not_
from ..model.membership import Consumer
from ..model.process_queue import held
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import at_least_once, every_window, progress
from .property import always, sometimes
from .theorem import Theorem


def _held_at_last_pull(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return all_of(held(s, c, q, m), m < s.next_offset[c, q] - s.pull_batch)


def _mib_at_last_pull(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The whole MiB of those messages that the window had at its last pull and still has."""
    large = ite(_held_at_last_pull(s, c, q, 0), s.large, 0) if s.large else 0
    small = s.count(Message, lambda m: all_of(_held_at_last_pull(s, c, q, m), m > 0 if s.large else True))
    return whole_mib(large, small, s.per_mib)


def _cached(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    return s.count(Message, lambda m: held(s, c, q, m))


def _where(limit: str, holds: Callable[[GroupState], BoolLike]) -> Callable[[GroupState], BoolLike]:
    """What ``holds`` says if there is such a limit; a limit of 0 means none, and always counts as kept."""
    return lambda s: holds(s) if s.constants[limit] else True


@always("size-threshold-kept", "PL-8")
def size_kept(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """When a client pulls from a queue, it has at most pullThresholdSizeForQueue whole MiB of it."""
    return implies(s.owns[c, q], _mib_at_last_pull(s, c, q) <= s.size_threshold) if s.size_threshold else True


@sometimes("size-threshold-reached", "PL-8")
def size_reached(s: GroupState) -> BoolLike:
    """A pull is put off only above pullThresholdSizeForQueue, and a fraction of a MiB is not above it."""
    return not_(every_window(s, lambda c, q: _cached(s, c, q) < (s.size_threshold + 1) * s.per_mib - 1 + s.pull_batch))


@always("large-message-waits-alone", "PL-8", assuming=("the queue is consumed from its beginning",))
def large_alone(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """While a client holds a message larger than its limit, it pulls nothing after it except what came in the same
    pull.
    """
    return implies(s.owns[c, q], implies(held(s, c, q, 0), s.next_offset[c, q] <= s.pull_batch)) if s.large else True


def _keeps_to_its_part(s: GroupState, c: IntLike, queues: IntLike) -> BoolLike:
    part = divided_limit(s.topic_threshold, queues)
    return s.exists(Queue, lambda q: _cached(s, c, q) <= part + s.pull_batch)


@always("topic-threshold-divided", "PL-7", assuming=("the client keeps its queues",))
def topic_divided(s: GroupState, c: Consumer) -> BoolLike:
    """The queue that a client took last has at most its part of pullThresholdForTopic, and one pull."""
    return _keeps_to_its_part(s, c, s.queues) if s.topic_threshold else True


@sometimes("topic-threshold-reached", "PL-7")
def topic_reached(s: GroupState, c: Consumer) -> BoolLike:
    """Each queue of a client may have its part of pullThresholdForTopic, and one pull."""
    return s.forall(Queue, lambda q: _cached(s, c, q) >= divided_limit(s.topic_threshold, s.queues) + s.pull_batch)


@always("topic-threshold-kept", "PL-7")
def topic_kept(s: GroupState, c: Consumer) -> BoolLike:
    """A client has at most pullThresholdForTopic messages of all its queues together, and one pull of each."""
    return (
        sum(_cached(s, c, q) for q in range(s.queues)) <= s.topic_threshold + s.queues * s.pull_batch
        if s.topic_threshold
        else True
    )


@always("topic-size-threshold-divided", "PL-8", assuming=("the client keeps its queues",))
def topic_size_divided(s: GroupState, c: Consumer) -> BoolLike:
    """The queue that a client took last is pulled from only while it has at most its part of
    pullThresholdSizeForTopic.
    """
    return (
        s.exists(
            Queue,
            lambda q: _mib_at_last_pull(s, c, q) <= divided_limit(s.topic_size_threshold, s.queues),
        )
        if s.topic_size_threshold
        else True
    )


def topic_limit_kept(*, at_least_one_each: bool) -> Theorem:
    """Whether the parts of a limit together do not exceed it."""
    return Theorem(
        id="topic-limit-shared" if at_least_one_each else "topic-limit-never-exceeded",
        statement="The parts of a topic's limit that a client's queues get do not exceed the limit together.",
        sizes=("limit", "queues"),
        given=lambda limit, queues: all_of(limit >= 1, queues >= 1, queues <= limit if at_least_one_each else True),
        claim=lambda limit, queues: queues * divided_limit(limit, queues) <= limit,
        tells=lambda limit, queues: (
            f"each of {queues} queues may have {divided_limit(limit, queues)} of {limit} in all"
        ),
        covers="every limit and every number of queues",
        rules=("PL-7", "PL-8"),
    )


def nothing_given_away() -> Theorem:
    """No queue is without a part, and no part could be larger."""
    return Theorem(
        id="topic-limit-used-up",
        statement="Each queue may have at least one message, and one more for each queue would exceed the limit.",
        sizes=("limit", "queues"),
        given=lambda limit, queues: all_of(limit >= 1, queues >= 1),
        claim=lambda limit, queues: all_of(
            divided_limit(limit, queues) >= 1,
            queues * (divided_limit(limit, queues) + 1) > limit,
        ),
        covers="every limit and every number of queues",
        rules=("PL-7", "PL-8"),
    )


def size_is_cut_off() -> Theorem:
    """PL-8: integer division."""
    return Theorem(
        id="cached-size-in-whole-mib",
        statement="Flow control counts whole MiB: a fraction of a MiB is not seen.",
        sizes=("large", "others", "per_mib"),
        given=lambda large, others, per_mib: all_of(large >= 0, others >= 0, per_mib >= 1),
        claim=lambda large, others, per_mib: all_of(
            (whole_mib(large, others, per_mib) - large) * per_mib <= others,
            others < (whole_mib(large, others, per_mib) - large + 1) * per_mib,
        ),
        covers="every number and size of messages",
        rules=("PL-8",),
    )


FLOW_THEOREMS: tuple[Theorem, ...] = (topic_limit_kept(at_least_one_each=True), nothing_given_away(), size_is_cut_off())
"""What holds for limits, whatever they are."""

NAIVE_FLOW_THEOREMS: tuple[Theorem, ...] = (topic_limit_kept(at_least_one_each=False),)
"""A limit that is smaller than the number of queues is exceeded."""

ALONE: Constants = {"consumers": 1}
SIZES: Constants = {**ALONE, "messages": 4, "size_threshold": 1, "per_mib": 2}
LARGE: Constants = {**ALONE, "messages": 3, "size_threshold": 1, "per_mib": 2, "large": 2}
TOPIC: Constants = {**ALONE, "queues": 2, "messages": 3, "topic_threshold": 2}
TOPIC_SIZE: Constants = {**ALONE, "queues": 2, "messages": 3, "topic_size_threshold": 2}

_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about limits by bytes and by topic; those by number and span of messages are among the other
    settings.
    """
    for constants in (SIZES, {**SIZES, "messages": 5, "pull_batch": 2}, LARGE):
        yield _claim(size_kept, constants)
    yield _claim(size_reached, SIZES)
    yield _claim(large_alone, LARGE)
    # A message above the limit does not block itself: the limit is checked before a pull.
    for constants in (SIZES, LARGE, {**LARGE, "size_threshold": 1, "large": 5}):
        yield _claim(progress, constants)
    for property in (topic_divided, topic_reached, at_least_once):
        yield _claim(property, TOPIC)
    yield _claim(
        topic_kept,
        TOPIC,
        (
            "The limit of a topic is divided by the number of queues a client has now: what it cached when it "
            "had fewer stays."
        ),
    )
    yield _claim(topic_size_divided, TOPIC_SIZE)
    yield _claim(progress, {**TOPIC, "topic_threshold": 1, "messages": 2})
