"""What a client or broker did before an agent was attached to it is a gap of that client or broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.io import open_trace

from ...agents import at, write

BEGIN = 1_700_000_000_000
ONE = {"client": "one", "group": "orders"}
TOLD = "begins when its client was running"


def gaps(folder: Path) -> list[dict[str, Any]]:
    events = [event for batch in open_trace([folder]).batches() for event in batch.to_pylist()]
    names = ("client", "incarnation", "group", "due", "time", "detail")
    return [
        {name: event[name] for name in names} for event in events if event["kind"] == "gap" and TOLD in event["detail"]
    ]


@pytest.mark.parametrize(
    ("first", "since", "told"),
    [
        (at(9_000_000, "heartbeat", **ONE), 0, [(0, 8_999)]),
        (at(9_000_000, "client_start", **ONE), 0, []),
        (at(9_000_000, "file_load", **ONE), 0, []),  # of a broadcasting client, while it starts
        (at(9_000_000, "heartbeat", **ONE), 9_000_000, []),  # nobody tells of what came before
    ],
)
def test_a_client_that_was_running_has_a_gap_before_its_recording(
    first: dict[str, Any], since: int, told: list[tuple[int, int]], tmp_path: Path
) -> None:
    write(tmp_path, "broker-8-broker-a.jsonl", [at(since, "broker_start", broker="broker-a")])
    write(tmp_path, "client-7-orders.jsonl", [first, at(9_500_000, "client_start", **ONE)])
    whose = {**ONE, "incarnation": 0, "detail": f"client-7-orders.jsonl {TOLD}"}
    assert gaps(tmp_path) == [{**whose, "due": BEGIN + due, "time": BEGIN + time} for due, time in told]


@pytest.mark.parametrize(("kind", "told"), [("store", [(0, 4_999)]), ("broker_start", []), ("file_load", [])])
def test_a_broker_that_was_running_has_a_gap_before_its_recording(
    kind: str, told: list[tuple[int, int]], tmp_path: Path
) -> None:
    write(tmp_path, "client-7-orders.jsonl", [at(0, "client_start", **ONE), at(9_000_000, "heartbeat", **ONE)])
    run = [at(5_000_000, kind, broker="broker-a"), at(9_000_000, "broker_stop", broker="broker-a")]
    write(tmp_path, "broker-8-broker-a.jsonl", run)
    events = [event for batch in open_trace([tmp_path]).batches() for event in batch.to_pylist()]
    found = [(event["due"], event["time"]) for event in events if event["kind"] == "gap" and event["broker"]]
    assert found == [(BEGIN + due, BEGIN + time) for due, time in told]
