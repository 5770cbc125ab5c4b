"""Recordings that end before the others: a death that members or a new process show, or nothing that is known."""

from __future__ import annotations

from typing import Any

from rocketproof.traces.recorders.endings import EARLY, SILENT, endings
from rocketproof.traces.recorders.processes import Processes
from rocketproof.traces.recorders.recording import Recording

from ...agents import Line, at, client

SECOND = 1_000_000
C, D = "client-7-orders.jsonl", "client-9-orders.jsonl"
BROKER = "broker-8-broker-a.jsonl"
STOPPED = at(200 * SECOND, "broker_stop", broker="broker-a")


def found(files: dict[str, list[Line]]) -> list[tuple[Any, ...]]:
    """Kind, who, since and when, ms after the beginning."""
    recordings = [Recording.of_events(file, events) for file, events in files.items()]
    begin = 1_700_000_000_000
    return [
        (
            e["kind"],
            e.get("client", e.get("broker")),
            e.get("incarnation"),
            e.get("due", begin) - begin,
            e["time"] - begin,
        )
        for e in endings(recordings, Processes(recordings))
    ]


def lives(name: str, since: int, until: int) -> list[Line]:
    return [at(since, "client_start", client=name, group="orders"), at(until, "pull", **client(name))]


def listed(*members: str, when: int) -> Line:
    return at(when, "members", broker="broker-a", group="orders", members=list(members))


def test_who_is_in_no_list_any_more_was_killed() -> None:
    broker = [
        listed("c", "d", when=0),
        listed("d", when=3 * SECOND),
        at(200 * SECOND, "broker_stop", broker="broker-a"),
    ]
    files = {C: lives("c", 10, 2 * SECOND), D: lives("d", 10, 200 * SECOND), BROKER: broker}
    assert found(files) == [("gap", "c", 0, 2_000, 3_000), ("client_crash", "c", 0, 0, 3_000)]


def test_lists_count_at_their_corrected_times() -> None:
    # The broker's clock was 5 s behind: its stamps are corrected, the times in its events are as they were recorded.
    broker = [listed("c", "d", when=-5 * SECOND), listed("d", when=-2 * SECOND), at(195 * SECOND, "broker_stop")]
    files = {C: lives("c", 10, 2 * SECOND), D: lives("d", 10, 200 * SECOND), BROKER: broker}
    recordings = [Recording.of_events(file, events) for file, events in files.items()]
    recordings[2].stamps = recordings[2].stamps + 5 * SECOND
    died = [event["time"] - 1_700_000_000_000 for event in endings(recordings, Processes(recordings))]
    assert died == [3_000, 3_000]


def test_a_host_that_lost_power_is_noticed_late_and_died_before_its_next_heartbeat() -> None:
    broker = [
        listed("c", "d", when=0),
        listed("d", when=125 * SECOND),
        at(200 * SECOND, "broker_stop", broker="broker-a"),
    ]
    files = {C: lives("c", 10, 2 * SECOND), D: lives("d", 10, 200 * SECOND), BROKER: broker}
    assert found(files)[1] == ("client_crash", "c", 0, 0, 2_000 + SILENT)


def test_who_is_in_a_list_long_after_its_last_event_may_have_lived_until_it_is_left_out() -> None:
    broker = [*(listed("c", "d", when=n * SECOND) for n in (0, 50)), listed("d", when=85 * SECOND), STOPPED]
    files = {C: lives("c", 10, 2 * SECOND), D: lives("d", 10, 200 * SECOND), BROKER: broker}
    assert found(files) == [("gap", "c", 0, 2_000, 85_000), ("client_crash", "c", 0, 0, 85_000)]


def test_a_process_that_begins_anew_was_killed_before() -> None:
    files = {C: lives("c", 10, 2 * SECOND), D: lives("c", 4 * SECOND, 9 * SECOND)}
    assert found(files) == [("gap", "c", 0, 2_000, 4_000), ("client_crash", "c", 0, 0, 4_000)]
    first = [at(0, "broker_start", broker="broker-a"), listed("c", when=SECOND)]
    files = {BROKER: first, "broker-9-broker-a.jsonl": [at(5 * SECOND, "broker_start", broker="broker-a")]}
    assert found(files) == [("gap", "broker-a", None, 1_000, 5_000), ("broker_crash", "broker-a", None, 0, 5_000)]


def test_who_stops_in_order_ends_and_leaves_no_gap() -> None:
    stopped = [*lives("c", 10, SECOND), at(2 * SECOND, "client_stop", client="c", group="orders")]
    assert found({C: stopped, D: lives("d", 10, 200 * SECOND)}) == []


def test_a_recording_that_ends_early_tells_nothing_of_the_rest() -> None:
    late = 2_000 + EARLY + 1
    files = {C: lives("c", 10, 2 * SECOND), D: lives("d", 10, late * 1000)}
    assert found(files) == [("gap", "c", 0, 2_000, late)]
    files[D] = lives("d", 10, (late - 1) * 1000)
    assert found(files) == []


def test_of_a_broker_that_did_not_stop_in_order_nothing_is_known_after_its_last_event() -> None:
    # Its file may have been copied before those of the others.
    files = {BROKER: [listed("c", when=SECOND)], C: lives("c", 10, 2 * SECOND)}
    assert found(files) == [("gap", "broker-a", None, 1_000, 2_000)]
    stopped = at(1_500_000, "broker_stop", broker="broker-a")
    assert found({**files, BROKER: [listed("c", when=SECOND), stopped]}) == []


def test_of_a_client_that_no_broker_ever_knew_nothing_is_missing() -> None:
    start = [at(10, "client_start", client="c", group="orders")]
    broker = [listed("d", when=0), STOPPED]
    files = {C: start, D: lives("d", 10, 200 * SECOND), BROKER: broker}
    assert found(files) == []
    route = at(20, "route", client="c", group="orders", topic="order", queues=["broker-a:0"])
    assert found({**files, C: [*start, route]}) == []
    assert found({**files, C: lives("c", 10, 20)})[0][:2] == ("gap", "c")
    assert found({**files, BROKER: [listed("c", "d", when=0), STOPPED]})[0][:2] == ("gap", "c")
    assert found({C: start, D: lives("d", 10, 200 * SECOND)})[0][:2] == ("gap", "c")


def test_all_clients_of_a_process_that_was_killed_are_gone_with_the_one_that_is_missed() -> None:
    """A broadcasting client has the name of others of its host, so that lists go on to have it."""
    one, two = "10.0.0.7@7", "10.0.0.7@9"
    of_all = {"client": "10.0.0.7@DEFAULT", "group": "all"}
    mine, other = ([at(10, "client_start", **of_all), at(end * SECOND, "heartbeat", **of_all)] for end in (1, 200))
    broker = [listed(one, two, when=0), listed(two, when=3 * SECOND), STOPPED]
    files = {C: lives(one, 10, 2 * SECOND), "client-7-all.jsonl": mine, "client-9-all.jsonl": other, BROKER: broker}
    files |= {D: lives(two, 10, 200 * SECOND)}
    gone = [("gap", of_all["client"], 0, 1_000, 3_000), ("client_crash", of_all["client"], 0, 0, 3_000)]
    assert found(files)[2:] == gone
    # It lived on after the list: nobody is gone.
    assert [
        one[0] for one in found(files | {"client-7-all.jsonl": [*mine, at(9 * SECOND, "heartbeat", **of_all)]})
    ] == [
        "gap",
        "gap",
    ]


def test_a_recording_of_one_event_is_not_what_comes_after_itself() -> None:
    files = {C: [at(10, "client_start", client="c", group="orders")], D: lives("d", 10, 20 * SECOND)}
    assert found(files) == []
