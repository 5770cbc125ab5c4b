from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.allocation import AveragelyByCircle, ByMachineRoom, ConsistentHash, MessageQueue, sorted_ids
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.schema import Group
from rocketproof.traces.monitors.groups.allocations import NO_ANSWER, strategy_of
from rocketproof.traces.monitors.notebook import whole

from .group_events import Judged, rebalance

CLAIM = "allocation-as-the-strategy-says"
MEMBERS = ["c1", "c2", "c3"]
EIGHT = [f"b:{number}" for number in range(8)]
ROOMS = ["r1@b:0", "r1@b:1", "r2@b:0", "r2@b:1"]


@pytest.mark.parametrize(
    ("client", "assigned"),
    [("c1", ["b:0", "b:1", "b:2"]), ("c2", ["b:3", "b:4", "b:5"]), ("c3", ["b:7", "b:6"]), ("c4", [])],
)
def test_avg_as_it_should_be(client: str, assigned: list[str]) -> None:
    # Neither the order of the lists nor that of the answer matters; who is not in the list gets nothing (RB-20).
    judged = Judged([rebalance(0, client, MEMBERS[::-1], EIGHT[::-1], assigned=assigned)])
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 1


def test_another_share_is_a_violation_told_once_for_equal_passes() -> None:
    wrong = [rebalance(time, "c2", MEMBERS, EIGHT, assigned=["b:3"]) for time in (0, 20_000, 40_000)]
    judged = Judged([*wrong, rebalance(60_000, "c2", MEMBERS, EIGHT)])
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.judged(CLAIM) == 4
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["actor"], row["since"], row["time"]) == (whole("G", "T"), "c2", 0, 40_000)
    assert (row["value"], row["expected"]) == (1, 3)


def test_queues_of_many_brokers_are_sorted_as_a_client_does() -> None:
    queues = ["broker-a:10", "broker-a:2", "broker-b:0", "broker-a:1"]
    judged = Judged([rebalance(0, "c1", ["c1", "c2"], queues, assigned=["broker-a:1", "broker-a:2"])])
    assert judged.counts(CLAIM) == (0, 0)


def test_the_strategy_of_the_header_counts_where_the_pass_names_none() -> None:
    groups = {"G": Group(strategy="AVG_BY_CIRCLE")}
    event = rebalance(0, "c1", ["c1", "c2"], assigned=["b:0", "b:2"], detail=None)
    assert Judged([event], groups=groups).counts(CLAIM) == (0, 0)
    assert Judged([event], groups={"G": Group()}).counts(CLAIM) == (1, 0)


def test_without_the_name_of_the_strategy_another_answer_is_in_doubt() -> None:
    judged = Judged([rebalance(0, "c1", ["c1", "c2"], assigned=["b:0", "b:2"], detail=None)])
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_queue_that_was_not_offered_is_wrong_however_the_strategy_is_configured() -> None:
    judged = Judged([rebalance(0, "c1", ["c1"], ["b:0"], assigned=["b:0", "b:9"], detail="CONSISTENT_HASH")])
    assert judged.counts(CLAIM) == (1, 0)


def test_consistent_hash_with_other_virtual_nodes() -> None:
    queues = [f"b:{number}" for number in range(16)]
    parsed = [MessageQueue("T", "b", number) for number in range(16)]
    share = [f"b:{queue.queue_id}" for queue in ConsistentHash(3).allocate("c1", parsed, ["c1", "c2"])]
    named = rebalance(0, "c1", ["c1", "c2"], queues, assigned=share, detail="CONSISTENT_HASH(3)")
    unnamed = rebalance(0, "c1", ["c1", "c2"], queues, assigned=share, detail="CONSISTENT_HASH")
    assert Judged([named]).counts(CLAIM) == (0, 0)
    assert Judged([unnamed]).counts(CLAIM) == (0, 1)


def test_machine_room_that_indexes_the_wrong_list() -> None:
    right = rebalance(0, "c1", ["c1", "c2"], ROOMS, assigned=["r2@b:0"], detail="MACHINE_ROOM(r2)")
    wrong = rebalance(0, "c1", ["c1", "c2"], ROOMS, assigned=["r1@b:0"], detail="MACHINE_ROOM(r2)")
    assert Judged([right]).counts(CLAIM) == (0, 0)
    assert Judged([wrong]).counts(CLAIM) == (1, 0)


@pytest.mark.parametrize("detail", ["MACHINE_ROOM", "CONFIG", "MACHINE_ROOM_NEARBY-AVG", "com.example.Mine"])
def test_strategies_that_cannot_be_recomputed_are_counted(detail: str) -> None:
    judged = Judged([rebalance(time, "c1", MEMBERS, assigned=[], detail=detail) for time in (0, 20_000)])
    assert judged.judged(CLAIM) == 0
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.monitor.unjudged == {f"strategy {detail}": 2}


def test_a_failed_member_query_read_as_nothing_is_mine() -> None:
    judged = Judged([rebalance(0, "c1", [], assigned=[])])
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.rows(CLAIM)[0]["expected"] == NO_ANSWER


def test_a_pass_that_fails_changes_nothing_and_is_right() -> None:
    without_members = rebalance(0, "c1", [], assigned=None)
    refused = rebalance(20_000, "c1", ["c1"], ["b:0"], assigned=None, result="error")
    judged = Judged([without_members, refused])
    assert judged.judged(CLAIM) == 2
    assert judged.counts(CLAIM) == (0, 0)


def test_what_was_not_recorded_is_counted() -> None:
    without_lists = rebalance(0, "c1", None, assigned=["b:0"])
    without_answer = rebalance(20_000, "c1", ["c1"], assigned=None)
    damaged = rebalance(40_000, "c1", ["c1"], ["b0"], assigned=["b0"])
    judged = Judged([without_lists, without_answer, damaged])
    assert judged.judged(CLAIM) == 0
    assert judged.monitor.unjudged == {
        "members or queues were not recorded": 1,
        "the answer was not recorded": 1,
        "'b0' is no queue; a queue is written as broker:id, such as broker-a:3.": 1,
    }


def test_broadcasting_takes_every_queue_whoever_else_is_there() -> None:
    groups = {"G": Group(mode="broadcasting")}
    right = rebalance(0, "c1", None, ["b:0", "b:1"], assigned=["b:1", "b:0"])
    wrong = rebalance(0, "c1", ["c1", "c2"], ["b:0", "b:1"], assigned=["b:0"])
    assert Judged([right], groups=groups).counts(CLAIM) == (0, 0)
    assert Judged([wrong], groups=groups).counts(CLAIM) == (1, 0)


@given(
    members=st.lists(st.text("abc@1", min_size=1, max_size=4), min_size=1, max_size=6),
    brokers=st.lists(st.sampled_from(["broker-a", "broker-b", "r1@x"]), min_size=1, max_size=3, unique=True),
    queues=st.integers(1, 5),
    strategy=st.sampled_from(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH(10)", "MACHINE_ROOM(r1)"]),
)
def test_whatever_the_strategies_of_the_model_answer_is_right(
    members: list[str], brokers: list[str], queues: int, strategy: str
) -> None:
    known = strategy_of(strategy)
    assert known is not None
    parsed = sorted(MessageQueue("T", broker, number) for broker in brokers for number in range(queues))
    events = []
    for time, own in enumerate(sorted(set(members))):
        share = known[0].allocate(own, parsed, sorted_ids(members))
        texts = [f"{queue.broker_name}:{queue.queue_id}" for queue in share]
        offered = [f"{queue.broker_name}:{queue.queue_id}" for queue in parsed]
        events.append(rebalance(time, own, members, offered, assigned=texts, detail=strategy))
    judged = Judged(events)
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == len(events)


def test_names_of_strategies() -> None:
    assert strategy_of("AVG_BY_CIRCLE") == (AveragelyByCircle(), True)
    assert strategy_of("MACHINE_ROOM(r1, r2)") == (ByMachineRoom(frozenset({"r1", "r2"})), True)
    assert strategy_of("CONSISTENT_HASH(many)") is None
    assert strategy_of("CONSISTENT_HASH(99999999999)") is None
    assert strategy_of("") is None
