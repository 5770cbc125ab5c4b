from __future__ import annotations

import pytest

from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.groups.subscriptions import Unequal, asked_for, parse_subscription, subscription_table
from rocketproof.traces.monitors.notebook import whole

from .group_events import WITHOUT_ENDS, Judged, context_of, event, heartbeat, stop

CLAIM = "same-subscriptions"


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("Orders=*@1700000000123", ("Orders", "*", 1700000000123)),
        ("Orders=TagA || TagB", ("Orders", "TagA || TagB", None)),
        ("Orders=", ("Orders", "", None)),
        ("Orders=a = 'x@y'@17", ("Orders", "a = 'x@y'", 17)),
        ("Orders=a = 'x@y'", ("Orders", "a = 'x@y'", None)),
        ("%RETRY%G=*@5", ("%RETRY%G", "*", 5)),
    ],
)
def test_parse_subscription(text: str, parsed: tuple[str, str, int | None]) -> None:
    assert parse_subscription(text) == parsed


@pytest.mark.parametrize(
    ("one", "other"), [("*", ""), ("TagA||TagB", " TagB || TagA "), ("TagA", "TagA || TagA"), ("a > 1", "a > 1 ")]
)
def test_expressions_that_ask_for_the_same(one: str, other: str) -> None:
    assert asked_for(one) == asked_for(other)


@pytest.mark.parametrize(("one", "other"), [("*", "TagA"), ("TagA", "TagB"), ("a > 1", "a > 2")])
def test_expressions_that_do_not(one: str, other: str) -> None:
    assert asked_for(one) != asked_for(other)


def test_another_topic() -> None:
    beats = [
        beat
        for time in range(0, 120_000, 30_000)
        for beat in (heartbeat(time, "c1", "T=*", "U=*"), heartbeat(time + 1, "c2", "T=*"))
    ]
    judged = Judged(beats)
    assert judged.counts(CLAIM) == (1, 0)
    assert judged.judged(CLAIM) == 8
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"]) == (whole("G", "U"), 1, 90_001)
    assert (row["actor"], row["other"], row["value"]) == ("c2", "c1", Unequal.TOPIC)


def test_another_expression_is_told_of_the_member_that_stands_alone() -> None:
    beats = [
        heartbeat(time + n, f"c{n}", f"T={'TagB' if n == 2 else 'TagA'}@{n}")
        for time in range(0, 120_000, 30_000)
        for n in (1, 2, 3)
    ]
    (row,) = Judged(beats).rows(CLAIM)
    assert (row["slot"], row["actor"], row["other"], row["value"]) == (whole("G", "T"), "c2", "c1", Unequal.EXPRESSION)


def test_versions_and_the_retry_topic_may_differ() -> None:
    beats = [
        beat
        for time in range(0, 120_000, 30_000)
        for beat in (heartbeat(time, "c1", "T=*@1", "%RETRY%G=*@1"), heartbeat(time, "c2", "T=@2"))
    ]
    assert Judged(beats).counts(CLAIM) == (0, 0)


def test_a_rolling_change_is_no_violation() -> None:
    # One member after the other changes, 15 s apart: at any time somebody differs, but no two for longer than 30 s.
    beats = [heartbeat(n, f"c{n}", "T=TagA") for n in range(3)]
    beats += [heartbeat(100_000 + 15_000 * n, f"c{n}", "T=TagB") for n in range(3)]
    beats += [heartbeat(200_000 + 15_000 * n, f"c{n}", "T=TagC") for n in range(3)]
    judged = Judged(beats, end=300_000)
    assert judged.counts(CLAIM) == (0, 0)
    assert judged.judged(CLAIM) == 9


def test_a_slow_change_is_one() -> None:
    beats = [heartbeat(n, f"c{n}", "T=TagA") for n in range(3)]
    beats += [heartbeat(100_000 + 30_000 * n, f"c{n}", "T=TagB") for n in range(3)]
    (row,) = Judged(beats, end=300_000).rows(CLAIM)
    assert (row["since"], row["time"], row["doubt"]) == (100_000, 160_000, Doubt.NONE)


def test_a_difference_with_a_member_that_has_left_is_over() -> None:
    events = [heartbeat(0, "c1", "T=TagA"), stop(10_000, "c1"), heartbeat(5_000, "c2", "T=TagB")]
    assert Judged(events, end=200_000).counts(CLAIM) == (0, 0)


def test_members_whose_end_would_not_be_seen_are_in_doubt() -> None:
    events = [heartbeat(0, "c1", "T=TagA"), heartbeat(5_000, "c2", "T=TagB")]
    judged = Judged(events, end=200_000, evidence=WITHOUT_ENDS)
    assert judged.counts(CLAIM) == (0, 1)
    assert judged.rows(CLAIM)[0]["doubt"] == Doubt.EVIDENCE


def test_a_gap_in_the_recording_is_a_doubt() -> None:
    events = [heartbeat(0, "c1", "T=TagA"), heartbeat(5_000, "c2", "T=TagB")]
    for since, doubt in ((44_000, Doubt.GAP), (46_000, Doubt.NONE)):  # they have differed too long by 45,000
        gap = event(150_000, Kind.GAP, None, None, due=since)
        assert Judged([*events, gap], end=200_000).rows(CLAIM)[0]["doubt"] == doubt


def test_a_difference_just_over_the_limit_is_in_doubt() -> None:
    events = [heartbeat(0, "c1", "T=TagA"), heartbeat(0, "c2", "T=TagB"), heartbeat(40_030, "c2", "T=TagA")]
    assert Judged(events, end=200_000).rows(CLAIM)[0]["doubt"] == Doubt.SKEW


def test_the_table_of_subscriptions() -> None:
    events = [
        heartbeat(0, "c1", "T=TagA@1", "%RETRY%G=*@1"),
        heartbeat(10, "c2", "T=TagA@2", "U=*@2"),
        heartbeat(30_000, "c1", "T=TagB@3"),
        heartbeat(60_000, "c1", "T=TagB@9"),
    ]
    rows = subscription_table(context_of(events), "G")
    found = [(row.topic, row.actor.name, row.expression, row.version, row.since, row.until) for row in rows]
    assert found == [
        ("T", "c1", "TagA", 1, 0, 30_000),
        ("T", "c1", "TagB", 9, 30_000, None),
        ("T", "c2", "TagA", 2, 10, None),
        ("U", "c2", "*", 2, 10, None),
    ]
    assert [row.differs for row in rows] == [False, True, True, True]
    assert rows[0].actor == Actor("c1", 0)


def test_several_topics_are_one_finding() -> None:
    beats = [
        beat
        for time in range(0, 120_000, 30_000)
        for beat in (heartbeat(time, "c1", "T=*", "U=TagA"), heartbeat(time + 1, "c2", "U=TagB", "V=*"))
    ]
    (row,) = Judged(beats).rows(CLAIM)
    assert (row["slot"], row["value"]) == (whole("G"), Unequal.TOPIC | Unequal.EXPRESSION)
