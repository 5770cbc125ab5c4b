"""Brokers that answered and were not recorded: when that was, and what is claimed of them then."""

from __future__ import annotations

from rocketproof.traces.recorders.brokers_away import brokers_away
from rocketproof.traces.recorders.joining import join
from rocketproof.traces.recorders.recording import Recording
from rocketproof.traces.recorders.replicas import replicas_named

from ...agents import Line, at, client

SECOND = 1_000_000
START = 1_700_000_000_000


def pulled(seconds: int, broker: str = "broker-a") -> Line:
    return {**at(seconds * SECOND, "pull_result", **client("c"), result="no_new_message"), "broker": broker}


def failed(seconds: int) -> Line:
    return {**pulled(seconds), "result": "error"}


def broker(seconds: int, kind: str) -> Line:
    return at(seconds * SECOND, kind, broker="broker-a")


def stored(seconds: int, offset: int) -> Line:
    return at(seconds * SECOND, "store", topic="order", broker="broker-a", queue=0, offset=offset)


def away(**files: list[Line]) -> list[tuple[str, int, int]]:
    """Who was away, and from when to when, in seconds."""
    named = {f"{name.replace('_', '-')}.jsonl": lines for name, lines in files.items()}
    recordings = replicas_named([Recording.of_events(name, lines) for name, lines in named.items()])
    return [
        (gap["broker"], (gap["due"] - START) // 1000, (gap["time"] - START) // 1000) for gap in brokers_away(recordings)
    ]


CLIENT = [at(0, "client_start", client="c", group="orders"), *(pulled(n) for n in range(10, 100, 10))]


def test_where_no_broker_was_recorded_the_evidence_says_so() -> None:
    assert away(client_1_orders=CLIENT) == []


def test_a_process_of_a_broker_that_came_before_the_recorded_one() -> None:
    again = [broker(62, "broker_start"), broker(95, "broker_stop")]
    assert away(client_1_orders=CLIENT, broker_2_broker_a=again) == [("broker-a", 0, 62)]


def test_what_stands_for_all_brokers_of_a_static_topic_is_none_that_was_away() -> None:
    runs = [broker(0, "broker_start"), broker(95, "broker_stop")]
    of_static = [CLIENT[0], *(pulled(n, "__syslo__global__") for n in range(10, 100, 10))]
    assert away(client_1_orders=of_static, broker_2_broker_a=runs) == []


def test_a_process_between_two_recorded_ones() -> None:
    first = [broker(0, "broker_start"), broker(15, "broker_stop")]
    last = [broker(62, "broker_start"), broker(95, "broker_stop")]
    assert away(client_1_orders=CLIENT, broker_2_broker_a=first, broker_3_broker_a=last) == [("broker-a", 15, 62)]


def test_a_slave_that_takes_offsets_answers_for_a_master_that_is_away() -> None:
    first = [broker(0, "broker_start"), stored(10, 0), broker(15, "broker_stop")]
    last = [broker(62, "broker_start"), stored(63, 1), broker(95, "broker_stop")]
    taken = {**at(40 * SECOND, "commit", **client("c"), offset=1), "broker": "broker-a"}
    slave = [broker(1, "broker_start"), taken, broker(95, "broker_stop")]
    files = {"client_1_orders": CLIENT, "broker_2_broker_a": first, "broker_3_broker_a": last}
    assert away(**files, broker_4_broker_a=slave) == []
    assert away(**files, broker_4_broker_a=[slave[0], slave[2]]) == [("broker-a", 15, 62)]


def test_a_slave_answers_for_its_master_only_about_as_long_as_it_takes_offsets() -> None:
    client_of_hours = [CLIENT[0], *(pulled(n) for n in range(10, 400, 10))]
    first = [broker(0, "broker_start"), stored(1, 0), broker(15, "broker_stop")]
    taken = [{**at(n * SECOND, "commit", **client("c"), offset=1), "broker": "broker-a"} for n in (200, 210)]
    slave = [broker(2, "broker_start"), *taken, broker(399, "broker_stop")]
    files = {"client_1_orders": client_of_hours, "broker_2_broker_a": first, "broker_4_broker_a": slave}
    assert away(**files) == [("broker-a", 15, 170), ("broker-a", 240, 399)]


def test_a_broker_that_answers_nobody_is_down() -> None:
    first = [broker(0, "broker_start"), broker(25, "broker_stop")]
    last = [broker(55, "broker_start"), broker(95, "broker_stop")]
    lines = [*CLIENT[:2], pulled(20), failed(30), failed(40), failed(50), *(pulled(n) for n in (60, 70, 80, 90))]
    assert away(client_1_orders=lines, broker_2_broker_a=first, broker_3_broker_a=last) == []


def test_another_broker_that_nobody_recorded() -> None:
    lines = [*CLIENT, pulled(95, "broker-b")]
    recorded = [broker(0, "broker_start"), broker(99, "broker_stop")]
    assert away(client_1_orders=lines, broker_2_broker_a=recorded) == []  # too near the end to tell
    assert away(client_1_orders=[*CLIENT, pulled(50, "broker-b")], broker_2_broker_a=recorded) == [("broker-b", 0, 99)]


def test_what_a_slave_did_is_not_what_its_master_did() -> None:
    master = [broker(0, "broker_start"), stored(1, 0), stored(20, 1), broker(22, "broker_stop")]
    slave = [broker(2, "broker_start"), broker(99, "broker_stop")]
    assert away(client_1_orders=CLIENT, broker_2_broker_a=master, broker_3_broker_a=slave) == [("broker-a", 22, 99)]


def test_what_joining_adds_keeps_its_times_whatever_it_adds_first() -> None:
    """Gaps about an earlier time that are found after others looked as if a clock had been set back."""
    names = ["c", "d", "e", "f"]

    def lives(name: str, *seconds: int) -> list[Line]:
        start = at(0, "client_start", client=name, group="orders")
        return [start, *(at(n * SECOND, "pull", **client(name)) for n in seconds)]

    def members(seconds: int, *left: str) -> Line:
        return at(seconds * SECOND, "members", group="orders", broker="broker-a", members=list(left))

    files = {f"client-{n}-orders.jsonl": lives(name, 10, 20) for n, name in enumerate(names, 1)}
    files["client-1-orders.jsonl"] = lives("c", 10, 20, 60, 80)
    files["broker-9-broker-a.jsonl"] = [
        broker(0, "broker_start"),
        *(members(5, *names), members(25, "c", "e", "f"), members(27, "c", "f"), members(29, "c"), members(90)),
    ]
    joined = join([Recording.of_events(name, lines) for name, lines in files.items()])
    gaps = [event for event in joined.table.to_pylist() if event["kind"] == "gap"]
    spans = [((gap["due"] - START) // 1000, (gap["time"] - START) // 1000) for gap in gaps]
    assert spans == [(20, 25), (20, 27), (20, 29), (80, 90)]
