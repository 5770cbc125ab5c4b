"""How many false beliefs of the suite Hypothesis finds with runs as short as those of the search.

Each row is asked alone, with the engine ``stateful`` and its usual number of runs, and with the engine of the suite.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.engines import STATEFUL
from rocketproof.checkers.suite import Options, Row, run_suite
from rocketproof.machine_code.code_cache import user_cache
from rocketproof.properties.verdict import Verdict

AS_SHORT, LONGER, NOT_FOUND = "as short", "longer", "not found"


def measure(machine: str = "") -> Iterator[dict[str, Any]]:
    """A line for each finding that is longer or not found, one for each machine, and one for all; with ``machine``,
    only that machine.
    """
    counts: dict[str, Counter[str]] = {}
    cache = user_cache()
    started = time.process_time()
    for row in findings(machine):
        drawn, shortest = length(row, Options(engine=STATEFUL)), length(row, Options(cache=cache))
        became = became_of(drawn, shortest)
        counts.setdefault(row.machine, Counter())[became] += 1
        if became != AS_SHORT:
            told = f"{row.id} in {row.machine} {row.configuration}"
            yield {"figure": told, "steps": drawn, "steps of the search": shortest}
    for name, found in counts.items():
        yield {"figure": name, **_counted(found)}
    seconds = round(time.process_time() - started)
    together = sum(counts.values(), Counter[str]())
    yield {"figure": "all", **_counted(together), "target": "share >= 0.8", "processor seconds": seconds}


def findings(machine: str = "") -> list[Row]:
    """The rows whose belief is false in some state, and which Hypothesis can be asked."""
    return [
        row
        for row in default_rows()
        if row.expected is Verdict.VIOLATED and STATEFUL in row.engines and machine in ("", row.machine)
    ]


def length(row: Row, options: Options) -> int | None:
    """The number of steps of the run that is found; None if none is."""
    (outcome,) = run_suite([row], options)
    return None if outcome.result.run is None else len(outcome.result.run)


def became_of(drawn: int | None, shortest: int | None) -> str:
    """What became of a finding, from the lengths of both runs."""
    if drawn is None or shortest is None:
        return NOT_FOUND
    return LONGER if drawn > shortest else AS_SHORT


def _counted(found: Counter[str]) -> dict[str, Any]:
    kinds = {name: found[name] for name in (AS_SHORT, LONGER, NOT_FOUND)}
    return {"findings": found.total(), **kinds, "share": round(found[AS_SHORT] / found.total(), 3)}
