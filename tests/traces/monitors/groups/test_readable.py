from __future__ import annotations

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Slot
from rocketproof.traces.encoding.store_counts import Stored
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind

from .group_events import EVERYTHING, Judged, event, heartbeat, rebalance

CLAIM = "every-queue-is-readable"
LATER = Settings().new_topic + 1


def stored(*queues: str, topic: str = "T", group: str = "") -> dict[Slot, Stored]:
    """Ten messages in each queue."""
    parts = (queue.partition(":") for queue in queues)
    return {Slot(group, topic, broker, int(number)): Stored(10, 9, 0, 0, 0) for broker, _, number in parts}


def test_queues_that_members_know() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"])], stores=stored("b:0", "b:3"))
    assert judged.judged(CLAIM) == 2
    assert judged.counts(CLAIM) == (0, 0)


def test_fewer_read_queues_than_write_queues() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"]), rebalance(LATER, "c1", ["c1"])], stores=stored("b:0", "b:4"))
    assert judged.judged(CLAIM) == 2
    assert judged.counts(CLAIM) == (1, 0)
    (one,) = judged.rows(CLAIM)
    assert (one["slot"], one["value"], one["until"]) == (Slot("G", "T", "b", 4), 10, 10)
    assert (one["since"], one["time"]) == (0, LATER)


def test_a_broker_that_nobody_knows_may_be_of_another_cluster() -> None:
    events = [rebalance(0, "c1", ["c1"]), rebalance(LATER, "c1", ["c1"])]
    judged = Judged(events, stores=stored("b:0", "x:0"))
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE
    of_another_topic = rebalance(0, "d1", ["d1"], ["x:0"], group="H", topic="U")
    assert Judged([*events, of_another_topic], stores=stored("b:0", "x:0")).counts(CLAIM) == (1, 0)


def test_every_group_that_consumes_the_topic_is_asked() -> None:
    events = [rebalance(0, "c1", ["c1"], ["b:0"]), rebalance(0, "d1", ["d1"], ["b:1"], group="H")]
    events.append(rebalance(0, "e1", ["e1"], ["b:0"], group="I", topic="U"))
    events += [{**each, "time": LATER} for each in events]
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
    passes = [rebalance(time, "c1", ["c1"], ["b:0", "x:0"]) for time in (0, LATER)]
    judged = Judged([passes[0], retry, passes[1]], stores=stored("x:0", topic="%RETRY%G", group="G"))
    assert judged.counts(CLAIM) == (1, 0)


def test_a_retry_topic_without_any_pass_is_in_doubt() -> None:
    passes = [rebalance(0, "c1", ["c1"]), rebalance(LATER, "c1", ["c1"])]
    judged = Judged(passes, stores=stored("x:0", topic="%RETRY%G", group="G"))
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_topic_in_heartbeats_only_is_in_doubt() -> None:
    events = [heartbeat(0, "c1", "T=*"), rebalance(0, "c1", ["c1"], topic="U"), heartbeat(LATER, "c1", "T=*")]
    judged = Judged(events, stores=stored("b:0"))
    assert judged.counts(CLAIM) == (0, 1)


def test_a_gap_is_a_doubt() -> None:
    gap = event(5, Kind.GAP, None, None, due=1)
    events = [rebalance(0, "c1", ["c1"]), gap, rebalance(LATER, "c1", ["c1"])]
    assert Judged(events, stores=stored("b:9")).rows(CLAIM)[0]["doubt"] == Doubt.GAP


def test_a_queue_that_was_added_is_learnt_of_in_time() -> None:
    """ST-3: until the next poll of routes and the rebalance after it, nobody knows of it."""
    stores = {**stored("b:0"), Slot("", "T", "b", 9): Stored(10, 9, 5_000, 0, 2_000)}
    passes = [rebalance(0, "c1", ["c1"]), rebalance(LATER, "c1", ["c1"])]
    assert Judged(passes, stores=stores).judged(CLAIM) == 1
    passes.append(rebalance(LATER + 2_000, "c1", ["c1"]))
    assert Judged(passes, stores=stores).counts(CLAIM) == (1, 0)


def test_members_that_ended_learn_of_nothing() -> None:
    stores = {**stored("b:0"), Slot("", "T", "b", 9): Stored(10, 9, 5_000, 0, 2_000)}
    judged = Judged([rebalance(0, "c1", ["c1"])], stores=stores, end=LATER + 2_000)
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_queue_as_old_as_one_that_members_know_was_not_added() -> None:
    stores = {**stored("b:0"), Slot("", "T", "b", 9): Stored(10, 9, 5_000, 0, 1_000)}
    passes = [rebalance(0, "c1", ["c1"]), rebalance(1_001, "c1", ["c1"])]
    asked = event(500, Kind.ROUTE, "c1", topic="T", queues=["b:0"])
    assert Judged([*passes, asked], stores=stores).counts(CLAIM) == (1, 0)
    # The topic may have been idle, and its route may have changed since it was asked for.
    assert Judged(passes, stores=stores).judged(CLAIM) == 1
    stores[Slot("", "T", "b", 0)] = Stored(10, 19, 5_000, 10, 0)
    assert Judged([*passes, asked], stores=stores).judged(CLAIM) == 1


def test_without_routes_an_old_queue_is_in_doubt() -> None:
    stores = {**stored("b:0"), Slot("", "T", "b", 9): Stored(10, 9, 5_000, 0, 1_000)}
    passes = [rebalance(0, "c1", ["c1"]), rebalance(1_001, "c1", ["c1"])]
    judged = Judged(passes, stores=stores, evidence=EVERYTHING - {Kind.ROUTE})
    assert judged.counts(CLAIM) == (0, 1)
