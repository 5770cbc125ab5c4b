"""Replicas: processes with the name of one broker, of which one at a time is the master.

While the master is away, clients send their offsets to a slave, and continue to do so until they learn otherwise; the
slave then takes over its master's table again, and the offsets sent to it are lost (OF-4, OF-23). The offsets of a
queue are therefore those of the master alone, and actions of a process as a slave are recorded under a name of its own.

The master changes if brokers elect it (controller, DLedger). A recording states this, or it is derived from who stores
messages: a slave stores none that are sent to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import STORES, Kind, Path, Result
from ..format.schema import ARROW, slave_of
from .processes import UNWRITTEN
from .recording import Event, Recording

ONLY_A_SLAVE = "commits that only a slave took, whose master's table counts"

_OF_MASTERS = (*STORES, Kind.COMMIT, Kind.RESET)
_MANY = 20
"""A master receives at least one of this many offsets that clients send to it while it is there."""

_TOGETHER = 1_000_000
"""A broker that is restarted may write its first event before the last one of its previous process, µs."""


def replicas_named(recordings: Sequence[Recording]) -> list[Recording]:
    """The recordings, with a name of its own, instead of the broker's, for what each did as a slave."""
    of_brokers: defaultdict[str, list[Recording]] = defaultdict(list)
    for one in recordings:
        if one.broker:
            of_brokers[one.broker].append(one)
    clients = [one for one in recordings if not one.of_broker]
    return [_named(one, _slave_rows(one, of_brokers[one.broker], clients)) if one.broker else one for one in recordings]


def promotions(recordings: Iterable[Recording]) -> list[Event]:
    """The changes to a master that no recorder reports."""
    found: list[Event] = []
    for one in recordings:
        for row in one.promoted:
            (event,) = one.events([row])
            if event["kind"] != Kind.ROLE_CHANGE:
                change = {"kind": str(Kind.ROLE_CHANGE), "broker": event["broker"], "result": str(Result.MASTER)}
                found.append({"time": promoted_at(one, row), **change})
    return found


def promoted_at(recording: Recording, row: int) -> int:
    """When a process became the master, given its first event as such, ms: before it."""
    return int(recording.stamps[row]) // 1000 - 1


def _slave_rows(recording: Recording, of_broker: Sequence[Recording], clients: Sequence[Recording]) -> Any:
    """For each event of a process, whether it was a slave then.

    Args:
        recording: the recording of the process.
        of_broker: all recordings of that broker, including this one.
        clients: recordings of clients: if no process of that broker received an offset that they sent, none is its
            master.
    """
    beside = [one for one in of_broker if one is not recording and _is_beside(recording, one)]
    stores = _stamps(recording, STORES)
    if len(recording.rows((Kind.ROLE_CHANGE,))):
        return _as_told(recording, beside)
    if len(recording.rows((Kind.BROKER_START,))) and any(len(one.rows((Kind.ROLE_CHANGE,))) for one in beside):
        # Where masters are elected, a process that has started is none before it is told.
        return np.ones(len(recording), np.bool_)
    others = [(one, *_span(one)) for one in beside if len(one.rows(STORES))]
    if not len(stores):
        took_none = not any(len(one.rows(_OF_MASTERS)) for one in of_broker)
        return np.full(len(recording), bool(others) or (took_none and _sent_to(recording, clients) >= _MANY))
    as_slave = np.zeros(len(recording), np.bool_)
    before = [(last, one) for one, _, last in others if last < stores[0]]
    after = [first for _, first, _ in others if stores[-1] < first]
    if before:
        _, master = max(before, key=lambda pair: pair[0])
        as_slave |= recording.stamps <= _handed_over(master, int(stores[0]))
    if after:
        as_slave |= recording.stamps > _handed_over(recording, min(after))
    return as_slave


def _sent_to(broker: Recording, clients: Sequence[Recording]) -> int:
    """Number of offsets that clients sent to a broker while it was recorded; those written to a file are not
    counted.
    """
    since, until = broker.stamps[0] + _TOGETHER, broker.stamps[-1] - _TOGETHER
    sent = 0
    for one in clients:
        rows = one.rows((Kind.COMMIT,))
        to_file = pc.equal(one.table.column("path").take(pa.array(rows)), str(Path.FILE)).fill_null(False).to_numpy()
        for name, stamps in one.by_broker(rows[~to_file]):
            sent += int(np.count_nonzero((since <= stamps) & (stamps < until))) if name == broker.broker else 0
    return sent


def _as_told(recording: Recording, beside: Sequence[Recording]) -> Any:
    """The same for a process that records its elections, if it lives on.

    Who stored messages shows what it was before; a process that is the first master learns this as it starts.
    """
    changes = recording.rows((Kind.ROLE_CHANGE,))
    is_slave = [event.get("result") == Result.SLAVE for event in recording.events(changes)]
    until = int(recording.stamps[changes[0]])
    began_as_slave = not (_stamps(recording, STORES) < until).any()
    if not is_slave[0]:
        began_as_slave &= any((_stamps(one, STORES) < until).any() for one in beside)
    told = list(zip(recording.stamps[changes].tolist(), is_slave, strict=True))
    for other in beside:
        rows = other.rows((Kind.ROLE_CHANGE,))
        events = zip(other.stamps[rows].tolist(), other.events(rows), strict=True)
        told += [(stamp, True) for stamp, event in events if event.get("result") == Result.MASTER]
    told.sort()
    role = np.searchsorted([stamp for stamp, _ in told], recording.stamps, side="right")
    return np.array([began_as_slave, *(slave for _, slave in told)])[role]


def _handed_over(master: Recording, until: int) -> int:
    """When a master last acted as such, if another one stores messages from ``until`` on; µs."""
    if master.stamps[-1] < until:
        return min(int(master.stamps[-1]) + UNWRITTEN * 1000, until - 1)
    own = _stamps(master, _OF_MASTERS)
    return int(own[own < until][-1])


def _is_beside(one: Recording, other: Recording) -> bool:
    """Whether two processes ran at the same time."""
    since = max(int(one.stamps[0]), int(other.stamps[0]))
    return min(int(one.stamps[-1]), int(other.stamps[-1])) - since > _TOGETHER


def _span(recording: Recording) -> tuple[int, int]:
    """When a process stored its first message, and its last, µs."""
    stamps = _stamps(recording, STORES)
    return int(stamps.min()), int(stamps.max())


def _stamps(recording: Recording, kinds: Collection[Kind]) -> Any:
    return recording.stamps[recording.rows(kinds)]


def _named(recording: Recording, as_slave: Any) -> Recording:
    """The recording with another name for the events of a slave."""
    if not as_slave.any():
        return recording
    given = recording.table.column("broker").cast(pa.string()).combine_chunks()
    names = pc.if_else(pa.array(as_slave), pa.scalar(slave_of(recording.broker)), given).dictionary_encode()
    table = recording.table.set_column(ARROW.get_field_index("broker"), ARROW.field("broker"), names)
    return replace(recording, table=table, as_slave=as_slave)
