"""How long it takes to try all known bugs, and all generated mutants; what is killed, and which properties kill little.

``ROCKETPROOF_MUTANTS_SAMPLE=N`` tries the first N known bugs and a sample of N generated mutants.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rocketproof.checkers.catalogue import all_rows, default_rows
from rocketproof.checkers.mutants import Trials, entries
from rocketproof.checkers.mutation.changes import all_changes, stratified
from rocketproof.checkers.mutation.further import ask_further
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, Fate, Outcome, judge
from rocketproof.checkers.mutation.summary import by_part, idle, notices, only_one, whole
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import Row
from rocketproof.commands.generated_mutants import USUAL_STATES
from rocketproof.machine_code.code_cache import user_cache

ROOT = Path(__file__).parents[1]
JOURNAL = ROOT / "build" / "generated-mutants.jsonl"
"""What is known already: a run that was interrupted goes on, as long as the texts are the same."""
DECISIONS = ROOT / "docs" / "mutants.md"
"""Tables of the survivors, and of the properties that notice one mutant or none, each with a reason."""


def measure() -> Iterator[dict[str, Any]]:
    """The known bugs, with the property that must kill each; then the generated mutants, as a whole and by part; then
    what has no reason in the document yet.
    """
    sample = int(os.environ.get("ROCKETPROOF_MUTANTS_SAMPLE", "0"))
    started = time.perf_counter()
    answers = list(map(Trials().answer, entries(all_rows())[: sample or None]))
    yield {
        "figure": "known bugs, tried",
        "seconds": round(time.perf_counter() - started, 1),
        "target": "< 600 s",
        **Counter(str(answer.status) for answer in answers),
    }
    started = time.perf_counter()
    rows = default_rows()
    changes = stratified(all_changes(), sample, 0) if sample else all_changes()
    suite, theorems = settings(rows), Theorems.of(rows)
    effort = Effort(states=USUAL_STATES, jobs=os.cpu_count() or 1)
    judging: dict[str, Any] = {"journal": JOURNAL, "cache": user_cache("mutants")}
    outcomes = judge(changes, suite, theorems, effort, **judging)
    seconds = round(time.perf_counter() - started, 1)
    processor = round(sum(item.seconds for item in outcomes))
    of_all = {"seconds": seconds, "processor seconds for mutants": processor, "target": "< 7,200 s, share >= 0.97"}
    for score in (whole(outcomes), *by_part(outcomes)):
        yield {
            "figure": f"generated mutants of {score.name}",
            **(of_all if score.name == "all" else {}),
            **{str(fate): score.fates[fate] for fate in Fate},
            "share": None if score.share is None else round(score.share, 4),
        }
    started = time.perf_counter()
    outcomes = ask_further(outcomes, changes, suite, theorems, effort, **judging)
    found = notices(outcomes, rows)
    yield {
        "figure": "properties that notice one generated mutant, or none",
        "seconds": round(time.perf_counter() - started, 1),
        "one": [item.id for item in only_one(found)],
        "none": [item.id for item in idle(found)],
    }
    left = undecided(outcomes, rows, DECISIONS.read_text(encoding="utf-8"))
    yield {"figure": f"without a reason in {DECISIONS.name}", "names": left, "target": "none"}


def undecided(outcomes: Sequence[Outcome], rows: Sequence[Row], document: str) -> list[str]:
    """Ids of survivors, and of properties that notice one mutant or none, that no table of a document begins with."""
    found = notices(outcomes, rows)
    survived = [item.change.id for item in outcomes if item.fate is Fate.SURVIVED]
    weak = [item.id for item in (*only_one(found), *idle(found))]
    known = decided(document)
    return [name for name in (*survived, *weak) if name not in known]


def decided(document: str) -> set[str]:
    """The names in code type in the first cells of all tables."""
    return {
        name for cell in re.findall(r"^\| ([^|]+) \|", document, re.MULTILINE) for name in re.findall("`([^`]+)`", cell)
    }
