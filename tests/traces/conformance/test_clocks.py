"""Clocks that differ: what has no sure order is no mismatch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.clocks.order import Order
from rocketproof.traces.conformance import Conformance, conform
from rocketproof.traces.conformance.clocks import Recorders, in_time
from rocketproof.traces.conformance.events import NUMBER, events_of
from rocketproof.traces.conformance.streams import Place, Stream
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import FOLDER

from ..clocks.cluster import clocks, run

SAMPLE = FOLDER / "clocks-apart-5.3.3.jsonl.zst"
ONE, TWO, BROKER = "127.0.0.1@one", "127.0.0.1@two", "broker-a"


def shifted(folder: Path, shifts: Mapping[str, int]) -> Path:
    """The sample with other clocks."""
    trace = open_trace([SAMPLE])
    events: list[dict[str, Any]] = []
    brokers = {Kind.STORE, Kind.DELAY_STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, Kind.MEMBERS, Kind.COMMIT}
    for batch in trace.batches():
        for event in batch.to_pylist():
            whose = event["broker"] if event["kind"] in brokers or not event["client"] else event["client"]
            by = shifts.get(whose, 0)
            due = {"due": event["due"] + by} if event["due"] is not None else {}
            events.append({**event, "time": event["time"] + by, **due})
    path = folder / "shifted.jsonl"
    write_jsonl(path, trace.header, events)
    return path


def followed(folder: Path, shifts: Mapping[str, int]) -> Conformance:
    return conform(open_trace([shifted(folder, shifts)]))


@pytest.mark.parametrize("shifts", [{ONE: -4_000}, {TWO: 4_000}, {BROKER: 5_000}, {BROKER: -30, ONE: 700}], ids=str)
def test_a_run_is_followed_by_corrected_times(shifts: dict[str, int], tmp_path: Path) -> None:
    answer = followed(tmp_path, shifts)
    assert (answer.verdict, answer.mismatch_count, answer.doubtful) == (Verdict.HOLDS, 0, 0)
    recorders = in_time(open_trace([shifted(tmp_path, shifts)]), slack=50)
    assert recorders.brokers == {"broker-a", "broker-b"}


def test_which_came_first_cannot_be_told_of_a_clock_that_is_bounded_to_one_side() -> None:
    open_ = [one for one in run(20, two=lambda _: -500) if one["kind"] != "commit" or one["client"] != "two"]
    recorders = Recorders(order=Order(clocks(open_), 50), brokers=frozenset({"b"}), senders=frozenset())
    queue = {"group": "g", "topic": "t", "broker": "b", "queue": 0, "offset": 7}
    stored = {"time": 0, "kind": "commit", "client": "one", **queue}
    asked = [{"time": 60_000, "kind": "offset_query", "client": who, "result": "ok", **queue} for who in ("one", "two")]
    table = batch_of([stored, *asked]).append_column(NUMBER, pa.array(range(3), pa.int64()))
    events = events_of(table)
    stream = Stream(Place(group="g", topic="t", broker="b", queue=0), Group(), Header(), events=events)
    assert [recorders.unsure(event, stream, 50) for event in events[1:]] == ["", "broker b"]
    assert recorders.unsure(events[0], stream, 50) == "two"
