"""Recordings of slaves: told from those of their master, and what they say of offsets left out."""

from __future__ import annotations

import pytest

from rocketproof.traces.format.schema import slave_of
from rocketproof.traces.recorders.joining import join
from rocketproof.traces.recorders.recording import Recording
from rocketproof.traces.recorders.replicas import ONLY_A_SLAVE, replicas_named

from ...agents import QUEUE, Line, at

SECOND = 1_000_000
MASTER, SLAVE, AGAIN = (f"broker-{pid}-broker-a.jsonl" for pid in (7, 8, 9))
LOG = {"topic": "order", "broker": "broker-a", "queue": 0}


def stored(when: int, offset: int) -> Line:
    return at(when, "store", **LOG, offset=offset)


def commit(when: int, offset: int) -> Line:
    return at(when, "commit", **QUEUE, client="c", offset=offset)


def broker(when: int, kind: str) -> Line:
    return at(when, kind, broker="broker-a")


FIRST = [broker(0, "broker_start"), stored(SECOND, 0), commit(2 * SECOND, 1), broker(10 * SECOND, "broker_stop")]
COPY = [
    *[broker(SECOND, "broker_start"), commit(12 * SECOND, 5), at(13 * SECOND, "reset", **QUEUE, offset=0)],
    broker(40 * SECOND, "broker_stop"),
]
BACK = [broker(20 * SECOND, "broker_start"), stored(21 * SECOND, 1), commit(30 * SECOND, 2)]


def recordings() -> list[Recording]:
    files = {MASTER: FIRST, SLAVE: COPY, AGAIN: BACK}
    return [Recording.of_events(file, events) for file, events in files.items()]


def test_who_stores_nothing_while_another_of_its_broker_does_is_a_slave() -> None:
    assert [one.broker for one in replicas_named(recordings())] == ["broker-a", slave_of("broker-a"), "broker-a"]


def test_who_takes_no_offset_that_clients_send_to_its_broker_is_a_slave_whose_master_was_not_recorded() -> None:
    reads = [broker(SECOND, "broker_start"), broker(40 * SECOND, "broker_stop")]
    files = {SLAVE: reads, "client-9-orders.jsonl": [commit((10 + n) * SECOND, n) for n in range(20)]}

    def of(**lines: list[Line]) -> bool:
        read = [Recording.of_events(file, events) for file, events in {**files, **lines}.items()]
        return bool(replicas_named(read)[0].as_slave.all())

    assert of()
    assert not of(**{SLAVE: [*reads[:1], commit(21 * SECOND, 3), *reads[1:]]})
    assert not of(**{"client-9-orders.jsonl": [commit((30 + n) * SECOND, n) for n in range(20)]})
    assert not of(**{"client-9-orders.jsonl": [{**commit(20 * SECOND, n), "path": "file"} for n in range(20)]})


def test_a_broker_that_was_started_again_is_none_though_its_recordings_overlap_a_little() -> None:
    late = [broker(10 * SECOND - 1000, "broker_start"), broker(60 * SECOND, "broker_stop")]
    one, two = (Recording.of_events(file, events) for file, events in {MASTER: FIRST, AGAIN: late}.items())
    assert not any(found.as_slave.any() for found in replicas_named([one, two]))


def test_what_only_a_slave_took_is_no_offset_of_the_queue() -> None:
    joined = join(recordings())
    events = joined.table.to_pylist()
    assert [event["offset"] for event in events if event["kind"] in ("commit", "reset")] == [1, 2]
    assert [event["broker"] for event in events if event["kind"] == "broker_stop"] == ["broker-a", slave_of("broker-a")]
    assert joined.left_out[ONLY_A_SLAVE] == 2


def told(files: dict[str, list[Line]]) -> list[tuple[str, ...]]:
    """What is told of brokers and their offsets, when all files are joined."""
    kinds = ("broker_start", "broker_stop", "broker_crash", "role_change", "commit")
    events = join([Recording.of_events(file, events) for file, events in files.items()]).table.to_pylist()
    return [
        (event["kind"], event["broker"] if event["offset"] is None else str(event["offset"]))
        for event in events
        if event["kind"] in kinds
    ]


ELECTED = [broker(SECOND, "broker_start"), commit(2 * SECOND, 7), stored(25 * SECOND, 1), commit(26 * SECOND, 2)]


def test_a_slave_that_stores_after_its_master_was_killed_has_become_the_master() -> None:
    killed = [broker(0, "broker_start"), stored(SECOND, 0), stored(5 * SECOND, 1), commit(10 * SECOND, 1)]
    end = [broker(60 * SECOND, "broker_stop")]
    assert told({MASTER: killed, SLAVE: [*ELECTED, *end]}) == [
        ("broker_start", "broker-a"),
        ("broker_start", slave_of("broker-a")),
        ("commit", "1"),
        ("broker_crash", "broker-a"),
        ("role_change", "broker-a"),
        ("commit", "2"),
        ("broker_stop", "broker-a"),
    ]


def test_a_master_that_goes_on_after_another_one_stores_is_a_slave_then() -> None:
    leaves = [*FIRST[:2], commit(20 * SECOND, 1), commit(27 * SECOND, 8), broker(30 * SECOND, "broker_stop")]
    assert told({MASTER: leaves, SLAVE: ELECTED}) == [
        ("broker_start", "broker-a"),
        ("broker_start", slave_of("broker-a")),
        ("commit", "1"),
        ("role_change", "broker-a"),
        ("commit", "2"),
        ("broker_stop", slave_of("broker-a")),
    ]


@pytest.mark.parametrize("also_at_its_start", [True, False])
def test_a_broker_that_tells_its_role_is_what_it_says(also_at_its_start: bool) -> None:
    start = [at(2 * SECOND, "role_change", broker="broker-a", result="slave")] * also_at_its_start
    role = [
        at(when * SECOND, "role_change", broker="broker-a", result=what)
        for when, what in ((0, "master"), (22, "slave"))
    ]
    first = [
        broker(0, "broker_start"),
        role[0],
        stored(SECOND, 0),
        commit(20 * SECOND, 1),
        role[1],
        commit(24 * SECOND, 9),
    ]
    other = [
        *[broker(SECOND, "broker_start"), *start],
        *[commit(3 * SECOND, 7), at(23 * SECOND, "role_change", broker="broker-a", result="master")],
        *[commit(24 * SECOND, 2), stored(25 * SECOND, 1)],
    ]
    assert told({MASTER: first, SLAVE: other}) == [
        ("broker_start", "broker-a"),
        ("role_change", "broker-a"),
        ("broker_start", slave_of("broker-a")),
        *[("role_change", slave_of("broker-a"))] * also_at_its_start,
        ("commit", "1"),
        ("role_change", slave_of("broker-a")),
        ("role_change", "broker-a"),
        ("commit", "2"),
    ]


def test_where_brokers_elect_who_starts_and_is_told_no_role_is_a_slave() -> None:
    master = [broker(0, "broker_start"), at(1, "role_change", broker="broker-a", result="master"), commit(SECOND, 1)]
    other = [broker(SECOND, "broker_start"), commit(2 * SECOND, 7), broker(4 * SECOND, "broker_stop")]
    assert told({MASTER: [*master, commit(9 * SECOND, 2)], SLAVE: other}) == [
        ("broker_start", "broker-a"),
        ("role_change", "broker-a"),
        ("commit", "1"),
        ("broker_start", slave_of("broker-a")),
        ("broker_stop", slave_of("broker-a")),
        ("commit", "2"),
    ]
