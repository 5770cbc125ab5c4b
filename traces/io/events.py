"""Events as they are read: which values are possible, for single events and for whole batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import Kind, Path, Result
from ..format.problems import Problems, Trouble
from ..format.schema import ARROW, BY_NAME, FIELDS, Field, is_text

EXTRA = "extra"
"""Column with the members that the schema does not know, as the text of a JSON object; null if there are none."""

ROWS = 262_144
"""Maximum number of events in a batch."""

Tell = Callable[[Trouble, str], None]
"""Receives a problem of the event at hand: its kind, and its description."""

WORDS: Mapping[str, frozenset[str]] = {
    "kind": frozenset(map(str, Kind)),
    "result": frozenset(map(str, Result)),
    "path": frozenset(map(str, Path)),
}
"""The words that a column may have, if the schema lists them."""

NOWHERE = -1
"""RB-42: the offset of a pull of 4.9 whose client could not learn where to begin; it counts as not known."""

WHO = ("client", "incarnation")
"""An event with an impossible one of these is left out: without it, it would be one of another process."""

_BITS = {pa.int32(): 32, pa.int64(): 64}


def _span(field: Field) -> tuple[int, int]:
    beyond = 2 ** (_BITS[field.type] - 1)
    return max(field.low, -beyond), beyond - 1 if field.high is None else field.high


SPANS: Mapping[str, tuple[int, int]] = {field.name: _span(field) for field in FIELDS if field.type in _BITS}
"""Smallest and largest possible value of each column of whole numbers."""


def is_whole(field: Field) -> bool:
    """Whether the column has whole numbers."""
    return field.name in SPANS


def mend(event: Mapping[str, Any], tell: Tell) -> dict[str, Any] | None:
    """The event with only its possible values; None if it has no time or kind, or says wrongly who did it.

    Members that are null are left out. A word that this version does not know is reported and kept.
    """
    kept: dict[str, Any] = {}
    for name, value in event.items():
        field = BY_NAME.get(name)
        if field is None or value is None:
            continue
        if name == "offset" and value == NOWHERE and event.get("kind") in (Kind.PULL, Kind.PULL_RESULT):
            continue
        wrong = _wrong(field, value)
        if wrong:
            tell(Trouble.IMPOSSIBLE, f"{name} is {_shown(value)}, but {wrong}; {done_about(name)}")
            if name in WHO:
                return None
            continue
        if name in WORDS and value not in WORDS[name]:
            tell(Trouble.UNKNOWN_WORD, f"{name} is {_shown(value)}, which this version does not know")
        kept[name] = value
    for needed in ("time", "kind"):
        if needed not in kept:
            tell(Trouble.NO_TIME, f"no {needed}; the event is left out")
            return None
    return kept


def done_about(name: str) -> str:
    """What is done about an impossible value of a field, in words."""
    return "the event is left out" if name in WHO else "it counts as not known"


def _wrong(field: Field, value: Any) -> str:
    span = SPANS.get(field.name)
    if span is not None:
        if type(value) is not int:
            return "a whole number is needed"
        low, high = span
        if low <= value <= high:
            return ""
        return f"{low} is the least possible" if value < low else f"{high} is the most possible"
    if pa.types.is_list(field.type):
        fine = isinstance(value, list) and all(is_text(item) for item in value)
        return "" if fine else "a list of texts is needed"
    return "" if is_text(value) else "a text is needed"


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def batch_of(events: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """A batch of corrected events: all columns of the schema."""
    return pa.RecordBatch.from_arrays([_column(field, events) for field in FIELDS], schema=ARROW)


def _column(field: Field, events: Sequence[Mapping[str, Any]]) -> pa.Array:
    values = [event.get(field.name) for event in events]
    if pa.types.is_dictionary(field.type):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, field.type)


def batches_of(
    events: Iterable[Mapping[str, Any]], problems: Problems, *, file: str = "", rows: int = ROWS
) -> Iterator[pa.RecordBatch]:
    """Events as batches of the schema; impossible values are reported, with the number of the event as the line.

    An event without ``seq`` gets its number, from 1.
    """
    kept: list[dict[str, Any]] = []
    line = 0

    def tell(kind: Trouble, what: str) -> None:
        problems.add(file, line, what, kind=kind)

    for line, event in enumerate(events, 1):
        mended = mend(event, tell)
        if mended is not None:
            mended.setdefault("seq", line)
            kept.append(mended)
        if len(kept) == rows:
            yield batch_of(kept)
            kept.clear()
    if kept:
        yield batch_of(kept)


def is_clean(batch: pa.RecordBatch) -> bool:
    """Whether every value of a batch of the schema's types is possible, and every event has time and kind."""
    for field in FIELDS:
        if field.name not in batch.schema.names:
            continue
        column = batch.column(field.name)
        if column.null_count and field.name in ("time", "kind"):
            return False
        if column.null_count == len(column):
            continue
        if is_whole(field):
            found, (low, high) = pc.min_max(column), SPANS[field.name]
            if found["min"].as_py() < low or found["max"].as_py() > high:
                return False
        elif pa.types.is_list(field.type):
            if column.flatten().null_count:
                return False
        elif field.name in WORDS and not WORDS[field.name].issuperset(column.dictionary.to_pylist()):
            return False
    return True
