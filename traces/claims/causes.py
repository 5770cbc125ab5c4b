"""Causes: what must have come before an event in the same process, and values that no answer can have.

:class:`Missing` is to be read as a specification; :mod:`..monitors.tables.causes` applies it. A process is judged from
its beginning on: in a complete recording, or if its start was recorded.
"""

from __future__ import annotations

from ..format.kinds import Kind
from .evidence import PULLS
from .step import Step, Steps

_CLAIM = "nothing-without-its-cause"


class Missing(Steps):
    """What must have come before an event of the same client, incarnation and queue."""

    DELIVERY = Step(
        claim=_CLAIM,
        statement="A listener returns with a message that it was given, and only such a one is cleaned as too slow.",
        told="ended {message}, which it was not given",
        of=(Kind.RESULT, Kind.EXPIRE),
        needs=(Kind.DELIVER,),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "OR-3", "PQ-9"),
    )
    PULL = Step(
        claim=_CLAIM,
        statement="A listener is given messages that its client has pulled since it took the queue.",
        told="was given {message}, which it had not pulled",
        of=(Kind.DELIVER,),
        needs=(Kind.PULL_RESULT, Kind.ASSIGN),
        seen=(Kind.PULL_RESULT, Kind.ASSIGN),
        rules=("CC-1", "PQ-1"),
    )
    ASSIGNMENT = Step(
        claim=_CLAIM,
        statement="A client pulls, delivers, finishes and gives up only what belongs to queues that it has taken.",
        told="used {queue}, which it had never taken",
        of=(*PULLS, Kind.DELIVER, Kind.REVOKE, Kind.REMOVED, Kind.DISCARDED, Kind.EXPIRE),
        needs=(Kind.ASSIGN,),
        seen=(Kind.ASSIGN,),
        rules=("RB-30", "RB-32", "PL-1"),
    )
    PROGRESS = Step(
        claim=_CLAIM,
        statement="A pull that brings messages continues after the offset at which it began.",
        told="pulled messages of {queue} from offset {offset} on and was told to continue before that",
        of=(Kind.PULL_RESULT,),
        rules=("PL-19",),
    )
