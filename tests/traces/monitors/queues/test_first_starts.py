"""A start at the end of a queue: asked for by a new group, a loss for one that was there before."""

from __future__ import annotations

import numpy as np
import pytest

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.engine.findings import ROW, Note
from rocketproof.traces.monitors.fold import Outcome, nothing
from rocketproof.traces.monitors.queues.commits import Jump
from rocketproof.traces.monitors.queues.queue_ends import settle_first_starts

SKIPPED = CODE["nothing-skipped"]


def outcome(names: Names, *, stored: tuple[Slot, int], started: tuple[Slot, int]) -> Outcome:
    rows = np.zeros(2, ROW)
    rows["claim"] = -1, SKIPPED
    rows["note"] = Note.OFFSET, Note.SKIPPED
    rows["slot"] = names.slot(stored[0]), names.slot(started[0])
    rows["time"] = stored[1], started[1]
    rows["until"][1], rows["value"][1] = 7, Jump.FIRST_START
    empty = nothing(len(names.slots))
    return Outcome(
        rows=rows, judged=empty.judged, violated=empty.violated, doubtful=empty.doubtful, statuses=empty.statuses
    )


@pytest.mark.parametrize(
    ("stored", "started", "violations"),
    [
        ((Slot("G", "T", "b", 0), 1_000), (Slot("G", "T", "b", 1), 41_001), 1),
        ((Slot("G", "T", "b", 0), 1_000), (Slot("G", "T", "b", 1), 41_000), 0),  # the group is just being started
        ((Slot("G", "U", "b", 0), 1_000), (Slot("G", "T", "b", 1), 90_000), 0),  # of another topic
        ((Slot("H", "T", "b", 0), 1_000), (Slot("G", "T", "b", 1), 90_000), 0),  # of another group
        ((Slot("G", "T", "b", 0, "c1"), 1_000), (Slot("G", "T", "b", 1, "c2"), 90_000), 0),  # of another member
    ],
)
def test_a_first_start_above_the_beginning_skips_messages_of_known_groups(
    stored: tuple[Slot, int], started: tuple[Slot, int], violations: int
) -> None:
    names = Names()
    settled = settle_first_starts(outcome(names, stored=stored, started=started), names, Settings())
    found = settled.rows[settled.rows["claim"] == SKIPPED]
    assert int(settled.violated[SKIPPED]) == violations
    assert found["note"].tolist() == [Note.NONE if violations else Note.SKIPPED]
    assert found["until"].tolist() == [7]
