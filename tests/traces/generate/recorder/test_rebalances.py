"""Member lists, routes, passes."""

from __future__ import annotations

from rocketproof.model.assignment import assignment
from rocketproof.model.everything import everything

from .told import events, recording, told

TWO = {"consumers": 2, "running": 1, "queues": 2}


def test_a_group_that_runs_already_is_recorded_first() -> None:
    first = recording(machine=assignment, consumers=2, running=2, queues=2).events
    assert [(event["kind"], event.get("client"), event.get("queue")) for event in first] == [
        ("client_start", "c0", None),
        ("heartbeat", "c0", None),
        ("client_start", "c1", None),
        ("heartbeat", "c1", None),
        ("members", None, None),
        ("rebalance", "c0", None),
        ("rebalance", "c1", None),
        ("assign", "c0", 0),
        ("assign", "c1", 1),
    ]


def test_a_pass_tells_what_it_saw_and_what_came_out() -> None:
    steps = ["start(c1)", "heartbeat(c1, b0)", "rebalance_pass(c0, b0)"]
    found = [event for event in events(*steps, machine=assignment, **TWO) if event["kind"] in ("rebalance", "revoke")]
    seen = found[0]
    assert [event["kind"] for event in found] == ["rebalance", "revoke"]
    assert (seen["members"], seen["queues"]) == (["c0", "c1"], ["broker-0:0", "broker-0:1"])
    assert (seen["assigned"], seen["detail"]) == (["broker-0:0"], "AVG")
    assert found[1]["queue"] == 1


def test_the_retry_topic_is_divided_for_itself() -> None:
    constants = {"consumers": 1, "running": 0, "queues": 2, "messages": 2, "retry_room": 1, "copies": 1, "failures": 1}
    steps = ["start(c0)", "heartbeat(c0, b0)", "rebalance_pass(c0, b0)"]
    passes = [event for event in events(*steps, machine=everything, **constants) if event["kind"] == "rebalance"]
    assert [(event["topic"], event["assigned"]) for event in passes] == [
        ("Orders", ["broker-0:0"]),
        ("%RETRY%billing", ["broker-0:0"]),
    ]


def test_two_clients_with_one_id_are_both_listed() -> None:
    steps = ["start(c1)", "heartbeat(c1, b0)"]
    constants = {"consumers": 3, "running": 1, "same_id": 1}
    last = events(*steps, machine=assignment, **constants)[-1]
    assert (last["kind"], last["members"]) == ("members", ["c0", "c0"])
    assert told(*steps, machine=assignment, **constants)[0] == "client_start c0#1"


def test_a_member_that_unsubscribes_names_the_topic_no_more() -> None:
    constants = {"consumers": 1, "running": 1, "unsubscribes": 1}
    last = events("unsubscribe(c0)", machine=assignment, **constants)[-1]
    assert last["subscriptions"] == []


def test_a_broker_that_restarts_takes_all_that_share_its_number() -> None:
    constants = {"consumers": 1, "running": 1, "brokers": 2, "queues": 3, "broker_restarts": 1}
    assert told("restart_broker(b0)", machine=assignment, **constants) == [
        "broker_crash broker-0",
        "broker_start broker-0",
        "broker_crash broker-2",
        "broker_start broker-2",
        "members broker-0",
    ]


def test_a_route_that_grows() -> None:
    constants = {"consumers": 1, "running": 1, "queues": 2, "route_changes": 1}
    found = events("add_queue", "refresh_route(c0)", "rebalance_pass(c0, b0)", machine=assignment, **constants)
    both = ["broker-0:0", "broker-0:1"]
    assert [(event["kind"], event.get("client"), event.get("queues")) for event in found] == [
        ("route", None, both),
        ("route", "c0", both),
        ("rebalance", "c0", both),
        ("assign", "c0", None),
    ]
