from __future__ import annotations

from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.standstills import Standstills, within

from .groups.group_events import Event, Judged, event, heartbeat, rebalance

PAUSE = 40_000
STOPPED = range(90_000, 250_000)
"""When the client, or the broker, is stopped, ms."""


def at(period: int, *, begin: int = 0, end: int = 320_000) -> list[int]:
    """Times of what is done again and again, but not while the process is stopped, and at once when it goes on."""
    return [time for time in range(begin, end, period) if time not in STOPPED]


def client(name: str, *topics: str) -> list[Event]:
    beats = [heartbeat(time, name, *(f"{topic}=*@1" for topic in topics)) for time in at(30_000, begin=10)]
    passes = [rebalance(time, name, ["c1", "c2"], topic=topic) for topic in topics for time in at(20_000, begin=20)]
    return [*beats, *passes]


def persists(*times: int) -> list[Event]:
    return [event(time, Kind.FILE_PERSIST, group=None, broker="b", detail="consumerOffset") for time in times]


def standstills(events: list[Event]) -> Standstills:
    return Standstills.of(ContextEvents.of(events).by_time(), PAUSE)


def test_a_client_that_gives_no_sign_for_long_stood_still() -> None:
    assert standstills(client("c1", "T")).of_client(Actor("c1", 0)) == [(80_020, 260_020)]
    assert standstills(client("c1", "T")).of_client(Actor("c2", 0)) == []
    beats = [event for event in client("c1", "T") if event["kind"] != Kind.HEARTBEAT]
    assert standstills(beats).of_client(Actor("c1", 0)) == []  # a log may tell of passes only that change something


def test_a_broker_that_writes_nothing_for_much_longer_than_usual_stood_still() -> None:
    assert standstills(persists(0, 5_000, 10_000, 15_000, 36_000, 41_000)).of_brokers == [("b", 15_000, 36_000)]
    assert standstills(persists(0, 10_000, 20_000, 30_000, 55_000)).of_brokers == []  # it writes every 10 s
    again = [event(30_000, Kind.BROKER_START, group=None, broker="b")]
    assert standstills([*persists(0, 5_000, 10_000, 15_000, 36_000), *again]).of_brokers == []


def test_how_much_of_a_time_is_covered() -> None:
    assert within([(0, 10), (20, 30)], 5, 25) == 10
    assert within([], 5, 25) == 0


def test_a_client_that_stood_still_has_neither_left_out_a_topic_nor_been_silent() -> None:
    judged = Judged([*client("c1", "T", "U"), *client("c2", "T", "U")], end=320_000)
    assert judged.violated == []


def test_a_client_that_stands_still_does_not_differ_from_those_that_run() -> None:
    stopped = [rebalance(time, "c1", ["c1"]) for time in at(20_000, end=80_000)]
    stopped += [heartbeat(time, "c1", "T=*@1") for time in at(30_000)]
    stopped += [rebalance(time, "c1", ["c1", "c2"]) for time in range(260_000, 320_000, 20_000)]
    runs = [rebalance(time, "c2", ["c1", "c2"] if time >= 80_000 else ["c1"]) for time in range(5, 320_000, 20_000)]
    runs += [heartbeat(time, "c2", "T=*@1") for time in range(5, 320_000, 30_000)]
    assert Judged([*stopped, *runs], end=320_000).counts("views-agree") == (0, 0)
