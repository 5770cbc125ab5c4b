from __future__ import annotations

from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.notebook import whole

from .group_events import WITHOUT_ENDS, Judged, crash, event, heartbeat, rebalance, start, stop

CLAIM = "one-process-for-each-client-id"


def test_two_incarnations_that_live_in_turns_clash() -> None:
    judged = Judged(
        [
            start(0, "c1#0"),
            heartbeat(1_000, "c1#0", "T=*"),
            start(5_000, "c1#1"),
            heartbeat(6_000, "c1#1", "T=*"),
            heartbeat(31_000, "c1#0", "T=*"),
            heartbeat(36_000, "c1#1", "T=*"),
        ]
    )
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.judged(CLAIM) == 1
    (row,) = judged.rows(CLAIM)
    assert row == {
        "slot": whole("G"),
        "since": 5_000,
        "time": 31_000,
        "actor": "c1#1",
        "other": "c1",
        "value": 2,
        "expected": 1,
        "until": 0,
        "doubt": Doubt.NONE,
    }


def test_a_restart_with_the_same_id_is_no_clash() -> None:
    judged = Judged(
        [
            start(0, "c1#0"),
            heartbeat(1_000, "c1#0", "T=*"),
            stop(20_000, "c1#0"),
            start(20_001, "c1#1"),
            heartbeat(21_000, "c1#1", "T=*"),
            crash(40_000, "c1#1"),
            start(39_000, "c1#2"),  # the death was noticed after the restart
            heartbeat(41_000, "c1#2", "T=*"),
        ]
    )
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 1


def test_the_same_id_in_two_groups_is_no_clash() -> None:
    judged = Judged(
        [
            heartbeat(0, "c1#0", "T=*", group="G"),
            heartbeat(10_000, "c1#1", "T=*", group="H"),
            heartbeat(30_000, "c1#0", "T=*", group="G"),
            heartbeat(40_000, "c1#1", "T=*", group="H"),
        ]
    )
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 2


def test_an_overlap_within_the_skew_is_in_doubt() -> None:
    judged = Judged([start(0, "c1#0"), stop(20_000, "c1#0"), start(19_960, "c1#1"), heartbeat(30_000, "c1#1", "T=*")])
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.SKEW


def test_starts_without_a_group_are_judged_too() -> None:
    judged = Judged([start(0, "c1#0", None), start(1_000, "c1#1", None), stop(9_000, "c1#0"), stop(9_500, "c1#1")])
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.rows(CLAIM)[0]["slot"] == whole("")


def test_an_id_that_stays_doubled_in_the_list_of_members_is_a_clash() -> None:
    events = [rebalance(time, "c1", ["c1", "c1"], ["b:0", "b:1"]) for time in range(0, 160_000, 20_000)]
    judged = Judged(events)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["since"], row["time"], row["actor"], row["value"]) == (0, 140_000, "c1", 2)


def test_an_id_doubled_until_the_old_connection_is_dropped_is_none() -> None:
    doubled = [event(time, Kind.MEMBERS, None, broker="b", members=["c1", "c1"]) for time in (0, 60_000, 120_000)]
    after = event(130_000, Kind.MEMBERS, None, broker="b", members=["c1"])
    judged = Judged([heartbeat(0, "c1", "T=*"), *doubled, after])
    assert judged.counts(CLAIM) == (0, 0)


def test_an_id_doubled_at_the_end_is_not_decided() -> None:
    judged = Judged([rebalance(0, "c1", ["c1", "c1"], ["b:0"])], evidence=WITHOUT_ENDS)
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_clash_seen_both_ways_is_one_finding() -> None:
    beats = [heartbeat(time, f"c1#{n}", "T=*") for time in range(0, 200_000, 30_000) for n in (0, 1)]
    passes = [rebalance(time, "c1#0", ["c1", "c1"], ["b:0", "b:1"]) for time in range(0, 200_000, 20_000)]
    assert Judged([*beats, *passes]).counts(CLAIM) == (1, 0)


def test_the_connection_of_a_process_that_died_is_listed_beside_that_of_the_next_one_for_a_while() -> None:
    lists = [event(time, Kind.MEMBERS, broker="b", members=["c1", "c1"]) for time in (40_100, 60_000)]
    first = [start(0, "c1#0"), heartbeat(1_000, "c1#0", "T=*"), crash(20_000, "c1#0")]
    again = [start(40_000, "c1#1"), heartbeat(40_050, "c1#1", "T=*")]
    assert Judged([*first, *again, *lists]).counts(CLAIM) == (0, 0)
    # Otherwise a second process, of which nothing was recorded, may have the id.
    assert Judged([*first[:2], heartbeat(31_000, "c1#0", "T=*"), *lists]).counts(CLAIM) == (0, 1)
