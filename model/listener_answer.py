"""What a listener answers, and what each answer leads to: for the messages, and for hooks and the message trace.

A listener returns a status, returns null, or throws (CC-7, CC-10, OR-7). How long it took changes what hooks are told,
and nothing else. ``ConsumeMessageConcurrentlyService``, ``ConsumeMessageOrderlyService``.

Everything here is a rule: a pure function of whole numbers and truth values, plain or as terms.
"""

from __future__ import annotations

from enum import IntEnum

from .kernel import BoolLike, IntLike, any_of, ite, minimum, rule


class Answer(IntEnum):
    """How a listener call ends.

    SUCCESS and LATER are those of both kinds of listeners (``RECONSUME_LATER``, ``SUSPEND_CURRENT_QUEUE_A_MOMENT``);
    COMMIT and ROLLBACK those of orderly ones only (``ConsumeOrderlyStatus``).
    """

    NULL = 0
    EXCEPTION = 1
    SUCCESS = 2
    LATER = 3
    COMMIT = 4
    ROLLBACK = 5


class ReturnType(IntEnum):
    """``ConsumeReturnType``: what hooks are told, and ``contextCode`` in the message trace."""

    SUCCESS = 0
    TIME_OUT = 1
    EXCEPTION = 2
    RETURNNULL = 3
    FAILED = 4


class Effect(IntEnum):
    """What an orderly answer does to the batch: KEPT batches wait for a COMMIT, and ROLLED_BACK are all that waited."""

    COMMITTED = 0
    KEPT = 1
    PUT_BACK = 2
    ROLLED_BACK = 3


@rule
def status(answer: IntLike) -> IntLike:
    """CC-7, OR-6: the status that a worker goes on with: null and an exception are LATER."""
    return ite(any_of(answer == Answer.NULL, answer == Answer.EXCEPTION), Answer.LATER, answer)


@rule
def return_type(answer: IntLike, elapsed: IntLike, timeout: IntLike) -> IntLike:
    """CC-7: what hooks are told of a call that took ``elapsed``, with ``consumeTimeout`` in the same unit."""
    with_status = ite(
        elapsed >= timeout,
        ReturnType.TIME_OUT,
        ite(answer == Answer.LATER, ReturnType.FAILED, ReturnType.SUCCESS),
    )
    thrown = ite(answer == Answer.EXCEPTION, ReturnType.EXCEPTION, with_status)
    return ite(answer == Answer.NULL, ReturnType.RETURNNULL, thrown)


@rule
def told_as_success(answer: IntLike) -> BoolLike:
    """CC-8: ``ConsumeMessageContext#isSuccess``, which the message trace has as the success of each message."""
    return any_of(answer == Answer.SUCCESS, answer == Answer.COMMIT)


@rule
def last_acknowledged(answer: IntLike, ack_index: IntLike, size: IntLike) -> IntLike:
    """CC-10: index of the last message of a concurrent batch that counts as done; those behind it are sent back.

    Args:
        answer: how the call ended.
        ack_index: what the listener set in its context, from -1; otherwise larger than any index.
        size: messages of the batch.
    """
    return ite(status(answer) == Answer.SUCCESS, minimum(ack_index, size - 1), -1)


@rule
def effect(answer: IntLike, auto_commit: BoolLike) -> IntLike:
    """OR-7: what an orderly worker does with its batch; with autoCommit, ROLLBACK is logged, and commits."""
    said = status(answer)
    later = said == Answer.LATER
    by_hand = ite(
        said == Answer.COMMIT,
        Effect.COMMITTED,
        ite(said == Answer.ROLLBACK, Effect.ROLLED_BACK, Effect.KEPT),
    )
    return ite(later, Effect.PUT_BACK, ite(auto_commit, Effect.COMMITTED, by_hand))
