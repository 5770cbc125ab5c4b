"""Events of one message, written by hand, and what the monitor by message says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rocketproof.model.history import Cause
from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clocks
from rocketproof.traces.encoding.coding import Coder
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.findings import Note
from rocketproof.traces.format.coverage import evidence_mask
from rocketproof.traces.format.kinds import CONTEXT, Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import ARROW, Group
from rocketproof.traces.monitors.fold import Outcome
from rocketproof.traces.monitors.messages.messages import MessageFold

from ..covered import covered

Event = dict[str, Any]

ALL = frozenset(Kind)
"""Everything is recorded."""

SECOND = 1_000
START = 1_000_000
RETRY, DEAD_LETTERS = "%RETRY%G", "%DLQ%G"


@dataclass
class Script:
    """Writes events; times are given in ms after the start."""

    key: str = "m"
    events: list[Event] = field(default_factory=list)

    def add(self, time: int, kind: Kind, **fields: Any) -> Script:
        self.events.append({"time": START + time, "kind": kind, **fields})
        return self

    def deliver(
        self, time: int, count: int = 0, *, offset: int | None = 7, client: str = "c1", **fields: Any
    ) -> Script:
        """A listener is called; retries are in the retry topic, unless ``topic`` says otherwise."""
        return self.add(time, Kind.DELIVER, **{**self._at(count, offset, client), **fields})

    def result(
        self, time: int, result: str, count: int = 0, *, offset: int | None = 7, client: str = "c1", **fields: Any
    ) -> Script:
        return self.add(time, Kind.RESULT, result=result, **{**self._at(count, offset, client), **fields})

    def send_back(
        self,
        time: int,
        count: int = 0,
        *,
        offset: int = 7,
        client: str = "c1",
        result: str = "ok",
        path: str = "request",
        level: int | None = 0,
        named: int | None = 16,
        **fields: Any,
    ) -> Script:
        told = {"result": result, "path": path, "level": level, "max_attempts": named}
        return self.add(time, Kind.SEND_BACK, **{**self._at(count, offset, client), **told, **fields})

    def expire(self, time: int, count: int = 0, *, offset: int = 7, client: str = "c1") -> Script:
        return self.add(time, Kind.EXPIRE, **self._at(count, offset, client))

    def delay_store(self, time: int, count: int, level: int, due: int, *, broker: str = "b", **fields: Any) -> Script:
        told = {"topic": RETRY, "broker": broker, "queue": 0, "attempt": count, "key": self.key, **fields}
        return self.add(time, Kind.DELAY_STORE, level=level, due=START + due, **told)

    def delay_deliver(self, time: int, count: int, offset: int, *, broker: str = "b", **fields: Any) -> Script:
        told = {"topic": RETRY, "broker": broker, "queue": 0, "attempt": count, "key": self.key, "offset": offset}
        return self.add(time, Kind.DELAY_DELIVER, **told, **fields)

    def dead_letter(self, time: int, count: int, *, offset: int = 0) -> Script:
        told = {"topic": DEAD_LETTERS, "broker": "b", "queue": 0, "attempt": count, "key": self.key, "offset": offset}
        return self.add(time, Kind.DEAD_LETTER, **told)

    def broker(self, time: int, kind: Kind, name: str = "b") -> Script:
        return self.add(time, kind, broker=name)

    def client(self, time: int, kind: Kind, name: str = "c1") -> Script:
        return self.add(time, kind, client=name, group="G")

    def fails(self, time: int, count: int, level: int, delay: int, *, offset: int = 7, moved_to: int) -> Script:
        """One whole round: delivered, failed, sent back, stored, moved after ``delay`` ms to offset ``moved_to``."""
        self.deliver(time, count, offset=offset).result(time + 10, "later", count, offset=offset)
        self.delay_store(time + 11, count + 1, level, time + 11 + delay).send_back(time + 12, count, offset=offset)
        return self.delay_deliver(time + 11 + delay, count + 1, moved_to)

    def _at(self, count: int, offset: int | None, client: str) -> Event:
        topic = "T" if count == 0 else RETRY
        place = (
            {"topic": topic, "broker": "b", "queue": 0, "offset": offset} if offset is not None else {"topic": topic}
        )
        return {"client": client, "group": "G", "key": self.key, "attempt": count, **place}


@dataclass(frozen=True)
class Said:
    """What the monitor says."""

    outcome: Outcome
    names: Names

    def violations(self, claim: str) -> list[dict[str, int]]:
        """Violations of a claim, in doubt or not."""
        rows = self.outcome.rows
        return _dicts(rows[(rows["claim"] == CODE[claim]) & (rows["note"] == Note.NONE) & (rows["cause"] == 0)])

    def causes(self) -> list[tuple[Cause, int]]:
        """Explained copies: cause and count."""
        rows = self.outcome.rows
        rows = rows[(rows["claim"] >= 0) & (rows["cause"] != 0)]
        return [(Cause(int(row["cause"])), int(row["value"])) for row in rows]

    def judged(self, claim: str) -> int:
        return int(self.outcome.judged[CODE[claim]])

    @property
    def violated(self) -> dict[str, int]:
        """How many violations without doubt, of claims that have any."""
        return _counts(self.outcome.violated)

    @property
    def doubtful(self) -> dict[str, int]:
        return _counts(self.outcome.doubtful)

    @property
    def chains(self) -> list[tuple[MessageStatus, int, int]]:
        """MessageStatus, highest count, and when the next try is due after the start, or 0."""
        rows = self.outcome.rows
        return [
            (MessageStatus(int(row["value"])), int(row["expected"]), int(row["until"]) - START if row["until"] else 0)
            for row in rows[rows["note"] == Note.CHAIN]
        ]

    @property
    def statuses(self) -> dict[MessageStatus, int]:
        return {status: int(n) for status in MessageStatus if (n := self.outcome.statuses[:, status].sum())}


def check(
    *scripts: Script,
    end: int | None = None,
    evidence: Iterable[Kind] = ALL,
    groups: Mapping[str, Group] | None = None,
    settings: Settings | None = None,
    release: str = "5.3.3",
    batches: Sequence[Sequence[Event]] | None = None,
    complete: bool = False,
    clocks: Clocks | None = None,
) -> Said:
    """Feed events, by time, to the monitor.

    Args:
        scripts: who writes them.
        end: last time of the trace, ms after the start.
        evidence: kinds that are recorded.
        groups: as the header tells them; the group G is known if None.
        settings: terms of the check.
        release: of the brokers.
        batches: the events in the order in which they are fed, where it is not that of time.
        complete: whether the trace begins with the first event there was.
        clocks: those of the recorders, by which the times of the events are corrected.
    """
    events = sorted((event for script in scripts for event in script.events), key=lambda event: int(event["time"]))
    times = [int(event["time"]) for event in events]
    context = Context.of(
        ContextEvents.of([event for event in events if event["kind"] in CONTEXT]),
        begin=min([START, *times]),
        end=max(times) if end is None else START + end,
        evidence=evidence_mask(frozenset(evidence)),
        complete=complete,
        clocks=clocks or Clocks(),
    )
    names = Names({"G": Group()} if groups is None else groups)
    fold = MessageFold(names=names, settings=settings or Settings(delays_told=True), context=context, release=release)
    coder = Coder(names)
    for batch in [events] if batches is None else batches:
        fold.feed(coder.code(batch_of(batch)))
    return Said(covered(fold.finish(), names, context, settings), names)


def batch_of(events: Sequence[Event]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{name: event.get(name) for name in ARROW.names} for event in events], ARROW)


def _dicts(rows: Any) -> list[dict[str, int]]:
    return [dict(zip(rows.dtype.names, (int(value) for value in row), strict=True)) for row in rows]


def _counts(numbers: Any) -> dict[str, int]:
    return {claim.id: int(n) for claim, n in zip(CLAIMS, np.asarray(numbers), strict=True) if n}
