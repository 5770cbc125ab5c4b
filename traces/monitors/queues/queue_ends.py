"""What is known about queues only at the end of a check, from all of them together, and from what brokers stored.

* Ends: clients learn of no messages that no broker has stored, and of all that were stored long ago; and no end goes
  back, unless the topic was created again.
* Queues that an owner had and never pulled: whether messages waited in them.
* First starts (G1): if nothing is stored for a queue, a group that consumes from the last offset starts at its end
  (RB-41). For a new group this is intended; one that has long stored offsets of other queues of the topic loses the
  messages that the queue had before it was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...claims.claims import CODE
from ...claims.obligations import Reason
from ...claims.settings import Settings
from ...claims.steps import Misstep
from ...encoding.names import Names, Slot
from ...encoding.store_counts import Stored
from ...engine.findings import Note, sort_rows
from ...format.message_status import MessageStatus
from ..fold import Outcome
from ..steps.polls import LONG
from ..steps.state import SHOWN, SILENCE
from .commits import Jump

_MOVES = CODE["every-queue-moves"]

OFTEN = 3
"""How often a waiting pull is answered late before this is reported: processes may be stopped, threads delayed."""


def settle_ends(outcome: Outcome, names: Names) -> Outcome:
    """The outcome, with wrong ends reported to clients as violations.

    These are ends beyond what the broker has stored, or before what it had stored long ago, and ends that go back. The
    other rows are left out, as are those of what brokers have stored.
    """
    is_end = outcome.rows["note"] == Note.END
    if not is_end.any():
        return outcome
    rows, keep = outcome.rows.copy(), ~is_end
    for what, find in _FINDERS:
        told: dict[Slot, list[int]] = {}
        stored: dict[Slot, list[int]] = {}
        # The last ends that a broker stored are compared with long pulls, and with what clients should have got.
        of_brokers = (what, Misstep.WOKEN_LATE) if what == Misstep.END_BEHIND else (what,)
        for at in np.flatnonzero(is_end & np.isin(rows["value"], of_brokers)).tolist():
            slot = names.slots[rows["slot"][at]]
            if names.actors[rows["actor"][at]].incarnation < 0:
                stored.setdefault(whole(slot), []).append(at)
            elif rows["value"][at] == what:
                told.setdefault(slot, []).append(at)
        for slot, places in told.items():
            for at, end, since in find(rows, places, stored.get(whole(slot), [])):
                rows["note"][at], rows["expected"][at], rows["since"][at], keep[at] = Note.NONE, end, since, True
    return outcome.with_rows(sort_rows(rows[keep]))


def whole(slot: Slot) -> Slot:
    """The queue, independent of its consumers."""
    return replace(slot, group="", client="")


_Found = Iterator[tuple[int, int, int]]
"""The position of a row that is a violation, what was stored, and since when."""


def _ahead(rows: Any, told: Sequence[int], stored: Sequence[int]) -> _Found:
    """For each queue, the first client that learnt of the highest end is reported."""
    at = max(told, key=lambda place: (rows["offset"][place], -place))
    end = max((int(rows["offset"][place]) for place in stored), default=None)
    if end is not None and rows["offset"][at] > end:
        yield at, end, int(rows["since"][at])


def _behind(rows: Any, told: Sequence[int], stored: Sequence[int]) -> _Found:
    """For each queue, the client with the last answer is reported."""
    at = max(told, key=lambda place: (rows["time"][place], -place))
    known = max(int(rows["offset"][place]) for place in told)
    visible = [place for place in stored if rows["time"][place] + SHOWN < rows["time"][at]]
    if not visible:
        return
    most = max(visible, key=lambda place: (rows["offset"][place], -rows["time"][place]))
    if rows["offset"][most] > known:
        yield at, int(rows["offset"][most]), int(rows["time"][most])


def _back(rows: Any, told: Sequence[int], made_again: Sequence[int]) -> _Found:
    """For each queue, report every client that knew a higher end than there was before its topic was created again."""
    ended = max((int(rows["offset"][place]) for place in made_again), default=-1)
    for at in told:
        if rows["expected"][at] > ended:
            yield at, int(rows["expected"][at]), int(rows["since"][at])


def _late(rows: Any, told: Sequence[int], stored: Sequence[int]) -> _Found:
    """For each client, the last pull that waited although its message was there, if this was so for most long pulls.

    The broker has answered other requests of the client while it waited, in one case at least.
    """
    ends = sorted((int(rows["time"][place]), int(rows["offset"][place])) for place in stored)
    for actor in sorted({int(rows["actor"][place]) for place in told}):
        since: dict[int, int] = {}
        waits = 0
        for place in (one for one in told if rows["actor"][one] == actor):
            stored_at = next((time for time, end in ends if end > rows["offset"][place]), None)
            if stored_at is not None and stored_at < rows["time"][place] + SILENCE:
                waits += 1
                begin = max(stored_at, int(rows["since"][place]))
                if rows["time"][place] - begin > LONG:
                    since[place] = begin
        seen = any(rows["until"][place] > begin for place, begin in since.items())
        if seen and len(since) >= OFTEN and 2 * len(since) > waits:
            at = max(since, key=lambda place: (rows["time"][place], place))
            rows["until"][at] = rows["offset"][at] + 1
            yield at, waits, since[at]


_FINDERS = (
    (Misstep.END_AHEAD, _ahead),
    (Misstep.END_BEHIND, _behind),
    (Misstep.END_BACK, _back),
    (Misstep.WOKEN_LATE, _late),
)


def settle_unpulled(outcome: Outcome, names: Names, stores: Mapping[Slot, Stored], settings: Settings) -> Outcome:
    """The outcome, with unpulled queues as violations of ``every-queue-moves`` if messages waited in them for long.

    The others are left out. What waits at the end counts as waiting.
    """
    unpulled = np.flatnonzero(outcome.rows["note"] == Note.UNPULLED)
    if not len(unpulled):
        return outcome
    rows, statuses, judged = outcome.rows.copy(), outcome.statuses.copy(), outcome.judged.copy()
    keep = np.ones(len(rows), np.bool_)
    latest = {int(rows["slot"][at]): at for at in unpulled.tolist()}  # they are in the order of time
    for at in unpulled.tolist():
        row = rows[at]
        slot = names.slots[row["slot"]]
        stored = stores.get(whole(slot))
        start = max(int(row["offset"]), 0)
        if stored is None or stored.last < start:
            keep[at] = False
            continue
        if latest[int(row["slot"])] == at:
            statuses[row["slot"], MessageStatus.WAITING] += stored.last + 1 - max(start, stored.first)
        since = max(int(row["since"]), stored.since if stored.first >= start else stored.until)
        late = int(row["time"]) - since - settings.silent_death - settings.rounds
        if late <= 0:
            keep[at] = False
            continue
        row["late"] = min(row["late"], late)
        row["note"], row["value"], row["since"], row["until"] = Note.NONE, Reason.NO_PULLS, since, stored.last + 1
        judged[_MOVES] += 1
    return replace(outcome.with_rows(sort_rows(rows[keep])), judged=judged, statuses=statuses)


def settle_first_starts(outcome: Outcome, names: Names, settings: Settings) -> Outcome:
    """The outcome, with first starts of known groups as violations of ``nothing-skipped`` instead of notes.

    A group is known if an offset of another queue of the topic was stored for it more than two rounds before. Each
    broadcasting client has offsets of its own, so what others have stored does not count.
    """
    rows = outcome.rows
    starts = np.flatnonzero((rows["note"] == Note.SKIPPED) & (rows["value"] == Jump.FIRST_START))
    if not len(starts):
        return outcome
    earliest: dict[tuple[str, str, str], int] = {}
    offsets = rows[rows["note"] == Note.OFFSET]
    first = np.full(len(names.slots), 2**63 - 1)
    np.minimum.at(first, offsets["slot"], offsets["time"])
    for slot, time in zip(names.slots, first.tolist(), strict=True):
        topic = slot.group, slot.topic, slot.client
        earliest[topic] = min(earliest.get(topic, time), time)
    rows = rows.copy()
    for at in starts.tolist():
        slot = names.slots[int(rows["slot"][at])]
        known = earliest[slot.group, slot.topic, slot.client]
        if known < int(rows["time"][at]) - settings.rounds:
            rows["note"][at] = Note.NONE
            rows["since"][at] = known
    return outcome.with_rows(sort_rows(rows))
