"""Truth: what the machine itself knows about a recorded run, to be compared with the findings of monitors.

It is read from the history variables (``model.history``), so it exists only if the constants switch them on: ``causes``
for messages that came again, ``watch_offsets`` for offsets that went back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....model.history import Cause, Regression
from ....model.process_queue import Stage
from .step import Transition
from .windows import in_table


@dataclass(frozen=True, kw_only=True)
class Repeat:
    """A message that was delivered again from its queue."""

    time: int  # of the delivery, ms
    queue: int  # number of the queue in the machine
    offset: int  # of the message
    causes: frozenset[Cause]  # why it may have come again: all causes since its last delivery; empty if none


@dataclass(frozen=True, kw_only=True)
class Decrease:
    """A stored offset that went back."""

    time: int  # when it did, ms. A trace may show it later, with the next commit
    queue: int  # number of the queue in the machine
    before: int  # the stored offset before, and ``after``
    after: int
    reason: Regression  # why; UNEXPLAINED for a bug


@dataclass
class Truth:
    """The facts known so far, in the order in which they happened."""

    repeats: list[Repeat] = field(default_factory=list)
    decreases: list[Decrease] = field(default_factory=list)
    _noted: dict[tuple[int, int], set[Cause]] = field(default_factory=dict)

    def note(self, now: Transition) -> None:
        """Take one more step into account."""
        if now.before.has("delivered", 0, 0):
            self._deliveries(now)
            self._causes(now)
        if now.before.has("went_back", 0):
            self._offsets(now)

    def _deliveries(self, now: Transition) -> None:
        for c in now.clients:
            for q in now.queues:
                for m in now.messages:
                    if not now.after("stage", c, q, m) == Stage.RUNNING != now.before("stage", c, q, m):
                        continue
                    noted = self._noted.pop((q, m), set())
                    if now.before("delivered", q, m):
                        time = now.recorder.time
                        self.repeats.append(Repeat(time=time, queue=q, offset=m, causes=frozenset(noted)))

    def _causes(self, now: Transition) -> None:
        """What was recorded in this step, and whether a queue has two owners after it."""
        for q in now.queues:
            shared = sum(in_table(now.after, c, q) for c in now.clients) > 1
            for m in now.messages:
                found = {Cause(now.after("cause", q, m))} - {Cause.NONE}
                if shared and now.after("delivered", q, m):
                    found.add(Cause.OVERLAP)
                if found:
                    self._noted.setdefault((q, m), set()).update(found)

    def _offsets(self, now: Transition) -> None:
        for q in now.queues:
            before, after = now.before("committed", q), now.after("committed", q)
            if after < before:
                reason = Regression(now.after("went_back", q))
                time = now.recorder.time
                self.decreases.append(Decrease(time=time, queue=q, before=before, after=after, reason=reason))
