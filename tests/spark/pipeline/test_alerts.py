"""What is told of findings: each once, when the watermark has passed it, and what is otherwise later."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from rocketproof.spark.pipeline.alerts import ALERT, IDENTITY, STANDS, as_json, as_table, changed
from rocketproof.traces.explain.report.tables import FINDINGS

BACK = "offset-never-back-without-cause"
OVERLAP = "overlaps-are-short"


def finding(time: int, claim: str | None = BACK, **options: Any) -> dict[str, Any]:
    return {"claim": claim, "group": "orders", "topic": "T", "queue": 1, "time": time, "offset": 7, **options}


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), FINDINGS)


class Stream:
    """What is told of one table of findings after the other."""

    def __init__(self, *, doubtful: bool = False) -> None:
        self.standing, self.doubtful = STANDS.empty_table(), doubtful

    def see(self, *rows: dict[str, Any], watermark: int = 1_000) -> list[tuple[str, str, int]]:
        changes, self.standing = changed(
            self.standing, table(*rows), cluster="prod", watermark=watermark, doubtful=self.doubtful
        )
        return [
            (str(change), why, round(row["time"].timestamp() * 1_000))
            for change, why, found in changes
            for row in found.to_pylist()
        ]

    def ids(self) -> Sequence[str]:
        return sorted(self.standing["id"].to_pylist())


def test_each_violation_is_told_once() -> None:
    stream = Stream()
    assert stream.see(finding(10), finding(20), finding(20)) == [("raised", "", 10), ("raised", "", 20)]
    first = stream.ids()
    assert stream.see(finding(20), finding(10), finding(30)) == [("raised", "", 30)]
    assert set(first) < set(stream.ids())
    assert len(set(stream.ids())) == 3
    # What is explained, noted or in doubt is no violation.
    other = Stream()
    assert (
        other.see(finding(10, cause="reset"), finding(20, claim=None, note="skipped"), finding(30, doubt="gap")) == []
    )


def test_what_was_told_and_is_otherwise_is_told() -> None:
    stream = Stream()
    stream.see(finding(10), finding(20), finding(30))
    now = (finding(10, doubt="gap"), finding(20, cause="reset"))
    assert stream.see(*now) == [
        ("doubted", "", 10),
        ("withdrawn", "explained: reset", 20),
        ("withdrawn", "nothing is wrong any more, with all that came since", 30),
    ]
    assert stream.see(*now) == []
    assert stream.see(finding(10), finding(30)) == [("raised", "", 30), ("confirmed", "", 10)]


def test_doubtful_ones_are_told_where_they_are_asked_for() -> None:
    stream = Stream(doubtful=True)
    assert stream.see(finding(10, doubt="gap+skew")) == [("raised", "", 10)]
    assert stream.see(finding(10)) == [("confirmed", "", 10)]
    held = Stream()
    assert held.see(finding(10, doubt="gap")) == []
    assert held.see(finding(10)) == [("raised", "", 10)]


def test_findings_are_held_until_the_watermark_has_passed_them() -> None:
    stream = Stream()
    assert stream.see(finding(10), finding(20), watermark=15) == [("raised", "", 10)]
    assert stream.see(finding(10), watermark=15) == []  # what was never told need not be withdrawn
    assert stream.see(finding(10), finding(20), watermark=20) == [("raised", "", 20)]


def test_what_goes_on_is_one_finding() -> None:
    """An overlap that has not ended is found until the end of the recording, which moves on."""
    stream = Stream()
    begun = {"claim": OVERLAP, "since": 5, "actor": "a"}
    assert stream.see(finding(100, **begun), watermark=90) == []
    assert stream.see(finding(200, **begun), watermark=190) == [("raised", "", 200)]
    ids = stream.ids()
    assert stream.see(finding(300, **begun), finding(300, **{**begun, "since": 6}), watermark=300) == [
        ("raised", "", 300)
    ]
    assert set(ids) < set(stream.ids())
    # Two that differ in their time alone are two.
    assert stream.see(finding(300, **begun), finding(310, **begun), watermark=310)[0] == ("raised", "", 310)
    assert len(set(stream.ids())) == 2


def test_an_alert_as_json_has_what_it_has() -> None:
    alert = dict.fromkeys(ALERT.names) | {
        "change": "raised", "id": "0a", "claim": BACK, "time": datetime(2026, 11, 22, 10, 0, 0, 5_000, UTC),
    }  # fmt: skip
    told = {"change": "raised", "id": "0a", "claim": BACK, "time": "2026-11-22T10:00:00.005Z"}
    assert as_json(alert) == told
    assert as_table([alert]).to_pylist() == [{"key": "0a", "value": json.dumps(told)}]
    assert set(IDENTITY) <= set(FINDINGS.names)
