"""The tables of docs/guarantees.md, made from the catalogue: ``python tests/docs/guarantees.py`` writes them anew."""

import re
from collections.abc import Iterator
from pathlib import Path

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.suite import Row
from rocketproof.model.kernel import UNBOUNDED
from rocketproof.model.presets import PRESETS
from rocketproof.properties.refinements import RefinementClaim
from rocketproof.properties.verdict import Verdict

DOCUMENT = Path(__file__).parents[2] / "docs" / "guarantees.md"
MACHINES = {
    "allocation": "Allocation strategies",
    "retry": "Attempts, levels and dead letters as rules",
    "flow_control": "Limits of cached messages as rules",
    "assignment": "Who owns which queue",
    "orderly_lock": "Locks of orderly queues",
    "long_polling": "Requests that wait at the broker",
    "client_instance": "Consumers that share a client instance",
    "consumption": "Messages, offsets, retries",
    "everything": "Messages, offsets and real members",
    "refinement": "Machines that refine each other",
}


def _how(rows: list[Row]) -> Iterator[str]:
    """Which engine claims it, of how many configurations, for example ``proven for all sizes, 7×``."""
    for verdict in (Verdict.HOLDS, Verdict.VIOLATED):
        for engine, text in (
            ("prove", "proven for all sizes"),
            ("explore", "every state"),
            ("liveness", "every fair run"),
            ("groups", "every small group"),
            ("refine", "every step"),
            ("induction", "by induction"),
        ):
            number = sum(row.expected is verdict and _engine(row) == engine for row in rows)
            if number:
                times = f", {number} configurations" if number > 1 and engine != "groups" else ""
                yield f"{'**false**: ' if verdict is Verdict.VIOLATED else ''}{text}{times}"


def _engine(row: Row) -> str:
    if isinstance(row.subject, RefinementClaim):
        return "induction" if row.subject.inductive else "refine"
    return "prove" if UNBOUNDED in row.constants.values() else row.engines[0]


def properties_table(machine: str) -> str:
    """One line for each property of a machine: what it says, its rules, and which engine claims what."""
    named: dict[str, list[Row]] = {}
    for row in default_rows():
        if row.machine == machine:
            named.setdefault(row.id, []).append(row)
    lines = ["| property | what it says | rules | shown by |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {rows[0].statement} | {', '.join(rows[0].rules)} | {'; '.join(_how(rows))} |"
        for name, rows in named.items()
    ]
    return "\n".join(lines)


def unconditional_table() -> str:
    """For each unconditional property of the rules, the properties of the kit that state it."""
    named: dict[str, dict[str, None]] = {}
    for row in default_rows():
        for rule in row.rules:
            if re.fullmatch(r"U\d+", rule):
                named.setdefault(rule, {})[row.id] = None
    lines = ["| rule | properties |", "|---|---|"]
    for rule in sorted(named, key=lambda name: int(name[1:])):
        lines.append(f"| {rule} | {', '.join(f'`{name}`' for name in named[rule])} |")
    return "\n".join(lines)


def presets_table() -> str:
    """One line for each preset, with its exact number of states."""
    lines = ["| preset | machine | what happens in it | states |", "|---|---|---|---|"]
    lines += [f"| `{item.name}` | {item.machine.name} | {item.doc} | {item.states:,} |" for item in PRESETS]
    return "\n".join(lines)


def written(text: str) -> str:
    """The document with the tables as they are now; each stands between two comments."""
    tables = {"unconditional": unconditional_table(), "presets": presets_table()}
    tables |= {machine: properties_table(machine) for machine in MACHINES}
    for name, table in tables.items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        text, found = re.subn(pattern, lambda match, table=table: match[1] + table + match[2], text, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"{DOCUMENT.name} has {found} places for the table {name!r}; it needs one")
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
