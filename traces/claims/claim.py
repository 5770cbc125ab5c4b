"""What a claim about recorded runs is: what must hold of a trace, on what evidence, and who judges it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import Kind
from .evidence import RestsOn


class Monitor(enum.StrEnum):
    """The folds, by the kind of their keys."""

    QUEUES = "queues"  # group, topic, broker, queue: ownership, offsets, deliveries
    MESSAGES = "messages"  # origin: attempts, delays, dead letters
    GROUPS = "groups"  # group: members, subscriptions, rebalances


@dataclass(frozen=True, kw_only=True)
class TraceClaim(RestsOn):
    """One claim, and the evidence on which its violations rest.

    Attributes:
        id: short name with dashes.
        statement: one sentence a user of RocketMQ understands.
        monitor: the monitor that judges it.
        needs: kinds of events without which it cannot be judged; one of each tuple is enough.
        violated_by: kinds of events by which a violation shows: if one of them may be missing, the claim cannot be said
            to hold. One of each tuple is enough. What rows of tables need is added, see :func:`.presupposed.shown_by`;
            without any, it is by default what the claim needs.
        excused_by: kinds of events that excuse an apparent violation: if one of them may be missing, it is in doubt.
        excused_in_topics: the same for a finding about an original (count 0) in a topic that belongs to no group:
            actions of consumers lead to no copy there. None if it makes no difference.
        lasts: whether an excuse may have happened at any time before, such as somebody taking a queue long ago;
            otherwise it must be shortly before the apparent violation began.
        within: whether the excuse comes after that beginning, as the result of a call comes after the call.
        counts_with: those of these kinds without which no violation counts; one of each tuple is enough. For the
            others, the fold knows better what can be judged without them. If no change of role is recorded, none is
            assumed.
        by_broker: whether brokers record the excuse: what a client did before its recording, or as it died, then leaves
            no doubt.
        by_members: whether it depends on the members of the group, for which a pass may ask any broker (RB-4): a hole
            of any of them then leaves a doubt, not only one of the broker that has the queue.
        rules: rules of RocketMQ on which it rests.
        bugs: entries of the list of known bugs that break it.
        settled_by: the recording that would settle it if it cannot be observed.
    """

    id: str
    statement: str
    monitor: Monitor
    needs: tuple[tuple[Kind, ...], ...]
    violated_by: tuple[tuple[Kind, ...], ...] = ()
    excused_by: tuple[Kind, ...]
    excused_in_topics: tuple[Kind, ...] | None = None
    lasts: bool = False
    within: bool = False
    counts_with: tuple[tuple[Kind, ...], ...] = ()
    by_broker: bool = False
    by_members: bool = False
    rules: tuple[str, ...]
    bugs: tuple[str, ...]
    settled_by: str
