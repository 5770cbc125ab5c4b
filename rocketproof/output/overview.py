"""The overview of a suite on one screen: each guarantee once, by what is known about it; unexpected rows in full."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..checkers.run import counted
from ..properties.verdict import Verdict
from .console import SafeConsole, print_columns
from .report import print_table

if TYPE_CHECKING:
    from ..checkers.suite import Outcome

MANY = 20
"""With more rows than this, the overview is printed instead of the rows."""

NAMED = 100
"""With more guarantees than this, those that hold are counted for each machine; named are only those that are false."""

FALSE = "false, as expected"
UNEXPECTED = "not as expected"
_HOLDS = ("holds by proof", "holds by proof and search", "holds by search")
_NOT_ALWAYS = tuple(f"{kind}, but not always" for kind in _HOLDS)
KINDS = (*_HOLDS, *_NOT_ALWAYS, FALSE, UNEXPECTED)
"""What may be known about a guarantee. *Not always*: in configurations with more faults it is false, as expected."""

_COLUMNS = {
    "by proof": _HOLDS[:1],
    "by both": _HOLDS[1:2],
    "by search": _HOLDS[2:],
    "not always": _NOT_ALWAYS,
    "false": [FALSE],
    "not as expected": [UNEXPECTED],
}
_STYLES = {**dict.fromkeys(_HOLDS, "green"), FALSE: "cyan", UNEXPECTED: "bold red"}
_WIDEST = 160


def kind_of(outcomes: Sequence[Outcome]) -> str:
    """What the rows of one guarantee say together; one of :data:`KINDS`."""
    if not all(outcome.as_expected for outcome in outcomes):
        return UNEXPECTED
    holding = [outcome for outcome in outcomes if outcome.result.verdict is Verdict.HOLDS]
    if not holding:
        return FALSE
    proven = {outcome.result.engine == "prove" for outcome in holding}
    by = 1 if len(proven) == 2 else 0 if True in proven else 2
    return (_HOLDS if len(holding) == len(outcomes) else _NOT_ALWAYS)[by]


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
    """Each guarantee once, or counted if they do not fit on a screen; then the rows that are not as expected."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.row.machine)
    found = dict(guarantees(ordered))
    are_named = sum(map(_number, found.values())) <= NAMED
    if are_named:
        for machine, kinds in found.items():
            console.say(f"{machine}: {counted(_number(kinds), 'guarantee')}", "bold")
            for kind, names in kinds.items():
                _print_names(console, kind, names)
    else:
        _print_counts(console, found)
        _print_names(console, FALSE, [name for kinds in found.values() for name in kinds.get(FALSE, ())])
    by_engine = Counter(outcome.result.engine for outcome in outcomes)
    told = ", ".join(f"{number} by {engine}" for engine, number in sorted(by_engine.items()))
    named = "×N is how many a guarantee has" if are_named else "--machine NAME names what holds on one machine"
    console.say(f"{counted(len(outcomes), 'row')}: {told}; -v prints them, {named}")
    wrong = [outcome for outcome in ordered if not outcome.as_expected]
    if wrong:
        console.print()
        print_table(console, wrong)


def _number(kinds: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, kinds.values()))


def _print_names(console: SafeConsole, kind: str, names: Sequence[str]) -> None:
    lines = textwrap.wrap(
        f"  {kind} ({len(names)}): " + ", ".join(names),
        min(console.width, _WIDEST) if console.is_terminal else 120,
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    for line in lines:
        console.say(line, _STYLES.get(kind, ""))


def _print_counts(console: SafeConsole, found: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """One line for each machine, and one for all of them."""
    counts = {
        machine: [_number(of), *(sum(len(of.get(kind, ())) for kind in kinds) for kinds in _COLUMNS.values())]
        for machine, of in found.items()
    }
    counts["all"] = list(map(sum, zip(*counts.values(), strict=True)))
    titles = ["guarantees", *_COLUMNS]
    lines = [
        (machine, *(f"{number or '':>{len(title)}}" for title, number in zip(titles, row, strict=True)))
        for machine, row in counts.items()
    ]
    print_columns(console, ("", [("", *titles), *lines]))
