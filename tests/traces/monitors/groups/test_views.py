from __future__ import annotations

from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group
from rocketproof.traces.monitors.groups.views import Differ
from rocketproof.traces.monitors.notebook import whole

from .group_events import WITHOUT_ENDS, Event, Judged, event, rebalance, stop

CLAIM = "views-agree"


def passes(client: str, members: list[str], *times: int, queues: list[str] | None = None) -> list[Event]:
    return [rebalance(time, client, members, queues) for time in times]


def test_equal_views() -> None:
    judged = Judged([*passes("c1", ["c1", "c2"], 0, 20_000), *passes("c2", ["c2", "c1"], 5_000, 25_000)], end=100_000)
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 4


def test_a_member_that_joins_is_seen_late_but_not_too_late() -> None:
    events = [*passes("c1", ["c1"], 0), *passes("c2", ["c1", "c2"], 10_000), *passes("c1", ["c1", "c2"], 30_000)]
    assert Judged(events, end=100_000).counts(CLAIM) == (0, 0)


def test_members_seen_differently_for_long() -> None:
    events = [*passes("c1", ["c1"], 0, 20_000, 40_000, 60_000), *passes("c2", ["c1", "c2"], 10_000, 30_000, 50_000)]
    judged = Judged([*events, *passes("c1", ["c1", "c2"], 80_000)], end=100_000)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"]) == (whole("G", "T"), 10_000, 80_000)
    assert (row["actor"], row["other"], row["value"]) == ("c2", "c1", Differ.MEMBERS)


def test_queues_seen_differently_until_the_end() -> None:
    old, new = ["b:0"], ["b:0", "b:1"]
    events = [
        each
        for time in range(0, 100_000, 20_000)
        for each in (
            *passes("c1", ["c1", "c2", "c3"], time, queues=new),
            *passes("c2", ["c1", "c2", "c3"], time, queues=old),
            *passes("c3", ["c1", "c2", "c3"], time, queues=new),
        )
    ]
    (row,) = Judged(events).rows(CLAIM)
    assert (row["since"], row["time"], row["actor"], row["other"]) == (0, 80_000, "c2", "c1")
    assert row["value"] == Differ.QUEUES


def test_queues_that_change_twice_are_learnt_late_twice() -> None:
    def sees(client: str, queues: list[str], *times: int) -> list[Event]:
        return [each for time in times for each in passes(client, ["c1", "c2"], time, queues=queues)]

    old, fewer, more = ["b:0", "b:1"], ["b:0"], ["b:0", "b:1", "b:2"]
    quick = [
        *sees("c1", old, 0),
        *sees("c1", fewer, 20_000, 40_000),
        *sees("c1", more, *range(60_000, 300_000, 20_000)),
    ]
    slow = [*sees("c2", old, *range(1_000, 60_000, 20_000)), *sees("c2", fewer, 61_000, 81_000)]
    assert Judged([*quick, *slow, *sees("c2", more, *range(101_000, 300_000, 20_000))]).counts(CLAIM) == (0, 0)
    assert Judged([*quick, *slow, *sees("c2", fewer, *range(101_000, 300_000, 20_000))]).counts(CLAIM) == (1, 0)


def test_members_and_queues_differ_for_a_time_each() -> None:
    # For 45 s one of two knows of one queue more; then a third member joins, which it hears of 15 s later.
    both, three = ["c1", "c2"], ["c1", "c2", "c3"]
    events = [
        *passes("c1", both, 0, 20_000, 40_000, queues=["b:0"]),
        *passes("c2", both, 0, 20_000, 40_000, queues=["b:0", "b:1"]),
        *passes("c2", three, 45_000, queues=["b:0", "b:1"]),
        *passes("c1", three, 60_000, queues=["b:0", "b:1"]),
    ]
    assert Judged(events, end=61_000).counts(CLAIM) == (0, 0)


def test_a_rolling_restart_is_no_violation() -> None:
    # Ten members come one by one, every 15 s, and each is seen by the others within 5 s: all differ most of the time.
    events: list[Event] = []
    for number in range(1, 11):
        members = [f"c{n}" for n in range(1, number + 1)]
        now = number * 15_000
        events += passes(f"c{number}", members, now)
        events += [each for n in range(1, number) for each in passes(f"c{n}", members, now + 500 * n)]
    assert Judged(events, end=400_000).counts(CLAIM) == (0, 0)


def test_the_view_of_a_member_that_has_stopped_does_not_count() -> None:
    events = [*passes("c1", ["c1", "c2"], 0), *passes("c2", ["c1", "c2"], 0), stop(10_000, "c2")]
    assert Judged([*events, *passes("c1", ["c1"], 15_000)], end=200_000).counts(CLAIM) == (0, 0)


def seen_by_one_only(ended: int, until: int) -> Judged:
    """Of two members, only c2 still sees c3, which has stopped, up to a time."""
    both, times = ["c1", "c2"], range(20_000, until + 20_000, 20_000)
    events = [*passes("c3", [*both, "c3"], 0), *passes("c1", both, *times), *passes("c2", [*both, "c3"], *times)]
    events += [*passes("c2", both, until + 20_000), stop(ended, "c3")]
    return Judged(sorted(events, key=lambda each: each["time"]), end=until + 40_000)


def test_a_broker_may_keep_a_member_that_has_stopped_until_its_channel_expires() -> None:
    assert seen_by_one_only(5_000, 120_000).counts(CLAIM) == (0, 0)
    assert seen_by_one_only(5_000, 300_000).counts(CLAIM) == (1, 0)


def test_a_member_that_one_did_not_see_long_before_it_ended_is_not_one_that_has_gone() -> None:
    def seen_by_c2_only(since: int) -> int:
        alone, both = range(since, 300_000, 20_000), ["c1", "c2"]
        events = [*passes("c1", both, *range(0, since, 20_000)), *passes("c1", ["c1"], *alone)]
        events += [*passes("c2", both, *range(5_000, 300_000, 20_000)), stop(300_000, "c1"), stop(300_000, "c2")]
        return Judged(sorted(events, key=lambda each: each["time"]), end=400_000).counts(CLAIM)[0]

    assert seen_by_c2_only(0) == 1
    assert seen_by_c2_only(200_000) == 1
    assert seen_by_c2_only(270_000) == 0


def test_the_view_of_a_member_that_was_not_seen_to_end_is_in_doubt() -> None:
    events = [*passes("c1", ["c1", "c2"], 0), *passes("c2", ["c1", "c2"], 0), *passes("c1", ["c1"], 15_000)]
    judged = Judged(events, end=200_000, evidence=WITHOUT_ENDS)
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_gap_may_hide_that_they_agreed() -> None:
    events = [*passes("c1", ["c1"], 0), *passes("c2", ["c1", "c2"], 10_000)]
    gap = event(60_000, Kind.GAP, None, None, due=50_000)
    assert Judged([*events, gap], end=200_000).rows(CLAIM)[0]["doubt"] == Doubt.GAP


def test_a_lone_member_and_members_that_were_not_recorded() -> None:
    assert Judged(passes("c1", ["c1"], 0, 20_000)).judged(CLAIM) == 2
    assert Judged(passes("c1", ["c1", "c2"], 0, 20_000)).judged(CLAIM) == 0


def test_topics_are_compared_by_themselves() -> None:
    events = [rebalance(0, "c1", ["c1", "c2"]), rebalance(0, "c2", ["c1", "c2"], ["b:9"], topic="U")]
    assert Judged(events, end=200_000).counts(CLAIM) == (0, 0)


def test_broadcasting_has_no_view_of_members() -> None:
    events = [
        rebalance(0, "c1", None, ["b:0"], assigned=["b:0"]),
        rebalance(0, "c2", ["c2"], ["b:0"], assigned=["b:0"]),
    ]
    groups = {"G": Group(mode="broadcasting")}
    judged = Judged(events, end=200_000, groups=groups)
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 2


def test_a_name_server_that_answers_one_member_answers_the_others_some_time() -> None:
    def learns_alone(end: int) -> tuple[int, int]:
        old, new = ["b:0"], ["b:0", "b:1"]
        learnt = event(0, Kind.ROUTE, "c1", topic="T", queues=new)
        sees = [
            rebalance(time, client, None, queues, assigned=queues)
            for time in range(0, end, 20_000)
            for client, queues in (("c1", new), ("c2", old))
        ]
        return Judged([learnt, *sees], end=end, groups={"G": Group(mode="broadcasting")}).counts(CLAIM)

    assert learns_alone(190_000) == (0, 1)
    assert learns_alone(210_000) == (1, 0)


def test_what_one_member_sees_differently_of_several_topics_is_one_finding() -> None:
    events = []
    for topic in ("T", "U"):
        for time in range(0, 100_000, 20_000):
            events += [rebalance(time, "c1", ["c1", "c2", "c3"], topic=topic)]
            events += [rebalance(time, "c2", ["c1", "c2", "c3"], topic=topic)]
            events += [rebalance(time + 7, "c3", ["c1", "c3"], topic=topic)]
    judged = Judged(events)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["actor"], row["since"], row["time"]) == (whole("G"), "c3", 7, 80_007)


def test_a_client_that_no_longer_balances_the_topic_says_nothing_of_it() -> None:
    events = [rebalance(0, "c1", ["c1"]), rebalance(0, "c1", ["c1"], topic="U")]
    for time in range(20_000, 200_000, 20_000):
        events += [rebalance(time, "c1", ["c1", "c2"])]
        events += [rebalance(time, "c2", ["c1", "c2"], topic=topic) for topic in ("T", "U")]
    assert Judged(events).counts(CLAIM) == (0, 0)


def test_passes_that_change_nothing_may_not_have_been_recorded() -> None:
    # With one queue nothing changes for c1 when c2 comes; with two it has to give one of them up.
    for queues, counts in ((["b:0"], (0, 1)), (["b:0", "b:1"], (1, 0))):
        events = [*passes("c1", ["c1"], 0, queues=queues), *passes("c2", ["c1", "c2"], 10_000, queues=queues)]
        assert Judged(events, end=200_000).counts(CLAIM) == counts
