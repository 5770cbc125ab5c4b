"""What each answer of a listener leads to: theorems for every batch size, ackIndex and duration of a call."""

from __future__ import annotations

from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.listener_answer import (
    Answer,
    Effect,
    ReturnType,
    effect,
    last_acknowledged,
    return_type,
    told_as_success,
)
from .theorem import Theorem


def _is_answer(answer: IntLike) -> BoolLike:
    return all_of(answer >= 0, answer < len(Answer))


def _is_failure(answer: IntLike) -> BoolLike:
    return any_of(answer == Answer.NULL, answer == Answer.EXCEPTION, answer == Answer.LATER)


def _tells(answer: int, elapsed: int, timeout: int) -> str:
    return f"a listener that answers {Answer(answer).name} after {elapsed} of {timeout} units of time"


def _concurrent(answer: IntLike, ack_index: IntLike, size: IntLike, index: IntLike) -> BoolLike:
    return all_of(_is_answer(answer), answer <= Answer.LATER, ack_index >= -1, 0 <= index, index < size)


NULL_AND_EXCEPTION_FAIL = Theorem(
    id="null-and-exceptions-are-failures",
    statement=(
        "A listener that returns null or throws has failed, like one that asks for a later try: of a concurrent batch, "
        "nothing is acknowledged, and an orderly one is put back."
    ),
    sizes=("size",),
    given=lambda answer, ack_index, size, index: all_of(
        _concurrent(answer, ack_index, size, index), _is_failure(answer)
    ),
    claim=lambda answer, ack_index, size, index, auto: all_of(
        index > last_acknowledged(answer, ack_index, size),
        same(effect(answer, auto == 1), Effect.PUT_BACK),
        not_(told_as_success(answer)),
    ),
    covers="every batch size and ackIndex, with and without autoCommit",
    rules=("CC-7", "CC-10", "OR-7"),
)

ACK_INDEX_DIVIDES = Theorem(
    id="ack-index-divides-a-successful-batch",
    statement=(
        "If a concurrent listener succeeds, messages up to ackIndex are acknowledged, and those behind it are sent "
        "back. Without ackIndex, all are acknowledged."
    ),
    sizes=("size",),
    given=_concurrent,
    claim=lambda answer, ack_index, size, index: all_of(
        same(
            index <= last_acknowledged(answer, ack_index, size),
            all_of(answer == Answer.SUCCESS, index <= ack_index),
        ),
        -1 <= last_acknowledged(answer, ack_index, size),
        last_acknowledged(answer, ack_index, size) < size,
    ),
    covers="every batch size and every ackIndex from -1",
    rules=("CC-10",),
)

ORDERLY_ANSWERS = Theorem(
    id="orderly-answers-mean-what-they-say",
    statement=(
        "With autoCommit, an orderly batch is committed unless it is put back. Without, COMMIT commits, ROLLBACK rolls "
        "back what was kept, and SUCCESS keeps the batch. Hooks are told of a success if it is SUCCESS or COMMIT."
    ),
    sizes=(),
    given=_is_answer,
    claim=lambda answer, auto: all_of(
        same(effect(answer, auto == 1) == Effect.PUT_BACK, _is_failure(answer)),
        implies(all_of(auto == 1, not_(_is_failure(answer))), effect(answer, auto == 1) == Effect.COMMITTED),
        implies(all_of(auto != 1, answer == Answer.COMMIT), effect(answer, auto == 1) == Effect.COMMITTED),
        implies(all_of(auto != 1, answer == Answer.ROLLBACK), effect(answer, auto == 1) == Effect.ROLLED_BACK),
        implies(all_of(auto != 1, answer == Answer.SUCCESS), effect(answer, auto == 1) == Effect.KEPT),
        same(told_as_success(answer), effect(answer, False) <= Effect.KEPT),
    ),
    covers="every answer, with and without autoCommit",
    rules=("CC-8", "OR-7"),
)

HOOKS_ARE_TOLD = Theorem(
    id="hooks-are-told-how-a-call-ended",
    statement=(
        "Hooks can distinguish null, an exception, a failure and a success. A call that returned a status after "
        "consumeTimeout or more is a time-out to them, whatever the status."
    ),
    sizes=("elapsed", "timeout"),
    given=lambda answer, elapsed, timeout: all_of(_is_answer(answer), 0 <= elapsed, 0 <= timeout),
    claim=lambda answer, elapsed, timeout: all_of(
        same(return_type(answer, elapsed, timeout) == ReturnType.RETURNNULL, answer == Answer.NULL),
        same(return_type(answer, elapsed, timeout) == ReturnType.EXCEPTION, answer == Answer.EXCEPTION),
        same(
            return_type(answer, elapsed, timeout) == ReturnType.TIME_OUT,
            all_of(answer > Answer.EXCEPTION, elapsed >= timeout),
        ),
        same(
            return_type(answer, elapsed, timeout) == ReturnType.FAILED,
            all_of(answer == Answer.LATER, elapsed < timeout),
        ),
    ),
    covers="every answer and every duration",
    rules=("CC-7", "OR-6"),
)

TIME_OUT_IS_NO_FAILURE = Theorem(
    id="time-out-means-tried-again",
    statement="A listener call that hooks and the message trace call a time-out was not acknowledged.",
    sizes=("elapsed", "timeout"),
    given=lambda answer, elapsed, timeout: all_of(
        _is_answer(answer), 0 <= elapsed, 0 <= timeout, return_type(answer, elapsed, timeout) == ReturnType.TIME_OUT
    ),
    claim=lambda answer: last_acknowledged(answer, 0, 1) < 0,
    tells=lambda answer, elapsed, timeout: f"{_tells(answer, elapsed, timeout)} is acknowledged, and called a time-out",
    covers="every answer and every duration",
    rules=("CC-7",),
)

TRACED_SUCCESS = Theorem(
    id="traced-success-is-acknowledged",
    statement="Each message of a concurrent batch of which the message trace has a success is acknowledged.",
    sizes=("size",),
    given=lambda answer, ack_index, size, index: all_of(
        _concurrent(answer, ack_index, size, index), told_as_success(answer)
    ),
    claim=lambda answer, ack_index, size, index: index <= last_acknowledged(answer, ack_index, size),
    tells=lambda ack_index, size, index: (
        f"message {index} of a batch of {size}, with ackIndex {ack_index}, is sent back, and its trace is a success"
    ),
    covers="every batch size and ackIndex",
    rules=("CC-8", "CC-10"),
)

ROLLBACK_IS_NO_ACKNOWLEDGEMENT = Theorem(
    id="rollback-commits-nothing",
    statement="An orderly listener that answers ROLLBACK gets its messages again.",
    sizes=(),
    claim=lambda auto: effect(Answer.ROLLBACK, auto == 1) != Effect.COMMITTED,
    tells=lambda auto: "with autoCommit, which is the default, ROLLBACK commits the batch",
    covers="with and without autoCommit",
    rules=("OR-7",),
)

ANSWER_THEOREMS = (NULL_AND_EXCEPTION_FAIL, ACK_INDEX_DIVIDES, ORDERLY_ANSWERS, HOOKS_ARE_TOLD)
"""What holds for every answer."""

NAIVE_ANSWER_THEOREMS = (TIME_OUT_IS_NO_FAILURE, TRACED_SUCCESS, ROLLBACK_IS_NO_ACKNOWLEDGEMENT)
"""Popular beliefs; each is false."""
