"""JSONL: a header on the first line, then one event per line.

Whole blocks are parsed at once. A block with anything unusual is parsed again line by line, which shows what it is and
where, so damage costs time only where it occurs.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from ..clocks.as_json import clocks_told
from ..clocks.clocks import Clocks
from ..format.header import MARK, Stated, read_header
from ..format.other_names import damaged_name, may_be_damaged, near_names, other_names, told, told_near
from ..format.problems import Pass, Problems, Repeatable, Trouble
from ..format.schema import ARROW, BY_NAME, Header, plain
from .compressed import blocks_of, head_of
from .events import EXTRA, batch_of, is_clean, mend
from .json_text import read_json
from .source import cut, numbered
from .stray_times import strays_of
from .stray_times import told as told_stray

_BLOCK = 1 << 24
_FINER = (1 << 20, 1 << 16)
_PARSED_AT_ONCE = 1 << 20

_Part = tuple[pa.RecordBatch, Sequence[int]]
"""Events, each with its line."""

_SEQ = ARROW.get_field_index("seq")

MOST_DAMAGED = 200_000
"""Number of damaged lines after which a file is no trace: to report one takes a thousand times as long as reading."""

LOOKED_AT = 200
"""Number of first lines that are checked for fields with other names, and for names that another program adds to
events: both occur from the beginning.
"""

# The parser has no dictionaries: words are texts while they are read.
_TEXT = plain(ARROW)
# A second value after an object on the same line: the parser would take it for an event, and a lone null for anything.
_SECOND_VALUE = re.compile(rb"\}[ \t\r]*[^ \t\r\n,}\]]")


def looks_like_jsonl(head: bytes) -> bool:
    """Whether a file with this beginning is a trace as JSONL: with a header, or with an event among whole lines."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for place, line in enumerate(lines):
        value = value_of(line)
        if isinstance(value, dict) and (MARK in value or {"time", "kind"} <= value.keys()):
            return True
        if place == 100:
            break
    return False


def value_of(line: bytes) -> Any:
    """The value of a line of JSON; the error if it is none."""
    try:
        return read_json(line.decode())
    except ValueError as error:
        return error


class JsonLines:
    """A JSONL file as a source of events; see :class:`~.source.Source`."""

    rows: int | None = None
    time_range: tuple[int, int] | None = None

    def __init__(self, path: Path, problems: Problems) -> None:
        self.path = path
        self.file = str(path)
        self.files: tuple[str, ...] = (self.file,)
        self._problems = Repeatable(problems)
        self.skipped: Counter[str] = Counter()
        self.counted = True
        head = head_of(path)
        self.stated = self._header(head, problems)
        self.clocks: Clocks | None = clocks_told(self.stated, 1, problems)
        first = _first_events(head)
        _tell_other_names(first, self.file, problems)
        names = Counter(itertools.chain.from_iterable(event for _, event in first))
        self._usual = frozenset(name for name, count in names.items() if count > 1)
        if near := near_names(self._usual):
            problems.add(self.file, 0, told_near(near), kind=Trouble.NEAR_NAME)

    def _header(self, head: bytes, problems: Problems) -> Stated:
        line = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
        if b"\n" not in head:
            # A header that is longer than the first piece, such as one with very many groups.
            _, block = next(blocks_of(self.path, Problems(), size=1), (1, b""))
            line = block.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
        value = value_of(line)
        if isinstance(value, dict) and MARK in value:
            return read_header(value, file=self.file, line=1, problems=problems)
        what = f"the first line has no {MARK}" if isinstance(value, dict) else f"not a header: {value}"
        kind = Trouble.NO_HEADER if isinstance(value, dict) else Trouble.HEADER
        problems.add(self.file, 1, f"{what}; defaults are taken", kind=kind)
        return Stated(header=Header(), file=self.file)

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """The events in the order of the file; see :class:`~.source.Source`."""
        report = self._problems.begin()
        for first, block in blocks_of(self.path, report, size=_BLOCK):
            line = first
            if report.by_kind[Trouble.DAMAGED] > MOST_DAMAGED:
                what = f"more than {MOST_DAMAGED:,} damaged lines; from line {line:,} on it is not read"
                report.add(self.file, line, what, kind=Trouble.TRUNCATED)
                return
            if line == 1:
                line, block = _after_header(block)
            for batch in self._in_time(list(self._block(line, block, report, with_extra=EXTRA in columns)), report):
                yield from cut(batch.select(list(columns)), rows)

    def _in_time(self, parts: list[_Part], report: Pass) -> Iterator[pa.RecordBatch]:
        """The events of a block except those whose times their neighbours contradict."""
        strays, first = strays_of([batch for batch, _ in parts]), 0
        for batch, lines in parts:
            own = strays[(strays >= first) & (strays < first + len(batch))] - first
            for at in own.tolist():
                report.add(self.file, lines[at], told_stray(batch.column("time")[at].as_py()), kind=Trouble.STRAY_TIME)
            first += len(batch)
            yield batch.take(pa.array(np.delete(np.arange(len(batch)), own))) if len(own) else batch

    def _block(
        self, line: int, block: bytes, report: Pass, *, with_extra: bool, finer: Sequence[int] = _FINER
    ) -> Iterator[_Part]:
        """The events of a block, each batch with its lines.

        A block that cannot be parsed at once is cut into smaller pieces, down to single lines.
        """
        if not block.strip():
            return
        lines: Sequence[int] = ()
        batch = _at_once(block, None if with_extra else self._usual)
        if batch is not None:
            lines = range(line, line + len(batch))
            self.counted &= not batch.column("seq").null_count
            seq = numbered(batch.column("seq"), line, len(batch))
            batch = batch.set_column(_SEQ, ARROW.field(_SEQ), seq)
        if batch is None and finer:
            for piece in _pieces(block, finer[0]):
                yield from self._block(line, piece, report, with_extra=with_extra, finer=finer[1:])
                line += piece.count(b"\n")
            return
        if batch is None:
            batch, lines = self._line_by_line(block, line, report)
        if batch is not None:
            yield batch, lines

    def _line_by_line(self, block: bytes, first: int, report: Pass) -> tuple[pa.RecordBatch | None, list[int]]:
        lines: list[int] = []
        events: list[Mapping[str, Any]] = []
        extras: list[str | None] = []
        line = first

        def tell(kind: Trouble, what: str) -> None:
            report.add(self.file, line, what, kind=kind)

        for line, text in enumerate(block.split(b"\n")[:-1], first):
            if not text.strip():
                continue
            value = value_of(text)
            if isinstance(value, Exception):
                tell(Trouble.DAMAGED, f"no JSON: {value}")
                continue
            if not isinstance(value, dict):
                tell(Trouble.DAMAGED, f"a JSON object is needed, not {ascii(value)[:60]}")
                continue
            if MARK in value and "kind" not in value:
                tell(Trouble.NO_TIME, "a second header; give the files as they were before they were put into one")
                continue
            if wrong := damaged_name(value, self._usual):
                tell(Trouble.DAMAGED, wrong)
                continue
            event = mend(value, tell)
            if event is not None:
                self.counted &= "seq" in event
                event.setdefault("seq", line)
                lines.append(line)
                events.append(event)
                extras.append(_extra_of(value))
        if not events:
            return None, lines
        return batch_of(events).append_column(EXTRA, pa.array(extras, pa.string())), lines


def _first_events(head: bytes) -> list[tuple[int, dict[str, Any]]]:
    """The events among the first lines, each with its line."""
    lines = enumerate(head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1], 1)
    values = ((line, value_of(text)) for line, text in itertools.islice(lines, LOOKED_AT))
    return [(line, value) for line, value in values if isinstance(value, dict) and MARK not in value]


def begin_of(head: bytes) -> int:
    """The time of the first event of a file with this beginning, ms; 0 without one."""
    return next((time for _, event in _first_events(head) if type(time := event.get("time")) is int), 0)


def _tell_other_names(first: Sequence[tuple[int, Mapping[str, Any]]], file: str, problems: Problems) -> None:
    """Report fields of the first events whose names the schema does not know."""
    found: dict[str, str] = {}
    at = 0
    for line, event in first:
        if others := other_names(event):
            at, found = at or line, {**others, **found}
    if found:
        problems.add(file, at, told(found), kind=Trouble.OTHER_NAME)


def _pieces(block: bytes, size: int) -> Iterator[bytes]:
    """Whole lines in pieces of about ``size`` bytes."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", min(start + size, len(block)) - 1) + 1
        yield block[start:end]
        start = end


def _after_header(block: bytes) -> tuple[int, bytes]:
    """The first line of events with its number: the second line, unless the first is an event or empty."""
    value = value_of(block.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0])
    if isinstance(value, dict) and MARK not in value:
        return 1, block.removeprefix(b"\xef\xbb\xbf")
    return 2, block[block.index(b"\n") + 1 :]


def _extra_of(value: Mapping[str, Any]) -> str | None:
    unknown = {name: member for name, member in value.items() if name not in BY_NAME}
    return json.dumps(unknown, ensure_ascii=True, separators=(",", ":")) if unknown else None


def _at_once(block: bytes, usual: Collection[str] | None) -> pa.RecordBatch | None:
    """All lines of a block as one batch; None if anything in it is unusual.

    Args:
        block: whole lines.
        usual: names of other programs, which are ignored; None if every name that the schema does not know is unusual.
    """
    count = block.count(b"\n")
    if not block.startswith(b"{") or block.count(b"\n{") != count - 1 or _SECOND_VALUE.search(block):
        return None
    try:
        block.decode()  # the parser does not check that texts are UTF-8
        table = pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(block_size=min(len(block) + 1, _PARSED_AT_ONCE)),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=_TEXT, unexpected_field_behavior="error" if usual is None else "infer"
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    if len(table) != count or any(may_be_damaged(name) for name in set(table.column_names).difference(usual or ())):
        return None
    batch = pa.RecordBatch.from_arrays([_column(table, field) for field in ARROW], schema=ARROW)
    if not is_clean(batch):
        return None
    return batch.append_column(EXTRA, pa.nulls(count, pa.string()))


def _column(table: pa.Table, field: pa.Field) -> pa.Array:
    whole = table.column(field.name).combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    return whole.dictionary_encode() if pa.types.is_dictionary(field.type) else whole
