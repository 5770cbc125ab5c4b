"""A call that never returns: its message pins the offset, and the span stops the pulls."""

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import ConfigurationError

from .walk import Walk


def test_a_hung_call_pins_the_offset_and_stops_the_pulls() -> None:
    run = Walk(consumption, messages=4, consumers=1, moves=1, hangs=1, span=1)("take(c0, q0)", "pull(c0, q0)")
    run("begin(c0, q0, m0)", "hang(c0, q0, m0)", "pull(c0, q0)", "pull(c0, q0)")
    run("begin(c0, q0, m1)", "succeed(c0, q0, m1)", "begin(c0, q0, m2)")
    assert "succeed(c0, q0, m0)" not in run.possible()
    assert "pull(c0, q0)" not in run.possible()
    assert (run["memory[c0, q0]"], run["handled[q0, m1]"]) == (0, 1)
    run("drop(c0, q0)", "take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert run["memory[c0, q0]"] == 1


def test_a_hung_call_that_is_sent_back_for_its_time_returns_no_more_than_before() -> None:
    run = Walk(consumption, queues=2, messages=3, consumers=1, retry_room=1, copies=1, hangs=1, expiries=1)
    run("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "hang(c0, q0, m0)", "clean_expired(c0, q0, m0)")
    assert run["handled[q0, m0]"] == 1
    assert "overdue_succeeds(c0, q0, m0)" not in run.possible()


def test_a_hung_call_is_not_followed_into_dead_windows() -> None:
    with pytest.raises(ConfigurationError, match="hangs=1, orphans=1 is not possible"):
        consumption.configure(hangs=1, orphans=1)


def test_a_call_hangs_with_its_whole_batch() -> None:
    run = Walk(consumption, messages=2, consumers=1, batch=2, pull_batch=2, hangs=1)
    run("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)")
    assert "hang(c0, q0, m1)" not in run.possible()
    run("hang(c0, q0, m0)")
    assert "succeed(c0, q0, m0)" not in run.possible()
