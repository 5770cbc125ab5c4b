"""Events of a group, written by hand, and what the monitor by group says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocketproof.model.allocation import Averagely, MessageQueue, sorted_ids
from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clocks
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.encoding.store_counts import Stored
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.coverage import evidence_mask
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group
from rocketproof.traces.monitors.fold import Outcome
from rocketproof.traces.monitors.groups.groups import GroupMonitor

from ..covered import covered

Event = dict[str, Any]

EVERYTHING = frozenset(Kind)
WITHOUT_ENDS = EVERYTHING - {Kind.CLIENT_STOP, Kind.CLIENT_CRASH}
QUEUES = ["b:0", "b:1", "b:2", "b:3"]


def event(time: int, kind: Kind, client: str | None = None, group: str | None = "G", **fields: Any) -> Event:
    """One event; the client may be followed by # and its incarnation."""
    name, _, incarnation = (client or "").partition("#")
    return {
        "time": time,
        "kind": str(kind),
        "client": name or None,
        "incarnation": int(incarnation or 0),
        "group": group,
        **fields,
    }


def start(time: int, client: str, group: str | None = "G") -> Event:
    return event(time, Kind.CLIENT_START, client, group)


def stop(time: int, client: str) -> Event:
    return event(time, Kind.CLIENT_STOP, client, None)


def crash(time: int, client: str) -> Event:
    return event(time, Kind.CLIENT_CRASH, client, None)


def heartbeat(time: int, client: str, *subscriptions: str, group: str = "G") -> Event:
    return event(time, Kind.HEARTBEAT, client, group, subscriptions=list(subscriptions))


def averagely(client: str, members: list[str], queues: list[str], topic: str = "T") -> list[str]:
    """What AVG gives a client."""
    parsed = [MessageQueue(topic, queue.partition(":")[0], int(queue.partition(":")[2])) for queue in queues]
    name = client.partition("#")[0]
    return [f"{q.broker_name}:{q.queue_id}" for q in Averagely().allocate(name, sorted(parsed), sorted_ids(members))]


def rebalance(
    time: int,
    client: str,
    members: list[str] | None,
    queues: list[str] | None = None,
    *,
    topic: str = "T",
    group: str = "G",
    detail: str | None = "AVG",
    **fields: Any,
) -> Event:
    """A pass; what is assigned is what AVG says, unless it is given."""
    seen = QUEUES if queues is None else queues
    if "assigned" not in fields:
        fields["assigned"] = averagely(client, members or [], seen, topic)
    return event(
        time, Kind.REBALANCE, client, group, topic=topic, members=members, queues=seen, detail=detail, **fields
    )


def context_of(
    events: list[Event],
    *,
    evidence: frozenset[Kind] = EVERYTHING,
    end: int | None = None,
    complete: bool = False,
    clocks: Clocks | None = None,
) -> Context:
    return Context.of(
        ContextEvents.of(events),
        begin=min(each["time"] for each in events),
        end=max(each["time"] for each in events) if end is None else end,
        evidence=evidence_mask(evidence),
        complete=complete,
        clocks=clocks,
    )


class Judged:
    """What the monitor says of some events."""

    def __init__(
        self,
        events: list[Event],
        *,
        evidence: frozenset[Kind] = EVERYTHING,
        end: int | None = None,
        groups: dict[str, Group] | None = None,
        stores: dict[Slot, Stored] | None = None,
        complete: bool = False,
        clocks: Clocks | None = None,
    ) -> None:
        self.names = Names(groups)
        self.context = context_of(events, evidence=evidence, end=end, complete=complete, clocks=clocks)
        self.monitor = GroupMonitor(names=self.names, settings=Settings(), context=self.context)
        self.monitor.stores(stores or {})
        self.outcome: Outcome = covered(self.monitor.finish(), self.names, self.context)

    def judged(self, claim: str) -> int:
        return int(self.outcome.judged[CODE[claim]])

    def counts(self, claim: str) -> tuple[int, int]:
        """Violations without doubt, and in doubt."""
        code = CODE[claim]
        return int(self.outcome.violated[code]), int(self.outcome.doubtful[code])

    def rows(self, claim: str) -> list[dict[str, Any]]:
        """The findings of a claim, by names."""
        found = []
        for row in self.outcome.rows[self.outcome.rows["claim"] == CODE[claim]]:
            actor, other = (None if row[name] < 0 else str(self.names.actors[row[name]]) for name in ("actor", "other"))
            found.append(
                {
                    "slot": self.names.slots[row["slot"]],
                    "since": int(row["since"]),
                    "time": int(row["time"]),
                    "actor": actor,
                    "other": other,
                    "value": int(row["value"]),
                    "expected": int(row["expected"]),
                    "until": int(row["until"]),
                    "doubt": Doubt(int(row["doubt"])),
                }
            )
        return found

    @property
    def violated(self) -> list[str]:
        """Claims with a violation, in doubt or not."""
        found = np.flatnonzero(self.outcome.violated + self.outcome.doubtful)
        return [CLAIMS[code].id for code in found]
