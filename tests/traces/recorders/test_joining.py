"""Order, numbers of processes, deaths and absent members, on recordings made by hand."""

from __future__ import annotations

import pytest

from rocketproof.traces.recorders.joining import join
from rocketproof.traces.recorders.processes import Death, Processes, deaths_recorded, unrecorded
from rocketproof.traces.recorders.recording import Recording

from ...agents import Line, at, client


def recording(file: str, *events: Line) -> Recording:
    return Recording.of_events(file, events)


def told(*recordings: Recording) -> list[tuple[int, str, str]]:
    joined = join(recordings)
    return [
        (1000 * event["time"] + event["micros"] - 1_700_000_000_000_000, event["recorder"], event["kind"])
        for event in joined.table.to_pylist()
    ]


@pytest.mark.parametrize(
    ("file", "pid", "of_broker"),
    [
        ("/run/client-4711-orders.jsonl", 4711, False),
        ("client-4711-%RETRY%a-b.jsonl", 4711, False),
        ("broker-12-broker-a.jsonl", 12, True),
        ("production.jsonl", -1, False),
    ],
)
def test_the_name_of_a_file_tells_process_and_side(file: str, pid: int, of_broker: bool) -> None:
    made = recording(file, at(0, "gap"))
    assert (made.pid, made.of_broker) == (pid, of_broker)


def test_recordings_are_merged_by_microseconds_then_by_file() -> None:
    one = recording("a", at(10, "pull"), at(30, "deliver"), at(30, "result"))
    two = recording("b", at(20, "store"), at(30, "members"), at(31, "store"))
    assert told(one, two) == [
        (10, "a", "pull"),
        (20, "b", "store"),
        (30, "a", "deliver"),
        (30, "a", "result"),
        (30, "b", "members"),
        (31, "b", "store"),
    ]


def test_what_a_recorder_wrote_later_never_comes_earlier() -> None:
    one = recording("a", at(5_000, "deliver"), at(4_000, "result"), at(5_001, "removed"))
    assert told(one) == [(5_000, "a", "deliver"), (5_000, "a", "result"), (5_001, "a", "removed")]
    assert one.set_back == ()


def test_a_clock_that_was_set_back_is_told_and_its_recorder_stays_in_order() -> None:
    one = recording("a", at(3_000_000, "deliver"), at(1_000_000, "result"), at(2_500_000, "removed"))
    joined = join([one])
    assert [event["kind"] for event in joined.table.to_pylist()] == ["deliver", "result", "removed"]
    assert [str(step) for step in joined.clocks.steps] == [
        "the clock of a was set, or events are not as they were: it went back by 2,000 ms between two events; "
        "those after it are taken to be as much later"
    ]


def test_what_is_due_is_moved_with_the_clock() -> None:
    times = (1_000, 9_000, 4_000, 8_000)
    events = [{"time": time, "kind": "delay_store", "due": time + 10, "seq": n} for n, time in enumerate(times)]
    one = Recording.of_events("broker-1-a.jsonl", [*events, {"time": 8_001, "kind": "broker_stop", "seq": 4}])
    assert one.stamps.tolist() == [1_000_000, 9_000_000, 9_000_000, 13_000_000, 13_001_000]
    assert one.table.column("due").to_pylist() == [1_010, 9_010, 9_010, 13_010, None]


def test_processes_of_one_client_id_are_counted_by_their_beginning() -> None:
    late = recording("client-7-orders.jsonl", at(20, "client_start", **client("c")))
    early = recording("client-9-orders.jsonl", at(10, "client_start", **client("c")))
    other = recording("client-9-bills.jsonl", at(5, "client_start", **client("c") | {"group": "bills"}))
    alone = recording("client-8-orders.jsonl", at(15, "client_start", **client("d")))
    every = [late, early, other, alone]
    processes = Processes(every)
    assert [processes.number(one, one.clients[0][0]) for one in every] == [1, 0, 0, 0]
    assert [processes.latest("c", 1_700_000_000_000_000 + stamp) for stamp in (0, 5, 19, 20)] == [0, 0, 0, 1]
    assert processes.latest("e", 1_700_000_000_000_000) == 0


def test_a_death_ends_all_that_its_process_recorded_and_is_never_before_it() -> None:
    orders = recording(
        "client-7-orders.jsonl", at(1_000, "client_start", **client("c")), at(9_500, "pull", **client("c"))
    )
    bills = recording("client-7-bills.jsonl", at(2_000, "client_start", **client("c") | {"group": "bills"}))
    broker = recording("broker-8-broker-a.jsonl", at(500, "broker_start", broker="broker-a"))
    begin = 1_700_000_000_000
    deaths = [Death(pid=8, time=begin + 5_000), Death(pid=7, time=begin + 9), Death(pid=6, time=begin)]
    added, unknown = deaths_recorded([orders, bills, broker], deaths, Processes([orders, bills, broker]))
    assert unknown == [Death(pid=6, time=begin)]
    said = [
        (event["kind"], event["time"] - begin, event.get("due", begin) - begin, event.get("group"), event.get("broker"))
        for event in added
    ]
    assert said == [
        ("gap", 10, 9, "orders", None),
        ("client_crash", 10, 0, "orders", None),
        ("gap", 10, 2, "bills", None),
        ("client_crash", 10, 0, "bills", None),
        ("gap", 5_000, 4_000, None, "broker-a"),
        ("broker_crash", 5_000, 0, None, "broker-a"),
    ]


def test_members_without_a_recording_are_named() -> None:
    own = recording(
        "client-7-orders.jsonl",
        at(1, "rebalance", **client("c"), members=["c", "e", "d"]),
        at(2, "pull", **client("c")),
    )
    broker = recording(
        "broker-8-broker-a.jsonl",
        at(3, "members", broker="broker-a", group="orders", members=["c", "f"]),
        at(4, "members", broker="broker-a", group="bills", members=["x"]),
    )
    assert unrecorded([own, broker]) == {"orders": ["d", "e", "f"]}
    gaps = [event for event in join([own, broker]).table.to_pylist() if event["kind"] == "gap"]
    assert [(gap["client"], gap["incarnation"]) for gap in gaps] == [("d", 0), ("e", 0), ("f", 0)]
