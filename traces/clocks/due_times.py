"""Due times by another clock: a broker computes them by the clock of its events, so both must tell the same time.

A tool that moves the times of a recording may leave its due times where they were. All messages then wait for another
time than their level says, but leave when it says, and both are off by the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...model.delay import DelayTable, stored_level
from ..encoding.columns import arrow_positions
from ..encoding.names import Actor
from ..format.kinds import Kind
from .clocks import Step
from .view import words_of

COLUMNS = ("time", "kind", "broker", "recorder", "level", "due")
"""Columns of the schema that are read."""

ROUNDING = 1
"""Times are in whole milliseconds."""

PROMPT = 400
"""A message is stored so soon after it got its time stamp, and one of many is delivered so soon after it is due, ms."""

_KEY = ("broker", "recorder", "kind", "level")
_KINDS = frozenset({Kind.DELAY_STORE, Kind.DELAY_DELIVER})

Key = tuple[str, str, str, int]
Span = tuple[int, int]


@dataclass
class DueTimes:
    """The due times of brokers compared with the times of their events.

    Attributes:
        after: by broker, its process, kind and level (0 if it is not told), the least and the most that due times are
            after the times of their events, ms.
    """

    after: dict[Key, Span] = field(default_factory=dict)

    def see(self, batch: pa.RecordBatch) -> None:
        """Observe events; a batch has at least :data:`COLUMNS`."""
        kind, words = words_of(batch, "kind")
        places = np.flatnonzero(np.array([word in _KINDS for word in words]).take(kind))
        if not len(places):
            return
        few = batch.select(COLUMNS).take(arrow_positions(places))
        few = few.filter(few.column("due").is_valid())
        table = pa.table(
            {
                "broker": pc.fill_null(few.column("broker").cast(pa.string()), ""),
                "recorder": pc.fill_null(few.column("recorder").cast(pa.string()), ""),
                "kind": few.column("kind").cast(pa.string()),
                "level": pc.fill_null(few.column("level").cast(pa.int64()), 0),
                "after": pc.subtract(few.column("due"), few.column("time")),
            }
        )
        found = table.group_by([*_KEY], use_threads=False).aggregate([("after", "min"), ("after", "max")])
        self._add(
            ((one["broker"], one["recorder"], one["kind"], one["level"]), (one["after_min"], one["after_max"]))
            for one in found.to_pylist()
        )

    def join(self, other: DueTimes) -> None:
        """Add what was observed elsewhere."""
        self._add(other.after.items())

    def _add(self, found: Iterable[tuple[Key, Span]]) -> None:
        for key, (least, most) in found:
            before = self.after.get(key, (least, most))
            self.after[key] = min(before[0], least), max(before[1], most)

    def steps(self, delays: DelayTable, since: int, until: int) -> list[Step]:
        """A step from ``since`` until ``until``, ms, for each broker whose due times are by another clock."""
        told = "its due times are by a clock that is"
        return [
            Step.of_one(Actor(broker, -1), since, until, f"{told} {abs(by):,} ms {'ahead' if by > 0 else 'behind'}")
            for broker, by in sorted(self.ahead(delays).items())
        ]

    def ahead(self, delays: DelayTable) -> Mapping[str, int]:
        """How far due times of brokers are ahead of the times of their events, ms; of those that are by another clock.

        The delay table is of all brokers.
        """
        put: dict[tuple[str, str], list[Span]] = defaultdict(list)
        left: dict[tuple[str, str], int] = {}
        for (broker, recorder, kind, level), (least, most) in self.after.items():
            who = broker, recorder
            if kind == Kind.DELAY_DELIVER:
                left[who] = max(most, left.get(who, most))
            elif level:
                delay = int(delays.delay(stored_level(level, delays.levels)))
                put[who].append((least - delay, most - delay))
        found = {}
        for who, spans in put.items():
            by = max(most for _, most in spans)
            is_same = by - min(least for least, _ in spans) <= PROMPT
            is_off = by > ROUNDING or by < -PROMPT
            if who in left and is_same and is_off and by - PROMPT <= left[who] <= by + ROUNDING:
                found[who[0]] = by
        return found
