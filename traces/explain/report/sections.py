"""The texts and numbers of the parts of a report, for the template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ....model.history import Cause, Regression
from ....properties.verdict import Verdict, merge
from ...claims.claims import CODE
from ...encoding.names import Slot
from ...engine.findings import Note
from ...engine.result import CheckResult, ClaimVerdict
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import Kind
from ...format.message_status import MessageStatus
from .tables import named, words_of
from .words import counted, queue

FINDINGS_SHOWN = 200
"""Maximum number of findings of a claim in the page; all findings that were kept are in the table."""

PROBLEMS_SHOWN = 100
"""Maximum number of reading problems, and of files that were left out, in the page."""

SIGNS: Mapping[Verdict, str] = {
    Verdict.VIOLATED: "✗",
    Verdict.UNKNOWN: "?",
    Verdict.NOT_OBSERVABLE: "–",
    Verdict.HOLDS: "✓",
}
"""A sign for each verdict, so that it can be recognised without its colour."""

WORST_FIRST = tuple(SIGNS)
"""Verdicts, worst first."""

_DOUBTS = {"skew": "clocks too close", "gap": "gap in the recording", "evidence": "evidence not recorded"}

_UNFINISHED = {MessageStatus.LOST: "bad", MessageStatus.SKIPPED: "bad", MessageStatus.NOT_OBSERVABLE: "dim"}


def overall(verdicts: Iterable[ClaimVerdict]) -> Verdict:
    """The verdict of the whole check.

    Claims that are not observable do not affect it, as long as anything was judged at all.
    """
    found = {item.verdict for item in verdicts}
    return merge(found - {Verdict.NOT_OBSERVABLE} or found)


def headline(verdicts: Sequence[ClaimVerdict]) -> str:
    """Number of claims with each verdict, worst first."""
    counts = Counter(item.verdict for item in verdicts)
    words = {
        Verdict.VIOLATED: "violated",
        Verdict.UNKNOWN: "unknown",
        Verdict.NOT_OBSERVABLE: "not observable",
        Verdict.HOLDS: "hold" if counts[Verdict.HOLDS] != 1 else "holds",
    }
    told = [f"{counts[verdict]} {words[verdict]}" for verdict in WORST_FIRST if counts[verdict]]
    return f"{counted(len(verdicts), 'claim')}: {', '.join(told)}"


def evidence(result: CheckResult) -> list[tuple[str, bool]]:
    """Each kind of event, and whether it was recorded."""
    return [(str(kind), bool(result.coverage.recorded & EVIDENCE_BIT[kind])) for kind in Kind if kind is not Kind.GAP]


def not_judged(result: CheckResult) -> list[str]:
    """Groups that are not judged, with the reason, and groups of which less was recorded than of others."""
    coverage = result.coverage
    by_reason: dict[str, list[str]] = {}
    for group, reason in coverage.not_judged.items():
        by_reason.setdefault(reason, []).append(group)
    said = [f"group{'s'[: len(groups) - 1]} {', '.join(groups)}: {reason}" for reason, groups in by_reason.items()]
    for group, mask in coverage.of_groups.items():
        kinds = ", ".join(kind for kind in Kind if coverage.recorded & ~mask & EVIDENCE_BIT[kind])
        if kinds:
            said.append(f"of group {group} what rests on {kinds}: not recorded of it")
    return said


def settings(result: CheckResult) -> list[tuple[str, str]]:
    """The terms of the check: tolerances and limits."""
    terms = result.settings
    return [
        ("clocks that no events compare differ by at most", f"{terms.skew:,} ms"),
        ("overlaps, gaps and unequal views may last", f"{terms.rounds:,} ms"),
        ("a queue with messages left may stand still for", f"{terms.stuck:,} ms"),
        ("a delayed message may come late by", f"{terms.late:,} ms"),
        ("pulls may be refused for", f"{terms.refusals:,} ms"),
        ("a client may take a queue again", f"{terms.flaps:,} times"),
    ]


def first_findings(result: CheckResult, verdict: ClaimVerdict, *, most: int) -> list[dict[str, Any]]:
    """The first violations of a claim, with the columns of the table of findings; times in ms.

    Findings without doubt come before the others; both are sorted by time.
    """
    rows = _of_claim(result, verdict)
    rows = rows[rows["cause"] == 0]
    first = np.lexsort([rows["time"], rows["doubt"] != 0])[:most]
    table = named(rows[first], result.names)
    for name in ("since", "time"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    return sorted(table.to_pylist(), key=lambda row: (row["doubt"] is not None, row["time"]))


def shown(result: CheckResult, verdict: ClaimVerdict) -> list[dict[str, Any]]:
    """The same for the page: besides the columns of the table, ``place`` (the queue), ``offsets``, ``seen``, and
    ``because`` (why it may be no violation).
    """
    return [_completed(row) for row in first_findings(result, verdict, most=FINDINGS_SHOWN)]


def explained(result: CheckResult, verdict: ClaimVerdict) -> list[tuple[str, int]]:
    """How often something that seemed to break a claim had a recognised cause, most frequent first."""
    causes = _of_claim(result, verdict)["cause"]
    of = Regression if verdict.claim.id == "offset-never-back-without-cause" else Cause
    words = words_of(of)
    counts = Counter(causes[causes != 0].tolist())
    return [(words[cause], count) for cause, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def repeats(result: CheckResult) -> list[tuple[str, int]]:
    """Repeated deliveries, by cause, most frequent first."""
    words = words_of(Cause)
    counts = sorted(result.repeats.items(), key=lambda item: (-item[1], item[0]))
    return [("no cause was found" if cause is Cause.NONE else words[cause], count) for cause, count in counts]


def statuses(result: CheckResult) -> list[tuple[str, int]]:
    """Messages by what became of them."""
    words = words_of(MessageStatus)
    return [(words[status], count) for status, count in sorted(result.messages.items())]


def colours_of_statuses() -> dict[str, str]:
    """Colour classes for statuses that need attention."""
    return {words_of(MessageStatus)[status]: css for status, css in _UNFINISHED.items()}


def _of_claim(result: CheckResult, verdict: ClaimVerdict) -> Any:
    """Violations of a claim, and explained cases. Findings are sorted by claim first."""
    code = CODE[verdict.claim.id]
    first, last = np.searchsorted(result.rows["claim"], [code, code + 1])
    rows = result.rows[first:last]
    return rows[rows["note"] == Note.NONE]


def columns(findings: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """The columns of a table of findings that are not empty: key, title, and style class."""
    return [column for column in _COLUMNS if any(row[column[0]] not in (None, "", 0) for row in findings)]


_COLUMNS = (
    ("time", "time", "moment"),
    ("since", "since", "moment"),
    ("group", "group", ""),
    ("place", "queue", ""),
    ("offsets", "offset", "number"),
    ("origin", "message", ""),
    ("actor", "who", ""),
    ("other", "other", ""),
    ("reason", "reason", ""),
    ("seen", "seen", "number"),
    ("expected", "expected", "number"),
    ("because", "in doubt", ""),
)


def _completed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table of findings in which some columns are replaced by readable ones."""
    slot = Slot("", row["topic"] or "", row["broker"] or "", -1 if row["queue"] is None else row["queue"],
                row["client"] or "")  # fmt: skip
    doubt = (row["doubt"] or "").split("+")
    return row | {
        "place": queue(slot),
        "offsets": _offsets(row["offset"], row["until"]) if slot.queue >= 0 else "",
        "since": None if row["since"] == row["time"] else row["since"],
        "seen": None if row["reason"] else row["value"],
        "because": ", ".join(text for word, text in _DOUBTS.items() if word in doubt),
    }


def _offsets(offset: int | None, until: int | None) -> str:
    if offset is None:
        return ""
    return f"{offset:,} – {until - 1:,}" if until is not None and until > offset + 1 else f"{offset:,}"
