"""Clocks that were set back in the middle of files that somebody else has joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.scan import scan
from rocketproof.traces.io import Problems, batches_of, open_trace
from rocketproof.traces.recorders.set_back import COLUMNS, steps_back

BEGIN = 1_700_000_000_000
STORE = {"kind": "store", "topic": "orders", "broker": "b", "queue": 0, "attempt": 0}
CALL = {"kind": "deliver", "client": "c", "group": "G", "topic": "orders", "broker": "b", "queue": 0, "attempt": 0}


def recorded(*, clock: dict[int, int], counted: bool = True) -> list[dict[str, Any]]:
    """A broker and a client, in the order of what they did; ``clock``: how far the client's is off, from when on."""
    events = []
    for n in range(40):
        off = sum(by for since, by in clock.items() if n >= since)
        events.append({**STORE, "time": BEGIN + 500 * n, "offset": n})
        events.append({**CALL, "time": BEGIN + 500 * n + 10 + off, "offset": n})
    return [{**event, "seq": seq} for seq, event in enumerate(events)] if counted else events


def written(path: Path, events: list[dict[str, Any]]) -> Path:
    header = {"rocketproof_trace": 1, "evidence": ["store", "deliver"]}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")
    return path


def told(events: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...]]]:
    batches = (batch.select(list(COLUMNS)) for batch in batches_of(events, Problems(), rows=7))
    return [(str(step.recorders[0]), step.events) for step in steps_back(batches)]


def test_whose_clock_it_was_and_by_how_much() -> None:
    assert told(recorded(clock={})) == []
    assert told(recorded(clock={20: -5_000})) == [("c", ("it went back by 4,500 ms in the middle of a file",))]
    assert told(recorded(clock={20: +5_000})) == []  # nothing tells it from a pause
    assert told(recorded(clock={20: -900})) == [("c", ("it went back by 400 ms in the middle of a file",))]
    assert told(recorded(clock={20: -600})) == []  # a thread may be held up for that long
    # The order is that in which events were counted, and not that in which they stand.
    assert told(recorded(clock={})[::-1]) == []


def test_a_file_in_no_order_is_no_clock_that_was_set() -> None:
    assert told(recorded(clock=dict.fromkeys(range(5, 40, 8), -3_000))) == []


def test_all_about_it_is_in_doubt(tmp_path: Path) -> None:
    trace = open_trace([written(tmp_path / "trace.jsonl", recorded(clock={20: -5_000}))])
    assert [str(step.recorders[0]) for step in scan(trace).context.clocks.steps] == ["c"]
    verdicts = {one.verdict for one in check_locally(trace, settings=Settings()).verdicts}
    assert verdicts == {Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE}


def test_a_file_that_nobody_counted_may_stand_in_any_order(tmp_path: Path) -> None:
    steady = check_locally(open_trace([written(tmp_path / "a.jsonl", recorded(clock={}))]), settings=Settings())
    shuffled = recorded(clock={}, counted=False)[::-1]
    trace = open_trace([written(tmp_path / "b.jsonl", shuffled)])
    assert scan(trace).context.clocks.steps == ()
    answer = check_locally(trace, settings=Settings())
    assert [one.verdict for one in answer.verdicts] == [one.verdict for one in steady.verdicts]
