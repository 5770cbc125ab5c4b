"""Tables of what a check has found: names instead of codes, so that they can be read and compared without the kit.

Numbers and names that a finding does not have are null.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....model.history import Cause, Regression
from ...claims.claims import CLAIMS, CODE
from ...claims.obligations import Reason
from ...encoding.names import Names
from ...engine.findings import Doubt, Note
from ...format.kinds import Path
from ...format.message_status import MessageStatus
from ...format.schema import ABSENT
from ...monitors.groups.subscriptions import Unequal
from ...monitors.groups.views import Differ
from ...monitors.queues.commits import Jump
from ...monitors.queues.ownership import End

if TYPE_CHECKING:
    from ...engine.result import CheckResult

_TIME = pa.timestamp("ms", tz="UTC")

FINDINGS = pa.schema(
    [
        pa.field("claim", pa.string()),  # id of the claim; null for notes that belong to no claim
        pa.field("note", pa.string()),  # null for violations and explained repetitions
        pa.field("cause", pa.string()),  # null for violations
        pa.field("reason", pa.string()),  # word for the code in value or expected: a path, a status
        pa.field("doubt", pa.string()),  # why a violation may be none, joined by +
        pa.field("group", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("broker", pa.string()),
        pa.field("queue", pa.int32()),
        pa.field("client", pa.string()),  # of a broadcasting group: the client whose queue it is
        pa.field("origin", pa.int64()),
        pa.field("offset", pa.int64()),
        pa.field("until", pa.int64()),
        pa.field("since", _TIME),
        pa.field("time", _TIME),
        pa.field("actor", pa.string()),
        pa.field("other", pa.string()),
        pa.field("value", pa.int64()),
        pa.field("expected", pa.int64()),
    ]
)
"""Columns of :func:`named`; ``traces.engine.findings.ROW`` describes them."""

_OF_REGRESSIONS = CODE["offset-never-back-without-cause"]


def words_of(codes: type[Any]) -> list[str]:
    """The words of an enumeration of numbers, by code, such as ``stored but refused``."""
    by_code = {int(code): code.name.lower().replace("_", " ") for code in codes}
    return [by_code.get(code, "") for code in range(max(by_code) + 1)]


def named(rows: Any, names: Names) -> pa.Table:
    """Findings with names instead of codes, sorted by all columns.

    Tables of the same findings are equal, whichever codes the engine has assigned.
    """
    slots, slot = names.slots, rows["slot"]
    columns = [
        _words([claim.id for claim in CLAIMS], rows["claim"]),
        _words([None, *words_of(Note)[1:]], rows["note"]),
        _causes(rows),
        _reasons(rows),
        _words(_flags(Doubt), rows["doubt"]),
        _words([item.group or None for item in slots], slot),
        _words([item.topic or None for item in slots], slot),
        _words([item.broker or None for item in slots], slot),
        _looked_up(pa.array([item.queue if item.queue >= 0 else None for item in slots], pa.int32()), slot),
        _words([item.who or None for item in slots], slot),
        pa.array(rows["origin"], mask=rows["origin"] == 0),
        *(_number(rows[name]) for name in ("offset", "until")),
        *(_number(rows[name]).cast(_TIME) for name in ("since", "time")),
        *(_words([str(item) for item in names.actors], rows[name]) for name in ("actor", "other")),
        *(_number(rows[name]) for name in ("value", "expected")),
    ]
    table = pa.Table.from_arrays(columns, schema=FINDINGS)
    return table.sort_by([(name, "ascending") for name in FINDINGS.names])


def verdicts(result: CheckResult) -> pa.Table:
    """One row for each claim, in their order."""
    answers = result.verdicts
    return pa.table(
        {
            "claim": [item.claim.id for item in answers],
            "verdict": [str(item.verdict) for item in answers],
            "judged": pa.array([item.judged for item in answers], pa.int64()),
            "violated": pa.array([item.violated for item in answers], pa.int64()),
            "doubtful": pa.array([item.doubtful for item in answers], pa.int64()),
            "why": pa.array([item.why or None for item in answers], pa.string()),
            "statement": [item.claim.statement for item in answers],
            "rules": [list(item.claim.rules) for item in answers],
        }
    )


_QUEUE = ("group", "topic", "broker", "queue", "client")


def findings(result: CheckResult) -> pa.Table:
    """Violations and explained repetitions, and the ranges that were skipped."""
    kept = np.isin(result.rows["note"], (Note.NONE, Note.SKIPPED))
    return named(result.rows[kept], result.names)


def ownership(result: CheckResult) -> pa.Table:
    """Who had which queue from when to when, and why the ownership ended."""
    return _noted(result, Note.OWNERSHIP, since="since", until="time", owner="actor", reason="reason")


def offsets(result: CheckResult) -> pa.Table:
    """Which offset was stored when, by whom and on which path, and the end of the queue then (-1 if not known)."""
    return _noted(result, Note.OFFSET, time="time", offset="value", writer="actor", path="reason", end="until")


def messages(result: CheckResult) -> pa.Table:
    """What became of messages that were not simply acknowledged: a row for each message, or range of offsets."""
    return _noted(
        result,
        Note.CHAIN,
        offset="offset",
        until="until",
        origin="origin",
        status="reason",
        attempt="expected",
        time="time",
    )


TABLES: dict[str, Callable[[CheckResult], pa.Table]] = {
    "findings": findings,
    "verdicts": verdicts,
    "ownership": ownership,
    "offsets": offsets,
    "messages": messages,
}
"""The tables of a report, by file name."""


def _looked_up(values: pa.Array, codes: Any) -> pa.Array:
    """The value for each code; null for negative codes."""
    return values.take(pa.array(codes.astype(np.int64), mask=codes < 0))


def _words(words: Sequence[str | None], codes: Any) -> pa.Array:
    return _looked_up(pa.array(words, pa.string()), codes)


def _number(column: Any) -> pa.Array:
    return pa.array(column, mask=column == ABSENT)


def _flags(of: type[enum.IntFlag]) -> list[str | None]:
    """The words of combinations of flags, by code."""
    return [None, *("+".join(str(flag.name).lower() for flag in of(code)) for code in range(1, 1 << len(of)))]


def _causes(rows: Any) -> pa.Array:
    causes, regressions = (_words([None, *words_of(codes)[1:]], rows["cause"].clip(max=max(codes)))
                           for codes in (Cause, Regression))  # fmt: skip
    return pc.if_else(pa.array(rows["claim"] == _OF_REGRESSIONS), regressions, causes)


_PATHS = [word or None for word in Path]
_ENDS = words_of(End)
_DIFFERS = _flags(Differ)

# Which number of which rows is a code, and the words for its codes.
_IN_NOTES: dict[Note, tuple[str, Sequence[str | None]]] = {
    Note.SKIPPED: ("value", words_of(Jump)),
    Note.OFFSET: ("expected", _PATHS),
    Note.CHAIN: ("value", words_of(MessageStatus)),
}
_IN_CLAIMS: dict[str, tuple[str, Sequence[str | None]]] = {
    "every-queue-moves": ("value", words_of(Reason)),
    "same-subscriptions": ("value", words_of(Unequal)),
    "views-agree": ("value", _DIFFERS),
    "only-owners-commit": ("value", _PATHS),
}


def _reasons(rows: Any) -> pa.Array:
    note, code = rows["note"], np.full(len(rows), -1, np.int64)
    words: list[str | None] = []

    def put(where: Any, codes: Any, its_words: Sequence[str | None]) -> None:
        code[where] = np.where((codes >= 0) & (codes < len(its_words)), codes + len(words), -1)[where]
        words.extend(its_words)

    for what, (column, its_words) in _IN_NOTES.items():
        put(note == what, rows[column], its_words)
    for claim, (column, its_words) in _IN_CLAIMS.items():
        put((rows["claim"] == CODE[claim]) & (note == Note.NONE), rows[column], its_words)
    put(note == Note.OWNERSHIP, rows["expected"], _ENDS)
    # If a queue was given up, the path says more than the fact.
    put((note == Note.OWNERSHIP) & (rows["expected"] == End.REVOKED) & (rows["value"] > 0), rows["value"], _PATHS)
    return _words(words, code)


def _noted(result: CheckResult, note: Note, **columns: str) -> pa.Table:
    """Rows of a note by queue, with the given columns, taken from columns of the findings."""
    table = named(result.rows[result.rows["note"] == note], result.names)
    table = table.select([*_QUEUE, *columns.values()]).rename_columns([*_QUEUE, *columns])
    return table.sort_by([(name, "ascending") for name in table.column_names])
