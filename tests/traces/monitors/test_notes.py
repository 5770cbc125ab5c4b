"""Retractions: what casts doubt on findings, and on which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.clocks.order import ORDER
from rocketproof.traces.engine.findings import ROW, Doubt
from rocketproof.traces.monitors import notes
from rocketproof.traces.monitors.fold import violations_in
from rocketproof.traces.monitors.notes import RETRACTION, retract

SKIPPED = CODE["nothing-skipped"]
FINDER, OTHER = 0, 1


def row(time: int, slot: int, offset: int, actor: int, **fields: Any) -> Any:
    made = np.zeros(1, ROW)
    made["claim"], made["slot"], made["time"], made["actor"] = SKIPPED, slot, time, actor
    made["offset"], made["until"], made["other"] = offset, offset + 10, -1
    for name, value in fields.items():
        made[name] = value
    return made


def outcome(*rows: Any, slots: int) -> tuple[list[int], list[int]]:
    """The doubts of what is told, and how many are violations and in doubt."""
    order = np.zeros(3, ORDER)
    order["reference"], order["assumed"] = -1, 100
    nobody, by_clients = np.zeros(3, bool), np.full(slots, -1)
    kept = retract(np.concatenate(rows), order=order, commits_by=by_clients, sends=nobody)
    return kept["doubt"].tolist(), violations_in(kept)[:, SKIPPED].tolist()


def test_a_retraction_is_about_what_another_process_told_of_that_offset_at_that_time() -> None:
    found = [row(1_000, 0, 5, FINDER), row(1_000, 1, 5, FINDER), row(1_000, 0, 50, FINDER), row(2_000, 0, 5, FINDER)]
    of_its_own = row(1_000, 0, 5, OTHER)
    taken_back = row(1_050, 0, 7, OTHER, note=RETRACTION)
    skew = int(Doubt.SKEW)
    assert outcome(*found, of_its_own, taken_back, slots=2) == ([skew, 0, 0, 0, 0], [4, 1])
    # What was filtered out is a range.
    of_range = row(1_050, 0, 0, OTHER, note=RETRACTION, until=6)
    assert outcome(*found, of_its_own, of_range, slots=2) == ([skew, 0, 0, 0, 0], [4, 1])
    assert outcome(*found, row(1_050, 0, 0, OTHER, note=RETRACTION, until=5), slots=2) == ([0, 0, 0, 0], [4, 0])
    # One that is in doubt already is not counted once more.
    assert outcome(*found, of_its_own, taken_back, taken_back, slots=2) == ([skew, 0, 0, 0, 0], [4, 1])


@pytest.mark.parametrize(("later", "doubts"), [(5, int(Doubt.SKEW)), (101, 0)])
def test_what_a_broker_stored_is_in_no_certain_order_with_what_a_client_did(later: int, doubts: int) -> None:
    order = np.zeros(3, ORDER)
    order["reference"], order["assumed"] = -1, 100
    rows = np.concatenate([row(1_000, 0, 5, OTHER), row(1_000 + later, 0, 5, OTHER, note=RETRACTION)])
    kept = retract(rows, order=order, commits_by=np.array([FINDER]), sends=np.zeros(3, bool))
    assert kept["doubt"].tolist() == [doubts]


def test_many_retractions_are_each_held_against_their_own_queue_only(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    def counted(order: Any, first: Any, second: Any) -> Any:
        looked_at.append(np.size(first) + np.size(second) - 1)
        return gaps(order, first, second)

    gaps = notes.gaps
    monkeypatch.setattr(notes, "gaps", counted)
    slots = 200
    found = [row(1_000, slot, 5, FINDER) for slot in range(slots)]
    taken_back = [row(1_050, slot, 5, OTHER, note=RETRACTION) for slot in range(slots)]
    assert outcome(*found, *taken_back, slots=slots)[1] == [0, slots]
    assert sum(looked_at) == 2 * slots
