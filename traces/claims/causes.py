"""Causes: what must have come before an event in the same process, and values that no answer can have.

:data:`CAUSES` is read as a specification; :mod:`..monitors.causes` applies it. A process is judged from its beginning
on: in a complete recording, or where its start was recorded.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import Kind


class Missing(enum.IntEnum):
    """What has no cause; rows of ``nothing-without-its-cause`` have it in ``value``."""

    DELIVERY = 0  # a listener returned that was not called
    PULL = 1  # a listener is given what was not pulled
    ASSIGNMENT = 2  # a client uses a queue that it never had
    PROGRESS = 3  # a pull brings messages, and is to go on before where it began


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What must have come before an event of the same client, incarnation and queue.

    Attributes:
        missing: what it is called where it did not.
        statement: what must have come, in one sentence.
        of: kinds of events that have this cause.
        needs: kinds that must be recorded: of what must have come, and of what begins it; none where the event itself
            is impossible.
        seen: kinds of which the process must have recorded some: who never did may not record them at all, and what has
            no cause is in doubt then.
        seen_or_told: the same of kinds of which there may be none; that they are recorded may be said instead.
        rules: rules of RocketMQ it rests on.
    """

    missing: Missing
    statement: str
    of: tuple[Kind, ...]
    needs: tuple[Kind, ...] = ()
    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    rules: tuple[str, ...]


CAUSES = (
    Cause(
        missing=Missing.DELIVERY,
        statement="A listener returns with a message that it was given.",
        of=(Kind.RESULT,),
        needs=(Kind.DELIVER,),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "OR-3"),
    ),
    Cause(
        missing=Missing.PULL,
        statement="A listener is given messages that its client has pulled since it took the queue.",
        of=(Kind.DELIVER,),
        needs=(Kind.PULL_RESULT, Kind.ASSIGN),
        seen=(Kind.PULL_RESULT, Kind.ASSIGN),
        rules=("CC-1", "PQ-1"),
    ),
    Cause(
        missing=Missing.ASSIGNMENT,
        statement="A client pulls, delivers, finishes and gives up what is of queues that it has taken.",
        of=(
            Kind.PULL,
            Kind.PULL_RESULT,
            Kind.DELIVER,
            Kind.REVOKE,
            Kind.REMOVED,
            Kind.DISCARDED,
            Kind.EXPIRE,
        ),
        needs=(Kind.ASSIGN,),
        seen=(Kind.ASSIGN,),
        rules=("RB-30", "RB-32", "PL-1"),
    ),
    Cause(
        missing=Missing.PROGRESS,
        statement="A pull that brings messages goes on behind where it began.",
        of=(Kind.PULL_RESULT,),
        rules=("PL-19",),
    ),
)
"""What must have come before; in the order of :class:`Missing`."""
