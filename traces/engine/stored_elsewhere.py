"""Places of messages: what was stored where a listener was given a message that was stored elsewhere.

The fold by message knows only the places of that message, and suspects one that comes at another place. It may have
been stored there as well, unseen. What brokers have stored at the suspected places is looked up here, in one more pass
over the trace: only another message shows that it was the wrong one.
"""

from __future__ import annotations

import numpy as np

from ..claims.claims import CODE
from ..claims.steps import Misstep
from ..encoding.coding import COLUMNS, Coder
from ..encoding.names import Names, Slot
from ..format.kinds import Kind, codes
from ..monitors.fold import Outcome
from ..monitors.queue_ends import whole
from .findings import Note
from .reading import Recorded

_CLAIM = CODE[Misstep.STORED_ELSEWHERE.step.claim]
_STORES = (Kind.STORE, Kind.DELAY_DELIVER)
_CODES = [codes(Kind)[kind] for kind in _STORES]


def settle_stored_elsewhere(outcome: Outcome, trace: Recorded, names: Names) -> Outcome:
    """The outcome without messages that were given where nothing else was seen to be stored."""
    rows = outcome.rows
    about = (rows["claim"] == _CLAIM) & (rows["note"] == Note.NONE) & (rows["value"] == Misstep.STORED_ELSEWHERE)
    suspects = np.flatnonzero(about)
    if not len(suspects):
        return outcome
    places = [(whole(names.slots[rows["slot"][at]]), int(rows["offset"][at])) for at in suspects.tolist()]
    stored = _stored(trace, names, set(places))
    explained = []
    for at, place in zip(suspects.tolist(), places, strict=True):
        found = stored.get(place, set())
        if not found or int(rows["origin"][at]) in found:
            explained.append(at)
    return outcome.without(explained)


def _stored(trace: Recorded, names: Names, places: set[tuple[Slot, int]]) -> dict[tuple[Slot, int], set[int]]:
    """The messages that brokers have stored at some places."""
    found: dict[tuple[Slot, int], set[int]] = {}
    coder = Coder(names)
    offsets = np.array(sorted({offset for _, offset in places}))
    brokers = {slot.broker for slot, _ in places}
    for batch in trace.events_of(brokers, _STORES, 0, COLUMNS):
        coded = coder.code(batch)
        chosen = np.isin(coded.kind, _CODES) & (coded.slot >= 0) & (coded.origin != 0) & np.isin(coded.offset, offsets)
        for at in np.flatnonzero(chosen).tolist():
            place = whole(names.slots[coded.slot[at]]), int(coded.offset[at])
            if place in places:
                found.setdefault(place, set()).add(int(coded.origin[at]))
    return found
