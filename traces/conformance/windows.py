"""Windows, and stores of offsets: what a recording shows of each besides the state of the machine."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from ..format.kinds import Path, Result
from .events import Event

BEFORE = "before the first assignment of their window"
"""Why events of a process cannot be followed initially."""

UNTOLD = -1
"""Number of a window if the recording does not number them."""


@dataclass(slots=True)
class Window:
    """One ProcessQueue of a client."""

    epoch: int  # its number; UNTOLD if windows are not numbered
    marks: list[int] = field(default_factory=list)  # values that its in-memory offset has had in the machine
    shown: tuple[int, int] | None = None  # the in-memory offset that was recorded last, and when
    results: dict[int, Result] = field(default_factory=dict)  # what the listener returned, as long as nothing followed
    sent: dict[int, list[tuple[Path, Result]]] = field(default_factory=dict)  # attempts to send it back, by offset
    removed: set[int] = field(default_factory=set)  # offsets that have left
    left: set[int] = field(default_factory=set)  # offsets that succeeded in a call whose tail failed (CC-10)
    again: set[int] = field(default_factory=set)  # offsets that could not be sent back, and are consumed again (CC-12)
    expired: set[int] = field(default_factory=set)  # offsets that were cleaned while their listener ran
    overdue: set[int] = field(default_factory=set)  # offsets that were cleaned, and whose listener has returned since
    called: set[int] = field(default_factory=set)  # offsets whose delivery may still be recorded, though it was dropped
    ended: int | None = None  # when it was dropped, ms; None while it lives


class Held:
    """Offsets that windows may hold, in their order. They are added at the end, and removed near the beginning."""

    def __init__(self, offsets: Iterable[int] = ()) -> None:
        self._offsets = sorted(offsets)

    def update(self, offsets: Iterable[int]) -> None:
        """Add some offsets."""
        new = sorted(offsets)
        if not self._offsets or not new or new[0] > self._offsets[-1]:
            self._offsets += new
        else:
            self._offsets = sorted({*self._offsets, *new})

    def discard(self, offset: int) -> None:
        """Remove one, if it is there."""
        place = bisect.bisect_left(self._offsets, offset)
        if place < len(self._offsets) and self._offsets[place] == offset:
            del self._offsets[place]

    def clear(self) -> None:
        """Remove all."""
        self._offsets.clear()

    def __iter__(self) -> Iterator[int]:
        return iter(self._offsets)


@dataclass(slots=True)
class Side:
    """One process, as far as the queue is concerned."""

    name: str  # client id and incarnation
    current: Window | None = None  # its window; None without one
    old: dict[int, Window] = field(default_factory=dict)  # windows that were dropped, by number
    values: set[int] = field(default_factory=set)  # every offset that it may send: those in memory, or told to set
    answer: int | None = None  # the last answer to an offset query, None before it; ``answered`` says which
    answered: Result = Result.NONE
    live: Held = field(default_factory=Held)  # offsets that its windows, dropped ones included, may hold
    memory: int | None = None  # its latest in-memory offset
    outlives: set[int] = field(default_factory=set)  # offsets whose listeners ran when the shutdown was complete
    sent_to: int | None = None  # where the answer to a dropped window has sent it, until it goes there
    locked_at: int | None = None  # when a broker last granted it the lock, ms; None if no event tells
    stopped: int | None = None  # when the shutdown was complete, ms; None if it is not
    unseen: str = BEFORE  # why its events cannot be followed now; empty if they can

    def window_of(self, event: Event) -> Window | None:
        """The window to which an event belongs: by its number, otherwise the only one."""
        if event.epoch is None or (self.current is not None and self.current.epoch in (event.epoch, UNTOLD)):
            return self.current or next(reversed(self.old.values()), None)
        return self.old.get(event.epoch)

    def remembers(self, offset: int) -> None:
        """The in-memory offset is now this one."""
        self.values.add(offset)
        if self.current is not None and (not self.current.marks or self.current.marks[-1] != offset):
            self.current.marks.append(offset)

    def drop(self, time: int) -> None:
        """The window is dropped."""
        if self.current is not None:
            self.current.ended = time
            self.old[self.current.epoch] = self.current
            self.current = None


class Stored:
    """The offsets that stores have had: one store of the broker, or in broadcasting one for each process."""

    def __init__(self, *, stores: int, known: bool, slack: int) -> None:
        self.known = [known] * stores  # for each store, whether its content is known
        self.doubtful = False  # whether the broker may have any of its earlier offsets, because it was restarted
        self._slack = slack
        self._values: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def note(self, store: int, offset: int, time: int) -> None:
        """A store has this offset from ``time`` on, ms."""
        values = self._values[store]
        if not values or values[-1][1] != offset:
            values.append((time, offset))

    def ever_had(self, store: int, offset: int) -> bool:
        """Whether a store has or had this offset."""
        return any(value == offset for _, value in self._values[store])

    def may_tell(self, store: int, offset: int, since: int) -> bool:
        """Whether an answer may be this offset: the present one, or one that was stored at ``since``, ms, or later."""
        values = self._values[store]
        if not self.known[store] or offset == values[-1][1]:
            return True
        for (_, value), (until, _) in pairwise(values):
            if value == offset and (self.doubtful or until >= since - self._slack):
                return True
        return False
