"""What a claim about recorded runs is: what must hold of a trace, on what evidence, and who judges it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import Kind
from .rests_on import RestsOn


class Monitor(enum.StrEnum):
    """The folds, by what they are keyed."""

    QUEUES = "queues"  # group, topic, broker, queue: ownership, offsets, deliveries
    MESSAGES = "messages"  # origin: attempts, delays, dead letters
    GROUPS = "groups"  # group: members, subscriptions, rebalances


@dataclass(frozen=True, kw_only=True)
class TraceClaim(RestsOn):
    """One claim, and what each of its violations rests on.

    Attributes:
        id: short name with dashes.
        statement: one sentence a user of RocketMQ understands.
        monitor: who judges it.
        needs: kinds of events without which it cannot be judged; of each tuple one is enough.
        violated_by: kinds of events that a violation shows itself by: where one of them may be missing it cannot be
            said to hold. Of each tuple one is enough. What rows of tables need is added, see :mod:`.shown`.
        excused_by: kinds of events that excuse what seems a violation: where one of them may be missing it is in doubt.
        excused_in_topics: the same of what is found of an original, with the count 0, in a topic that is no group's:
            what consumers do leads to no copy there. None where it makes no difference.
        lasts: what excuses it may have happened at any time before, such as that somebody took a queue long ago; else
            shortly before what seems the violation began.
        within: what excuses it comes after that beginning, as the result of a call comes after the call.
        counts_with: of these, kinds without which no violation counts; of each tuple one is enough. For the others the
            fold knows better what can be told without them. Nobody records a change of role where there is none: it
            is taken not to have happened.
        by_broker: what excuses it, brokers record: what a client did before it was recorded, or as it died, leaves no
            doubt.
        by_members: it goes by who is in the group, which a pass asks any broker (RB-4): a hole of any of them leaves a
            doubt, not only of the one that has the queue.
        rules: rules of RocketMQ it rests on.
        bugs: entries of the zoo of known bugs that break it.
        settled_by: which recording would settle it where it cannot be observed.
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
