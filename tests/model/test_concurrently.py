"""Concurrent consumption: what a result does to the window, and what a drop does to a result, row by row."""

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.history import Cause
from rocketproof.model.process_queue import Orphan, Stage

from .walk import Walk

PULLED = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)")


def walk(**constants: int | str) -> Walk:
    return Walk(consumption, messages=2, causes=1, moves=1, failures=1, refusals=1, orphans=1, **constants)(*PULLED)


def test_the_mark_waits_for_the_lowest_unfinished_message() -> None:
    run = walk()("begin(c0, q0, m1)", "succeed(c0, q0, m1)")
    assert (run["memory[c0, q0]"], run["handled[q0, m1]"]) == (0, 1)
    run("begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert run["memory[c0, q0]"] == 2


def test_a_failed_message_holds_the_mark_until_it_is_sent_back() -> None:
    run = walk()("begin(c0, q0, m0)", "fail(c0, q0, m0)", "begin(c0, q0, m1)", "succeed(c0, q0, m1)")
    assert (run["stage[c0, q0, m0]"], run["memory[c0, q0]"], run["handled[q0, m0]"]) == (Stage.FAILED, 0, 0)
    run("send_back(c0, q0, m0)")
    assert (run["memory[c0, q0]"], run["handled[q0, m0]"]) == (2, 1)


def test_a_message_that_cannot_be_sent_back_is_consumed_again_in_the_same_window() -> None:
    run = walk()("begin(c0, q0, m0)", "fail(c0, q0, m0)", "send_back_fails(c0, q0, m0)")
    assert (run["stage[c0, q0, m0]"], run["cause[q0, m0]"]) == (Stage.WAITING, Cause.FAILED_SEND_BACK)
    run("begin(c0, q0, m0)")
    assert (run["unexplained"], run["cause[q0, m0]"]) == (0, Cause.NONE)


# The table "what happens when dropped flips" of the rules, from the top.


def test_dropped_before_the_listener_starts() -> None:
    run = walk()("drop(c0, q0)")
    assert not [label for label in run.possible() if label.startswith(("begin(c0", "succeed(c0"))]
    assert (run["delivered[q0, m0]"], run["committed[q0]"]) == (0, 0)


@pytest.mark.parametrize("result", ["orphan_succeeds", "orphan_listener_fails"])
def test_dropped_while_the_listener_runs(result: str) -> None:
    run = walk()("begin(c0, q0, m0)", "drop(c0, q0)")
    assert run["orphan[c0, q0, m0]"] == Orphan.RUNNING
    run(f"{result}(c0, q0, m0)")
    assert (run["committed[q0]"], run["orphan[c0, q0, m0]"], run["cause[q0, m0]"]) == (0, Orphan.NONE, Cause.REBALANCE)
    run("take(c1, q0)", "pull(c1, q0)", "begin(c1, q0, m0)")
    assert run["unexplained"] == 0


def test_dropped_between_the_check_and_the_send_back() -> None:
    run = walk()("begin(c0, q0, m0)", "fail(c0, q0, m0)", "drop(c0, q0)", "orphan_sends_back(c0, q0, m0)")
    assert (run["handled[q0, m0]"], run["committed[q0]"]) == (1, 0)
    run("take(c1, q0)", "pull(c1, q0)", "begin(c1, q0, m0)")
    assert run["unexplained"] == 0


def test_dropped_after_the_offset_was_updated() -> None:
    run = walk()("begin(c0, q0, m0)", "succeed(c0, q0, m0)", "drop(c0, q0)")
    assert run["committed[q0]"] == 1


# Batches and the ackIndex.


def batch(*labels: str) -> Walk:
    run = Walk(consumption, messages=3, batch=2, pull_batch=3, failures=1, refusals=1, causes=1)
    return run("take(c0, q0)", "pull(c0, q0)", *labels)


def test_a_pulled_list_is_cut_into_tasks() -> None:
    run = batch()
    assert [run[f"joined[c0, q0, m{m}]"] for m in range(3)] == [0, 1, 0]
    assert [label for label in run.possible() if label.startswith("begin")] == [
        "begin(c0, q0, m0)",
        "begin(c0, q0, m2)",
    ]
    run("begin(c0, q0, m0)")
    assert [run[f"stage[c0, q0, m{m}]"] for m in range(3)] == [Stage.RUNNING, Stage.RUNNING, Stage.WAITING]


def test_a_failure_is_one_of_the_whole_task_whatever_was_done() -> None:
    run = batch("begin(c0, q0, m0)", "fail(c0, q0, m0)")
    assert [run[f"stage[c0, q0, m{m}]"] for m in range(3)] == [Stage.FAILED, Stage.FAILED, Stage.WAITING]


def test_success_up_to_an_index_sends_back_the_rest() -> None:
    run = batch("begin(c0, q0, m0)", "succeed_up_to(c0, q0, m0, m0)")
    assert [run[f"stage[c0, q0, m{m}]"] for m in range(3)] == [Stage.ABSENT, Stage.FAILED, Stage.WAITING]
    assert (run["handled[q0, m0]"], run["handled[q0, m1]"], run["memory[c0, q0]"]) == (1, 0, 0)
    run("send_back(c0, q0, m1)")
    assert run["memory[c0, q0]"] == 2


def test_messages_tried_again_are_tasks_of_their_own() -> None:
    run = batch("begin(c0, q0, m0)", "fail(c0, q0, m0)", "send_back_fails(c0, q0, m0)", "send_back(c0, q0, m1)")
    run("begin(c0, q0, m0)")
    assert [run[f"stage[c0, q0, m{m}]"] for m in range(3)] == [Stage.RUNNING, Stage.ABSENT, Stage.WAITING]


def test_what_outlives_a_window_dies_with_its_process() -> None:
    run = walk(crashes=1, restarts=1)("begin(c0, q0, m0)", "fail(c0, q0, m0)", "drop(c0, q0)")
    assert run["orphan[c0, q0, m0]"] == Orphan.FAILED
    run("die(c0)", "restart(c0)")
    assert run["orphan[c0, q0, m0]"] == Orphan.NONE
    assert "orphan_sends_back(c0, q0, m0)" not in run.possible()
