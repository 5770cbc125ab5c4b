"""Batches of orderly listeners, and locks."""

from __future__ import annotations

from rocketproof.model.consumption import consumption

from .told import told

ONE = {"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 2}
BEGUN = ("take(c0, q0)", "pull(c0, q0)", "begin_batch(c0, q0)")


def test_a_queue_comes_with_its_lock() -> None:
    assert told("take(c0, q0)", **ONE) == [
        "lock c0 q0 result=ok",
        "offset_query c0 q0 offset=0 result=ok",
        "assign c0 q0 offset=0",
    ]


def test_the_result_comes_before_the_worker_acts_upon_it() -> None:
    found = told(*BEGUN, "succeed_in_order(c0, q0)", "commit_taken(c0, q0)", last=3, **ONE)
    assert found == [
        "result c0 q0 offset=0 result=ok key=q0-m0 attempt=0",
        "removed c0 q0 offset=0 next=1 key=q0-m0",
        "commit_memory c0 q0 offset=1",
    ]


def test_a_suspended_message_comes_again_with_a_higher_count() -> None:
    again = ["suspend(c0, q0)", "put_batch_back(c0, q0)", "begin_batch(c0, q0)"]
    assert told(*BEGUN, *again, failures=1, last=2, **ONE) == [
        "result c0 q0 offset=0 result=suspend key=q0-m0 attempt=0",
        "deliver c0 q0 offset=0 next=1 count=1 key=q0-m0 attempt=1",
    ]


def test_a_message_at_its_limit_is_sent_off_as_a_dead_letter_except_in_a_mutant() -> None:
    constants = {**ONE, "poison": 1, "give_up": "attempts", "attempts": 1}
    again = ["suspend_poison(c0, q0)", "put_batch_back(c0, q0)", "begin_batch(c0, q0)", "suspend_poison(c0, q0)"]
    sent = "send_back c0 q0 offset=0 result=ok path=fallback key=q0-m0 attempt=1"
    assert told(*BEGUN, *again, "publish_batch(c0, q0)", last=4, **constants)[:2] == [
        sent,
        "dead_letter broker-0 dead0 offset=0 key=q0-m0 attempt=2",
    ]
    wrong = consumption.mutated("D3-orderly")
    assert told(*BEGUN, *again, "publish_batch(c0, q0)", machine=wrong, last=4, **constants)[:2] == [
        sent,
        "delay_store broker-0 retry0 key=q0-m0 attempt=1 level=4",
    ]


def test_a_rollback_is_about_all_that_was_taken() -> None:
    kept = [*BEGUN, "pull(c0, q0)", "succeed_in_order(c0, q0)", "keep_taken(c0, q0)", "begin_batch(c0, q0)"]
    assert told(*kept, "say_rollback(c0, q0)", failures=1, auto_commit=0, last=2, **ONE) == [
        "result c0 q0 offset=0 result=rollback key=q0-m0 attempt=0",
        "result c0 q0 offset=1 result=rollback key=q0-m1 attempt=0",
    ]


def test_a_queue_is_given_up_with_its_lock_when_no_listener_runs() -> None:
    steps = [*BEGUN, "drop_in_order(c0, q0)", "succeed_in_order(c0, q0)"]
    assert told(*steps, "remove(c0, q0)", moves=1, last=4, **ONE) == [
        "revoke c0 q0 path=removal",
        "result c0 q0 offset=0 result=ok key=q0-m0 attempt=0",
        "unlock c0 q0",
        "discarded c0 q0 offset=0 key=q0-m0",
    ]


def test_a_refused_renewal_is_a_lost_lock() -> None:
    constants = {**ONE, "consumers": 2, "lock_losses": 1}
    steps = ["take(c0, q0)", "forget_locks", "take(c1, q0)", "renew(c0, q0)"]
    assert told(*steps, last=2, **constants) == ["lock c0 q0 result=failed", "lock_lost c0 q0"]
