"""Why messages come again: the model, the monitors and the documents have the same closed list."""

from __future__ import annotations

import re
from pathlib import Path

from rocketproof.model.history import Cause
from rocketproof.traces.explain.report.tables import words_of

ROOT = Path(__file__).resolve().parents[4]
CAUSES = {cause for cause in Cause if cause is not Cause.NONE}
NUMBERS = {13: "thirteen", 14: "fourteen", 15: "fifteen"}


def named_in(*folders: str) -> set[Cause]:
    """The causes that Python files of these folders name."""
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    found = re.findall(r"\bCause\.([A-Z_]+)", "\n".join(path.read_text(encoding="utf-8") for path in files))
    return {Cause[name] for name in found} - {Cause.NONE}


def test_the_documents_list_every_cause() -> None:
    page = (ROOT / "docs" / "checking-traces.md").read_text(encoding="utf-8")
    table = page.partition("## Why a message came again\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE)
    words = words_of(Cause)
    assert listed == ["cause", *(words[cause] for cause in sorted(CAUSES))]
    assert f"one of {NUMBERS[len(CAUSES)]} causes" in table


def test_the_readme_counts_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"a known cause: {NUMBERS[len(CAUSES)]} of them, no others" in readme


def test_the_model_notes_all_but_the_replay_of_the_schedule() -> None:
    assert named_in("model") == CAUSES - {Cause.SCHEDULE_REPLAY}


def test_the_monitors_know_them_all() -> None:
    assert named_in("traces/monitors", "traces/claims") == CAUSES
