"""The topic of a retried message: at every attempt the original one, with two exceptions."""

from rocketproof.checkers.theorems import prove_theorem
from rocketproof.model.retry_topic import NO_TOPIC, origin_by_fallback, origin_by_request, seen_topic
from rocketproof.properties.retry_topic import KEPT_WITHOUT_A_LISTENER, NO_RETRY_TOPIC, ORIGINAL_TOPIC
from rocketproof.properties.verdict import Verdict

ORDERS, RETRY, OTHERS_RETRY = 1, 2, 3


def test_the_listener_sees_the_original_topic_whichever_way_it_came() -> None:
    assert prove_theorem(ORIGINAL_TOPIC).verdict is Verdict.HOLDS
    assert seen_topic(RETRY, origin_by_request(ORDERS, NO_TOPIC), RETRY) == ORDERS
    assert seen_topic(RETRY, origin_by_fallback(seen_topic(RETRY, ORDERS, RETRY)), RETRY) == ORDERS


def test_the_retry_topic_of_another_group_is_seen() -> None:
    result = prove_theorem(NO_RETRY_TOPIC)
    assert result.verdict is Verdict.VIOLATED
    assert "of another group sees it" in result.explanation
    assert seen_topic(OTHERS_RETRY, ORDERS, RETRY) == OTHERS_RETRY


def test_a_message_that_no_listener_had_may_lose_its_topic() -> None:
    result = prove_theorem(KEPT_WITHOUT_A_LISTENER)
    assert result.verdict is Verdict.VIOLATED
    assert "if it expires again before its listener was called" in result.explanation
    assert seen_topic(RETRY, origin_by_fallback(RETRY), RETRY) == RETRY
