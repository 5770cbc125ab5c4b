"""Drawings: what is where on the axis of time, and in which order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import Note
from rocketproof.traces.explain.message_attempts import Attempt
from rocketproof.traces.explain.report import chain, offsets, ownership
from rocketproof.traces.explain.report.charts import Axis, bars, share
from rocketproof.traces.explain.report.ownership import Lane
from rocketproof.traces.explain.report.words import counted, queue, span, utc
from rocketproof.traces.explain.timelines import Ownership
from rocketproof.traces.format.kinds import Path
from rocketproof.traces.monitors.queues.ownership import End

from .examples import BEGIN, MINUTE, ORDERS, PATH, SECOND, Rows, result, troubled

QUEUE = Slot("g", "T", "b", 0)
ONE, TWO = Actor("one"), Actor("two")


def lane(*owned: tuple[Actor, int, int]) -> Lane:
    """A queue that was owned by … from … to …"""
    items = [
        Ownership(slot=QUEUE, actor=actor, since=since, until=until, end=End.REVOKED, path=Path.REMOVAL, start=7)
        for actor, since, until in owned
    ]
    return Lane(QUEUE, items)


def drawn(svg: str, css: str) -> list[tuple[float, float]]:
    """Place and width of the bars of a class, in percent."""
    found = re.findall(rf'<rect class="{css}" x="([\d.]+)%" width="([\d.]+)%"', svg)
    return [(float(x), float(width)) for x, width in found]


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (10, ["12:00:00.000", "12:00:00.002", "12:00:00.004", "12:00:00.006", "12:00:00.008", "12:00:00.010"]),
        (40 * SECOND, ["12:00:00", "12:00:10", "12:00:20", "12:00:30", "12:00:40"]),
        (30 * MINUTE, ["12:00", "12:05", "12:10", "12:15", "12:20", "12:25", "12:30"]),
        (3 * 24 * 60 * MINUTE, ["12:00", "00:00", "12:00", "00:00", "12:00", "00:00", "12:00"]),
        (20 * 24 * 60 * MINUTE, ["2026-03-05", "2026-03-12", "2026-03-19"]),
        (0, ["12:00:00.000"]),
    ],
)
def test_ticks_are_round_moments(length: int, labels: list[str]) -> None:
    axis = Axis(BEGIN, BEGIN + length)
    assert [label for _, label in axis.ticks()] == labels
    assert all(0 <= place <= 100 for place, _ in axis.ticks())


def test_places_are_cut_at_the_ends_of_the_axis() -> None:
    axis = Axis(0, 200)
    assert [axis.place(time) for time in (-5, 0, 50, 200, 999)] == [0, 0, 25, 100, 100]


def test_overlaps_and_gaps_of_a_queue() -> None:
    shown = lane((ONE, 0, 50), (TWO, 40, 60), (ONE, 70, 80))
    assert shown.overlaps() == [(40, 50)]
    assert shown.gaps(100) == [(60, 70), (80, 100)]
    assert lane((ONE, 0, 50), (TWO, 50, 100)).overlaps() == []
    assert lane((ONE, 0, 50), (TWO, 50, 100)).gaps(100) == []
    assert lane((ONE, 0, 90), (TWO, 10, 20), (TWO, 30, 40)).overlaps() == [(10, 20), (30, 40)]


def test_a_lane_draws_owners_gaps_and_overlaps() -> None:
    shown = lane((ONE, 0, 50), (TWO, 40, 60))
    svg = ownership.draw(shown, Axis(0, 100), {ONE: "k0", TWO: "k1"}, rounds=15)
    assert drawn(svg, "k0") == [(0, 50)]
    assert drawn(svg, "k1") == [(40, 20)]
    assert drawn(svg, "overlap") == [(40, 10)]
    assert drawn(svg, "gap long") == [(60, 40)]
    # Two owners are one below the other.
    assert re.findall(r'class="k\d" [^>]* y="(\d+)"', svg) == ["2", "16"]
    # A time with two owners is as high as the lane, one without an owner is within it.
    assert re.findall(r'class="(?:gap|overlap)[^"]*" [^>]* y="(\d+)" height="(\d+)"', svg) == [("2", "28"), ("0", "32")]
    assert "given up by rebalance" in svg
    assert "from offset 7" in svg


def test_an_overlap_too_short_to_be_seen_keeps_the_line_and_is_marked() -> None:
    shown = lane((ONE, 0, 5002), (TWO, 5000, 10_000))
    svg = ownership.draw(shown, Axis(0, 10_000), {ONE: "k0", TWO: "k1"}, rounds=15)
    assert re.findall(r'class="k\d" [^>]* y="(\d+)"', svg) == ["2", "2"]
    assert drawn(svg, "overlap") == [(50, 0.15)]


def test_a_short_gap_is_not_drawn_as_a_mistake() -> None:
    svg = ownership.draw(lane((ONE, 0, 50), (TWO, 60, 100)), Axis(0, 100), {ONE: "k0", TWO: "k1"}, rounds=15)
    assert (drawn(svg, "gap"), drawn(svg, "gap long")) == ([(50, 10)], [])


def test_thousands_of_changes_become_one_bar() -> None:
    changes = [((ONE, TWO)[place % 2], place, place + 1) for place in range(5000)]
    svg = ownership.draw(lane(*changes, (ONE, 5000, 100_000)), Axis(0, 100_000), {ONE: "k0", TWO: "k1"}, rounds=5)
    assert drawn(svg, "many") == [(0, 5)]
    assert "5000 short times of ownership by 2 clients" in svg
    assert len(svg) < 2000


def test_the_queue_with_most_to_see_comes_first() -> None:
    check, _ = troubled()
    (lanes,) = ownership.lanes(check).values()
    assert [len(lane.marks) for lane in lanes] == [1, 1, 1, 1, 1, 0, 0, 0]
    # Of those with one violation, the queue without an owner for two minutes, then the one with two for a minute.
    assert [lane.slot for lane in lanes[:2]] == [ORDERS[2], ORDERS[3]]
    assert ownership.colours(lanes) == {Actor(f"10.0.0.{last}@4711"): f"k{last - 1}" for last in (1, 2, 3)}


def stored(*values: int, ends: Sequence[int] = ()) -> tuple[offsets.Course, Axis]:
    """The course of a queue whose offset was stored every second."""
    rows = Rows(Names())
    for place, value in enumerate(values):
        rows.add(note=Note.OFFSET, slot=QUEUE, time=BEGIN + place * SECOND, value=value, actor=ONE,
                 expected=PATH[Path.PERIODIC], until=ends[place] if ends else 0)  # fmt: skip
    (course,), followed = offsets.courses(result(rows, end=BEGIN + len(values) * SECOND))
    assert followed == 1
    return course, Axis(BEGIN, BEGIN + len(values) * SECOND)


def test_a_course_is_drawn_as_steps_with_its_oddities() -> None:
    course, axis = stored(10, 20, 15, 40, ends=(20, 20, 20, 30))
    assert (course.lowest, course.highest) == (10, 40)
    assert [str(point.oddity) for point in course.points] == ["", "", "decrease", "beyond the end"]
    svg = offsets.draw(course, axis)
    assert 'class="stored" d="M0.0 82.0H250.0V57.3H500.0V69.7H750.0V8.0H1000"' in svg
    assert 'class="log-end" d="M0.0 57.3H250.0V57.3H500.0V57.3H750.0V32.7H1000"' in svg
    assert re.findall(r'<circle class="([^"]+)" cx="([\d.]+)%"', svg) == [
        ("point", "0"), ("point", "25"), ("decrease", "50"), ("beyond-the-end", "75"),
    ]  # fmt: skip


def test_without_a_known_end_none_is_drawn() -> None:
    course, axis = stored(10, 20)
    assert "log-end" not in offsets.draw(course, axis)


def test_of_a_long_course_every_decrease_is_drawn() -> None:
    values = list(range(10_000))
    values[7_777] = 5
    course, axis = stored(*values)
    svg = offsets.draw(course, axis)
    assert svg.count("<circle") == 298  # every 34th (295 of them), the decrease with what was before it, and the last
    assert svg.count('class="decrease"') == 1


def test_queues_with_violations_come_before_those_with_decreases() -> None:
    check, _ = troubled()
    courses, followed = offsets.courses(check, most=3)
    assert (len(courses), followed) == (3, 8)
    assert courses[0].slot == ORDERS[1]


def deliveries(*, early: int = 0) -> list[Attempt]:
    return [
        Attempt(number=0, place="offset 1 of T@b:0", client=ONE, time=BEGIN, result="exception", took=500,
                expected_wait=10_000),
        Attempt(number=1, place="offset 0 of %RETRY%g@b:0", client=TWO, time=BEGIN + 10_500 - early, result="ok"),
    ]  # fmt: skip


def test_attempts_are_dots_after_the_wait_that_is_expected() -> None:
    svg = chain.draw(deliveries())
    # The axis is 10.5 s and a margin of 210 ms at both ends.
    assert drawn(svg, "wait") == [(6.502, 91.575)]
    assert re.findall(r'<circle class="(\w+)" cx="([\d.]+)%"', svg) == [("failed", "1.923"), ("succeeded", "98.077")]
    assert "at least 10 s after the failure before" in svg


def test_an_attempt_before_its_time_is_marked() -> None:
    svg = chain.draw(deliveries(early=3000))
    assert re.findall(r'<circle class="(\w+)"', svg) == ["failed", "early"]
    assert "3 s too early" in svg
    assert "early" not in chain.draw(deliveries())


def test_a_single_attempt_of_which_little_is_known() -> None:
    svg = chain.draw([Attempt(number=None, place="T", client=ONE, time=BEGIN)])
    assert re.findall(r'<circle class="(\w+)" cx="([\d.]+)%"', svg) == [("dim", "50")]
    assert "attempt ?" in svg


def test_bars_have_numbers_and_shares() -> None:
    svg = bars([("acknowledged", 998), ("lost", 2), ("none", 0)], css={"lost": "bad"})
    assert re.findall(r'class="number">([\d,]+)<', svg) == ["998", "2"]
    assert re.findall(r'class="share">([^<]+)<', svg) == ["99.8 %", "0.2 %"]
    assert re.findall(r'class="(\w+)" width="([\d.]+)%"', svg) == [("k0", "100"), ("bad", "0.3")]
    assert bars([]) == '<table class="bars"></table>'


@pytest.mark.parametrize(
    ("count", "total", "text"),
    [
        (1, 3, "33.3 %"),
        (1, 100_000, "&lt; 0.1 %"),
        (99_999, 100_000, "&gt; 99.9 %"),
        (5, 5, "100 %"),
        (0, 5, "0 %"),
    ],
)
def test_a_share_is_not_rounded_to_all_or_nothing(count: int, total: int, text: str) -> None:
    assert share(count, total) == text.replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1 s"),
        (1500, "1.5 s"),
        (60_000, "1 min"),
        (61_000, "1 min 1 s"),
        (7_500_000, "2 h 5 min"),
        (90_000_000, "1 d 1 h"),
        (-1500, "-1.5 s"),
    ],
)
def test_spans_are_told_with_two_units(ms: int, text: str) -> None:
    assert span(ms) == text


def test_words() -> None:
    assert utc(BEGIN + 7) == "2026-03-01 12:00:00.007"
    assert utc(2**62) == f"{2**62} ms"
    assert [counted(count, "pass", "passes") for count in (0, 1, 2000)] == ["0 passes", "1 pass", "2,000 passes"]
    assert queue(Slot("g", "T", "b", 1, "me")) == "T@b:1 at me"
    assert [queue(Slot("g", topic, "", -1)) for topic in ("T", "")] == ["T", "whole group"]
