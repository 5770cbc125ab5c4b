"""Queues that enter and leave the tables, and the offsets that go with them."""

from __future__ import annotations

from rocketproof.model.consumption import consumption

from .told import events, told

ONE = {"consumers": 1, "messages": 2, "moves": 1}


def test_a_queue_is_taken_where_the_broker_says() -> None:
    assert told("take(c0, q0)", **ONE) == ["offset_query c0 q0 offset=0 result=ok", "assign c0 q0 offset=0"]


def test_a_queue_is_dropped_with_a_last_commit() -> None:
    steps = ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "drop(c0, q0)"]
    assert told(*steps, last=2, **ONE) == ["commit c0 q0 offset=1 path=removal", "revoke c0 q0 path=removal"]


def test_a_last_commit_that_is_late_is_recorded_when_it_arrives() -> None:
    steps = ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "drop_delaying_commit(c0, q0)"]
    constants = {**ONE, "late_commits": 1}
    assert told(*steps, last=1, **constants) == ["revoke c0 q0 path=removal"]
    assert told(*steps, "late_commit_arrives(q0)", last=1, **constants) == ["commit c0 q0 offset=1 path=removal"]


def test_where_nothing_is_stored_the_client_is_told_so() -> None:
    constants = {"consumers": 1, "messages": 2, "group": "new"}
    assert told("take(c0, q0)", **constants) == ["offset_query c0 q0 result=none", "assign c0 q0 offset=2"]


def test_a_query_that_fails_leaves_the_queue_alone_except_in_a_mutant() -> None:
    constants = {**ONE, "failed_queries": 1}
    failed = "offset_query c0 q0 result=error"
    assert told("query_fails(c0, q0)", **constants) == [failed]
    wrong = consumption.mutated("B1")
    assert told("query_fails(c0, q0)", machine=wrong, **constants) == [failed, "assign c0 q0 offset=0"]


def test_a_new_window_has_another_epoch() -> None:
    found = events("take(c0, q0)", "drop(c0, q0)", "take(c0, q0)", **ONE)
    assert [(event["kind"], event["epoch"]) for event in found if event["kind"] in ("assign", "revoke")] == [
        ("assign", 1),
        ("revoke", 1),
        ("assign", 2),
    ]
