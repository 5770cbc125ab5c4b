from __future__ import annotations

from typing import Any

import numpy as np

from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import ROW, Note
from rocketproof.traces.explain.timelines import Oddity, offset_points, ownerships
from rocketproof.traces.format.kinds import Path, codes
from rocketproof.traces.monitors.queues.ownership import End

PATH = codes(Path)
ONE, OTHER = Slot("G", "T", "b", 0), Slot("G", "T", "b", 1)


def names() -> Names:
    known = Names()
    known.slot(ONE), known.slot(OTHER)
    known.actor(Actor("c1")), known.actor(Actor("c2"))
    return known


def rows(*notes: dict[str, Any]) -> Any:
    made = np.zeros(len(notes), ROW)
    made["claim"] = -1
    for row, note in zip(made, notes, strict=True):
        for name, value in note.items():
            row[name] = value
    return made


def owned(slot: int, actor: int, since: int, time: int, end: End, path: Path = Path.NONE) -> dict[str, Any]:
    return {
        "note": Note.OWNERSHIP, "slot": slot, "actor": actor, "since": since, "time": time,
        "expected": end, "value": PATH[path], "offset": -1,
    }  # fmt: skip


def stored(slot: int, time: int, value: int, *, end: int = 0, actor: int = 0) -> dict[str, Any]:
    return {
        "note": Note.OFFSET, "slot": slot, "time": time, "value": value, "until": end, "actor": actor,
        "expected": PATH[Path.PERIODIC],
    }  # fmt: skip


def test_who_had_a_queue_and_why_no_longer() -> None:
    found = ownerships(
        rows(
            owned(1, 0, 0, 50, End.OPEN),
            owned(0, 1, 20, 50, End.CRASHED),
            owned(0, 0, 0, 20, End.REVOKED, Path.REMOVAL),
            owned(0, 0, 30, 40, End.AGAIN),
            owned(0, 0, 60, 70, End.STOPPED),
        ),
        names(),
    )
    assert [(item.slot.queue, str(item.actor), item.since, item.until, item.reason) for item in found] == [
        (0, "c1", 0, 20, "given up by rebalance"),
        (0, "c2", 20, 50, "the client died"),
        (0, "c1", 30, 40, "taken again without being given up"),
        (0, "c1", 60, 70, "the client stopped"),
        (1, "c1", 0, 50, "still had at the end of the trace"),
    ]


def test_stored_offsets_and_what_is_odd_about_them() -> None:
    skip = {"note": Note.SKIPPED, "slot": 0, "time": 30, "offset": 15, "until": 90}
    found = offset_points(
        rows(stored(0, 20, 5), stored(0, 10, 15, actor=-1), skip, stored(0, 30, 90), stored(0, 40, 99, end=95)),
        names(),
    )
    assert [(point.time, point.value, point.oddity) for point in found] == [
        (10, 15, Oddity.NONE),
        (20, 5, Oddity.DECREASE),
        (30, 90, Oddity.JUMP),
        (40, 99, Oddity.BEYOND_END),
    ]
    assert [point.writer for point in found] == [None, Actor("c1"), Actor("c1"), Actor("c1")]
    assert {point.path for point in found} == {Path.PERIODIC}


def test_queues_are_told_apart() -> None:
    found = offset_points(rows(stored(0, 10, 15), stored(1, 20, 5)), names())
    assert [point.oddity for point in found] == [Oddity.NONE, Oddity.NONE]
