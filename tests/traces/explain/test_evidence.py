"""Which events a story shows: routine is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rocketproof.traces.explain.evidence import Found, turning_points
from rocketproof.traces.explain.source_lines import Place
from rocketproof.traces.format.kinds import Kind

SAME = {"kind": "heartbeat", "group": "G", "subscriptions": ["T"]}


def kept(events: Sequence[dict[str, Any]], offset: int | None = None, times: Sequence[int] = ()) -> list[int]:
    """The times of the events that are kept; the n-th happened at time n."""
    found = [
        Found({"time": time, **event}, slot=0, actor=event.get("by", 0), origin=0, place=Place("t", time + 1, "line"))
        for time, event in enumerate(events)
    ]
    return [each.event["time"] for each in turning_points(found, offset, times)]


def test_what_says_nothing_new_is_left_out() -> None:
    events = [SAME, SAME, {**SAME, "subscriptions": ["U"]}, SAME, {**SAME, "by": 1}, {**SAME, "kind": "members"}]
    assert kept(events) == [0, 2, 3, 4, 5]
    assert kept(events, times=(1,)) == [0, 1, 2, 3, 4, 5]


def test_stored_offsets_that_rise_are_left_out() -> None:
    events = [{"kind": "commit", "offset": value} for value in (3, 5, 5, 6, 7, 2)]
    assert kept(events) == [5]
    assert kept(events, times=(2,)) == [2, 5]
    assert kept(events, 5) == [3, 5]
    assert kept([*events[:1], {**events[1], "path": "shutdown"}, {**events[2], "path": "periodic"}]) == [1]


def test_files_of_offsets_that_nobody_read_are_left_out() -> None:
    written, read = ({"kind": kind, "broker": "b", "detail": "offsets"} for kind in ("file_persist", "file_load"))
    events = [written, written, read, written, {**read, "broker": "c"}, read, read]
    assert kept(events) == [1, 2, 3, 4, 5, 6]
    assert kept(events, times=(0,)) == [0, 1, 2, 3, 4, 5, 6]


def heartbeat(time: int, consumed: str) -> Found:
    event: dict[str, Any] = {"time": time, "kind": Kind.HEARTBEAT, "group": "g", "subscriptions": [consumed]}
    return Found(event, 0, 0, 0, Place("a.jsonl", time, "line"))


@pytest.mark.parametrize(("versions", "shown"), [(False, [1, 3]), (True, [1, 2, 3])])
def test_a_new_version_of_a_subscription_is_told_only_where_versions_matter(versions: bool, shown: list[int]) -> None:
    found = [heartbeat(1, "t=*@7"), heartbeat(2, "t=*@8"), heartbeat(3, "t=a@9")]
    assert [each.event["time"] for each in turning_points(found, None, versions=versions)] == shown
