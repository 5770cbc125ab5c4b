"""What a client may do while it shuts down, though the machine has no step for it; and how narrow that is.

Two threads may be in the middle of something then: a pass of rebalancing, which still adds a queue, and the periodic
``lockAll``, whose request comes after the shutdown has unlocked.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.conformance import Conformance
from rocketproof.traces.conformance.listeners import SKIPPED

from .recorded import of_lines, whys

ASSIGNED = "assign c0 offset=0 epoch=1"
UNREGISTERED = "unregister c0"
STOPPED = "client_stop c0"

LOCKED = "lock c0 result=ok"
UNLOCKED = "unlock c0 epoch=1"


def orderly(folder: Path, *lines: str) -> Conformance:
    """What following events of an orderly listener gives."""
    return of_lines(folder, *lines, listener="orderly")


# --- a pass that was under way still adds the queue -------------------------------------------------------------------


def test_a_queue_that_a_pass_adds_during_the_shutdown_is_passed_over_with_its_window(tmp_path: Path) -> None:
    pulls = ("pull c0 offset=0 epoch=1", "revoke c0 path=shutdown epoch=1")
    answer = of_lines(tmp_path, "client_start c0", UNREGISTERED, ASSIGNED, *pulls, STOPPED)
    assert answer.verdict is Verdict.HOLDS
    assert answer.passed_over == {
        "assignments of clients that are shutting down": 1,
        "of windows that began during a shutdown": 2,
    }
    assert answer.followed == 3


def test_even_one_that_begins_where_no_store_says(tmp_path: Path) -> None:
    before = ("assign c1 offset=1 epoch=1", "commit c1 offset=1 epoch=1", "client_crash c1")
    assert whys(of_lines(tmp_path, *before, UNREGISTERED, ASSIGNED)) == []
    assert whys(of_lines(tmp_path, *before, ASSIGNED)) == ["it begins where the store says, at 1"]


def test_a_pass_that_outlives_the_shutdown_adds_the_queue_later(tmp_path: Path) -> None:
    # Other groups of the process go on, so that its rebalance thread does too.
    answer = of_lines(
        tmp_path, "client_start c0", UNREGISTERED, STOPPED, ASSIGNED, "pull_result c0 result=error epoch=1"
    )
    assert (answer.verdict, answer.followed) == (Verdict.HOLDS, 3)
    assert answer.passed_over == {
        "assignments of clients that are shutting down": 1,
        "of windows that began during a shutdown": 1,
    }


@pytest.mark.parametrize(("end", "later"), [(STOPPED, 5), ("client_crash c0", 0)])
def test_after_its_end_a_client_gets_no_queue(end: str, later: int, tmp_path: Path) -> None:
    others = ["route c1"] * later  # a second each: what was under way has its answer by then
    assert whys(of_lines(tmp_path, UNREGISTERED, end, *others, ASSIGNED)) == ["the client is gone"]


def test_a_queue_that_it_has_is_not_added_again(tmp_path: Path) -> None:
    again = "assign c0 offset=0 epoch=2"
    assert whys(of_lines(tmp_path, ASSIGNED, UNREGISTERED, again)) == [
        "the queue is in the table of the client already"
    ]


@pytest.mark.parametrize(("later", "why"), [(0, []), (5, ["the queue is not in the table of the client"])])
def test_a_pass_that_gives_up_a_queue_as_its_client_stops_may_do_so_after_it(
    later: int, why: list[str], tmp_path: Path
) -> None:
    others = ["route c1"] * later  # a second each
    lines = (ASSIGNED, UNREGISTERED, STOPPED, *others, "revoke c0 path=removal epoch=1")
    assert whys(of_lines(tmp_path, *lines)) == why


def test_the_windows_of_others_are_followed_on(tmp_path: Path) -> None:
    other = ("assign c1 offset=0 epoch=1", "pull c1 offset=1 epoch=1")
    answer = of_lines(tmp_path, UNREGISTERED, ASSIGNED, STOPPED, *other)
    assert whys(answer) == ["the next pull of the window starts at 0"]


# --- a request of lockAll that was under way --------------------------------------------------------------------------


def test_a_late_lock_stays_behind(tmp_path: Path) -> None:
    answer = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, LOCKED, UNREGISTERED, STOPPED)
    assert (answer.verdict, answer.passed_over) == (Verdict.HOLDS, {})
    for locks, holder in (((), "nobody"), ((LOCKED,), "c0")):
        wrong = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, *locks, STOPPED, "client_crash c0")
        assert [mismatch.state.rpartition("; ")[2] for mismatch in wrong.mismatches] == [f"lock held by {holder}"]


def test_the_next_client_gets_it_when_it_has_expired(tmp_path: Path) -> None:
    other = ("lock c1 result=ok", "assign c1 offset=0 epoch=1")
    assert whys(orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, LOCKED, STOPPED, *other)) == []


def test_a_lock_that_another_client_has_is_not_taken_by_a_late_request(tmp_path: Path) -> None:
    other = ("lock c1 result=ok", "assign c1 offset=0 epoch=1")
    answer = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, *other, LOCKED)
    assert whys(answer) == ["the lock is held by c1"]


@pytest.mark.parametrize(("end", "later"), [(STOPPED, 5), ("client_crash c0", 0)])
def test_after_its_end_a_client_locks_nothing(end: str, later: int, tmp_path: Path) -> None:
    others = ["route c1"] * later
    answer = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, UNREGISTERED, end, *others, LOCKED)
    assert whys(answer) == ["the client is gone"]


def test_a_late_lock_brings_no_queue_back(tmp_path: Path) -> None:
    answer = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, LOCKED, "pull c0 offset=0 epoch=1", STOPPED)
    assert answer.passed_over == {"pulls of clients that are shutting down": 1}
    again = orderly(tmp_path, LOCKED, ASSIGNED, UNLOCKED, LOCKED, "assign c0 offset=0 epoch=2")
    assert whys(again) == ["the queue is in the table of the client already"]


# --- a thread that is interrupted takes its message for one that has been cleaned -------------------------------------


def test_what_has_failed_may_leave_without_being_sent_back_once_the_offsets_are_stored(tmp_path: Path) -> None:
    failed = (
        ASSIGNED,
        "pull c0 offset=0 epoch=1",
        "pull_result c0 result=found offset=0 next=2 count=2 epoch=1",
        "deliver c0 offset=0 count=1 epoch=1",
        "deliver c0 offset=1 count=1 epoch=1",
        "result c0 offset=1 result=exception epoch=1",
    )
    leaves = "removed c0 offset=1 next=0 epoch=1"
    answer = of_lines(tmp_path, *failed, "commit c0 offset=0 path=shutdown", leaves, UNREGISTERED, STOPPED)
    assert whys(answer) == []
    assert answer.passed_over[SKIPPED] == 1
    assert whys(of_lines(tmp_path, *failed, leaves)) == ["the message has failed, and was not sent back"]


# --- a send-back that was under way -----------------------------------------------------------------------------------


def test_the_fallback_of_a_request_that_the_shutdown_interrupted_comes_after_it(tmp_path: Path) -> None:
    call = (
        ASSIGNED,
        "pull c0 offset=0 epoch=1",
        "pull_result c0 result=found offset=0 next=1 count=1 epoch=1",
        "deliver c0 offset=0 count=1 epoch=1",
        "result c0 offset=0 result=later epoch=1",
    )
    request = "send_back c0 offset=0 path=request result=failed epoch=1"
    fallback = "send_back c0 offset=0 path=fallback result=failed epoch=1"
    end = (UNREGISTERED, "revoke c0 path=shutdown epoch=1", STOPPED)
    assert whys(of_lines(tmp_path, *call, request, *end, fallback)) == []
    assert whys(of_lines(tmp_path, *call, *end, fallback)) == [
        "the result of a dropped window is thrown away, whatever it is (CC-9)"
    ]


def test_a_request_that_was_under_way_is_answered_after_the_shutdown(tmp_path: Path) -> None:
    held = (
        ASSIGNED,
        "pull c0 offset=0 epoch=1",
        "pull_result c0 result=found offset=0 next=1 count=1 epoch=1",
        "deliver c0 offset=0 count=1 epoch=1",
    )
    failed = "result c0 offset=0 result=exception epoch=1"
    end = (UNREGISTERED, "revoke c0 path=shutdown epoch=1", STOPPED)
    answered = "send_back c0 offset=0 path=request result=ok epoch=1"
    thrown_away = ["the result of a dropped window is thrown away, whatever it is (CC-9)"]
    assert whys(of_lines(tmp_path, *held, failed, *end, answered)) == []
    assert whys(of_lines(tmp_path, *held, *end, failed, answered)) == thrown_away
    assert whys(of_lines(tmp_path, *held, failed, *end, *["route c1"] * 5, answered)) == thrown_away
