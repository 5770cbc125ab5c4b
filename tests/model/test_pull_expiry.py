"""Lost pull loops and their repair; pull intervals beyond the limit."""

from rocketproof.model.consumption import consumption

from .walk import Walk


def test_a_lost_loop_is_dropped_and_the_next_window_pulls_again() -> None:
    run = Walk(consumption, messages=1, consumers=1, lost_pulls=1)("take(c0, q0)", "lose_pull(c0, q0)")
    assert run.possible() == ["drop_expired(c0, q0)"]
    run("drop_expired(c0, q0)", "take(c0, q0)", "pull(c0, q0)")
    assert run["loop_lost[c0, q0]"] == 0


def test_without_the_limit_the_queue_stands_still() -> None:
    run = Walk(consumption, messages=1, consumers=1, lost_pulls=1, idle_limit=0)("take(c0, q0)", "lose_pull(c0, q0)")
    assert run.possible() == []


def test_an_interval_beyond_the_limit_drops_a_healthy_window_after_its_first_pull() -> None:
    run = Walk(consumption, messages=1, consumers=1, pull_interval="beyond-limit")("take(c0, q0)")
    assert "drop_expired(c0, q0)" not in run.possible()
    run("pull(c0, q0)")
    assert "drop_expired(c0, q0)" in run.possible()
