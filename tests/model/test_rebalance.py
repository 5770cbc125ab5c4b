"""A rebalance pass in steps: when it may end."""

import pytest

from rocketproof.model.assignment import assignment

from .walk import Walk


@pytest.mark.parametrize("orderly", [0, 1])
def test_a_pass_of_orderly_clients_may_end_without_a_queue_whose_lock_was_refused_and_is_free_now(orderly: int) -> None:
    walk = Walk(assignment, consumers=1, running=0, queues=1, steps="fine", orderly=orderly)
    walk("start(c0)", "heartbeat(c0, b0)", "ask_members(c0, b0)", "drop_queues(c0)")
    assert "take_queue(c0, q0)" in walk.enabled()
    assert ("end_pass(c0)" in walk.enabled()) is (orderly == 1)
