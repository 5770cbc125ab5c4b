"""Retry policy: what becomes of a message that is sent back — another try, at which delay level, or a dead letter.

Two ways lead to a retry copy. *Request 36* names the failed message by its place in the broker's log; the broker reads
it there and counts from what it has stored (``AbstractSendMessageProcessor#consumerSendMsgBack``). If that fails, the
client *falls back* to producing a new message to the retry topic, and counts from the value that it has in memory
(SB-4: ``DefaultMQPushConsumerImpl#sendMessageBackAsNormalMessage``; SB-15: ``SendMessageProcessor#handleRetryAndDLQ``).
The two agree in 5.3.3; in 4.9.8 the second way gives one try less.

Everything here is a rule: a pure function of whole numbers and truth values, plain or as terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .kernel import BoolLike, IntLike, all_of, any_of, ite, not_, rule

FIRST_LEVEL = 3
"""Delay level of a message that failed for the first time; later failures go up from there."""

DEFAULT_MAXIMUM = 16
"""Number of tries after the first, if the consumer is not configured otherwise."""

EXPIRY_LEVEL = 3
"""PQ-9: delay level requested for a message whose listener runs too long, whatever its count is."""


class Answer(IntEnum):
    """Response codes of the broker to request 36 (``ResponseCode``)."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    NO_PERMISSION = 16
    SUBSCRIPTION_GROUP_NOT_EXIST = 26


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What the broker finds when request 36 arrives, in the order in which it checks."""

    has_master: BoolLike = True  # the broker group has a master (a slave may act in its place; checked since 5.0)
    group_exists: BoolLike = True  # the subscription group is configured
    broker_writable: BoolLike = True  # the broker's permission includes write
    retry_queues: IntLike = 1  # ``retryQueueNums`` of the group
    retry_topic: BoolLike = True  # the retry topic exists or could be created
    retry_topic_writable: BoolLike = True  # its permission includes write
    message_readable: BoolLike = True  # the failed message can be read at the log offset that the request names
    # the dead-letter topic exists or could be created; checked only for a dead letter
    dead_letter_topic: BoolLike = True
    stored: BoolLike = True  # the copy was put with ``PUT_OK``


@dataclass(frozen=True)
class BrokerCheck:
    """One line of the decision table: a requirement, and the answer if it is not met."""

    rule: str
    requires: BoolLike
    answer: Answer


def broker_checks(found: Circumstances, *, dead_letter: BoolLike, version: str = "5.3.3") -> tuple[BrokerCheck, ...]:
    """SB-9 … SB-14 in the broker's order; the first requirement that is not met gives the answer.

    Args:
        found: what the broker finds.
        dead_letter: whether the message is to become a dead letter.
        version: release of the broker.
    """
    checks = (
        BrokerCheck("SB-9", found.has_master, Answer.SYSTEM_ERROR),
        BrokerCheck("SB-10", found.group_exists, Answer.SUBSCRIPTION_GROUP_NOT_EXIST),
        BrokerCheck("SB-11", found.broker_writable, Answer.NO_PERMISSION),
        BrokerCheck("SB-12", found.retry_queues > 0, Answer.SUCCESS),
        BrokerCheck("SB-13", found.retry_topic, Answer.SYSTEM_ERROR),
        BrokerCheck("SB-13", found.retry_topic_writable, Answer.NO_PERMISSION),
        BrokerCheck("SB-14", found.message_readable, Answer.SYSTEM_ERROR),
        BrokerCheck("DQ-1", any_of(not_(dead_letter), found.dead_letter_topic), Answer.SYSTEM_ERROR),
        BrokerCheck("SB-16", found.stored, Answer.SYSTEM_ERROR),
    )
    return checks if version != "4.9.8" else checks[1:]


def answer(checks: tuple[BrokerCheck, ...]) -> IntLike:
    """The broker's response code: that of the first requirement not met, or SUCCESS."""
    code: IntLike = Answer.SUCCESS
    for check in reversed(checks):
        code = ite(check.requires, code, check.answer)
    return code


def copied(checks: tuple[BrokerCheck, ...]) -> BoolLike:
    """Whether a copy is stored. SUCCESS alone does not imply it: with no retry queue, nothing is stored (SB-12)."""
    return all_of(check.requires for check in checks)


@rule
def maximum_sent(configured: IntLike) -> IntLike:
    """SB-2: the maximum that a client sends: 16 if -1 is configured, otherwise the configured value, unchecked.

    ``DefaultMQPushConsumerImpl#getMaxReconsumeTimes``.
    """
    return ite(configured == -1, DEFAULT_MAXIMUM, configured)


@rule
def maximum_applied(of_group: IntLike, sent: IntLike, is_sent: BoolLike) -> IntLike:
    """The maximum that a broker applies: the client's, or the group's ``retryMaxTimes`` if the client sends none.

    Clients since 3.4.9 always send one, except in the second attempt of a fallback (SB-8).
    """
    return ite(is_sent, sent, of_group)


@rule
def is_dead_letter(times: IntLike, maximum: IntLike, delay_level: IntLike) -> BoolLike:
    """Request 36: whether a message that failed at count ``times`` is dead-lettered.

    Args:
        times: ``reconsumeTimes`` as the broker has stored it.
        maximum: see :func:`maximum_applied`.
        delay_level: what the listener asks for: 0 to let the broker decide, below 0 to give up (CC-14).
    """
    return any_of(times >= maximum, delay_level < 0)


@rule
def retry_level(times: IntLike, delay_level: IntLike) -> IntLike:
    """Request 36: delay level of the next try, before the table limits it (DL-2)."""
    return ite(delay_level == 0, FIRST_LEVEL + times, delay_level)


@rule
def copy_times(times: IntLike) -> IntLike:
    """``reconsumeTimes`` of the copy, a dead letter included."""
    return times + 1


@rule
def fallback_level(local_times: IntLike) -> IntLike:
    """SB-4: delay level of a message that the client produces itself; the level requested by the listener is
    ignored.
    """
    return FIRST_LEVEL + local_times


@rule
def fallback_is_dead_letter(times: IntLike, maximum: IntLike, locked: BoolLike) -> BoolLike:
    """SB-15 since 5.1.1: whether a message produced to the retry topic becomes a dead letter.

    Args:
        times: ``reconsumeTimes`` that the client sends: one more than the count at which the message failed.
        maximum: see :func:`maximum_applied`.
        locked: the group holds an orderly lock on this broker that has not expired.
    """
    return any_of(times > maximum, locked)


@rule
def fallback_is_dead_letter_4(times: IntLike, maximum: IntLike) -> BoolLike:
    """SB-15 in 4.x: like :func:`fallback_is_dead_letter`, but one step earlier, and independent of locks."""
    return times >= maximum


def fallback_gives_up(version: str, times: IntLike, maximum: IntLike, locked: BoolLike = False) -> BoolLike:
    """SB-15 in a given release: whether a message produced to the retry topic becomes a dead letter."""
    if version == "4.9.8":
        return fallback_is_dead_letter_4(times, maximum)
    return fallback_is_dead_letter(times, maximum, locked)


@rule
def tries_left(times: IntLike, maximum: IntLike) -> IntLike:
    """How many deliveries a message at count ``times`` can still have after this one, if all of them fail."""
    return ite(times >= maximum, 0, maximum - times)
