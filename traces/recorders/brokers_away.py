"""Brokers that answered clients while nobody recorded them: what they did then is not known.

If some brokers were recorded, clients may report answers of others, and of their processes before, between or after the
recorded ones. If no broker was recorded at all, the evidence of the files says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import ANSWERS, Kind
from ..format.schema import STATIC, master_of
from .broker_spans import spans_of
from .recording import Event, Recording, gap

AROUND = 30_000
"""For so long before and after its slave takes offsets, a broker's slave may answer pulls: clients poll routes this
often, ms.
"""

SLACK = 5_000
"""Answers must come this long after the last event of a broker, or before its first one, to show that it was not
recorded, ms: less may be the transmission of an answer, and clocks.
"""


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
