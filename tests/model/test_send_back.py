"""Ways from a failed delivery to a copy, step by step, and what a window does with each answer."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.history import Cause
from rocketproof.model.kernel import ConfigurationError
from rocketproof.model.process_queue import Stage
from rocketproof.model.retry_copy import Place

from .walk import Walk

ONE_MESSAGE: dict[str, int | str] = {
    "consumers": 1,
    "queues": 2,
    "messages": 3,
    "retry_room": 2,
    "copies": 3,
    "failures": 3,
    "watch_retries": 1,
}
FAILED = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)")
RETRIED = (
    "send_back_by_request(c0, q0, m0)",
    "ripen(k0)",
    "deliver(k0)",
    "take(c0, q1)",
    "pull(c0, q1)",
    "begin(c0, q1, m0)",
    "fail(c0, q1, m0)",
)


class Played(Walk):
    """The state after some actions; its variables by name and index."""

    def __init__(self, *labels: str, **constants: int | str) -> None:
        super().__init__(*labels, **{**ONE_MESSAGE, **constants})

    def copy(self, k: int) -> dict[str, Any]:
        """The copy ``k``."""
        return {name: self.value(name, k) for name in ("place", "dead", "times", "level")}


def waiting(times: int, level: int) -> dict[str, int]:
    return {"place": Place.SCHEDULE_TOPIC, "dead": 0, "times": times, "level": level}


def dead(times: int) -> dict[str, int]:
    return {"place": Place.DELIVERED, "dead": 1, "times": times, "level": 0}


def test_a_failed_message_becomes_a_copy_and_counts_as_finished() -> None:
    played = Played(*FAILED, "send_back_by_request(c0, q0, m0)")
    assert played.copy(0) == waiting(1, 3)
    assert (played.value("memory", 0, 0), played.value("stage", 0, 0, 0), played.value("handled", 0, 0)) == (
        1,
        Stage.ABSENT,
        1,
    )


def test_a_retry_that_fails_for_the_last_time_becomes_a_dead_letter_at_once() -> None:
    played = Played(*FAILED, *RETRIED, "send_back_by_request(c0, q1, m0)")
    assert played.copy(1) == dead(2)
    assert (
        played.value("source", 0),
        played.value("source", 1),
        played.value("root", 1),
        played.value("tries", 1),
    ) == (0, 3, 0, 2)
    assert played.value("dead_letter_permission") == 6


@pytest.mark.parametrize(
    ("level", "stored"), [(0, waiting(1, 3)), (2, waiting(1, 2)), (9, waiting(1, 4)), (-1, dead(1))]
)
def test_the_level_of_the_listener_decides(level: int, stored: dict[str, int]) -> None:
    assert Played(*FAILED, "send_back_by_request(c0, q0, m0)", listener_level=level).copy(0) == stored


@pytest.mark.parametrize("level", [0, 2, -1])
def test_the_fallback_ignores_the_level_of_the_listener(level: int) -> None:
    played = Played(*FAILED, "send_back_by_fallback(c0, q0, m0)", listener_level=level, refused=1)
    assert played.copy(0) == waiting(1, 3)


def test_the_fallback_of_4_9_8_makes_a_delayed_dead_letter_one_try_early() -> None:
    played = Played(*FAILED, "send_back_by_fallback(c0, q0, m0)", refused=1, version="4.9.8")
    assert played.copy(0) == {**waiting(1, 3), "dead": 1}


def test_a_lock_of_the_group_turns_the_fallback_into_a_dead_letter() -> None:
    played = Played(*FAILED, "send_back_by_fallback(c0, q0, m0)", refused=1, group_locked=1, attempts=3)
    assert played.copy(0) == dead(1)


def test_a_lost_answer_makes_two_copies() -> None:
    played = Played(*FAILED, "send_back_twice(c0, q0, m0)", lost_replies=1)
    assert [played.copy(0), played.copy(1)] == [waiting(1, 3)] * 2
    assert (played.value("source", 0), played.value("source", 1)) == (0, 0)


def test_a_second_attempt_of_the_fallback_loses_the_count() -> None:
    played = Played(*FAILED, *RETRIED, "send_back_without_count(c0, q1, m0)", count_resets=1)
    assert (played.copy(1), played.value("tries", 1)) == (waiting(0, 4), 2)


def test_a_fallback_whose_first_attempt_was_stored_makes_a_second_copy_without_count() -> None:
    played = Played(*FAILED, "fallback_stored_twice(c0, q0, m0)", repeated_fallbacks=1)
    assert [played.copy(0), played.copy(1)] == [waiting(1, 3), waiting(0, 3)]
    assert [played.value("reason", 0), played.value("reason", 1)] == [Cause.SENT_TWICE] * 2


def test_where_both_ways_fail_the_message_stays_in_the_window_and_counts_in_memory() -> None:
    played = Played(*FAILED, "send_back_fails_twice(c0, q0, m0)", refusals=1)
    assert (
        played.value("stage", 0, 0, 0),
        played.value("memory", 0, 0),
        played.value("failed_send_backs", 0, 0, 0),
    ) == (1, 0, 1)
    again = ("begin(c0, q0, m0)", "fail(c0, q0, m0)")
    by_request = Played(
        *FAILED, "send_back_fails_twice(c0, q0, m0)", *again, "send_back_by_request(c0, q0, m0)", refusals=1
    )
    assert by_request.copy(0) == waiting(1, 3)  # the broker counts what it has stored (SB-6)
    by_fallback = Played(
        *FAILED,
        "send_back_fails_twice(c0, q0, m0)",
        *again,
        "send_back_by_fallback(c0, q0, m0)",
        refusals=1,
        refused=1,
        attempts=3,
    )
    assert by_fallback.copy(0) == waiting(2, 4)  # the client counts what it has in memory


def test_without_a_retry_queue_the_message_is_gone() -> None:
    played = Played(*FAILED, "send_back_to_nowhere(c0, q0, m0)", retry_queues=0)
    assert (played.value("place", 0), played.value("memory", 0, 0), played.value("handled", 0, 0)) == (Place.NONE, 1, 0)


def test_an_expired_message_is_sent_back_at_level_3_and_its_offset_is_not_updated() -> None:
    played = Played(*FAILED[:-1], "clean_expired(c0, q0, m0)", expiries=1)
    assert played.copy(0) == waiting(1, 3)
    assert (played.value("stage", 0, 0, 0), played.value("memory", 0, 0), played.value("overdue", 0, 0, 0)) == (
        Stage.ABSENT,
        0,
        1,
    )
    assert {"overdue_succeeds(c0, q0, m0)", "overdue_fails(c0, q0, m0)"} <= played.enabled()


def test_an_expired_retry_waits_at_level_3_as_well() -> None:
    played = Played(*FAILED, *RETRIED[:-1], "clean_expired(c0, q1, m0)", expiries=1, attempts=2)
    assert played.copy(1) == waiting(2, 3)


@pytest.mark.parametrize(("version", "copies"), [("5.3.3", 1), ("4.9.8", 2)])
def test_a_late_failure_of_an_expired_message_is_sent_back_again_by_4_9_8(version: str, copies: int) -> None:
    played = Played(*FAILED[:-1], "clean_expired(c0, q0, m0)", "overdue_fails(c0, q0, m0)", expiries=1, version=version)
    assert [played.value("place", k) != Place.NONE for k in range(3)].count(True) == copies


def test_only_the_first_message_of_a_window_expires() -> None:
    started = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m1)")
    blocked = Played(*started, expiries=1, messages=4)
    assert not {label for label in blocked.enabled() if label.startswith("clean_expired")}
    running = Played(*started, "begin(c0, q0, m0)", expiries=1, messages=4)
    assert {label for label in running.enabled() if label.startswith("clean_expired")} == {"clean_expired(c0, q0, m0)"}


def test_a_message_that_failed_in_a_window_dropped_since_is_copied_and_comes_again() -> None:
    played = Played(
        *FAILED, "drop(c0, q0)", "orphan_copied(c0, q0, m0)", "take(c0, q0)", "pull(c0, q0)", moves=1, orphans=1
    )
    assert (played.copy(0), played.value("stage", 0, 0, 0)) == (waiting(1, 3), Stage.WAITING)


def test_without_room_nothing_can_be_sent_back() -> None:
    assert "send_back_by_request(c0, q1, m0)" not in Played(*FAILED, *RETRIED, copies=1).enabled()


@pytest.mark.parametrize(
    "constants",
    [{"queues": 1}, {"messages": "unbounded"}, {"listener": "orderly"}, {"mode": "broadcasting"}],
    ids=lambda constants: next(iter(constants)),
)
def test_copies_need_a_retry_queue_bounded_messages_and_concurrent_clustering(constants: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        consumption.configure(**{**ONE_MESSAGE, **constants})
