"""What a finding rests on: kinds of events that somebody must have recorded for it to count, and who that is.

Some recorders see only listeners, or only what brokers are asked; what others recorded says nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..format.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class RestsOn:
    """Kinds without which what a row of a table, or a claim, tells is in doubt.

    Attributes:
        seen: kinds of which each process that is named must have recorded some: who never did may not record them.
        seen_or_told: the same of kinds of which there may be none; that they are recorded may be said instead.
        of_others: as ``seen_or_told`` of every client of the group, where nobody may be named.
        of_broker: the same of the broker of the queue.
        at_broker: the same of what is stored at the broker of the queue, by whomever.
        of_itself: what excuses it is what the processes that it names did, or brokers: a hole in the recording of
            another client leaves no doubt.
    """

    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    of_others: tuple[Kind, ...] = ()
    of_broker: tuple[Kind, ...] = ()
    at_broker: tuple[Kind, ...] = ()
    of_itself: bool = False
