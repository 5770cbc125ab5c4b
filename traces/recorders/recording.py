"""A recording: what one agent wrote to one file, and which process that was.

A recorder stamps its events with microseconds of its machine's clock, and its own order is certain: within one
recording, nothing is reordered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import Kind
from ..format.schema import ARROW
from ..io.events import batch_of
from .agent_files import NAME, side_of
from .stamps import SetBack, in_own_order

Event = dict[str, Any]
"""One event, with the names of the fields of the schema; unknown fields are missing."""

_ACTS = ("client", "group")
_STOPS = (Kind.CLIENT_STOP, Kind.UNREGISTER, Kind.BROKER_STOP)
_STARTS = (Kind.CLIENT_START, Kind.BROKER_START)


@dataclass(kw_only=True, eq=False)
class Recording:
    """What one recorder wrote to one file.

    Attributes:
        file: the file.
        table: its events in the order in which they were recorded, with all columns of the schema.
        stamps: when each was, µs since 1970; see :mod:`.stamps`.
        set_back: where the clock was set back; times inside events are moved accordingly.
        source: the source stated in its header.
        counted: whether its recorder counted its events, from 0: ``seq``.
        as_slave: for each event, whether a slave wrote it, of a broker whose master was recorded too.
        lines: for each event, its position among the events of the file.
    """

    file: str
    table: pa.Table
    stamps: Any
    set_back: tuple[SetBack, ...] = ()
    source: str = ""
    counted: bool = False
    as_slave: Any
    lines: Any

    @classmethod
    def of(cls, file: str, table: pa.Table, *, source: str = "", counted: bool = False, lines: Any = None) -> Recording:
        """The events of a file, in the order of its recorder; ``lines``: their positions in it, if not the same."""
        table = table.unify_dictionaries().combine_chunks()
        time, micros = (_numpy(pc.fill_null(table.column(name), 0)).astype(np.int64) for name in ("time", "micros"))
        stamps, set_back = in_own_order(time * 1000 + micros)
        for one in set_back:
            later = pa.array(np.where(np.arange(len(table)) >= one.row, one.by // 1000, 0))
            table = with_due(table, pc.add(table.column("due"), later))
        none = np.zeros(len(table), np.bool_)
        return cls(
            file=file,
            table=table,
            stamps=stamps,
            set_back=set_back,
            source=source,
            counted=counted,
            as_slave=none,
            lines=np.arange(len(table)) if lines is None else lines,
        )

    @classmethod
    def of_events(cls, file: str, events: Iterable[Mapping[str, Any]]) -> Recording:
        """Like :meth:`of`, for single events."""
        return cls.of(file, pa.Table.from_batches([batch_of(list(events))]))

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def _named(self) -> re.Match[str] | None:
        return NAME.fullmatch(Path(self.file).name)

    @property
    def pid(self) -> int:
        """The process id; -1 if the name of the file does not contain it."""
        return int(self._named["pid"]) if self._named else -1

    @cached_property
    def of_broker(self) -> bool:
        """Whether a broker wrote it, and not a client."""
        return side_of(self.file, self.source) == "broker"

    @cached_property
    def process(self) -> str:
        """What identifies the process: folder, process id and host; the file if its name does not show these."""
        if self._named is None:
            return self.file
        hosts = {client.split("@")[0] for client, _ in self.clients}
        name = f"{self._named['copy']}{self._named['side']}-{self.pid}"
        at = f"@{min(hosts)}" if hosts else ""
        return f"{Path(self.file).parent / name}{at}"

    @cached_property
    def clients(self) -> Sequence[tuple[str, str]]:
        """The clients that act in it, each with its group, by their first events; none for a broker."""
        if self.of_broker:
            return ()
        client, group = (self.table.column(name).combine_chunks() for name in _ACTS)
        acts = _numpy(pc.and_(client.is_valid(), group.is_valid()))
        pairs = (client.indices.fill_null(0).to_numpy().astype(np.int64) << 32) + group.indices.fill_null(0).to_numpy()
        first = np.flatnonzero(acts)[np.sort(np.unique(pairs[acts], return_index=True)[1])]
        return tuple((client[at].as_py(), group[at].as_py()) for at in first.tolist())

    @cached_property
    def broker(self) -> str:
        """The name of the broker that wrote it, the last one if it was a slave before; empty for a client."""
        named = self.table.column("broker").drop_null()
        return str(named[-1].as_py()) if self.of_broker and len(named) else ""

    @cached_property
    def promoted(self) -> Sequence[int]:
        """The positions of the first events as a master, for a process that was a slave before."""
        return (np.flatnonzero(self.as_slave[:-1] & ~self.as_slave[1:]) + 1).tolist()

    @cached_property
    def stopped_in_order(self) -> bool:
        """Whether the last record of the process is an orderly stop."""
        steps = self.events(self.rows((*_STOPS, *_STARTS)))
        return bool(steps) and steps[-1]["kind"] in _STOPS

    def rows(self, kinds: Collection[Kind]) -> Any:
        """The positions of the events of some kinds."""
        return np.flatnonzero(_numpy(pc.is_in(self.table.column("kind"), pa.array(map(str, kinds), pa.string()))))

    def by_broker(self, rows: Any) -> Iterator[tuple[str, Any]]:
        """The time stamps of some of the events, µs, by the broker that they name."""
        brokers = self.table.column("broker").take(pa.array(rows))
        for name in sorted(filter(None, pc.unique(brokers).to_pylist())):
            yield name, self.stamps[rows[_numpy(pc.equal(brokers, name).fill_null(False))]]

    def events(self, rows: Any) -> list[Event]:
        """Some of the events, by position."""
        return [without_nulls(event) for event in self.table.take(pa.array(rows)).to_pylist()]


def gap(since: int, until: int, detail: str, who: Event | None = None) -> Event:
    """An event that says that nothing was recorded between two times, ms: for whom (empty if not known), and why."""
    return {"time": until, "kind": str(Kind.GAP), **(who or {}), "due": since, "detail": detail}


def without_nulls(event: Mapping[str, Any]) -> Event:
    """The event without unknown fields."""
    return {name: value for name, value in event.items() if value is not None}


def with_due(table: pa.Table, due: Any) -> pa.Table:
    """The events with other due times, ms."""
    return table.set_column(ARROW.get_field_index("due"), ARROW.field("due"), due)


def _numpy(column: pa.Array | pa.ChunkedArray) -> Any:
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
