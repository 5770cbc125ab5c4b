"""Thresholds before a pull, and the counter they ask."""

from rocketproof.model.consumption import consumption

from .walk import Walk


def test_a_window_may_hold_one_pull_more_than_the_threshold() -> None:
    run = Walk(consumption, messages=4, consumers=1, counters=1, threshold=1)("take(c0, q0)", *["pull(c0, q0)"] * 2)
    assert run["counted[c0, q0]"] == 2
    assert "pull(c0, q0)" not in run.possible()
    run("begin(c0, q0, m1)", "succeed(c0, q0, m1)", "pull(c0, q0)")
    assert run["counted[c0, q0]"] == 2


def test_a_counter_that_forgets_what_was_sent_back_stops_an_empty_window() -> None:
    mutated = consumption.mutated("F1")
    run = Walk(mutated, messages=3, consumers=1, counters=1, threshold=1, failures=2)("take(c0, q0)")
    for m in ("m0", "m1"):
        run("pull(c0, q0)", f"begin(c0, q0, {m})", f"fail(c0, q0, {m})", f"send_back(c0, q0, {m})")
    assert (run["counted[c0, q0]"], run["stage[c0, q0, m1]"]) == (2, 0)
    assert "pull(c0, q0)" not in run.possible()
