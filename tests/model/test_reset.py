"""Resets, by the broker and by the clients, step by step."""

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import ConfigurationError

from .walk import Walk

HANDLE_M0 = ("pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")


def at_broker(**constants: int | str) -> Walk:
    run = Walk(consumption, messages=1, consumers=1, resets=1, corrections="steps", **constants)
    return run("take(c0, q0)", *HANDLE_M0, "commit(c0, q0)", "reset_at_broker(q0)")


def by_clients(**constants: int | str) -> Walk:
    run = Walk(consumption, messages=1, resets=1, version="4.9.8", **constants)
    return run("take(c0, q0)", *HANDLE_M0, "commit(c0, q0)", "order_reset")


def test_while_a_reset_is_noted_commits_are_ignored_and_pulls_redirected() -> None:
    run = at_broker()
    assert (run["committed[q0]"], run["reset_noted[q0]"], run["handled[q0, m0]"]) == (0, 1, 0)
    run("commit(c0, q0)")
    assert run["committed[q0]"] == 0
    run("answer_reset(c0, q0)")
    assert (run["committed[q0]"], run["reset_noted[q0]"], run["target[c0, q0]"]) == (0, 0, 0)
    run("end_correction(c0, q0)", "take(c0, q0)", "pull(c0, q0)")
    assert run["stage[c0, q0, m0]"] == 1


def test_the_pull_that_learns_of_the_reset_overwrites_it() -> None:
    run = at_broker(piggyback=1)("answer_reset(c0, q0)")
    assert (run["committed[q0]"], run["target[c0, q0]"]) == (1, 0)
    run("end_correction(c0, q0)")
    assert run["committed[q0]"] == 0


def test_clients_suspend_themselves_and_keep_their_queues_in_the_table() -> None:
    run = by_clients(consumers=1)("begin_reset(c0)")
    assert (run["zombie[c0, q0]"], run["owns[c0, q0]"], run["memory[c0, q0]"]) == (1, 0, 1)
    assert run.possible() == ["end_reset(c0)"]
    run("end_reset(c0)", "take(c0, q0)")
    assert (run["committed[q0]"], run["next_offset[c0, q0]"]) == (0, 0)


def test_one_client_may_take_the_old_offset_before_the_other_has_reset_it() -> None:
    run = by_clients(consumers=2)("begin_reset(c1)", "end_reset(c1)", "begin_reset(c0)", "take(c1, q0)")
    assert run["next_offset[c1, q0]"] == 1
    run("end_reset(c0)", "commit(c1, q0)")
    assert (run["committed[q0]"], run["handled[q0, m0]"]) == (1, 0)


def test_a_parked_pull_outlives_the_reset() -> None:
    run = Walk(consumption, messages=1, consumers=1, resets=1, version="4.9.8", pulls="fine")
    run("take(c0, q0)", "send_pull(c0, q0)", "answer_found(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    run("send_pull(c0, q0)", "order_reset", "begin_reset(c0)", "end_reset(c0)", "take(c0, q0)")
    assert (run["memory[c0, q0]"], run["stale[c0, q0]"], run["stale_empty[c0, q0]"]) == (0, 1, 1)
    run("answer_stale(c0, q0)", "commit(c0, q0)")
    assert (run["committed[q0]"], run["handled[q0, m0]"]) == (1, 0)


def test_a_window_opened_during_the_wait_lives_on_as_a_ghost() -> None:
    run = Walk(consumption, messages=2, consumers=1, resets=1, version="4.9.8")("order_reset", "begin_reset(c0)")
    run("take(c0, q0)", "end_reset(c0)", "take(c0, q0)")
    assert (run["owns[c0, q0]"], run["ghost[c0, q0]"]) == (1, 0)
    run("ghost_handles(c0, q0, m0)", "ghost_handles(c0, q0, m1)")
    assert (run["memory[c0, q0]"], run["next_offset[c0, q0]"]) == (2, 0)


def test_a_death_ends_a_reset_under_way() -> None:
    run = by_clients(consumers=1, crashes=1)("begin_reset(c0)", "die(c0)")
    assert (run["resetting[c0]"], run["zombie[c0, q0]"], run["memory[c0, q0]"]) == (0, 0, -1)


def test_a_broker_reset_needs_its_steps() -> None:
    with pytest.raises(ConfigurationError, match="resets=1, corrections=whole"):
        consumption.configure(resets=1)
