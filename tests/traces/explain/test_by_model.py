"""What the model says of findings: it confirms them, excuses them, or says what it cannot know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Slot
from rocketproof.traces.engine.findings import ROW, Doubt, sort_rows
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.by_model import weighed
from rocketproof.traces.explain.story import stories
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.io.writing import write_jsonl

from ..conformance.recorded import event_of

RIGHT = (
    "offset_query c0 result=none",
    "assign c0 offset=0 epoch=1",
    "pull c0 offset=0 epoch=1",
    "pull_result c0 result=found offset=0 next=2 count=2 epoch=1",
    "deliver c0 offset=0 count=1 epoch=1",
    "result c0 offset=0 result=ok epoch=1",
    "removed c0 offset=0 next=1 epoch=1",
    "commit_memory c0 offset=1",
    "commit c0 offset=1",
)
"""A client handles the first of two messages, and commits."""

SKIPPED, FLAPPING = "nothing-skipped", "no-flapping"


def run(folder: Path, *lines: str) -> Trace:
    path = folder / "run.jsonl"
    header = Header(
        source="a test", evidence=frozenset(Kind), release="5.3.3", groups={"billing": Group()}, complete=True
    )
    write_jsonl(path, header, [event_of(number, line) for number, line in enumerate(lines)])
    return open_trace([path])


def with_finding(trace: Trace, claim: str, time: int) -> CheckResult:
    """The result of a check that has found this of the queue, rightly or not."""
    result = check_locally(trace, settings=Settings())
    row: Any = np.zeros(1, ROW)
    row["claim"], row["offset"], row["until"], row["actor"], row["other"] = CODE[claim], 1, 2, -1, -1
    row["since"], row["time"] = 1_000_000, time
    row["slot"] = result.names.slots.index(Slot("billing", "Orders", "broker-0", 0))
    answers = list(result.verdicts)
    answers[CODE[claim]] = replace(answers[CODE[claim]], verdict=Verdict.VIOLATED, judged=1, violated=1)
    rows = result.rows[result.rows["claim"] < 0]
    return replace(result, verdicts=tuple(answers), rows=sort_rows(np.concatenate([rows, row])))


def said(trace: Trace, claim: str, time: int, *, most: int = 3) -> tuple[Verdict, int, list[str]]:
    """Verdict, doubts, and what the story says."""
    result, witnesses = weighed(trace, with_finding(trace, claim, time), most=most)
    told = stories(trace, result.rows, result.names, witnesses=witnesses)
    return result.verdict(claim).verdict, int(result.violations["doubt"][0]), [story.model for story in told]


def test_what_the_model_allows_is_in_doubt(tmp_path: Path) -> None:
    trace = run(tmp_path, *RIGHT)
    allowed = "the model allows all that was recorded of the queue"
    assert said(trace, SKIPPED, 1_008_000) == (Verdict.UNKNOWN, Doubt.MODEL, [allowed])


def test_what_it_does_not_allow_is_confirmed(tmp_path: Path) -> None:
    trace = run(tmp_path, *RIGHT[:-2], "commit c0 offset=2")
    verdict, doubt, (model,) = said(trace, SKIPPED, 1_007_000)
    assert (verdict, doubt) == (Verdict.VIOLATED, 0)
    assert model == (
        "no behaviour of the model explains it: 00:16:47.000 commit c0 offset=2: "
        "the client never had this offset in memory; it has 1"
    )


def test_when_something_must_come_it_does_not_know(tmp_path: Path) -> None:
    verdict, doubt, (model,) = said(run(tmp_path, *RIGHT), FLAPPING, 1_008_000)
    assert (verdict, doubt) == (Verdict.VIOLATED, 0)
    assert model == "the model allows each step that was recorded of the queue; it does not say when one must come"


def test_what_had_to_be_assumed_excuses_nothing(tmp_path: Path) -> None:
    trace = run(tmp_path, "commit c1 offset=1", *RIGHT[:1], "assign c0 offset=1 epoch=1")
    verdict, doubt, (model,) = said(trace, SKIPPED, 1_001_000)
    assert (verdict, doubt) == (Verdict.VIOLATED, 0)
    assert model.startswith("no behaviour of the model explains it") or "the model allows what could be" in model


def test_without_stories_nothing_is_followed(tmp_path: Path) -> None:
    trace = run(tmp_path, *RIGHT)
    result, witnesses = weighed(trace, with_finding(trace, SKIPPED, 1_008_000), most=0)
    assert (result.verdict(SKIPPED).verdict, witnesses) == (Verdict.VIOLATED, {})
