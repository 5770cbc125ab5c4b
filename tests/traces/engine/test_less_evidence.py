"""Less evidence never invents: what is taken from a recording turns no violation into HOLDS, and HOLDS into none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.kinds import Kind

from .test_verdicts_from_coverage import DATA, check, lines_of, without, written

SAMPLES = Path(__file__).parents[3] / "traces" / "samples"
RECORDINGS = ("a6", "b7", "failures-to-dead-letter-4.9.8", "orderly-hand-over-5.3.3")
SLICES = 4


def lines(name: str) -> list[str]:
    return lines_of(f"{name}.jsonl.zst", DATA if name in ("a6", "b7") else SAMPLES)


def turned(whole: CheckResult, less: CheckResult) -> list[tuple[str, Verdict, Verdict]]:
    """Claims that are said to hold though they were violated, and the other way round.

    A recording that begins later says nothing of what had begun before it.
    """
    rows = whole.violations
    begun = {CLAIMS[code].id for code in rows["claim"][rows["since"] < less.begin].tolist()}
    sides = {Verdict.HOLDS, Verdict.VIOLATED}
    return [
        (before.claim.id, before.verdict, now.verdict)
        for before, now in zip(whole.verdicts, less.verdicts, strict=True)
        if {before.verdict, now.verdict} == sides
        and not (before.verdict is Verdict.VIOLATED and before.claim.id in begun)
    ]


def with_gap(lines: list[str], first: int, last: int) -> list[str]:
    """A recording that lost the events of two lines and those between them, and says so."""
    since, until = (json.loads(lines[at])["time"] for at in (first, last))
    gap = json.dumps({"time": until, "kind": "gap", "due": since, "count": last - first + 1})
    return [*lines[:first], gap, *lines[last + 1 :]]


def cut(lines: list[str], first: int) -> list[str]:
    """A recording that began later."""
    return [json.dumps({**json.loads(lines[0]), "complete": False}), *lines[first:]]


def unheard(lines: list[str], client: str) -> list[str]:
    """A recording without one client, which only brokers and other clients mention."""
    return [line for line in lines if json.loads(line).get("client") != client]


def unprocessed(lines: list[str], client: str) -> list[str]:
    """A recording without one client, which says so."""
    kept = [line for line in lines if json.loads(line).get("client") != client]
    times = [json.loads(line)["time"] for line in lines[1:]]
    gap = {"time": max(times), "kind": "gap", "due": min(times), "client": client}
    return [*kept, json.dumps(gap)]


def damaged(lines: list[str], at: int) -> list[str]:
    return [*lines[:at], lines[at][: len(lines[at]) // 2], *lines[at + 1 :]]


def lesser(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Recordings with less in them."""
    events = [json.loads(line) for line in lines[1:]]
    for kind in Kind:
        if kind is not Kind.GAP and any(event["kind"] == kind for event in events):
            yield f"without {kind}", without(lines, kind)
    size = len(events) // SLICES
    for part in range(SLICES):
        yield f"a gap in part {part}", with_gap(lines, 1 + part * size, part * size + size)
        yield f"cut at part {part}", cut(lines, 1 + part * size)
        yield f"cut within part {part}", cut(lines, 1 + part * size + size // 3)
    for client in sorted({event["client"] for event in events if event.get("client")}):
        yield f"without {client}", unprocessed(lines, client)
        yield f"nothing of {client}", unheard(lines, client)
    for at in range(7, len(lines), len(lines) // 12):
        yield f"line {at} damaged", damaged(lines, at)


@pytest.mark.parametrize("name", RECORDINGS)
def test_less_evidence_turns_no_verdict_round(tmp_path: Path, name: str) -> None:
    whole_lines = lines(name)
    whole = check(written(tmp_path / "whole.jsonl", whole_lines))
    wrong = []
    for number, (what, less) in enumerate(lesser(whole_lines)):
        path = written(tmp_path / f"{number}.jsonl", less)
        wrong += [(what, *each) for each in turned(whole, check(path))]
        path.unlink()
    assert wrong == []


def test_that_a_recording_is_not_called_complete_hides_no_violation(tmp_path: Path) -> None:
    for name, claim in (("a6", "allocation-as-the-strategy-says"), ("b7", "offset-never-past-unfinished")):
        result = check(written(tmp_path / "trace.jsonl", cut(lines(name), 1)))
        assert result.verdict(claim).verdict is Verdict.VIOLATED
