"""Places of messages: what was stored where a listener was given a message that was stored elsewhere.

The fold by message knows only the places of that message, and suspects one that comes at another place. It may have
been stored there as well, unseen. What brokers have stored at the suspected places is looked up here, in one more pass
over the trace: only another message shows that it was the wrong one. Nor does that count if a tool has written the keys
of one side anew, such as hashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..claims.claims import CODE
from ..claims.steps import Misstep
from ..encoding.coding import COLUMNS, Coder
from ..encoding.names import Names, Slot
from ..format.kinds import Kind, codes
from ..monitors.fold import Outcome
from ..monitors.queues.queue_ends import whole
from .findings import Note
from .reading import Recorded

_CLAIM = CODE[Misstep.STORED_ELSEWHERE.step.claim]
_STORES = (Kind.STORE, Kind.DELAY_DELIVER)
_CODES, _DELIVER = [codes(Kind)[kind] for kind in _STORES], codes(Kind)[Kind.DELIVER]


OTHER_KEYS = "messages whose keys brokers and clients write in different ways"
"""What is passed over if no listener was given any message that a broker has stored: nothing tells which is which."""

_SEVERAL = 3
"""This many messages that are all others than those stored there are no defect of a broker."""

MOST = 100_000
"""Maximum number of messages held of each side: if there are more, those of every second number are dropped."""


class Keys:
    """A sample of the messages that were stored, and of those that were given to listeners: is any of them both?"""

    def __init__(self) -> None:
        self.stored, self.given = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.found_both, self._mask = False, 0

    def see(self, stored: Any, given: Any) -> None:
        """Add messages by their numbers, which are hashes."""
        if self.found_both:
            return
        self.stored = np.union1d(self.stored, stored[stored & self._mask == 0])
        self.given = np.union1d(self.given, given[given & self._mask == 0])
        self.found_both = bool(np.isin(self.given, self.stored).any())
        while max(len(self.stored), len(self.given)) > MOST:
            self._mask = 2 * self._mask + 1
            self.stored, self.given = (each[each & self._mask == 0] for each in (self.stored, self.given))

    @property
    def are_comparable(self) -> bool:
        """Whether some message was both, or too few were given to say."""
        return self.found_both or len(self.given) < _SEVERAL


def settle_stored_elsewhere(outcome: Outcome, trace: Recorded, names: Names) -> Outcome:
    """The outcome without messages that were given where nothing else was seen to be stored."""
    rows = outcome.rows
    about = (rows["claim"] == _CLAIM) & (rows["note"] == Note.NONE) & (rows["value"] == Misstep.STORED_ELSEWHERE)
    suspects = np.flatnonzero(about)
    if not len(suspects):
        return outcome
    places = [(whole(names.slots[rows["slot"][at]]), int(rows["offset"][at])) for at in suspects.tolist()]
    stored, has_same_keys = _stored(trace, names, set(places))
    if not has_same_keys:
        return replace(outcome, passed_over={**outcome.passed_over, OTHER_KEYS: len(suspects)})
    explained = []
    for at, place in zip(suspects.tolist(), places, strict=True):
        found = stored.get(place, set())
        if not found or int(rows["origin"][at]) in found:
            explained.append(at)
    return outcome.without(explained)


def _stored(
    trace: Recorded, names: Names, places: set[tuple[Slot, int]]
) -> tuple[Mapping[tuple[Slot, int], set[int]], bool]:
    """The messages that brokers have stored at some places, and whether keys can be compared."""
    found: dict[tuple[Slot, int], set[int]] = {}
    coder, keys = Coder(names), Keys()
    offsets = np.array(sorted({offset for _, offset in places}))
    brokers = {slot.broker for slot, _ in places}
    for batch in trace.events_of(brokers, (*_STORES, Kind.DELIVER), 0, COLUMNS):
        coded = coder.code(batch)
        is_stored = np.isin(coded.kind, _CODES) & (coded.slot >= 0) & (coded.origin != 0)
        keys.see(coded.origin[is_stored], coded.origin[(coded.kind == _DELIVER) & (coded.origin != 0)])
        for at in np.flatnonzero(is_stored & np.isin(coded.offset, offsets)).tolist():
            place = whole(names.slots[coded.slot[at]]), int(coded.offset[at])
            if place in places:
                found.setdefault(place, set()).add(int(coded.origin[at]))
    return found, keys.are_comparable
