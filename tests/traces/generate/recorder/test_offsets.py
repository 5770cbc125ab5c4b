"""Commits, resets, and what brokers lose."""

from __future__ import annotations

from rocketproof.model.consumption import consumption

from .told import events, told

ONE = {"consumers": 1, "messages": 2}
DONE = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")


def test_a_commit_is_recorded_when_it_arrives() -> None:
    late = [*DONE, "commit_late(c0, q0)"]
    assert told(*late, late_commits=1, last=1, **ONE) == ["commit_memory c0 q0 offset=1"]
    found = told(*late, "late_commit_arrives(q0)", late_commits=1, last=1, **ONE)
    assert found == ["commit c0 q0 offset=1 path=periodic"]


def test_a_commit_that_stores_nothing_is_none() -> None:
    wrong = consumption.mutated("B10")
    assert told(*DONE, "commit(c0, q0)", machine=wrong, last=1, **ONE) == ["commit_memory c0 q0 offset=1"]


def test_a_broker_that_comes_back_says_nothing_of_its_offsets() -> None:
    found = told(*DONE, "commit(c0, q0)", "restart_offsets", "commit(c0, q0)", broker_restarts=1, last=4, **ONE)
    assert found == [
        "commit c0 q0 offset=1 path=periodic",
        "broker_crash broker-0",
        "broker_start broker-0",
        "commit c0 q0 offset=1 path=periodic",
    ]


def test_a_reset_at_the_broker() -> None:
    constants = {**ONE, "resets": 1, "corrections": "steps"}
    steps = [*DONE, "commit(c0, q0)", "reset_at_broker(q0)", "answer_reset(c0, q0)", "end_correction(c0, q0)"]
    assert told(*steps, last=5, **constants) == [
        "reset broker-0 q0 offset=0",
        "pull c0 q0 offset=1",
        "pull_result c0 q0 offset=1 next=0 count=0 result=offset_illegal",
        "revoke c0 q0 path=correction",
        "correct c0 q0 offset=0",
    ]


def test_a_reset_by_the_clients() -> None:
    constants = {**ONE, "resets": 1, "version": "4.9.8"}
    steps = [*DONE, "commit(c0, q0)", "order_reset", "begin_reset(c0)", "end_reset(c0)"]
    assert told(*steps, last=3, **constants) == [
        "reset broker-0 q0 offset=0",
        "revoke c0 q0 path=reset",
        "commit c0 q0 offset=0 path=reset",
    ]


def test_a_window_that_opens_during_a_reset_takes_the_place_of_the_dropped_one() -> None:
    constants = {**ONE, "resets": 1, "version": "4.9.8"}
    steps = ["take(c0, q0)", "order_reset", "begin_reset(c0)", "take(c0, q0)"]
    assert told(*steps, machine=consumption.mutated("B3"), last=3, **constants) == [
        "revoke c0 q0 path=reset",
        "offset_query c0 q0 offset=0 result=ok",
        "assign c0 q0 offset=0",
    ]


def test_the_next_message_at_a_lost_offset_is_another_one() -> None:
    constants = {"consumers": 1, "messages": 1, "truncations": 1, "arriving": 1}
    found = events("produce(q0)", "lose_tail(q0)", "produce(q0)", **constants)
    assert [event["key"] for event in found if event["kind"] == "store"] == ["q0-m0", "q0-m0-1"]


def test_a_topic_that_is_created_again_has_other_messages() -> None:
    constants = {"consumers": 1, "messages": 1, "recreations": 1, "arriving": 1}
    found = events("produce(q0)", "recreate(q0)", "produce(q0)", **constants)
    assert [(event["kind"], event.get("queues"), event.get("key")) for event in found] == [
        ("store", None, "q0-m0"),
        ("route", [], None),
        ("route", ["broker-0:0"], None),
        ("store", None, "q0-m0-1"),
    ]
