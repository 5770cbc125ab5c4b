"""Events of one queue, written by hand, and what the monitor by queue says of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clocks
from rocketproof.traces.encoding.coding import Coder
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.findings import Doubt, Note
from rocketproof.traces.engine.result import merge
from rocketproof.traces.format.coverage import evidence_mask
from rocketproof.traces.format.kinds import CONTEXT, Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import ARROW, Group
from rocketproof.traces.monitors.fold import Outcome
from rocketproof.traces.monitors.queues.queue_ends import settle_ends
from rocketproof.traces.monitors.queues.queues import queue_folds
from rocketproof.traces.recorders.members import members_of

from ..covered import covered

Event = dict[str, Any]

EVERYTHING = frozenset(Kind)
SECOND = 1_000
MINUTE = 60 * SECOND

ORDERLY = {"G": Group(listener="orderly")}
BROADCASTING = {"G": Group(mode="broadcasting")}


def event(time: int, kind: Kind, client: str | None = None, **fields: Any) -> Event:
    """One event of queue 0 of T in group G; the client may be followed by # and its incarnation."""
    name, _, incarnation = (client or "").partition("#")
    return {
        "time": time,
        "kind": str(kind),
        "client": name or None,
        "incarnation": int(incarnation or 0),
        "group": "G",
        "topic": "T",
        "broker": "b",
        "queue": 0,
        **fields,
    }


def assign(time: int, client: str, start: int, **fields: Any) -> Event:
    return event(time, Kind.ASSIGN, client, offset=start, **fields)


def revoke(time: int, client: str, path: str = "removal", **fields: Any) -> Event:
    return event(time, Kind.REVOKE, client, path=path, **fields)


def found(time: int, client: str, begin: int, end: int, count: int | None = None, log: int | None = None) -> Event:
    """A pull that brings messages; ``log`` is the end of the queue, by default that of the pull."""
    return event(
        time,
        Kind.PULL_RESULT,
        client,
        result="found",
        offset=begin,
        next=end,
        min=0,
        max=end if log is None else log,
        count=end - begin if count is None else count,
    )


def answered(time: int, client: str, result: str, begin: int, end: int, log: int, low: int = 0) -> Event:
    """A pull that brings none."""
    return event(time, Kind.PULL_RESULT, client, result=result, offset=begin, next=end, min=low, max=log, count=0)


def deliver(time: int, client: str, offset: int, **fields: Any) -> Event:
    return event(time, Kind.DELIVER, client, offset=offset, attempt=0, origin=offset + 1, **fields)


def result(time: int, client: str, offset: int, how: str = "ok", **fields: Any) -> Event:
    return event(time, Kind.RESULT, client, offset=offset, result=how, attempt=0, origin=offset + 1, **fields)


def consumed(time: int, client: str, *offsets: int) -> list[Event]:
    """Delivered, and successful 10 ms later, one after another."""
    return [
        each
        for n, offset in enumerate(offsets)
        for each in (deliver(time + 20 * n, client, offset), result(time + 20 * n + 10, client, offset))
    ]


def commit(time: int, client: str | None, offset: int, path: str = "periodic", **fields: Any) -> Event:
    return event(time, Kind.COMMIT, client, offset=offset, path=path, **fields)


def send_back(time: int, client: str, offset: int, how: str = "ok") -> Event:
    return event(time, Kind.SEND_BACK, client, offset=offset, result=how, path="request", level=0, origin=offset + 1)


def crash(time: int, client: str) -> Event:
    return _of_process(time, Kind.CLIENT_CRASH, client)


def stop(time: int, client: str) -> Event:
    return _of_process(time, Kind.CLIENT_STOP, client)


def start(time: int, client: str) -> Event:
    return _of_process(time, Kind.CLIENT_START, client, group="G")


def heartbeat(time: int, client: str, *subscriptions: str) -> Event:
    return _of_process(time, Kind.HEARTBEAT, client, group="G", subscriptions=list(subscriptions))


def broker_restart(time: int) -> Event:
    return {"time": time, "kind": str(Kind.BROKER_START), "broker": "b"}


def gap(since: int, until: int) -> Event:
    return {"time": until, "kind": str(Kind.GAP), "due": since}


def _of_process(time: int, kind: Kind, client: str, **fields: Any) -> Event:
    name, _, incarnation = client.partition("#")
    return {"time": time, "kind": str(kind), "client": name, "incarnation": int(incarnation or 0), **fields}


@dataclass(frozen=True)
class Checked:
    """What came out, with words for codes."""

    outcome: Outcome
    names: Names

    def counts(self, claim: str) -> tuple[int, int]:
        """Violations without doubt, and in doubt."""
        code = CODE[claim]
        return int(self.outcome.violated[code]), int(self.outcome.doubtful[code])

    def judged(self, claim: str) -> int:
        """How many instances were looked at."""
        return int(self.outcome.judged[CODE[claim]])

    @property
    def broken(self) -> dict[str, tuple[int, int]]:
        """The claims with violations, in doubt or not."""
        return {claim: self.counts(claim) for claim in CODE if self.counts(claim) != (0, 0)}

    def rows(self, claim: str) -> list[Any]:
        """Rows of a claim that are violations or explained."""
        rows = self.outcome.rows
        return list(rows[(rows["claim"] == CODE[claim]) & (rows["note"] == Note.NONE)])

    def notes(self, note: Note) -> list[Any]:
        """Rows with a note."""
        return list(self.outcome.rows[self.outcome.rows["note"] == note])

    def causes(self, claim: str) -> list[tuple[int, int]]:
        """Offset and cause of every row of a claim."""
        return [(int(row["offset"]), int(row["cause"])) for row in self.rows(claim)]

    def doubts(self, claim: str) -> list[Doubt]:
        """The doubts about the violations of a claim."""
        return [Doubt(int(row["doubt"])) for row in self.rows(claim) if row["cause"] == 0]

    def actor(self, code: int) -> str:
        """The name of a process, empty for none."""
        return str(self.names.actors[code]) if code >= 0 else ""

    @property
    def statuses(self) -> dict[MessageStatus, int]:
        """How many messages had which status."""
        totals = self.outcome.statuses.sum(axis=0)
        return {status: int(totals[status]) for status in MessageStatus if totals[status]}

    def chains(self) -> list[tuple[int, int, MessageStatus]]:
        """Ranges of offsets, and what became of them."""
        return sorted(
            (int(row["offset"]), int(row["until"]), MessageStatus(int(row["value"]))) for row in self.notes(Note.CHAIN)
        )


def check(
    *parts: Event | Iterable[Event],
    groups: dict[str, Group] | None = None,
    evidence: frozenset[Kind] = EVERYTHING,
    settings: Settings | None = None,
    end: int | None = None,
    batch: int = 1 << 20,
    by_queue: bool = False,
    complete: bool = False,
    clocks: Clocks | None = None,
) -> Checked:
    """Feed events, in the order of their times, and tell what comes out.

    Args:
        parts: events and lists of events.
        groups: what is known of groups.
        evidence: kinds whose absence means something.
        settings: the terms.
        end: when the recording ends; at the last event by default.
        batch: so many events are fed at a time.
        by_queue: feed one queue after another.
        complete: whether they begin with the first event of their groups.
        clocks: what is known of clocks; of the broker "b" only where it recorded.
    """
    events = sorted(
        (e for part in parts for e in ([part] if isinstance(part, dict) else part)), key=lambda e: e["time"]
    )
    context = Context.of(
        ContextEvents.of([each for each in events if Kind(each["kind"]) in CONTEXT]),
        begin=events[0]["time"],
        end=events[-1]["time"] if end is None else end,
        evidence=evidence_mask(evidence),
        complete=complete,
        clocks=clocks,
    )
    names = Names(groups or {}, members_of(context.events))
    coder = Coder(names)
    # Codes are the same however the events are fed afterwards.
    coder.code(_batch(events))
    if by_queue:
        slots = coder.code(_batch(events)).slot
        events = [events[at] for at in np.argsort(slots, kind="stable")]
    folds = queue_folds(names=names, settings=settings or Settings(), context=context)
    for at in range(0, len(events), batch):
        for fold in folds:
            fold.feed(coder.code(_batch(events[at : at + batch])))
    outcome = settle_ends(merge([fold.finish() for fold in folds], len(names.slots)), names)
    return Checked(covered(outcome, names, context, settings), names)


def _batch(events: list[Event]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({name: [e.get(name) for e in events] for name in ARROW.names}, schema=ARROW)
