"""When brokers were recorded: in the spans of their processes, except the gaps that these have or that joining
finds.

Between two spans without a gap the broker did not run, nor did it after the last one, if this ends with its stop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import Kind, Path
from ..format.schema import master_of
from .recording import Event, Recording


def spans_of(recordings: Iterable[Recording]) -> Mapping[str, Sequence[tuple[int, int]]]:
    """From when until when each process of a broker was recorded as its master, µs, by broker; sorted.

    A broker of which only slaves were recorded has no span.
    """
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in recordings:
        if one.broker:
            own = one.stamps[~one.as_slave]
            spans[master_of(one.broker)] += [(int(own[0]), int(own[-1]))] if len(own) else []
    return {broker: sorted(own) for broker, own in spans.items()}


def _lacks_offsets(recording: Recording) -> bool:
    """Whether a broker kept offsets where its agent did not see them.

    The agent did not know at first that ``RocksDBConsumerOffsetManager`` and ``ConsumerOffsetManagerV2`` override
    ``commitOffset``. Such a broker notes every 5 s that it writes a file, but never that of offsets, and no commit.
    """
    written = recording.events(recording.rows((Kind.FILE_PERSIST,)))
    if not written or any(file.get("detail") == "consumerOffset" for file in written):
        return False
    commits = recording.table.column("path").take(pa.array(recording.rows((Kind.COMMIT,))))
    return bool(pc.all(pc.is_in(commits, pa.array([Path.FILE, Path.REPLICA], pa.string())), min_count=0).as_py())


class BrokersRecorded:
    """Whether what clients ask of a broker at a time was recorded.

    Args:
        recordings: all of them.
        added: what joining adds: gaps, and ends of processes that were killed.
    """

    def __init__(self, recordings: Sequence[Recording], added: Iterable[Event]) -> None:
        self._spans = spans_of(one for one in recordings if not _lacks_offsets(one))
        self._any = any(one.broker for one in recordings)
        self._gaps: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._ends: defaultdict[str, list[int]] = defaultdict(list)
        for event in (event for event in added if event.get("broker") and not event.get("client")):
            if event["kind"] == Kind.BROKER_CRASH:
                self._ends[event["broker"]].append(event["time"] * 1000)
            elif event["kind"] == Kind.GAP:
                self._gaps[event["broker"]].append((event["due"] * 1000, event["time"] * 1000 + 999))
        for one in (one for one in recordings if one.broker):
            rows = one.rows((Kind.GAP,))
            gaps = zip(one.events(rows), one.stamps[rows].tolist(), strict=True)
            self._gaps[one.broker] += [(gap.get("due", 0) * 1000, end) for gap, end in gaps]
            if one.stopped_in_order:
                self._ends[one.broker].append(int(one.stamps[-1]))

    @property
    def any(self) -> bool:
        """Whether any broker was recorded at all."""
        return self._any

    def at(self, broker: str, stamp: int) -> bool:
        """Whether a broker was recorded at a time, µs."""
        spans = self._spans.get(broker)
        if not spans or stamp < spans[0][0]:
            return False
        last = max(until for _, until in spans)
        is_over = any(last <= end for end in self._ends[broker])
        return (stamp <= last or is_over) and not any(since <= stamp <= until for since, until in self._gaps[broker])
