"""The evidence on which a finding rests: kinds of events that must be recorded for it to count, and by whom.

Some recorders see only listeners, or only requests to brokers; what others recorded says nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..format.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class RestsOn:
    """Kinds without which the findings of a row of a table, or of a claim, are in doubt.

    Attributes:
        seen: kinds of which each named process must have recorded some: one that never did may not record them.
        seen_or_told: the same for kinds that need not occur; a statement that they are recorded is enough.
        of_others: like ``seen_or_told``, for every client of the group, if no process may be named.
        of_broker: the same for the broker of the queue.
        at_broker: the same for what is stored at the broker of the queue, by any process.
        of_itself: whether only actions of the named processes, or of brokers, can excuse it: a hole in the recording of
            another client then leaves no doubt.
    """

    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    of_others: tuple[Kind, ...] = ()
    of_broker: tuple[Kind, ...] = ()
    at_broker: tuple[Kind, ...] = ()
    of_itself: bool = False
