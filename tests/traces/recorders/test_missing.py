"""Events that were taken out of a file are missed by their numbers: a gap between their neighbours, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER

from ...agents import at, split_into_recordings, write

BEGIN = 1_700_000_000_000


def gaps(folder: Path) -> list[dict[str, Any]]:
    events = [event for batch in open_trace([folder]).batches() for event in batch.to_pylist()]
    names = ("client", "group", "broker", "due", "time", "count", "detail")
    return [
        {name: e[name] for name in names if e[name] is not None} for e in events if e["kind"] == "gap" and e["count"]
    ]


def without(path: Path, *numbers: int) -> None:
    header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([header, *(line for at, line in enumerate(lines) if at not in numbers)]), encoding="utf-8")


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ((), []),
        ((3,), [(20, 40, 1)]),
        ((3, 4, 6), [(20, 70, 3)]),  # what touches is one gap
        ((2, 5), [(10, 30, 1), (40, 60, 1)]),
        ((0, 1), [(0, 20, 2)]),
        ((7,), []),  # what a file lacks at its end is told by nobody
    ],
)
def test_missing_numbers_are_gaps_between_their_neighbours(
    numbers: tuple[int, ...], told: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    events = [at(10_000 * n, "heartbeat", client="c", group="orders") for n in range(8)]
    path = write(tmp_path, "client-7-orders.jsonl", events)
    write(tmp_path, "broker-8-broker-a.jsonl", [at(0, "broker_start", broker="broker-a")])
    without(path, *numbers)
    whose = {"client": "c", "group": "orders", "detail": "events that are missing in client-7-orders.jsonl"}
    found = [
        (gap.pop("due") - BEGIN, gap.pop("time") - BEGIN, gap.pop("count"), gap == whose) for gap in gaps(tmp_path)
    ]
    assert found == [(*gap, True) for gap in told]


def test_numbers_of_the_reader_are_nobodys(tmp_path: Path) -> None:
    path = write(tmp_path, "client-7-orders.jsonl", [at(5, "heartbeat", client="c", group="orders")] * 3)
    path.write_text(path.read_text(encoding="utf-8").replace('"seq"', '"number"'), encoding="utf-8")
    assert gaps(tmp_path) == []


def test_a_broker_misses_what_brokers_record(tmp_path: Path) -> None:
    split_into_recordings(FOLDER / "steady-5.3.3.jsonl.zst", tmp_path)
    (broker,) = tmp_path.glob("broker-*")
    without(broker, 40)
    (gap,) = gaps(tmp_path)
    assert (gap["broker"], gap["count"], gap.get("group")) == ("broker-a", 1, None)
    result = check_locally(open_trace([tmp_path]), settings=Settings())
    assert not [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED]
    unknown = {answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.UNKNOWN}
    assert {"stores-follow-each-other", "nothing-skipped"} <= unknown
    assert not unknown & {"every-duplicate-has-a-cause", "views-agree"}  # what violates them, clients record
