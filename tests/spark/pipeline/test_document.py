"""Every column of the tables is described in docs/pipeline.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocketproof.spark.pipeline.alerts import ALERT, Change
from rocketproof.spark.pipeline.batch_tables import INGESTED, SKIPPED
from rocketproof.spark.pipeline.late import LATE, MOST_LATE
from rocketproof.spark.pipeline.mining import CLOCKS, LOCAL_EVENTS, STATUSES
from rocketproof.spark.pipeline.pieces import MOST_FOLDERS
from rocketproof.traces.format.schema import ARROW
from rocketproof.traces.io.stored import PIECE

TEXT = (Path(__file__).parents[3] / "docs" / "pipeline.md").read_text(encoding="utf-8")
TABLES = {
    "trace": PIECE.names[len(ARROW) :],
    "ingested": INGESTED.names,
    "skipped": SKIPPED.names,
    "statuses": STATUSES.names,
    "clocks": CLOCKS.names,
    "alerts": ALERT.names,
    "late": LATE.names,
    "change": list(Change),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_described(name: str) -> None:
    (table,) = re.findall(rf"^\| `{name}` \|.*\n\|---\|---\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    described = [
        word for row in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)
    ]
    assert described == TABLES[name]


def test_the_limits_are_told() -> None:
    text = " ".join(TEXT.split())
    assert f"Fewer than {LOCAL_EVENTS:,} events" in text
    assert f"the first {MOST_LATE:,} of each file" in text
    assert f"more than {MOST_FOLDERS} days and groups" in text
