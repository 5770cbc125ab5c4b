"""Delivery of delayed messages, step by step: order, positions, and what a start makes of the file."""

from __future__ import annotations

import pytest

from rocketproof.model.retry_copy import Place

from .walk import Walk

TWO_MESSAGES: dict[str, int | str] = {
    "consumers": 1,
    "queues": 2,
    "messages": 6,
    "retry_room": 4,
    "copies": 3,
    "failures": 3,
    "attempts": 2,
    "levels": 3,
}
LEVEL_3 = 2
"""Queue of the schedule topic for level 3."""


def sent_back(m: int) -> tuple[str, ...]:
    return f"begin(c0, q0, m{m})", f"fail(c0, q0, m{m})", f"send_back_by_request(c0, q0, m{m})"


BOTH = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", *sent_back(0), *sent_back(1))
DELIVERED = (*BOTH, "ripen(k0)", "deliver(k0)")


class Played(Walk):
    """The state after some actions; its variables by name and index."""

    def __init__(self, *labels: str, **constants: int | str) -> None:
        super().__init__(*labels, **{**TWO_MESSAGES, **constants})

    def positions(self) -> tuple[int, int, int]:
        """Where delivery of level 3 is, what its table says, what its file says."""
        return self.value("position", LEVEL_3), self.value("progress", LEVEL_3), self.value("saved", LEVEL_3)

    def retry_queue(self) -> list[int]:
        """The copies in the retry queue."""
        return [self.value("content", m) for m in range(self.value("log_end", 1))]


def test_within_a_level_messages_ripen_and_are_delivered_in_store_order() -> None:
    assert {"ripen(k0)"} == {label for label in Played(*BOTH).enabled() if label.startswith("ripen")}
    ripe = Played(*BOTH, "ripen(k0)", "ripen(k1)")
    assert {"deliver(k0)"} == {label for label in ripe.enabled() if label.startswith("deliver")}


def test_levels_do_not_wait_for_each_other() -> None:
    labels = (*DELIVERED, "take(c0, q1)", "pull(c0, q1)", "begin(c0, q1, m0)", "fail(c0, q1, m0)")
    played = Played(*labels, "send_back_by_request(c0, q1, m0)", "ripen(k2)", levels=4)
    assert (played.value("level", 1), played.value("level", 2)) == (3, 4)
    assert "deliver(k2)" in played.enabled()
    assert "deliver(k1)" not in played.enabled()


def test_a_message_that_is_not_ripe_is_not_delivered() -> None:
    assert "deliver(k0)" not in Played(*BOTH).enabled()


def test_the_offset_in_the_retry_queue_is_given_at_delivery() -> None:
    played = Played(*DELIVERED, "ripen(k1)", "deliver(k1)")
    assert (played.retry_queue(), played.value("position", LEVEL_3)) == ([0, 1], 2)


def test_a_clock_that_steps_back_delivers_early() -> None:
    played = Played(*BOTH, "deliver_early(k0)", clock_steps=1)
    assert (played.value("place", 0), played.value("ripe", 0)) == (Place.DELIVERED, 0)


def test_an_unreadable_entry_is_skipped_for_good() -> None:
    played = Played(*BOTH, "ripen(k0)", "skip(k0)", "ripen(k1)", "deliver(k1)", unreadable=1)
    assert (played.value("place", 0), played.retry_queue()) == (Place.SCHEDULE_TOPIC, [1])
    assert "deliver(k0)" not in played.enabled()


def test_an_unconfirmed_put_is_repeated() -> None:
    played = Played(*BOTH, "ripen(k0)", "deliver_unsure(k0)", "deliver(k0)", unsure_puts=1)
    assert (played.retry_queue(), played.value("position", LEVEL_3)) == ([0, 0], 1)


def test_after_a_crash_delivery_goes_on_where_it_was_last_saved() -> None:
    before = Played(*DELIVERED, broker_crashes=1)
    assert before.positions() == (1, 1, 0)
    lost = Played(*DELIVERED, "crash_broker", "load", "deliver(k0)", broker_crashes=1)
    assert lost.retry_queue() == [0, 0]
    saved = Played(*DELIVERED, "save", "crash_broker", "load", broker_crashes=1)
    assert saved.positions() == (1, 1, 1)


def test_a_stop_in_order_saves() -> None:
    assert Played(*DELIVERED, "stop_broker", "load", broker_stops=1).positions() == (1, 1, 1)


def test_a_starting_broker_neither_delivers_nor_saves_nor_takes_requests() -> None:
    failed = (*BOTH[:-1], "ripen(k0)", "stop_broker")
    assert Played(*failed, broker_stops=1).enabled() >= {"load"}
    assert not Played(*failed, broker_stops=1).enabled() & {"save", "deliver(k0)", BOTH[-1]}
    assert BOTH[-1] in Played(*failed, broker_stops=1, early_requests=1).enabled()


@pytest.mark.parametrize(("copied", "position"), [(True, 1), (False, 0)])
def test_a_promoted_replica_begins_where_it_copied_the_file(copied: bool, position: int) -> None:
    copy = ("replicate",) if copied else ()
    played = Played(*DELIVERED, "save", *copy, "promote", promotions=1)
    assert played.positions() == (position,) * 3


def test_a_position_behind_the_end_is_brought_back() -> None:
    both = (*DELIVERED, "ripen(k1)", "deliver(k1)", "save", "lose_store", "load")
    assert Played(*both, stores_lost=1).positions() == (0, 0, 2)


def test_a_power_loss_takes_the_last_copy_that_was_not_delivered() -> None:
    watched: dict[str, int | str] = {"watch_retries": 1, "power_losses": 1}
    assert {label for label in Played(*BOTH, **watched).enabled() if label.startswith("lose")} == {"lose_power(k1)"}
    played = Played(*BOTH, "lose_power(k1)", "load", **watched)
    assert (played.value("place", 0), played.value("place", 1)) == (Place.SCHEDULE_TOPIC, Place.NONE)
    assert (played.value("handled", 0, 0), played.value("handled", 0, 1), played.value("memory", 0, 0)) == (1, 0, 2)


def test_what_is_stored_before_the_positions_are_read_can_be_skipped() -> None:
    """5.3.3 reads them a second time when its ports are open; the stale position then fits the grown queue."""
    first = (*BOTH[:6], "ripen(k0)", "deliver(k0)", "save", "begin(c0, q0, m1)", "fail(c0, q0, m1)")
    played = Played(*first, "lose_store", BOTH[-1], "load", "ripen(k1)", stores_lost=1, early_requests=1)
    assert played.value("position", LEVEL_3) == 1
    assert not {label for label in played.enabled() if label.startswith("deliver")}


def test_a_run_goes_on_while_the_next_entry_is_ripe() -> None:
    runs: dict[str, int | str] = {"runs": 1}
    assert Played(*DELIVERED, **runs).value("run_start", LEVEL_3) == 1
    assert Played(*BOTH, "ripen(k0)", "ripen(k1)", "deliver(k0)", **runs).value("run_start", LEVEL_3) == 0
