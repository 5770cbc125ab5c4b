"""Pools of listeners: pulled messages wait until a thread of the client is free, whatever queue they are from.

A consumer has one pool for all its queues (CC-1, OR-3), which takes pulled messages in turn. The fold by queue sees
only one queue, and suspects messages that are given to no listener for long. Whether the pool was busy with other
queues all the time, and took no message that was pulled later, is checked here, for the few suspected clients, in one
more pass over the trace.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from ..claims.claims import CODE
from ..claims.obligations import Reason
from ..claims.settings import Settings
from ..encoding.coding import COLUMNS, Coder
from ..encoding.names import Names
from ..format.kinds import Kind, codes
from ..monitors.fold import Outcome
from .findings import Note
from .reading import Recorded

_MOVES = CODE["every-queue-moves"]
_REST = 30_000
"""While something waits, threads are free for no longer than this: a task that the pool refuses comes again after 5 s,
ms.
"""

_TOLERANCE = 5_000
"""ms. A task comes to the pool this much later than its message was pulled, or its listener returned, at most: an
orderly queue waits 3 s for its lock.
"""

_KINDS = (Kind.DELIVER, Kind.RESULT, Kind.PULL_RESULT)
_DELIVER, _RESULT, _PULLED = (codes(Kind)[kind] for kind in _KINDS)


@dataclass
class _Call:
    """A call of a listener with a message of a queue.

    Attributes:
        came: when its message came to the pool, if its queue had nothing else there; otherwise 0.
    """

    slot: int
    offset: int
    begin: int
    came: int
    end: int = -1


@dataclass
class _Calls:
    """The calls of one client, the latest one of each queue, and where and when each queue was last pulled."""

    calls: list[_Call] = field(default_factory=list)
    running: dict[tuple[int, int], _Call] = field(default_factory=dict)
    last: dict[int, _Call] = field(default_factory=dict)
    pulled: dict[int, tuple[int, int]] = field(default_factory=dict)

    def began(self, slot: int, offset: int, time: int) -> None:
        first, came = self.pulled.get(slot, (-1, 0))
        before = self.last.get(slot)
        is_alone = first == offset and before is not None and 0 <= before.end <= came
        call = self.running[slot, offset] = self.last[slot] = _Call(slot, offset, time, came if is_alone else 0)
        self.calls.append(call)

    def ended(self, slot: int, offset: int, time: int) -> None:
        if call := self.running.pop((slot, offset), None):
            call.end = time

    def longest_rest(self, since: int, until: int) -> int:
        """The longest time within a period in which no listener ran, ms."""
        longest, free = 0, since
        for call in self.calls:
            if call.begin >= until:
                break
            longest = max(longest, call.begin - free)
            free = max(free, call.end if call.end >= 0 else until)
        return max(longest, until - free)

    def passed(self, slot: int, offset: int, since: int, until: int) -> bool:
        """Whether a later message of a queue was given to a listener within a period, before its end, or one of another
        queue that came to the pool after the period had begun.
        """
        return any(
            (call.offset > offset if call.slot == slot else call.came > since + _TOLERANCE)
            and since <= call.begin < until
            for call in self.calls
        )


def settle_waiting(outcome: Outcome, trace: Recorded, names: Names, settings: Settings) -> Outcome:
    """The outcome without messages that had to wait for a pool that was busy all the time.

    Messages that later ones have overtaken, or that wait for longer than listeners may run, are still late.
    """
    rows = outcome.rows
    suspects = np.flatnonzero(
        (rows["claim"] == _MOVES) & (rows["note"] == Note.NONE) & (rows["value"] == Reason.NOT_DELIVERED)
    )
    if not len(suspects):
        return outcome
    about = rows[suspects]
    longest = settings.stuck + 2 * settings.consume_timeout
    calls = _calls(trace, names, set(about["actor"].tolist()), int(about["since"].min()) - longest)
    explained = []
    for at in suspects.tolist():
        row = rows[at]
        since, until = int(row["since"]), int(row["time"])
        of = calls[int(row["actor"])]
        if until - since > longest or of.passed(int(row["slot"]), int(row["offset"]), since, until):
            continue
        if of.longest_rest(since, until) <= _REST:
            explained.append(at)
    return outcome.without(explained)


def _calls(trace: Recorded, names: Names, actors: Collection[int], since: int) -> dict[int, _Calls]:
    """The calls of some clients from a time on."""
    calls = {actor: _Calls() for actor in actors}
    coder = Coder(names)
    wanted = np.array(sorted(actors))
    clients = {names.actors[actor].name for actor in actors}
    for batch in trace.events_of(clients, _KINDS, since, COLUMNS):
        coded = coder.code(batch)
        chosen = np.isin(coded.kind, (_DELIVER, _RESULT, _PULLED)) & np.isin(coded.actor, wanted)
        chosen &= coded.time >= since
        for at in np.flatnonzero(chosen).tolist():
            of = calls[int(coded.actor[at])]
            what = int(coded.slot[at]), int(coded.offset[at]), int(coded.time[at])
            if coded.kind[at] == _DELIVER:
                of.began(*what)
            elif coded.kind[at] == _RESULT:
                of.ended(*what)
            else:
                of.pulled[what[0]] = what[1:]
    return calls
