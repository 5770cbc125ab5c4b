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
    """One ProcessQueue of a client.

    Attributes:
        epoch: its number; UNTOLD if windows are not numbered.
        marks: values that its in-memory offset has had in the machine, in their order.
        shown: the in-memory offset that was recorded last, and when; None before the first time.
        results: what the listener returned, by offset, as long as this had no consequences.
        sent: the attempts to send a message back, by offset.
        removed: offsets that have left.
        left: offsets that have succeeded in a call whose tail has failed, and that are removed together with it
            (CC-10).
        again: offsets that could not be sent back, and are consumed again (CC-12).
        expired: offsets that were cleaned while their listener ran.
        overdue: offsets that were cleaned, and whose listener has returned since.
        called: offsets whose delivery may still be recorded, although their window was dropped before.
        ended: when it was dropped, ms; None while it lives.
    """

    epoch: int
    marks: list[int] = field(default_factory=list)
    shown: tuple[int, int] | None = None
    results: dict[int, Result] = field(default_factory=dict)
    sent: dict[int, list[tuple[Path, Result]]] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    again: set[int] = field(default_factory=set)
    expired: set[int] = field(default_factory=set)
    overdue: set[int] = field(default_factory=set)
    called: set[int] = field(default_factory=set)
    ended: int | None = None


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
    """One process, as far as the queue is concerned.

    Attributes:
        name: client id and incarnation.
        current: its window; None without one.
        old: windows that were dropped, by number.
        values: every offset that it may send: previous in-memory offsets, and those that it was told to set.
        answer: the last answer to an offset query, None before the first one; ``answered`` says what it was.
        live: offsets that its windows, dropped ones included, may hold.
        memory: its latest in-memory offset.
        outlives: offsets whose listeners were running when the shutdown was complete.
        stopped: when the shutdown was complete, ms; None if it is not.
        unseen: why its events cannot be followed now; empty if they can.
    """

    name: str
    current: Window | None = None
    old: dict[int, Window] = field(default_factory=dict)
    values: set[int] = field(default_factory=set)
    answer: int | None = None
    answered: Result = Result.NONE
    live: Held = field(default_factory=Held)
    memory: int | None = None
    outlives: set[int] = field(default_factory=set)
    stopped: int | None = None
    unseen: str = BEFORE

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
    """The offsets that stores have had: one store of the broker, or in broadcasting one for each process.

    Attributes:
        known: for each store, whether its content is known.
        doubtful: whether the broker may have any of its earlier offsets, because it was restarted.
    """

    def __init__(self, *, stores: int, known: bool, slack: int) -> None:
        self.known = [known] * stores
        self.doubtful = False
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
