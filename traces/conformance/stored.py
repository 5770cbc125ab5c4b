"""The stored offset over time: which values a store has had, and what a recording cannot tell of them."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise


class Stored:
    """What stores of offsets have had: one of the broker, or in broadcasting one for each process.

    Attributes:
        known: whether it is known what a store has, by store.
        doubtful: the broker may have any of the offsets it once had: it was started again.
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
        """Whether an answer may be this offset: of now, or one that was stored at ``since``, ms, or later."""
        values = self._values[store]
        if not self.known[store] or offset == values[-1][1]:
            return True
        for (_, value), (until, _) in pairwise(values):
            if value == offset and (self.doubtful or until >= since - self._slack):
                return True
        return False
