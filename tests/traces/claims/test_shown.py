"""A claim holds only where its violations would be seen: of each a recording loses one kind of events after another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.causes import Missing
from rocketproof.traces.claims.claims import CLAIMS, claim
from rocketproof.traces.claims.group_steps import GroupMisstep
from rocketproof.traces.claims.obligations import OBLIGATIONS
from rocketproof.traces.claims.presupposed import shown_by
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.claims.steps import Misstep
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io import open_trace

from .test_steps import OF_ORDERLY, WRONG

EVIDENCE = sorted(set(Kind) - {Kind.GAP})
CODES = [one for one in Misstep if one is not Misstep.EXPIRED_EARLY]  # that one is asked with a told timeout only


def verdict(events: list[dict[str, Any]], misstep: Misstep, path: Path, *, without: str = "") -> Verdict:
    """What is said of the claim of a misstep where a kind is not recorded."""
    kept = sorted((one for one in events if one["kind"] != without), key=lambda one: one["time"])
    groups = {"G": {"listener": "orderly"}} if misstep in OF_ORDERLY else {}
    evidence = [kind for kind in EVIDENCE if kind != without]
    header = {"rocketproof_trace": 1, "evidence": evidence, "groups": groups, "complete": True}
    numbered = [{name: value for name, value in one.items() if value is not None} for one in kept]
    lines = [header, *({**one, "seq": number} for number, one in enumerate(numbered))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return check_locally(open_trace([path]), settings=Settings()).verdict(misstep.step.claim).verdict


def flat(parts: list[Any]) -> list[dict[str, Any]]:
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


def test_each_claim_says_by_what_its_violations_show_themselves() -> None:
    for one in CLAIMS:
        assert shown_by(one), one.id
    for row in (*Missing, *Misstep, *GroupMisstep):
        assert {(kind,) for kind in row.step.needs} <= set(shown_by(claim(row.step.claim)))
    for duty in OBLIGATIONS:
        assert set(duty.needs) <= set(shown_by(claim(duty.claim)))


@pytest.mark.parametrize("misstep", CODES)
def test_nothing_holds_whose_violation_cannot_be_seen(misstep: Misstep, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    events = flat(WRONG[misstep])
    if verdict(events, misstep, path) is not Verdict.VIOLATED:
        pytest.skip("a whole recording leaves it in doubt")
    for kind in EVIDENCE:
        if len({one["kind"] for one in events} - {kind}):
            assert verdict(events, misstep, path, without=kind) is not Verdict.HOLDS, kind
