"""``rocketproof reproduce``: the shortest run of the model that shows what a recording shows, as a test and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..diagnosis.as_deployment import as_deployment
from ..diagnosis.as_pytest import as_pytest
from ..diagnosis.as_scenario import as_scenario
from ..diagnosis.diagnosis import diagnosed
from ..diagnosis.look import looked_at
from ..diagnosis.shortest import Shown, shortest
from ..explorer.page import Recorded, page
from ..explorer.subjects import entry_of, subject
from ..output.console import interrupts, make_console
from ..output.files import write
from ..properties.property import Kind
from ..traces.explain.report.rules import rule_texts
from ..traces.format.printable import json_text, printable
from .preparing import preparing
from .simulate import new_folder

TEST, PAGE, SCENARIO, DEPLOYMENT, FACTS = (
    "test_incident.py",
    "run.html",
    "incident.toml",
    "rocketproof.toml",
    "run.json",
)


def reproduce(
    paths: Sequence[str], finding: str, out: str, *, config: str = "", slack: int = 50, strict: bool = False
) -> int:
    """Write files that reproduce a finding into a new folder; returns the exit code.

    See the options of ``rocketproof reproduce``; without a finding, the first one is used. ``slack`` is in ms.

    Raises:
        InputError: there is nothing to reproduce, no run of the model shows it, or the folder cannot be written.
        TraceError: the trace cannot be read.
    """
    folder = new_folder(out)
    console = make_console(quiet=False)
    with interrupts(), preparing("the monitors", "half a minute"):
        diagnosis = diagnosed(looked_at(paths, config=config, slack=slack, strict=strict), slack=slack)
        shown = shortest(diagnosis, finding)
    folder.mkdir(parents=True, exist_ok=True)
    source = ", ".join(Path(file).name for file in diagnosis.looked.trace.files)
    scenario, refused = as_scenario(shown, diagnosis)
    signs = diagnosis.looked.signs
    files = {
        TEST: as_pytest(shown, source),
        PAGE: _page(shown, [f"{sign}: {signs.shown_by[sign]}" for sign in signs.words]),
        DEPLOYMENT: as_deployment(shown, diagnosis),
        FACTS: json_text(_facts(shown, refused)) + "\n",
    }
    if scenario:
        files[SCENARIO] = scenario
    for name, text in files.items():
        write(str(folder / name), text)
    for line in _told(shown, folder, refused):
        console.say(line)
    return 0


def _told(shown: Shown, folder: Path, refused: Sequence[str]) -> list[str]:
    what = "is a witness of" if shown.claimed.kind is Kind.SOMETIMES else "violates"
    bug = f" with {shown.bug.id} {shown.bug.mutant.slug}" if shown.bug is not None else ""
    where = "as large as the recorded group" if shown.like_recorded else "the smallest in which it shows"
    lines = [f"{shown.finding}: {len(shown.labels)} steps of the model{bug}, in a configuration {where}"]
    lines.append(f"  {shown.machine.name} {' '.join(f'{name}={value}' for name, value in shown.constants.items())}")
    lines += [f"  {number:>2}. {label}" for number, label in enumerate(shown.labels, 1)]
    if shown.run.loop is not None:
        lines.append(f"  and round again for ever from step {shown.run.loop + 1}")
    lines.append(f"  {what} {shown.claimed.id}: {shown.claimed.statement}")
    if shown.without is not None:
        lines.append(f"  without the bug, in the same configuration: {shown.without}")
    lines += ["", f"{folder / TEST}: pytest {folder / TEST}", f"{folder / PAGE}: open it in a browser"]
    if refused:
        steps = ", ".join(refused)
        lines.append(f"no scenario of the lab: real clients cannot be made to do this there: {steps}")
    else:
        lines.append(f"{folder / SCENARIO}: rocketproof lab run {folder / SCENARIO}")
    lines.append(f"{folder / DEPLOYMENT}: complete it, then rocketproof verify --config {folder / DEPLOYMENT}")
    return lines


def _page(shown: Shown, signs: Sequence[str]) -> str:
    entry = entry_of(subject(shown.name, shown.constants), rules=rule_texts(), steps=shown.labels, loop=shown.run.loop)
    beside = [Recorded(text=printable(sign)) for sign in signs]
    return page([replace(entry, verdict="VIOLATED", note="as recorded", recorded=beside)], opens=True)


def _facts(shown: Shown, refused: Sequence[str]) -> dict[str, object]:
    return {
        "finding": shown.finding,
        "subject": shown.name,
        "machine": shown.machine.name,
        "constants": dict(shown.constants),
        "steps": list(shown.labels),
        "loop": shown.run.loop,
        "property": shown.claimed.id,
        "like_recorded": shown.like_recorded,
        "without_the_bug": None if shown.without is None else str(shown.without),
        "not_in_the_lab": list(refused),
    }
