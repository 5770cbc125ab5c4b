"""The lock table and its clocks: when a lock is granted, believed in, and given away."""

from __future__ import annotations

import pytest

from rocketproof.model.kernel import ConfigurationError
from rocketproof.model.orderly_lock import orderly_lock

from .walk import Walk

TICK = "tick"


def enabled_after(*labels: str, **constants: int | str) -> set[str]:
    """Labels of what may happen after the actions ``labels``."""
    return Walk(orderly_lock, *labels, **constants).enabled()


@pytest.mark.parametrize(("ticks", "granted"), [(0, False), (6, False), (7, True)])
def test_a_lock_is_given_to_another_client_only_when_older_than_60_s(ticks: int, granted: bool) -> None:
    assert ("take(c1, q0)" in enabled_after("take(c0, q0)", *[TICK] * ticks)) is granted


@pytest.mark.parametrize(("ticks", "begins"), [(0, True), (3, True), (4, False)])
def test_a_batch_is_begun_only_when_the_last_renewal_is_no_older_than_30_s(ticks: int, begins: bool) -> None:
    assert ("begin_batch(c0, q0)" in enabled_after("take(c0, q0)", *[TICK] * ticks)) is begins


def test_a_renewal_lets_a_client_begin_again() -> None:
    assert "begin_batch(c0, q0)" in enabled_after("take(c0, q0)", *[TICK] * 4, "renew(c0, q0)")


def test_time_waits_for_a_batch_at_its_limit_but_not_for_a_client_that_stands_still() -> None:
    running = ("take(c0, q0)", "begin_batch(c0, q0)", *[TICK] * 3)
    assert TICK not in enabled_after(*running)
    assert TICK in enabled_after(*running, "pause(c0)", pauses=1)


@pytest.mark.parametrize(("ticks", "forced"), [(2, False), (3, True)])
def test_a_dropped_queue_is_unlocked_by_force_20_s_after_its_last_renewal(ticks: int, forced: bool) -> None:
    running = ("take(c0, q0)", "begin_batch(c0, q0)", "drop(c0, q0)", *[TICK] * ticks)
    now = enabled_after(*running, force=1)
    assert ("remove_by_force(c0, q0)" in now) is forced
    assert "remove(c0, q0)" not in now


def test_a_dropped_queue_is_renewed_by_4_9_8_only() -> None:
    dropped = ("take(c0, q0)", "drop(c0, q0)")
    assert "renew(c0, q0)" not in enabled_after(*dropped)
    assert "renew(c0, q0)" in enabled_after(*dropped, version="4.9.8")


def test_a_forced_unlock_in_4_9_8_is_not_possible() -> None:
    with pytest.raises(ConfigurationError, match=r"version=4\.9\.8, force=1 is not possible; only 5\.2\.0"):
        orderly_lock.configure(version="4.9.8", force=1)


@pytest.mark.parametrize("renewals", ["may-fail", "certain"])
def test_a_refusal_leaves_the_time_from_which_a_forced_unlock_counts(renewals: str) -> None:
    renew = "renew(c0, q0)" if renewals == "may-fail" else "renew_all(c0)"
    taken = ("take(c0, q0)", "begin_batch(c0, q0)", "forget_locks", "take(c1, q0)")
    refused = (*taken, TICK, renew, "drop(c0, q0)")
    windows: dict[str, int | str] = {"unlock_delay": 1, "batches": "long", "lock_losses": 1, "renewals": renewals}
    assert "remove_by_force(c0, q0)" not in enabled_after(*refused, force=1, **windows)
    assert "remove_by_force(c0, q0)" in enabled_after(*refused, TICK, force=1, **windows)
