"""What listeners answer: every theorem has its verdict, and the false ones have their smallest case."""

from itertools import product

import pytest

from rocketproof.checkers.theorems import prove_theorem
from rocketproof.model.listener_answer import Answer, Effect, ReturnType, effect, last_acknowledged, return_type
from rocketproof.properties.listener_answer import ANSWER_THEOREMS, NAIVE_ANSWER_THEOREMS
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict

TOLD = {
    "time-out-means-tried-again": "a listener that answers SUCCESS after 0 of 0 units of time is acknowledged, and "
    "called a time-out",
    "traced-success-is-acknowledged": "message 0 of a batch of 1, with ackIndex -1, is sent back, and its trace is a "
    "success",
    "rollback-commits-nothing": "with autoCommit, which is the default, ROLLBACK commits the batch",
}


@pytest.mark.parametrize("theorem", ANSWER_THEOREMS, ids=lambda item: item.id)
def test_what_holds_is_proven(theorem: Theorem) -> None:
    assert prove_theorem(theorem).verdict is Verdict.HOLDS


@pytest.mark.parametrize("theorem", NAIVE_ANSWER_THEOREMS, ids=lambda item: item.id)
def test_a_false_belief_has_a_case(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert result.verdict is Verdict.VIOLATED
    assert TOLD[theorem.id] in result.explanation


def test_a_slow_success_is_a_success_that_hooks_call_a_time_out() -> None:
    assert [return_type(Answer.SUCCESS, elapsed, 15) for elapsed in (14, 15)] == [0, ReturnType.TIME_OUT]
    assert last_acknowledged(Answer.SUCCESS, 2**31 - 1, 3) == 2


def test_a_call_without_a_status_is_never_a_time_out() -> None:
    assert return_type(Answer.NULL, 99, 15) == ReturnType.RETURNNULL
    assert return_type(Answer.EXCEPTION, 99, 15) == ReturnType.EXCEPTION


def test_what_each_orderly_answer_does() -> None:
    found = {(answer, auto): Effect(effect(answer, auto)).name for answer, auto in product(Answer, (True, False))}
    failures = (Answer.NULL, Answer.EXCEPTION, Answer.LATER)
    assert {found[answer, auto] for answer in failures for auto in (True, False)} == {"PUT_BACK"}
    assert {found[answer, True] for answer in Answer if answer not in failures} == {"COMMITTED"}
    by_hand = [found[answer, False] for answer in (Answer.SUCCESS, Answer.COMMIT, Answer.ROLLBACK)]
    assert by_hand == ["KEPT", "COMMITTED", "ROLLED_BACK"]
