"""Batches of orderly listeners, what becomes of their results, and how a queue comes and goes with its lock."""

from __future__ import annotations

import pytest

from rocketproof.model.orderly import Result
from rocketproof.model.process_queue import NO_OFFSET, Stage

from .walk import Walk

TAKEN = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)")


def still(*labels: str, **constants: int | str) -> Walk:
    """A walk in which no time passes."""
    return Walk(*labels, listener="orderly", clock="stopped", **constants)


def stages(run: Walk) -> list[Stage]:
    return [Stage(run.value("stage", 0, 0, m)) for m in range(2)]


def test_a_batch_is_the_head_of_the_window_and_the_only_one() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)")
    assert stages(run) == [Stage.RUNNING, Stage.WAITING]
    assert not run.may("begin_batch(c0, q0)")


def test_a_success_moves_the_offset_only_when_the_worker_acts_upon_it() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "succeed_in_order(c0, q0)")
    assert (run["memory[c0, q0]"], run["handled[q0, m0]"]) == (0, 1)
    run("commit_taken(c0, q0)")
    assert (run["memory[c0, q0]"], stages(run)) == (1, [Stage.ABSENT, Stage.WAITING])


def test_a_suspended_batch_goes_back_and_comes_first_again() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "suspend(c0, q0)", "put_batch_back(c0, q0)", failures=1)
    assert stages(run) == [Stage.WAITING, Stage.WAITING]
    assert stages(run("begin_batch(c0, q0)")) == [Stage.RUNNING, Stage.WAITING]


def test_a_dropped_queue_commits_its_window_but_not_its_offset() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "drop_in_order(c0, q0)", moves=1)
    run("succeed_in_order(c0, q0)", "commit_taken(c0, q0)")
    assert (run["memory[c0, q0]"], stages(run)) == (0, [Stage.ABSENT, Stage.WAITING])


def test_a_queue_is_given_up_between_the_end_of_a_listener_and_its_commit_but_not_before() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "drop_in_order(c0, q0)", moves=1)
    assert not run.may("remove(c0, q0)")
    run("succeed_in_order(c0, q0)", "remove(c0, q0)")
    assert (run["committed[q0]"], run["holder[q0]"], run["memory[c0, q0]"]) == (0, 0, NO_OFFSET)
    assert run["result[c0, q0]"] == Result.NONE


def test_a_queue_is_taken_only_with_its_lock() -> None:
    run = still("take(c0, q0)", moves=1)
    assert not run.may("take(c1, q0)")
    assert run("drop_in_order(c0, q0)", "remove(c0, q0)").may("take(c1, q0)")


def test_without_autocommit_success_is_kept_until_a_commit_and_a_rollback_takes_all_back() -> None:
    begin, keep = "begin_batch(c0, q0)", ("succeed_in_order(c0, q0)", "keep_taken(c0, q0)")
    run = still(*TAKEN, begin, *keep, begin, auto_commit=0, failures=1)
    assert (run["memory[c0, q0]"], stages(run)) == (0, [Stage.RUNNING, Stage.RUNNING])
    run("say_rollback(c0, q0)", "roll_back(c0, q0)")
    assert stages(run) == [Stage.WAITING, Stage.WAITING]
    run(begin, *keep, begin, "say_commit(c0, q0)", "commit_taken(c0, q0)")
    assert (run["memory[c0, q0]"], stages(run)) == (2, [Stage.ABSENT, Stage.ABSENT])


@pytest.mark.parametrize("attempts", [0, 1, 3])
def test_a_message_is_sent_to_the_retry_topic_when_it_has_failed_as_often_as_it_may(attempts: int) -> None:
    run = still(*TAKEN, give_up="attempts", attempts=attempts, failures=4)
    for _ in range(attempts):
        run("begin_batch(c0, q0)", "suspend(c0, q0)")
        assert not run.may("publish_batch(c0, q0)")
        run("put_batch_back(c0, q0)")
    run("begin_batch(c0, q0)", "suspend(c0, q0)")
    assert not run.may("put_batch_back(c0, q0)")
    run("publish_batch(c0, q0)")
    assert (run["published[q0, m0]"], run["memory[c0, q0]"], run["goes_round"]) == (1, 1, 0)


def test_a_stopping_client_gives_its_locks_back_before_it_persists_its_offsets() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "succeed_in_order(c0, q0)", "commit_taken(c0, q0)", leaves=1)
    run("stop(c0)", "take(c1, q0)")
    assert (run["next_offset[c1, q0]"], run["committed[q0]"]) == (0, 0)
    assert run.may("persist_at_stop(c0, q0)")


def test_the_first_pull_starts_where_the_last_commit_of_the_old_owner_says() -> None:
    run = still(
        *("take(c0, q0)", "recompute_offset(c0, q0)", "pull(c0, q0)", "begin_batch(c0, q0)"),
        *("succeed_in_order(c0, q0)", "commit_taken(c0, q0)", "commit_late(c0, q0)", "die(c0)", "restart(c0)"),
        "take(c0, q0)",
        **{"late_commits": 1, "crashes": 1, "restarts": 1},
    )
    assert not run.may("pull(c0, q0)")
    run("late_commit_arrives(q0)", "recompute_offset(c0, q0)")
    assert run["next_offset[c0, q0]"] == 1


def test_a_queue_that_comes_back_while_it_is_given_up_waits_for_its_pull_to_expire() -> None:
    run = still(*TAKEN, "begin_batch(c0, q0)", "drop_in_order(c0, q0)", moves=1, reallocations=1)
    run("allocate_again(c0, q0)", "succeed_in_order(c0, q0)", "commit_taken(c0, q0)")
    assert not any(run.may(label) for label in ("remove(c0, q0)", "take(c0, q0)", "begin_batch(c0, q0)"))
    assert run("pull_expires(c0, q0)", "remove(c0, q0)").may("take(c0, q0)")


def test_a_broadcasting_orderly_client_needs_no_lock() -> None:
    run = Walk(listener="orderly", mode="broadcasting")("take(c0, q0)", "take(c1, q0)")
    assert "holder[q0]" not in run.labels
    run("pull(c0, q0)", "pull(c1, q0)", "begin_batch(c0, q0)", "begin_batch(c1, q0)")
