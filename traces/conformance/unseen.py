"""The unseen: what was not recorded, and whether it may explain that an event does not follow from those before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..format.coverage import Hole, evidence_mask
from ..format.kinds import Kind
from ..format.releases import keep_offsets
from .clocks import Recorders
from .events import Event
from .streams import Stream

REQUEST = 5_000
"""How long a client waits for the answer to a send-back (``DefaultMQPushConsumerImpl#sendMessageBack``), ms."""

MAY_BE_EXPLAINED = "mismatches that may be explained by what is not recorded"

_WINDOWS = frozenset(
    {Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.ASSIGN, Kind.REVOKE}
    | {Kind.PULL_RESULT, Kind.DELIVER, Kind.RESULT, Kind.REMOVED, Kind.EXPIRE}
)
"""Kinds that show the state of a window."""

_IN_CLUSTERING = frozenset({Kind.CORRECT, Kind.RESET})
_LOCKS = frozenset({Kind.LOCK, Kind.UNLOCK})
_STORES = frozenset({Kind.COMMIT, Kind.BROKER_START})
"""Kinds that show what is stored."""

_ASK_THE_STORE = frozenset({Kind.OFFSET_QUERY, Kind.ASSIGN, Kind.COMMIT, Kind.LOCK, Kind.PULL_RESULT, Kind.CORRECT})
"""Kinds that depend on what other members of the group have done."""


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """What is missing in a recording."""

    holes: Sequence[Hole] = ()  # what was lost in reading
    strangers: Mapping[str, str] = field(default_factory=dict)  # for a group, a member that recorded nothing
    recorders: Recorders | None = None  # how far clocks are apart; None if this is not considered
    calls: Sequence[tuple[int, int]] = ()  # times (ms) in which answers to requests of clients may be unrecorded

    def may_explain(self, event: Event, stream: Stream, slack: int = 0, *, is_own: bool = False) -> str:
        """What unrecorded event may explain an event that the model does not allow; empty if none may.

        Args:
            event: the event.
            stream: the stream of its queue.
            slack: how far the records of different processes may be apart while their order is still certain, ms.
            is_own: it does not follow from what its own process did before, so what others did does not matter.
        """
        clustering = stream.group.mode != "broadcasting"
        kinds = _WINDOWS | (_IN_CLUSTERING if clustering else frozenset())
        if clustering and stream.group.listener == "orderly":
            kinds |= _LOCKS
        told = stream.told()
        # Before a window begins, the answer of the store is recorded in memory (OF-3).
        answer = event.kind is Kind.COMMIT_MEMORY and Kind.OFFSET_QUERY not in told
        asks = clustering and not is_own and (answer or event.kind in _ASK_THE_STORE)
        if asks:
            kinds |= _STORES
        missing = [str(kind) for kind in Kind if kind in kinds and kind not in told]
        if missing:
            return f"no {', '.join(missing)} events"
        # A recording that states that it is complete is believed what else it states.
        complete = stream.header.complete
        if event.actor is not None and not complete and (unseen := stream.unrecorded(event.actor) & kinds):
            return f"no {' or '.join(kind for kind in Kind if kind in unseen)} events of {event.client}"
        if asks and stream.place.group in self.strangers:
            return f"nothing of the member {self.strangers[stream.place.group]}"
        if not clustering and event.kind is Kind.ASSIGN and event.incarnation:
            return "whether the offset file of the process before was still there"
        if not clustering and event.kind is Kind.ASSIGN and event.epoch and not keep_offsets(stream.header):
            return "whether the offset file still had the queue: releases before 4.9.8 and 5.2.0 may write it without"
        mask, place = evidence_mask(kinds), stream.place
        for hole in self.holes:
            concerned = hole.concerns(place.group, place.topic, place.broker)
            if hole.since <= event.time and hole.kinds & mask and concerned:
                return hole.why
        if asks:
            for gap in stream.around:
                of_broker = gap.kind is Kind.GAP and gap.actor is None and gap.broker is not None
                if of_broker and (gap.time if gap.due is None else gap.due) <= event.time:
                    return f"a gap in the recording of {gap.broker}"  # a reset, or a commit, may have been in it
        other = self.recorders.unsure(event, stream, slack) if asks and self.recorders is not None else ""
        return f"which came first, here or at {other}" if other else ""


def calls_missing(
    around: Iterable[Event], holes: Iterable[Hole], *, end: int, complete: bool = False
) -> list[tuple[int, int]]:
    """Spans of time (ms) in which a broker may have acted on an unrecorded request of a client.

    A client records a request when it is answered, its broker before that: at the end of a recording, and if a process
    was killed or has a gap, only the broker's record may exist.

    Args:
        around: events that concern several queues.
        holes: what was lost in reading.
        end: end of the trace.
        complete: whether it ends with nothing under way.
    """
    found = [] if complete else [(end - REQUEST, end)]
    for event in around:
        if event.kind is Kind.CLIENT_CRASH:
            found.append((event.time - REQUEST, event.time))
        elif event.kind is Kind.GAP and (event.actor is not None or event.broker is None):
            found.append(((event.time if event.due is None else event.due) - REQUEST, event.time))
    mask = evidence_mask((Kind.SEND_BACK,))
    return [*found, *((hole.since, end) for hole in holes if hole.kinds & mask)]
