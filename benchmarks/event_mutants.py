"""Trace mutants: an original recording with one event deleted, repeated, delayed, swapped or altered.

A check that does not notice such a change would not notice a defect that makes a real system behave in this way. Every
change of one event that the schema allows is made; a table here says what a change means for each field.
"""

from __future__ import annotations

import enum
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rocketproof.traces.format.kinds import Kind, Path, Result
from rocketproof.traces.format.schema import ARROW, plain

DELAYED = 10_000
"""By how much a delayed event is late, ms: two periods of commits, longer than any answer takes."""

REPEATED = 1_000
"""How much later an event happens for the second time, ms."""

Event = dict[str, Any]


class Change(enum.StrEnum):
    """What is done to one event."""

    DELETE = "delete"
    REPEAT = "repeat"  # it happens once more, REPEATED later
    DELAY = "delay"  # it happens DELAYED later
    SWAP = "swap"  # it changes places with the next event of the same process about the same queue
    ALTER = "alter"  # one field has another value


@dataclass(frozen=True, kw_only=True)
class TraceMutant:
    """One changed recording."""

    kind: Kind  # kind of the changed event
    change: Change  # what was done to it
    field: str  # the altered field, if there is one; otherwise empty
    row: int  # position of the event in the original recording
    events: pa.Table  # the changed recording, by time

    @property
    def label(self) -> str:
        """The change in words, such as ``alter offset``."""
        return f"{self.change} {self.field}".rstrip()


def trace_mutants(
    events: pa.Table, *, each: int, seed: int = 0, kinds: Iterable[Kind] = tuple(Kind)
) -> Iterator[TraceMutant]:
    """Mutants of a recording: up to ``each`` of each kind and change, at random places, which depend on the seed."""
    rows = Rows(events)
    for kind in kinds:
        positions = [row for row, event in enumerate(rows.events) if event["kind"] == kind]
        for change, field, changed in _CHANGES:
            chance = random.Random(f"{seed} {kind} {change} {field}")
            made = 0
            for row in chance.sample(positions, len(positions)):
                if made == each:
                    break
                table = changed(rows, row)
                if table is not None:
                    made += 1
                    yield TraceMutant(kind=kind, change=change, field=field, row=row, events=table)


class Rows:
    """A recording whose rows can be reordered and replaced.

    Attributes:
        events: the rows as dictionaries, without null values.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table.select([name for name in table.column_names if name in ARROW.names])
        self.events = [
            {name: value for name, value in event.items() if value is not None} for event in table.to_pylist()
        ]
        self._following: dict[int, int] = {}
        latest: dict[Any, int] = {}
        for row, event in enumerate(self.events):
            about = tuple(event.get(name) for name in ("client", "incarnation", "group", "topic", "broker", "queue"))
            if about in latest:
                self._following[latest[about]] = row
            latest[about] = row
        self.values = {name: self._known(name) for name in (*_NAMES, "key", "origin", "msg_id")}

    def following(self, row: int) -> int | None:
        """The next event of the same process about the same queue."""
        return self._following.get(row)

    def changed(self, *, without: Sequence[int], added: Sequence[Event] = ()) -> pa.Table:
        """The recording without some rows, and with others added, by time; events with equal times keep their order."""
        left = [row for row in range(len(self.events)) if row not in without]
        table = self.table.take(left)
        if added:
            positions = [*(self.events[row].get("seq", row) for row in left), *(event.get("seq", 0) for event in added)]
            table = pa.concat_tables([table, pa.Table.from_pylist(added, schema=self.table.schema)])
            times = table.column("time").to_pylist()
            table = table.take(sorted(range(len(table)), key=lambda at: (times[at], positions[at])))
        numbers = pa.array(range(len(table)), pa.int64())
        return table.set_column(table.column_names.index("seq"), "seq", numbers)

    def _known(self, name: str) -> list[Any]:
        """All values of a column, in the order of their first occurrence."""
        return list(dict.fromkeys(event[name] for event in self.events if name in event))


def _repeat(rows: Rows, row: int) -> pa.Table:
    event = rows.events[row]
    return rows.changed(without=[], added=[event | {"time": event["time"] + REPEATED}])


def _delay(rows: Rows, row: int) -> pa.Table | None:
    """An event delayed beyond the recording's end could not be seen to be missing, so it is not delayed."""
    event = rows.events[row]
    time = event["time"] + DELAYED
    if time > rows.events[-1]["time"]:
        return None
    return rows.changed(without=[row], added=[event | {"time": time}])


def _swap(rows: Rows, row: int) -> pa.Table | None:
    other = rows.following(row)
    if other is None:
        return None
    one, two = rows.events[row], rows.events[other]
    times = [{name: event[name] for name in ("time", "seq") if name in event} for event in (one, two)]
    return rows.changed(without=[row, other], added=[two | times[0], one | times[1]])


_NAMES = ("client", "group", "topic", "broker")
_LISTS = ("members", "queues", "assigned", "subscriptions")
_COUNTS = ("incarnation", "queue", "offset", "next", "min", "max", "count", "attempt", "level", "max_attempts")
_OTHER_RESULT = {
    Result.OK: Result.FAILED,
    Result.FOUND: Result.NO_NEW_MESSAGE,
    Result.NO_NEW_MESSAGE: Result.NO_MATCHED_MESSAGE,
    Result.NO_MATCHED_MESSAGE: Result.NO_NEW_MESSAGE,
    Result.MASTER: Result.SLAVE,
    Result.SLAVE: Result.MASTER,
}
_OTHER_PATH = {
    Path.PERIODIC: Path.SHUTDOWN,
    Path.REMOVAL: Path.SHUTDOWN,
    Path.SHUTDOWN: Path.REMOVAL,
    Path.REQUEST: Path.FALLBACK,
    Path.FALLBACK: Path.REQUEST,
    Path.EXPIRED: Path.REQUEST,
}


def _other(field: str, event: Event, rows: Rows) -> Any:
    """Another value for a field, as similar to the original as possible."""
    value = event[field]
    if field in _COUNTS:
        return value + 1
    if field == "due":
        return value + 6 * DELAYED
    if field == "result":
        result = Result.LATER if event["kind"] == Kind.RESULT and value == Result.OK else None
        return str(result or _OTHER_RESULT.get(Result(value), Result.OK))
    if field == "path":
        return str(_OTHER_PATH.get(Path(value), Path.PERIODIC))
    if field in _LISTS:
        return value[:-1] if value else ["another"]
    if field == "detail":
        return "AVG_BY_CIRCLE" if value == "AVG" else "AVG"
    others = [known for known in rows.values[field] if known != value]
    return others[0] if others else (value + 1 if isinstance(value, int) else f"{value}-other")


def _altered(field: str) -> Callable[[Rows, int], pa.Table | None]:
    def alter(rows: Rows, row: int) -> pa.Table | None:
        event = rows.events[row]
        told = field in event and (field != "detail" or event["kind"] == Kind.REBALANCE)
        if not told:
            return None
        change = {field: _other(field, event, rows)}
        if field == "key":
            event = {name: value for name, value in event.items() if name != "origin"}
        return rows.changed(without=[row], added=[event | change])

    return alter


ALTERED = ("result", "path", *_NAMES, *_COUNTS, "key", "origin", "due", *_LISTS, "detail")
"""Fields that are altered. Of ``detail``, only the strategy of a rebalance is a fact; ``time`` changes if an event is
delayed, and ``seq`` with its position; ``msg_id`` and ``epoch`` are names of the recorder's own.
"""

_CHANGES: tuple[tuple[Change, str, Callable[[Rows, int], pa.Table | None]], ...] = (
    (Change.DELETE, "", lambda rows, row: rows.changed(without=[row])),
    (Change.REPEAT, "", _repeat),
    (Change.DELAY, "", _delay),
    (Change.SWAP, "", _swap),
    *((Change.ALTER, field, _altered(field)) for field in ALTERED),
)


def by_time(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Batches as the table that :func:`trace_mutants` takes: words are plain texts, so that rows can be added."""
    schema = plain(ARROW)
    table = pa.concat_tables([pa.Table.from_batches([batch]).cast(schema) for batch in batches]).combine_chunks()
    return table.take(pc.sort_indices(table, [("time", "ascending"), ("seq", "ascending")]))
