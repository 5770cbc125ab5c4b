"""Committed offsets: what overwrites them, and what travels with pull requests."""

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.history import Regression

from .walk import Walk

HANDLE_M0 = ("pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")


def test_the_smaller_commit_of_a_second_owner_is_taken() -> None:
    run = Walk(consumption, messages=1, watch_offsets=1)("take(c0, q0)", "take(c1, q0)", *HANDLE_M0, "commit(c0, q0)")
    assert (run["committed[q0]"], run["memory[c1, q0]"]) == (1, 0)
    run("commit(c1, q0)")
    assert run["committed[q0]"] == 0
    assert run["went_back[q0]"] == Regression.OVERLAP


def test_a_commit_of_0_does_not_travel_with_a_pull() -> None:
    run = Walk(consumption, messages=1, pulls="fine", piggyback=1)("take(c0, q0)", "send_pull(c0, q0)")
    assert run["carried[c0, q0]"] == -1
    assert "answer_found(c0, q0)" in run.possible()


def test_a_carried_commit_is_applied_before_the_answer_and_after_later_commits() -> None:
    run = Walk(consumption, messages=2, consumers=1, pulls="fine", piggyback=1, watch_offsets=1)("take(c0, q0)")
    for m in ("m0", "m1"):
        run("send_pull(c0, q0)", *(["apply_carried(c0, q0)"] if m == "m1" else []), "answer_found(c0, q0)")
        run(f"begin(c0, q0, {m})")
        run("succeed(c0, q0, m0)" if m == "m0" else "send_pull(c0, q0)")
    assert (run["carried[c0, q0]"], run["committed[q0]"]) == (1, 1)
    assert "answer_nothing(c0, q0)" not in run.possible()
    run("succeed(c0, q0, m1)", "commit(c0, q0)")
    assert run["committed[q0]"] == 2
    run("apply_carried(c0, q0)")
    assert (run["committed[q0]"], run["went_back[q0]"]) == (1, Regression.LATE_COMMIT)
    assert "answer_nothing(c0, q0)" in run.possible()


@pytest.mark.parametrize("offset", [0, 1])
def test_a_broker_that_dies_goes_back_to_its_disk(offset: int) -> None:
    run = Walk(consumption, messages=1, consumers=1, broker_restarts=1)("take(c0, q0)", *HANDLE_M0, "commit(c0, q0)")
    run(*(["flush(q0)"] if offset else []), "restart_offsets")
    assert run["committed[q0]"] == offset
