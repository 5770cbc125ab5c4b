"""The first look at a part of a recording: what the context needs, its order, and the events at its ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pyarrow as pa

from ..clocks.observed import Observed
from ..encoding.columns import arrow_positions
from ..io.time_order import TimeOrder
from ..recorders.repeated import Repeated
from .scanning import Scanning


@dataclass(kw_only=True)
class FirstLook:
    """What the first look at a part has shown.

    Attributes:
        seen: for the context.
        order: how far the events are in order.
        ends: of the first batch and of the last one, its first and its last event; one or none if there are no two.
        repeated: number of events that were dropped as repetitions.
        counted: whether ``seq`` comes from its recorder.
    """

    seen: Scanning = field(default_factory=Scanning)
    order: TimeOrder = field(default_factory=TimeOrder)
    ends: list[pa.RecordBatch] = field(default_factory=list)
    repeated: int = 0
    counted: bool = True

    @classmethod
    def of(cls, events: int) -> Self:
        """Nothing was looked at yet, of a recording with that many events; 0 if their number is not known.

        Of a long one, a sample shows how clocks are apart: what each task sends to the driver is part of it.
        """
        return cls(seen=Scanning(keeps_seq=True, sides=Observed(events)))

    def see(self, batch: pa.RecordBatch, file: int = 0) -> None:
        """Look at the next events, of the file with a number."""
        if not len(batch):
            return
        self.seen.see(batch, file)
        self.order.see(batch)
        # Copied: a slice would keep the whole batch, and be sent with it.
        self.ends = [*self.ends[:1], batch.take(arrow_positions(np.array([0, len(batch) - 1])))]

    def repeats(self, before: FirstLook) -> bool:
        """Whether its first event repeats the last one of the part before, if both have events."""
        seam = Repeated(thorough=False)
        for event in (*(ends.slice(1) for ends in before.ends[-1:]), *(ends.slice(0, 1) for ends in self.ends[:1])):
            seam.drop(event, before.counted and self.counted)
        return seam.count > 0
