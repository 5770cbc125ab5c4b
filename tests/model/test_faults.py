"""Deaths, pauses, restarts and shutdowns: what they leave behind."""

from rocketproof.model.consumption import consumption
from rocketproof.model.history import Cause
from rocketproof.model.membership import Life

from .walk import Walk

BUSY = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)")


def walk(**constants: int | str) -> Walk:
    return Walk(consumption, messages=1, causes=1, **constants)(*BUSY)


def test_a_death_takes_everything_that_was_in_memory() -> None:
    run = walk(crashes=1)("succeed(c0, q0, m0)", "die(c0)")
    assert (run["life[c0]"], run["owns[c0, q0]"], run["memory[c0, q0]"], run["committed[q0]"]) == (Life.GONE, 0, -1, 0)
    assert run["cause[q0, m0]"] == Cause.CRASH


def test_a_dead_client_stays_dead_unless_another_is_started() -> None:
    assert not [label for label in walk(crashes=1)("die(c0)").possible() if "c0" in label]
    run = walk(crashes=1, restarts=1)("die(c0)", "restart(c0)", "take(c0, q0)")
    assert run["owns[c0, q0]"] == 1


def test_nothing_happens_in_a_client_that_stands_still() -> None:
    run = walk(pauses=1)("pause(c0)")
    assert [label for label in run.possible() if "c0" in label] == ["resume(c0)"]
    run("resume(c0)", "succeed(c0, q0, m0)")
    assert run["memory[c0, q0]"] == 1


def test_a_shutdown_commits_before_its_listeners_are_done() -> None:
    run = walk(leaves=1)("stop(c0)", "unregister(c0)")
    assert "begin(c0, q0, m0)" not in run.possible()
    run("succeed(c0, q0, m0)", "end_stop(c0)")
    assert (run["committed[q0]"], run["cause[q0, m0]"]) == (0, Cause.SHUTDOWN)


def test_what_is_done_before_the_shutdown_is_committed_by_it() -> None:
    run = walk(leaves=1)("succeed(c0, q0, m0)", "stop(c0)")
    assert "unregister(c0)" not in run.possible()
    run("persist_at_stop(c0, q0)", "unregister(c0)", "end_stop(c0)")
    assert run["committed[q0]"] == 1
