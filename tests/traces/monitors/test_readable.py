from __future__ import annotations

from rocketproof.traces.encoding.names import Slot
from rocketproof.traces.encoding.store_counts import Stored
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind

from .group_events import Judged, event, heartbeat, rebalance

CLAIM = "every-queue-is-readable"


def stored(*queues: str, topic: str = "T", group: str = "") -> dict[Slot, Stored]:
    """Ten messages in each queue."""
    parts = (queue.partition(":") for queue in queues)
    return {Slot(group, topic, broker, int(number)): Stored(10, 9, 0, 0, 0) for broker, _, number in parts}


def test_queues_that_members_know() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"])], stores=stored("b:0", "b:3"))
    assert judged.judged(CLAIM) == 2
    assert judged.counts(CLAIM) == (0, 0)


def test_fewer_read_queues_than_write_queues() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"]), rebalance(9, "c1", ["c1"])], stores=stored("b:0", "b:4", "x:0"))
    assert judged.judged(CLAIM) == 3
    assert judged.counts(CLAIM) == (2, 0)
    one, other = judged.rows(CLAIM)
    assert (one["slot"], one["value"], one["until"]) == (Slot("G", "T", "b", 4), 10, 10)
    assert other["slot"] == Slot("G", "T", "x", 0)
    assert (one["since"], one["time"]) == (0, 9)


def test_every_group_that_consumes_the_topic_is_asked() -> None:
    events = [rebalance(0, "c1", ["c1"], ["b:0"]), rebalance(0, "d1", ["d1"], ["b:1"], group="H")]
    events.append(rebalance(0, "e1", ["e1"], ["b:0"], group="I", topic="U"))
    judged = Judged(events, stores=stored("b:0"))
    assert judged.judged(CLAIM) == 2
    assert [row["slot"].group for row in judged.rows(CLAIM)] == ["H"]


def test_a_route_tells_too() -> None:
    route = event(0, Kind.ROUTE, "c1", None, topic="T", queues=["b:0", "b:7"])
    judged = Judged([rebalance(0, "c1", ["c1"]), route], stores=stored("b:7"))
    assert judged.counts(CLAIM) == (0, 0)


def test_a_topic_that_nobody_consumes_is_not_judged() -> None:
    assert Judged([rebalance(0, "c1", ["c1"])], stores=stored("b:0", topic="Other")).judged(CLAIM) == 0


def test_retries_in_a_queue_that_members_do_not_see() -> None:
    retry = rebalance(0, "c1", ["c1"], ["b:0"], topic="%RETRY%G")
    judged = Judged([rebalance(0, "c1", ["c1"]), retry], stores=stored("x:0", topic="%RETRY%G", group="G"))
    assert judged.counts(CLAIM) == (1, 0)


def test_a_retry_topic_without_any_pass_is_in_doubt() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"])], stores=stored("x:0", topic="%RETRY%G", group="G"))
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_topic_in_heartbeats_only_is_in_doubt() -> None:
    judged = Judged([heartbeat(0, "c1", "T=*"), rebalance(0, "c1", ["c1"], topic="U")], stores=stored("b:0"))
    assert judged.counts(CLAIM) == (0, 1)


def test_a_gap_is_a_doubt() -> None:
    gap = event(5, Kind.GAP, None, None, due=1)
    assert Judged([rebalance(0, "c1", ["c1"]), gap], stores=stored("b:9")).rows(CLAIM)[0]["doubt"] == Doubt.GAP
