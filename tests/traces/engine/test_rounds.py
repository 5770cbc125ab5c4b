"""Rounds of storing offsets: a queue that is left out is told apart from a client that stores nothing for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.steps import Misstep
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import JsonlWriter
from rocketproof.traces.samples import settings_of

from ..monitors.queues.queue_events import event

SECOND = 1_000


def taken(queue: int, last: int) -> list[dict[str, Any]]:
    """A queue whose in-memory offset becomes 1 after 1 s, and that is pulled up to the last time."""
    asked = event(100, Kind.OFFSET_QUERY, "one", result="ok", offset=0, queue=queue)
    begins = [asked, event(200, Kind.ASSIGN, "one", offset=0, queue=queue)]
    return [*begins, *(event(time, Kind.COMMIT_MEMORY, "one", offset=1, queue=queue) for time in (SECOND, last))]


def stored(queue: int, *seconds: int, broker: str = "b") -> list[dict[str, Any]]:
    how = {"path": "periodic", "queue": queue, "broker": broker}
    return [event(at * SECOND, Kind.COMMIT, "one", offset=1, **how) for at in seconds]


def passed_over(folder: Path, *events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """The queues and times of what is found."""
    path = folder / "trace.jsonl"
    in_order = sorted((one for part in events for one in part), key=lambda one: one["time"])
    with JsonlWriter(path, Header(evidence=frozenset(Kind), complete=True)) as writer:
        for one in in_order:
            writer.write(one)
    trace = open_trace([path])
    found = check_locally(trace, settings=settings_of(trace.header))
    code = CODE[Misstep.PASSED_OVER.step.claim]
    rows = found.rows[(found.rows["claim"] == code) & (found.rows["value"] == Misstep.PASSED_OVER)]
    return [(found.names.slots[row["slot"]].queue, int(row["time"]) - int(row["since"])) for row in rows]


def test_a_queue_is_left_out(tmp_path: Path) -> None:
    both = [*taken(0, 27 * SECOND), *taken(1, 27 * SECOND)]
    assert passed_over(tmp_path, both, stored(1, 5, 10, 15, 20, 25), stored(0, 26)) == [(0, 25 * SECOND)]
    # It stores nothing for a while, or only two rounds are sure; or the others are at another broker.
    assert passed_over(tmp_path, both, stored(1, 25), stored(0, 26)) == []
    assert passed_over(tmp_path, both, stored(1, 5, 10), stored(0, 26)) == []
    assert passed_over(tmp_path, both, stored(1, 5, 10, 15, 20, 25, broker="c"), stored(0, 26)) == []
    assert passed_over(tmp_path, both, stored(1, 5, 10, 15, 20), stored(0, 5)) == []
