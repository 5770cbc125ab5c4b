"""Coverage: what holes a recording tells of, whom they concern, and when something may be lost in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rocketproof.traces.format.coverage import (
    ALL_KINDS,
    EVER,
    NEVER,
    OF_CLIENTS,
    SETTINGS,
    Coverage,
    Hole,
    evidence_mask,
    missing,
    told_holes,
    unrecorded,
)
from rocketproof.traces.format.kinds import OF_BROKERS, Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace

from ..recordings import HEADER, delivery, write

COMMITS, DELIVERIES = evidence_mask([Kind.COMMIT]), evidence_mask([Kind.DELIVER])


def coverage(*holes: Hole, **known: object) -> Coverage:
    return Coverage(recorded=ALL_KINDS, begin=0, end=1_000, holes=holes, **known)  # type: ignore[arg-type]


def test_who_removes_messages_has_called_a_listener() -> None:
    taken, removed = evidence_mask([Kind.ASSIGN, Kind.REVOKE]), evidence_mask([Kind.REMOVED])
    calls = evidence_mask([Kind.DELIVER, Kind.RESULT])
    assert unrecorded(taken) == 0
    assert unrecorded(taken | removed) == calls
    assert unrecorded(taken | removed | DELIVERIES) == 0


def test_a_hole_counts_for_its_time_kinds_group_topic_and_broker() -> None:
    hole = Hole(since=100, until=200, kinds=COMMITS, group="G", topic="T", broker="b", why="lost")
    found = coverage(hole)
    assert found.lost(COMMITS, group="G", topic="T", since=200, until=300) == hole
    assert found.lost(COMMITS, group="G", topic="T", since=201, until=300) is None
    assert found.lost(COMMITS, group="G", topic="T", since=0, until=99) is None
    assert found.lost(DELIVERIES, group="G", topic="T", since=0, until=999) is None
    assert found.lost(COMMITS, group="H", topic="T", since=0, until=999) is None
    assert found.lost(COMMITS, group="G", topic="U", since=0, until=999) is None
    assert found.lost(COMMITS, group="G", topic="%RETRY%G", since=0, until=999) == hole
    assert found.lost(COMMITS, broker="c", since=0, until=999) is None
    assert found.lost(COMMITS, broker="b", since=0, until=999) == hole
    assert found.lost(COMMITS, since=0, until=999) == hole


def test_holes_of_groups_that_are_not_judged_leave_nothing_undecided() -> None:
    hole = Hole(group="pops", why="lost")
    assert coverage(hole).undecided(COMMITS) == hole
    assert coverage(hole, not_judged={"pops": "it pops"}).undecided(COMMITS) is None


def test_many_questions_are_answered_as_one_by_one() -> None:
    random = np.random.default_rng(5)
    queues = [("G", "T", "a"), ("H", "T", "a"), ("G", "U", "b")]
    holes = [
        Hole(since=int(since), until=int(since + length), kinds=int(kinds), group=group, broker=broker, why="")
        for since, length, kinds, group, broker in zip(
            random.integers(0, 900, 40),
            random.integers(0, 30, 40),
            random.choice([COMMITS, DELIVERIES], 40),
            random.choice(["", "G"], 40).tolist(),
            random.choice(["", "a", "b"], 40).tolist(),
            strict=True,
        )
    ]
    found = coverage(*holes)
    at, since = random.integers(-1, 3, 500), random.integers(0, 1_000, 500)
    until = since + random.integers(0, 20, 500)
    lost = found.is_lost(COMMITS, queues, at, since, until)
    for n in range(500):
        group, topic, broker = queues[at[n]] if at[n] >= 0 else ("", "", "")
        times = {"since": int(since[n]), "until": int(until[n])}
        one = found.lost(COMMITS, group=group, topic=topic, broker=broker, **times)
        assert lost[n] == (one is not None)
    assert 100 < np.count_nonzero(lost) < 400


def test_what_a_recording_tells_of_itself() -> None:
    gaps = [
        {"time": 50, "kind": "gap", "due": 40, "client": "c1", "group": "G"},
        {"time": 70, "kind": "gap", "due": None, "broker": "b", "detail": "disk full"},
    ]
    of_client, of_broker, before = told_holes(Header(), gaps, begin=10, end=100)
    assert (of_client.since, of_client.until, of_client.group, of_client.recorder) == (40, 50, "G", "c1")
    assert of_client.kinds == ALL_KINDS & ~evidence_mask(OF_BROKERS)
    assert (of_broker.since, str(of_broker)) == (10, "a gap of the recording (disk full) of b")
    assert (of_client.broker, of_broker.broker) == ("", "b")
    assert of_broker.kinds == ALL_KINDS & ~evidence_mask(OF_CLIENTS)
    assert (before.since, before.until) == (EVER, 9)
    assert told_holes(Header(complete=True), [], begin=10, end=100) == []


@pytest.mark.parametrize(
    ("gap", "outside"),
    [
        ({"time": 50, "due": 10, "client": "c1"}, True),
        ({"time": 50, "due": 10, "broker": "b"}, True),
        ({"time": 50, "due": 10}, False),  # of nobody who then begins
        ({"time": 50, "due": 10, "client": "c1", "count": 3}, False),  # events that there were
        ({"time": 50, "due": 11, "client": "c1"}, False),
        ({"time": 100, "due": 10, "client": "c1"}, False),  # it does not begin at all
        ({"time": 100, "due": 11, "broker": "b"}, True),  # it ends soon before the others
        ({"time": 100, "due": 11, "client": "c1"}, False),
    ],
)
def test_a_process_whose_recording_begins_late_leaves_nothing_undecided(gap: dict[str, object], outside: bool) -> None:
    (hole,) = told_holes(Header(complete=True), [{"kind": "gap", **gap}], begin=10, end=100)
    assert hole.outside is outside
    found = Coverage(recorded=ALL_KINDS, begin=10, end=100, holes=[hole])
    assert found.undecided(COMMITS) == (None if outside else hole)
    assert found.lost(COMMITS, since=40, until=60) == hole


def test_of_groups_counts_the_one_of_which_most_was_recorded() -> None:
    needs = ((Kind.COMMIT,), (Kind.DELIVER, Kind.STORE))
    assert missing(needs, COMMITS) == [(Kind.DELIVER, Kind.STORE)]
    assert missing(needs * 2, COMMITS) == [(Kind.DELIVER, Kind.STORE)], "a reason names it once"
    one = coverage(groups=["G", "H"], of_groups={"G": COMMITS, "H": DELIVERIES})
    assert one.lacks(needs) == [(Kind.DELIVER, Kind.STORE)]
    assert coverage(groups=["G", "I"], of_groups={"G": COMMITS}).lacks(needs) == []
    assert coverage(not_judged={"G": "why"}).lacks(needs) == list(needs)


def test_lines_that_cannot_be_read_lie_between_their_neighbours(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", HEADER, *(delivery(number) | {"time": 100 * number} for number in range(9)))
    lines = path.read_text().splitlines()
    lines[3] = "{"
    lines[5] = lines[5].replace('"deliver"', '"belly"')
    lines[7] = lines[7].replace('"offset"', '"offset": -1, "was"')
    lines[9] = lines[9][:20]
    path.write_text("\n".join(lines))
    trace = open_trace([path])
    for _ in trace.batches():
        pass
    damaged, unknown, impossible, last = trace.holes()
    assert (damaged.line, damaged.since, damaged.until, damaged.kinds) == (4, 100, 300, ALL_KINDS)
    assert (unknown.line, unknown.since, unknown.until, unknown.kinds) == (6, 400, 400, ALL_KINDS)
    assert (impossible.line, impossible.since, impossible.until, impossible.kinds) == (8, 600, 600, DELIVERIES)
    assert (last.line, last.since, last.until) == (10, 700, NEVER)


@pytest.mark.parametrize("first", ["", '{"rocketproof_trace": 1, "delays": 7}\n'])
def test_without_its_header_all_may_be_lost(tmp_path: Path, first: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(first + '{"time": 5, "kind": "deliver", "offset": 1}\n')
    (hole,) = open_trace([path]).holes()
    assert (hole.since, hole.until, hole.kinds) == (EVER, NEVER, ALL_KINDS | SETTINGS)
