"""When brokers were recorded; and those that answered clients while nobody recorded them: what they did then is not
known.

A broker was recorded in the spans of its processes, except the gaps that these have or that joining finds. Between two
spans without a gap it did not run, nor did it after the last one, if this ends with its stop. But clients may report
answers of its processes before, between or after the recorded ones, and of brokers of which none was. If no broker was
recorded at all, the evidence of the files says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import ANSWERS, Kind, Path
from ..format.schema import STATIC, master_of
from .recording import Event, Recording, gap

AROUND = 30_000
"""For so long before and after its slave takes offsets, a broker's slave may answer pulls: clients poll routes this
often, ms.
"""

SLACK = 5_000
"""Answers must come this long after the last event of a broker, or before its first one, to show that it was not
recorded, ms: less may be the transmission of an answer, and clocks.
"""


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


def brokers_away(recordings: Sequence[Recording]) -> list[Event]:
    """Gaps for the times at which a broker was not recorded, but answered pulls.

    While its master is away, a slave answers, and clients send it their offsets (OF-4): then nothing is missing, nor
    shortly before and after it.

    Args:
        recordings: all of them, their time stamps by clocks that agree.
    """
    spans = spans_of(recordings)
    if not spans:
        return []
    begin = min(int(one.stamps.min()) for one in recordings)
    end = max(int(one.stamps.max()) for one in recordings)
    taken = _taken_by_slaves(recordings)
    found: list[Event] = []
    for broker, answered in sorted(_answers(recordings).items()):
        for since, until in _between(spans.get(broker, ()), begin, end):
            for first, last in _without_slave(taken[broker], since, until):
                if np.any((answered > first + SLACK * 1000) & (answered < last - SLACK * 1000)):
                    found.append(
                        gap(first // 1000, last // 1000, "it answered, and was not recorded", {"broker": broker})
                    )
    return found


def _without_slave(taken: np.ndarray, since: int, until: int) -> list[tuple[int, int]]:
    """The parts of a time, µs, in which no slave may have answered, given when slaves took offsets."""
    taken = taken[(taken > since) & (taken < until)]
    if not len(taken):
        return [(since, until)]
    parts = (since, int(taken.min()) - AROUND * 1000), (int(taken.max()) + AROUND * 1000, until)
    return [(first, last) for first, last in parts if first < last]


def _taken_by_slaves(recordings: Sequence[Recording]) -> defaultdict[str, np.ndarray]:
    """When slaves of each broker received offsets of clients, µs."""
    times: defaultdict[str, list[int]] = defaultdict(list)
    for one in (one for one in recordings if one.as_slave.any()):
        rows = one.rows((Kind.COMMIT,))
        times[master_of(one.broker)] += one.stamps[rows[one.as_slave[rows]]].tolist()
    return defaultdict(lambda: np.empty(0, np.int64), {name: np.array(found) for name, found in times.items()})


def _answers(recordings: Sequence[Recording]) -> dict[str, np.ndarray]:
    """When each broker answered pulls, µs; the placeholder of a static topic is no broker."""
    times: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    results = pa.array(map(str, ANSWERS), pa.string())
    for one in recordings:
        if one.of_broker:
            continue
        rows = one.rows((Kind.PULL_RESULT,))
        answered = pc.is_in(one.table.column("result").take(pa.array(rows)), results).to_numpy()
        for name, stamps in one.by_broker(rows[answered]):
            if not name.startswith(STATIC):
                times[name].append(stamps)
    return {name: np.concatenate(found) for name, found in times.items()}


def _between(spans: Sequence[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    """The times from ``begin`` to ``end``, µs, that are in none of these spans, which are sorted."""
    found, since = [], begin
    for first, last in spans:
        if first > since:
            found.append((since, min(first, end)))
        since = max(since, last)
    return [*found, (since, end)] if since < end else found
