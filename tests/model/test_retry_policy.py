"""The rules of sending back: the broker's decision table, counts, levels and dead letters."""

from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable, stored_level
from rocketproof.model.kernel import Rule
from rocketproof.model.retry_policy import (
    Answer,
    Circumstances,
    answer,
    broker_checks,
    copied,
    copy_times,
    fallback_gives_up,
    fallback_is_dead_letter,
    fallback_is_dead_letter_4,
    fallback_level,
    is_dead_letter,
    maximum_applied,
    maximum_sent,
    retry_level,
    tries_left,
)

RULES: list[Rule[..., Any]] = [
    copy_times,
    fallback_is_dead_letter_4,
    fallback_level,
    is_dead_letter,
    maximum_sent,
    retry_level,
    stored_level,
    tries_left,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@given(data=st.data())
def test_plain_numbers_terms_and_machine_code_agree(rule: Rule[..., Any], data: st.DataObject) -> None:
    values = [data.draw(st.integers(-3, 25), label=name) for name in rule.parameters]
    symbols, expression = rule.term()
    known = z3.simplify(z3.substitute(expression, *zip(symbols, map(z3.IntVal, values), strict=True)))
    computed = rule(*values)
    assert (z3.is_true(known) if z3.is_bool(known) else known.as_long()) == computed
    assert rule.native(*values) == int(computed)


# In the broker's order: each line is met before those below it are asked.
REFUSALS: list[tuple[str, dict[str, Any], int]] = [
    ("SB-9", {"has_master": False}, 1),
    ("SB-10", {"group_exists": False}, 26),
    ("SB-11", {"broker_writable": False}, 16),
    ("SB-12", {"retry_queues": 0}, 0),
    ("SB-13", {"retry_topic": False}, 1),
    ("SB-13", {"retry_topic_writable": False}, 16),
    ("SB-14", {"message_readable": False}, 1),
    ("DQ-1", {"dead_letter_topic": False}, 1),
    ("SB-16", {"stored": False}, 1),
]


@pytest.mark.parametrize("place", range(len(REFUSALS)), ids=[rule for rule, _, _ in REFUSALS])
def test_the_first_check_that_fires_gives_the_answer(place: int) -> None:
    everything_from_here: dict[str, Any] = {}
    for _, found, _ in REFUSALS[place:]:
        everything_from_here.update(found)
    checks = broker_checks(Circumstances(**everything_from_here), dead_letter=True)
    assert [check.rule for check in checks] == [rule for rule, _, _ in REFUSALS]
    assert answer(checks) == REFUSALS[place][2]
    assert not copied(checks)


def test_a_copy_is_stored_where_every_check_is_passed() -> None:
    checks = broker_checks(Circumstances(), dead_letter=False)
    assert (answer(checks), copied(checks)) == (Answer.SUCCESS, True)


def test_the_dead_letter_topic_matters_to_dead_letters_only() -> None:
    found = Circumstances(dead_letter_topic=False)
    answers = [answer(broker_checks(found, dead_letter=dead)) for dead in (False, True)]
    assert answers == [Answer.SUCCESS, Answer.SYSTEM_ERROR]


def test_a_broker_of_4_9_8_does_not_ask_for_its_master() -> None:
    found = Circumstances(has_master=False)
    answers = [answer(broker_checks(found, dead_letter=False, version=version)) for version in ("5.3.3", "4.9.8")]
    assert answers == [Answer.SYSTEM_ERROR, Answer.SUCCESS]


def test_no_retry_queue_answers_success_and_stores_nothing() -> None:
    checks = broker_checks(Circumstances(retry_queues=0), dead_letter=False)
    assert (answer(checks), copied(checks)) == (Answer.SUCCESS, False)


@pytest.mark.parametrize(("configured", "sent"), [(-1, 16), (0, 0), (16, 16), (17, 17), (-2, -2)])
def test_the_client_sends_16_where_minus_1_is_configured(configured: int, sent: int) -> None:
    assert maximum_sent(configured) == sent


def test_the_maximum_of_the_group_counts_only_where_the_client_sends_none() -> None:
    assert maximum_applied(16, 3, True) == 3
    assert maximum_applied(16, 3, False) == 16


@pytest.mark.parametrize(
    ("times", "maximum", "level", "dead"),
    [(15, 16, 0, False), (16, 16, 0, True), (0, 16, -1, True), (0, 0, 0, True), (0, -2, 0, True), (16, 17, 5, False)],
)
def test_request_36_gives_up_at_the_maximum_or_on_demand(times: int, maximum: int, level: int, dead: bool) -> None:
    assert is_dead_letter(times, maximum, level) is dead


@pytest.mark.parametrize(("times", "level", "asked"), [(0, 0, 3), (15, 0, 18), (16, 0, 19), (4, 2, 2)])
def test_the_level_is_three_and_the_count_unless_the_listener_asks(times: int, level: int, asked: int) -> None:
    assert retry_level(times, level) == asked


def test_the_fallback_of_4_9_8_gives_up_one_step_early() -> None:
    sent = copy_times(15)
    assert [fallback_gives_up(version, sent, 16) for version in ("5.3.3", "4.9.8")] == [False, True]


def test_an_orderly_lock_turns_a_fallback_into_a_dead_letter_since_5_1_1() -> None:
    assert fallback_is_dead_letter(1, 16, True)
    assert fallback_gives_up("5.3.3", 1, 16, True)
    assert not fallback_gives_up("4.9.8", 1, 16, True)


def test_a_default_chain_has_17_deliveries_and_17140_seconds_of_waiting() -> None:
    table, maximum = DelayTable.parse(DEFAULT_LEVELS), maximum_sent(-1)
    times, deliveries, waited = 0, 1, 0
    while not is_dead_letter(times, maximum, 0):
        waited += table.delay(stored_level(retry_level(times, 0), table.levels))
        times = copy_times(times)
        deliveries += 1
    assert (deliveries, waited, copy_times(times)) == (17, 17_140_000, 17)
