"""Calls of concurrent listeners and their results."""

from __future__ import annotations

from rocketproof.model.consumption import consumption

from .told import told

ONE = {"consumers": 1, "messages": 2}
BEGUN = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)")


def test_a_success_leaves_the_window_and_moves_the_offset_in_memory() -> None:
    assert told(*BEGUN, "succeed(c0, q0, m0)", "commit(c0, q0)", **ONE)[2:] == [
        "pull c0 q0 offset=0",
        "pull_result c0 q0 offset=0 next=1 count=1 result=found",
        "deliver c0 q0 offset=0 next=1 count=1 key=q0-m0 attempt=0",
        "result c0 q0 offset=0 result=ok key=q0-m0 attempt=0",
        "removed c0 q0 offset=0 next=1 key=q0-m0",
        "commit_memory c0 q0 offset=1",
        "commit c0 q0 offset=1 path=periodic",
    ]


def test_a_batch_is_one_call_and_its_tail_may_fail_alone() -> None:
    batch = {**ONE, "batch": 2, "pull_batch": 2, "failures": 1}
    assert told(*BEGUN, "succeed_up_to(c0, q0, m0, m0)", last=5, **batch) == [
        "deliver c0 q0 offset=0 next=2 count=2 key=q0-m0 attempt=0",
        "deliver c0 q0 offset=1 next=2 count=2 key=q0-m1 attempt=0",
        "result c0 q0 offset=0 result=ok key=q0-m0 attempt=0",
        "result c0 q0 offset=1 result=later key=q0-m1 attempt=0",
        "removed c0 q0 offset=0 next=1 key=q0-m0",
    ]


def test_what_did_not_run_has_no_result_though_a_mutant_sends_it_back() -> None:
    wrong = consumption.mutated("C2")
    steps = ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)", "send_back(c0, q0, m1)"]
    assert told(*steps, machine=wrong, last=4, failures=1, pull_batch=2, **ONE) == [
        "result c0 q0 offset=0 result=later key=q0-m0 attempt=0",
        "send_back c0 q0 offset=1 result=ok path=request key=q0-m1 attempt=0 level=0",
        "delay_store broker-0 retry0 key=q0-m1 attempt=1 level=3",
        "removed c0 q0 offset=1 next=0 key=q0-m1",
    ]


def test_a_result_of_a_dropped_window_is_thrown_away_except_in_a_mutant() -> None:
    constants = {"consumers": 1, "messages": 1, "moves": 1, "orphans": 1, "failures": 1}
    steps = [*BEGUN, "drop(c0, q0)", "orphan_listener_fails(c0, q0, m0)"]
    result = "result c0 q0 offset=0 result=later key=q0-m0"
    assert told(*steps, last=2, **constants) == [result, "discarded c0 q0 offset=0 key=q0-m0"]
    assert told(*steps, machine=consumption.mutated("C3"), last=1, **constants) == [result]


def test_a_failure_in_broadcasting_is_the_end_of_the_message() -> None:
    constants = {"mode": "broadcasting", "failures": 1, **ONE}
    assert told(*BEGUN, "fail(c0, q0, m0)", "persist(c0)", last=5, **constants) == [
        "result c0 q0 offset=0 result=later key=q0-m0 attempt=0",
        "removed c0 q0 offset=0 next=1 key=q0-m0",
        "commit_memory c0 q0 offset=1",
        "file_persist c0",
        "commit c0 q0 offset=1 path=file",
    ]
