"""The overview of a suite on one screen: each guarantee once, by what is known about it; unexpected rows in full."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..checkers.run import counted
from ..properties.verdict import Verdict
from .console import SafeConsole
from .report import print_table

if TYPE_CHECKING:
    from ..checkers.suite import Outcome

MANY = 20
"""With more rows than this, the overview is printed instead of the rows."""

UNEXPECTED = "not as expected"
KINDS = (
    "holds by proof",
    "holds by search",
    "holds by proof, but not always",
    "holds by search, but not always",
    "false, as expected",
    UNEXPECTED,
)
"""What may be known about a guarantee. *Not always*: in configurations with more faults it is false, as expected."""

_STYLES = {KINDS[0]: "green", KINDS[1]: "green", KINDS[4]: "cyan", UNEXPECTED: "bold red"}
_WIDEST = 160


def kind_of(outcomes: Sequence[Outcome]) -> str:
    """What the rows of one guarantee say together; one of :data:`KINDS`."""
    if not all(outcome.as_expected for outcome in outcomes):
        return UNEXPECTED
    holding = [outcome for outcome in outcomes if outcome.result.verdict is Verdict.HOLDS]
    if not holding:
        return KINDS[4]
    proven = any(outcome.result.engine == "prove" for outcome in holding)
    by = "holds by proof" if proven else "holds by search"
    return by if len(holding) == len(outcomes) else f"{by}, but not always"


def guarantees(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """For each machine: kind → its guarantees, with the number of their rows if there are several."""
    for machine, on_machine in itertools.groupby(outcomes, key=lambda outcome: outcome.row.machine):
        rows: dict[str, list[Outcome]] = {}
        for outcome in on_machine:
            rows.setdefault(outcome.row.id, []).append(outcome)
        found: dict[str, list[str]] = {}
        for name, of_name in sorted(rows.items()):
            found.setdefault(kind_of(of_name), []).append(f"{name}×{len(of_name)}" if len(of_name) > 1 else name)
        yield machine, {kind: found[kind] for kind in KINDS if kind in found}


def print_overview(console: SafeConsole, outcomes: Sequence[Outcome]) -> None:
    """Each guarantee once, then the rows that are not as expected."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.row.machine)
    width = min(console.width, _WIDEST) if console.is_terminal else 120
    for machine, kinds in guarantees(ordered):
        console.say(f"{machine}: {counted(sum(map(len, kinds.values())), 'guarantee')}", "bold")
        for kind, names in kinds.items():
            title = f"  {kind} ({len(names)}): "
            lines = textwrap.wrap(
                title + ", ".join(names),
                width,
                subsequent_indent="    ",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for line in lines:
                console.say(line, _STYLES.get(kind, ""))
    by_engine = Counter(outcome.result.engine for outcome in outcomes)
    told = ", ".join(f"{number} by {engine}" for engine, number in sorted(by_engine.items()))
    console.say(f"{counted(len(outcomes), 'row')}: {told}; -v prints them, ×N is how many a guarantee has")
    wrong = [outcome for outcome in ordered if not outcome.as_expected]
    if wrong:
        console.print()
        print_table(console, wrong)
