"""The order of the events of a file: whether they are already in the order of time, determined while they are read."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ..encoding.columns import Column


@dataclass(kw_only=True)
class TimeOrder:
    """How far the events of a file are in order."""

    by_time: bool = True  # in the order of time, then ``seq``
    by_seq: bool = True  # in the order of ``seq``
    first: tuple[int, int] | None = None  # time and ``seq`` of the first event; ``last``: of the last. None without any
    last: tuple[int, int] | None = None
    begin: int = 2**63 - 1  # time of the earliest event, ms; ``end``: of the latest. They mean nothing without events
    end: int = -(2**63)

    @property
    def needs_seq(self) -> bool:
        """Whether sorting by time alone, with events of equal time left in their order, would be wrong."""
        return not (self.by_time or self.by_seq)

    def see(self, batch: pa.RecordBatch) -> None:
        """Take the next events into account, with the columns time and ``seq``."""
        if not len(batch):
            return
        time, seq = (Column.of(batch.column(name)).values for name in ("time", "seq"))
        back = seq[1:] < seq[:-1]
        by_seq = not back.any()
        wrong = time[1:] < time[:-1]
        by_time = not wrong.any() and (by_seq or not (back & (time[1:] == time[:-1])).any())
        first, last = (int(time[0]), int(seq[0])), (int(time[-1]), int(seq[-1]))
        begin, end = (first[0], last[0]) if by_time else (int(time.min()), int(time.max()))
        self.join(TimeOrder(by_time=by_time, by_seq=by_seq, first=first, last=last, begin=begin, end=end))

    def join(self, later: TimeOrder) -> None:
        """Append what is known about the events after these."""
        if later.first is None:
            return
        if self.last is not None:
            self.by_time = self.by_time and self.last <= later.first
            self.by_seq = self.by_seq and self.last[1] <= later.first[1]
        self.by_time, self.by_seq = self.by_time and later.by_time, self.by_seq and later.by_seq
        self.first, self.last = self.first or later.first, later.last
        self.begin, self.end = min(self.begin, later.begin), max(self.end, later.end)
