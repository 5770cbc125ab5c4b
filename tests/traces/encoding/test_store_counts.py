"""Stores: what is put into a queue counts, whoever puts it there."""

from __future__ import annotations

import pyarrow as pa

from rocketproof.traces.encoding.coding import Coder
from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.encoding.store_counts import StoreCounts, Stored, note_stores
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import ARROW

RETRY = "%RETRY%G"


def test_what_is_stored_at_once_or_when_it_is_due_counts() -> None:
    def at(time: int, kind: Kind, offset: int) -> dict[str, object]:
        place = {"group": "G", "topic": RETRY, "broker": "b", "queue": 1}
        return {"time": time, "kind": str(kind), "offset": offset, **place}

    events = [at(10, Kind.STORE, 5), at(20, Kind.DELAY_DELIVER, 7), at(30, Kind.DELAY_DELIVER, 6), at(40, Kind.PULL, 9)]
    names, stores = Names(), StoreCounts()
    coded = Coder(names).code(pa.RecordBatch.from_pylist(events, ARROW))
    note_stores(coded.kind, coded.slot, coded.offset, coded.time, names=names, stores=stores)
    assert stores == {Slot("G", RETRY, "b", 1): Stored(3, 7, 20, 5, 10)}
