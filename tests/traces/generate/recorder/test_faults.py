"""Processes that end and come back."""

from __future__ import annotations

from .told import told

ONE = {"consumers": 1, "messages": 1}
AGAIN = {"crashes": 1, "restarts": 1}


def test_a_process_that_dies_says_nothing() -> None:
    assert told("take(c0, q0)", "die(c0)", crashes=1, last=1, **ONE) == ["client_crash c0"]


def test_the_next_process_has_another_client_id() -> None:
    found = told("die(c0)", "restart(c0)", "take(c0, q0)", last=4, **ONE, **AGAIN)
    assert found == [
        "client_start c0+",
        "heartbeat c0+",
        "offset_query c0+ q0 offset=0 result=ok",
        "assign c0+ q0 offset=0",
    ]


def test_in_broadcasting_it_has_the_same_and_finds_its_file() -> None:
    constants = {"mode": "broadcasting", **ONE, **AGAIN}
    found = told("die(c0)", "restart(c0)", "take(c0, q0)", last=4, **constants)
    assert found == ["client_start c0#1", "file_load c0#1", "heartbeat c0#1", "assign c0#1 q0 offset=0"]


def test_unless_its_address_is_another_one() -> None:
    constants = {"mode": "broadcasting", "lost_files": 1, **ONE, **AGAIN}
    assert told("die(c0)", "lose_file(c0)", "restart(c0)", last=1, **constants) == ["heartbeat c0+"]


def test_two_processes_may_have_one_client_id() -> None:
    constants = {"mode": "broadcasting", "shared_file": 1, "messages": 1, "consumers": 2}
    assert told("take(c1, q0)", **constants) == ["assign c0#1 q0 offset=0"]


def test_a_stop_in_order_drops_the_queues_last() -> None:
    steps = ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "stop(c0)", "succeed(c0, q0, m0)"]
    found = told(*steps, "persist_at_stop(c0, q0)", "unregister(c0)", "end_stop(c0)", leaves=1, last=4, **ONE)
    assert found == [
        "commit c0 q0 offset=1 path=shutdown",
        "unregister c0",
        "revoke c0 q0 path=shutdown",
        "client_stop c0",
    ]


def test_a_broker_stopped_in_order() -> None:
    chain = {"consumers": 1, "queues": 2, "messages": 3, "retry_room": 2, "copies": 1, "failures": 1, "broker_stops": 1}
    assert told("stop_broker", "load", **chain) == [
        "broker_stop broker-0",
        "broker_start broker-0",
        "file_load broker-0",
    ]
