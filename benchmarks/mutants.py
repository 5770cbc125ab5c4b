"""How long it takes to try all known bugs, and all generated mutants; which share of these is killed."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocketproof.checkers.catalogue import all_rows, default_rows
from rocketproof.checkers.mutants import Trials, entries, try_all
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.summary import by_part, whole
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.machine_code.code_cache import user_cache

STATES = 20_000
"""Configurations of which the right machine has more are not asked at first."""
FAR = 1_000_000
"""The same for mutants of which a few configurations have not been asked."""
JOURNAL = Path(__file__).parents[1] / "build" / "generated-mutants.jsonl"
"""What is known already: a run that was interrupted goes on, as long as the texts are the same."""


def measure() -> Iterator[dict[str, Any]]:
    """The known bugs, with the property that must kill each; then the generated mutants, as a whole and by part."""
    started = time.perf_counter()
    answers = list(try_all(entries(all_rows()), Trials()))
    yield {
        "figure": "all known bugs, tried",
        "seconds": round(time.perf_counter() - started, 1),
        "target": "< 600 s",
        **Counter(str(answer.status) for answer in answers),
    }
    started = time.perf_counter()
    rows = default_rows()
    outcomes = judge(
        all_changes(),
        settings(rows),
        Theorems.of(rows),
        Effort(states=STATES, far=FAR, jobs=os.cpu_count() or 1),
        journal=JOURNAL,
        cache=user_cache("mutants"),
    )
    seconds = round(time.perf_counter() - started, 1)
    processor = round(sum(item.seconds for item in outcomes))
    of_all: dict[str, Any] = {"seconds": seconds, "processor seconds for mutants": processor, "states": STATES}
    of_all["target"] = "< 7,200 s, share >= 0.97"
    for score in (whole(outcomes), *by_part(outcomes)):
        yield {
            "figure": f"generated mutants of {score.name}",
            **(of_all if score.name == "all" else {}),
            **{str(fate): score.fates[fate] for fate in Fate},
            "share": None if score.share is None else round(score.share, 4),
        }
