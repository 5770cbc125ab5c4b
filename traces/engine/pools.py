"""Pools of listeners: pulled messages wait until a thread of the client is free, whatever queue they are from.

A consumer has one pool for all its queues (CC-1, OR-3), which takes pulled messages in turn. The fold by queue sees
only one queue, and suspects messages that are given to no listener for long. Whether the pool was busy with other
queues all the time is checked here, for the few suspected clients, in one more pass over the trace.
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

_DELIVER, _RESULT = (codes(Kind)[kind] for kind in (Kind.DELIVER, Kind.RESULT))


@dataclass
class _Calls:
    """Calls of the listeners of one client: when each began and ended, and for which message."""

    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    messages: list[tuple[int, int]] = field(default_factory=list)
    running: dict[tuple[int, int], int] = field(default_factory=dict)

    def began(self, message: tuple[int, int], time: int) -> None:
        self.running[message] = len(self.begin)
        self.begin.append(time)
        self.end.append(-1)
        self.messages.append(message)

    def ended(self, message: tuple[int, int], time: int) -> None:
        call = self.running.pop(message, None)
        if call is not None:
            self.end[call] = time

    def longest_rest(self, since: int, until: int) -> int:
        """The longest time within a period in which no listener ran, ms."""
        longest, free = 0, since
        for begin, end in zip(self.begin, self.end, strict=True):
            if begin >= until:
                break
            longest = max(longest, begin - free)
            free = max(free, end if end >= 0 else until)
        return max(longest, until - free)

    def passed(self, slot: int, offset: int, since: int, until: int) -> bool:
        """Whether a later message of a queue was given to a listener within a period, before its end."""
        return any(
            other == slot and after > offset and since <= begin < until
            for (other, after), begin in zip(self.messages, self.begin, strict=True)
        )


def settle_waiting(outcome: Outcome, trace: Recorded, names: Names, settings: Settings) -> Outcome:
    """The outcome without messages that had to wait for a pool that was busy all the time.

    Messages that later ones of their queue have overtaken, or that wait for longer than listeners may run, are still
    late.
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
    for batch in trace.events_of(clients, (Kind.DELIVER, Kind.RESULT), since, COLUMNS):
        coded = coder.code(batch)
        chosen = np.isin(coded.kind, (_DELIVER, _RESULT)) & np.isin(coded.actor, wanted) & (coded.time >= since)
        for at in np.flatnonzero(chosen).tolist():
            of = calls[int(coded.actor[at])]
            message, time = (int(coded.slot[at]), int(coded.offset[at])), int(coded.time[at])
            if coded.kind[at] == _DELIVER:
                of.began(message, time)
            else:
                of.ended(message, time)
    return calls
