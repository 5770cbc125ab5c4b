"""Recordings of two clusters with brokers and groups of the same names: they are told apart by who stores meanwhile."""

from __future__ import annotations

from typing import Any

from rocketproof.traces.format.header import Header, Stated
from rocketproof.traces.format.schema import Group
from rocketproof.traces.recorders.clusters import clusters_named
from rocketproof.traces.recorders.recording import Recording

from ...agents import QUEUE, Line, at

SECOND = 1_000_000
RETRY = {**QUEUE, "topic": f"%RETRY%{QUEUE['group']}"}


def broker(pid: int, client: str, *when: int, begin: int = 0, **more: Any) -> tuple[Stated, Recording]:
    """A broker that stores messages at these seconds, from offset ``begin`` on, and whose only client is this one."""
    of = {name: QUEUE[name] for name in ("topic", "broker", "queue")}
    lines = [at(second * SECOND, "store", **of, offset=n) for n, second in enumerate(when, begin)]
    lines += [at(when[-1] * SECOND, "commit", **QUEUE, client=client, offset=1)]
    lines += [at(when[-1] * SECOND, kind, broker=QUEUE["broker"], result=how) for kind, how in more.items()]
    recording = Recording.of_events(f"broker-{pid}-{QUEUE['broker']}.jsonl", lines)
    return Stated(header=Header(source="rocketproof agent 1, broker")), recording


def client(*lines: Line) -> tuple[Stated, Recording]:
    groups = {QUEUE["group"]: Group(listener="orderly")}
    return Stated(header=Header(groups=groups)), Recording.of_events("client-9-g.jsonl", lines)


def names(files: list[tuple[Stated, Recording]], *columns: str) -> list[list[list[Any]]]:
    return [[list(event.values()) for event in one.table.select(columns).to_pylist()] for _, one in files]


def test_what_belongs_to_the_second_cluster_gets_a_number() -> None:
    told = {"queues": ["broker-a:0"], "subscriptions": ["order=*@1"]}
    lines = [at(0, "pull", **RETRY, client=name, offset=0) for name in ("c", "c@u2")]
    lines += [at(SECOND, "rebalance", group=QUEUE["group"], topic="order", client="c@u2", **told)]
    files = clusters_named([broker(7, "c", 1, 5), broker(8, "c@u2", 2, 6), client(*lines)])
    group = QUEUE["group"]
    assert names(files, "broker", "topic") == [
        [["broker-a", "order"]] * 3,
        [["broker-a(2)", "order(2)"]] * 3,
        [
            ["broker-a", f"%RETRY%{group}"],
            ["broker-a(2)", f"%RETRY%{group}(2)"],
            [None, "order(2)"],
        ],
    ]
    assert names(files, "group", "queues", "subscriptions")[2] == [
        [group, None, None],
        [f"{group}(2)", None, None],
        [f"{group}(2)", ["broker-a(2):0"], ["order(2)=*@1"]],
    ]
    assert [list(stated.header.groups) for stated, _ in files] == [[], [], [group, f"{group}(2)"]]
    assert files[1][0].header.source == "rocketproof agent 1, broker, of another cluster, here named broker-a(2)"


def test_a_client_that_no_broker_knows_is_where_others_of_its_process_are() -> None:
    lines = [at(0, "client_start", client=name, group=QUEUE["group"]) for name in ("c@u2", "c@u3")]
    own = [(Stated(header=Header()), Recording.of_events(f"client-9-{n}.jsonl", [one])) for n, one in enumerate(lines)]
    files = clusters_named([broker(7, "c", 1, 5), broker(8, "c@u2", 2, 6), *own])
    assert names(files, "group")[2:] == [[[f"{QUEUE['group']}(2)"]]] * 2


def test_brokers_that_share_a_client_or_elect_their_master_or_follow_one_another_are_of_one_cluster() -> None:
    def are_two(*files: tuple[Stated, Recording]) -> bool:
        return names(clusters_named(files), "broker") != names(list(files), "broker")

    first = broker(7, "c", 1, 5)
    assert are_two(first, broker(8, "d", 2, 6))
    assert not are_two(first, broker(8, "c", 2, 6))
    assert not are_two(first, broker(8, "d", 6, 9, begin=2))
    # Its store is empty: it is that of another day's cluster.
    assert are_two(first, broker(8, "d", 6, 9))
    assert not are_two(first, broker(8, "c", 6, 9))
    assert not are_two(first, broker(8, "d", 2, 6, role_change="master"))
    # A restart of the first one, which has its client.
    assert names(clusters_named([first, broker(8, "d", 2, 9), broker(9, "c", 8, 10)]), "broker")[2][0] == ["broker-a"]
