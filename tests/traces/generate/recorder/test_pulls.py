"""Requests and answers."""

from __future__ import annotations

from rocketproof.model.consumption import consumption

from .told import events, told

ONE = {"consumers": 1, "messages": 2}


def test_what_the_expression_passes_over_has_no_messages_in_the_answer() -> None:
    constants = {**ONE, "expression": "C", "tags": "C,Aa"}
    assert told("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", last=4, **constants) == [
        "pull c0 q0 offset=0",
        "pull_result c0 q0 offset=0 next=1 count=1 result=found",
        "pull c0 q0 offset=1",
        "pull_result c0 q0 offset=1 next=2 count=0 result=no_matched_message",
    ]


def test_a_message_that_only_the_client_drops_was_found() -> None:
    constants = {**ONE, "expression": "Aa", "tags": "BB,Aa"}
    assert told("take(c0, q0)", "pull(c0, q0)", last=1, **constants) == [
        "pull_result c0 q0 offset=0 next=1 count=0 result=found"
    ]


def test_an_answer_that_the_client_loses_was_an_answer() -> None:
    steps = ["take(c0, q0)", "drop(c0, q0)", "take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)"]
    found = told(*steps, machine=consumption.mutated("F7"), consumers=1, messages=1, moves=1)
    assert found[-1] == found[-3] == "pull_result c0 q0 offset=0 next=1 count=1 result=found"


def test_an_answer_to_a_dead_window_names_that_window() -> None:
    steps = ["take(c0, q0)", "send_pull(c0, q0)", "drop(c0, q0)", "take(c0, q0)", "answer_stale(c0, q0)"]
    last = events(*steps, pulls="fine", moves=1, **ONE)[-1]
    assert (last["kind"], last["offset"], last["next"], last["epoch"]) == ("pull_result", 0, 1, 1)


def test_a_pull_outside_the_queue_is_corrected_and_the_queue_dropped() -> None:
    taken = ["take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "begin(c0, q0, m1)"]
    done = ["succeed(c0, q0, m0)", "succeed(c0, q0, m1)", "commit(c0, q0)", "lose_tail(q0)", "correct_offset(c0, q0)"]
    constants = {**ONE, "truncations": 1}
    right = told(*taken, *done, last=5, **constants)
    assert right == [
        "pull c0 q0 offset=2",
        "pull_result c0 q0 offset=2 next=1 count=0 result=offset_illegal",
        "correct c0 q0 offset=1",
        "commit c0 q0 offset=1 path=correction",
        "revoke c0 q0 path=correction",
    ]
    wrong = told(*taken, *done, machine=consumption.mutated("B2"), last=5, **constants)
    assert wrong == [text.replace("offset=1", "offset=0").replace("next=1", "next=0") for text in right]
