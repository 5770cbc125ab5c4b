"""Steps of groups: what a process does in its group follows from what it did before, and from what it was told.

:data:`GROUP_STEPS` is read as a specification, as :mod:`.steps` is for queues; :mod:`..monitors.group_steps` applies
it. A row is asked where the kinds it needs were recorded, from the first of them on.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import Kind


class GroupMisstep(enum.IntEnum):
    """What does not follow; rows of the claims of :data:`GROUP_STEPS` have it in ``value``."""

    NOT_STARTED = 0  # a process acts in a group in which it was never started, or before it was
    STARTED_TWICE = 1  # a process starts that runs
    STOPPED_TWICE = 2  # a process stops that does not run
    ACTS_STOPPED = 3  # a process goes on that has stopped
    NOT_UNREGISTERED = 4  # a process stops, and has not left its group at the broker
    NOT_STOPPED = 5  # a process has given up all for its shutdown, and does not stop
    HAD_AT_STOP = 6  # a process stops, and has queues
    STARTED_IN_VAIN = 7  # a process starts in a group and does nothing there
    OLD_SUBSCRIPTION = 8  # a subscription is told that another one has replaced
    NOT_TOLD = 9  # a topic is balanced of which the last heartbeat tells nothing
    BROKER_NOT_RUNNING = 10  # a broker acts that was not started, or has stopped
    BROKER_TWICE = 11  # a broker starts that runs
    NOT_LOADED = 12  # a broker starts that could not load its tables
    NOT_GIVEN = 13  # a queue is taken that the last pass does not give
    STILL_GIVEN = 14  # a queue is given up by rebalance that the last pass gives
    KEPT = 15  # a queue was taken away by a pass, and is not given up until the next one
    NOT_ENDING = 16  # a queue is given up for a shutdown, and there is none
    OTHER_QUEUES = 17  # a pass divides other queues than its route names
    OTHER_MEMBERS = 18  # a pass divides among members that no broker has told
    OTHER_STRATEGY = 19  # a pass has another strategy than the one before
    UNKNOWN_GIVEN = 20  # a pass gives queues that are not among those that it divides
    SILENT = 21  # a process balances on, and tells the brokers nothing more


@dataclass(frozen=True, kw_only=True)
class GroupStep:
    """What must be so when an event happens.

    Attributes:
        misstep: what it is called where it is not.
        claim: the claim that it violates then.
        statement: what must be so, in one sentence.
        needs: kinds that must be recorded.
        beside: kinds of which the recording must have some event: who records them at all records them of each process.
        complete: it is asked only of recordings that begin with the first event of their groups.
        seen: kinds of which the process must have recorded some: who never did may not record them, and then what
            does not follow is in doubt.
        seen_or_told: the same of kinds of which there may be none; that they are recorded may be said instead.
        rules: rules of RocketMQ it rests on.
    """

    misstep: GroupMisstep
    claim: str
    statement: str
    needs: tuple[Kind, ...]
    beside: tuple[Kind, ...] = ()
    complete: bool = False
    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    rules: tuple[str, ...]


LIFECYCLE, SHARES = "processes-act-in-order", "shares-are-taken"

_ENDS = (Kind.CLIENT_STOP, Kind.CLIENT_CRASH)

GROUP_STEPS = (
    GroupStep(
        misstep=GroupMisstep.NOT_STARTED,
        claim=LIFECYCLE,
        statement="A process starts before it does anything else in a group.",
        needs=(Kind.CLIENT_START,),
        beside=(Kind.CLIENT_START,),
        complete=True,
        seen=(Kind.CLIENT_START,),
        rules=("ST-1",),
    ),
    GroupStep(
        misstep=GroupMisstep.STARTED_TWICE,
        claim=LIFECYCLE,
        statement="A process that runs does not start.",
        needs=(Kind.CLIENT_START, *_ENDS),
        seen_or_told=(Kind.CLIENT_STOP,),
        rules=("ST-1",),
    ),
    GroupStep(
        misstep=GroupMisstep.STOPPED_TWICE,
        claim=LIFECYCLE,
        statement="A process stops once.",
        needs=(Kind.CLIENT_START, *_ENDS),
        seen=(Kind.CLIENT_START,),
        rules=("ST-8",),
    ),
    GroupStep(
        misstep=GroupMisstep.ACTS_STOPPED,
        claim=LIFECYCLE,
        statement="A process that has stopped does nothing more in its group.",
        needs=(Kind.CLIENT_START, Kind.CLIENT_STOP),
        seen=(Kind.CLIENT_START,),
        rules=("ST-8",),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_UNREGISTERED,
        claim=LIFECYCLE,
        statement="A process leaves its group at the brokers before it stops.",
        needs=(Kind.UNREGISTER, Kind.CLIENT_STOP),
        beside=(Kind.UNREGISTER,),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_STOPPED,
        claim=LIFECYCLE,
        statement="A process that has given up its queues for its shutdown stops.",
        needs=(Kind.REVOKE, *_ENDS),
        rules=("ST-8",),
    ),
    GroupStep(
        misstep=GroupMisstep.HAD_AT_STOP,
        claim=LIFECYCLE,
        statement="A process that stops has given up all its queues.",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_STOP),
        seen=(Kind.ASSIGN,),
        seen_or_told=(Kind.REVOKE,),
        rules=("ST-8", "RB-32"),
    ),
    GroupStep(
        misstep=GroupMisstep.STARTED_IN_VAIN,
        claim=LIFECYCLE,
        statement="A process that starts in a group tells it the brokers.",
        needs=(Kind.CLIENT_START, Kind.HEARTBEAT, Kind.UNREGISTER, *_ENDS),
        seen_or_told=(Kind.HEARTBEAT,),
        rules=("ST-1", "ST-4"),
    ),
    GroupStep(
        misstep=GroupMisstep.OLD_SUBSCRIPTION,
        claim=LIFECYCLE,
        statement="A subscription that is left out or replaced is told no more.",
        needs=(Kind.HEARTBEAT,),
        rules=("EN-9", "ST-4"),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_TOLD,
        claim=LIFECYCLE,
        statement="A process balances the topics that it tells the brokers.",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE),
        seen=(Kind.HEARTBEAT,),
        rules=("RB-1", "ST-4"),
    ),
    GroupStep(
        misstep=GroupMisstep.BROKER_NOT_RUNNING,
        claim=LIFECYCLE,
        statement="A broker hears of members only as long as it runs.",
        needs=(Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH),
        seen=(Kind.BROKER_START,),
        rules=("ST-4",),
    ),
    GroupStep(
        misstep=GroupMisstep.BROKER_TWICE,
        claim=LIFECYCLE,
        statement="A broker starts when it does not run, and stops once.",
        needs=(Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH),
        seen=(Kind.BROKER_START,),
        seen_or_told=(Kind.BROKER_STOP,),
        rules=("OF-20",),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_LOADED,
        claim=LIFECYCLE,
        statement="A broker that cannot load its tables does not start.",
        needs=(Kind.BROKER_START, Kind.FILE_LOAD),
        rules=("OF-20",),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_GIVEN,
        claim=SHARES,
        statement="A client takes a queue that its last pass over the topic gives it.",
        needs=(Kind.REBALANCE, Kind.ASSIGN),
        beside=(Kind.REBALANCE,),
        seen=(Kind.REBALANCE,),
        rules=("RB-27", "RB-30"),
    ),
    GroupStep(
        misstep=GroupMisstep.STILL_GIVEN,
        claim=SHARES,
        statement="A client gives up by rebalance a queue that its last pass over the topic does not give it.",
        needs=(Kind.REBALANCE, Kind.REVOKE),
        seen=(Kind.REBALANCE,),
        rules=("RB-30",),
    ),
    GroupStep(
        misstep=GroupMisstep.KEPT,
        claim=SHARES,
        statement="A client gives up what a pass takes away before it makes the next one over the topic.",
        needs=(Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.ASSIGN,),
        seen_or_told=(Kind.REVOKE,),
        rules=("RB-30", "RB-32"),
    ),
    GroupStep(
        misstep=GroupMisstep.NOT_ENDING,
        claim=SHARES,
        statement="A client gives up queues for its shutdown when it has left its group.",
        needs=(Kind.REVOKE, Kind.UNREGISTER, *_ENDS),
        beside=(Kind.UNREGISTER,),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    ),
    GroupStep(
        misstep=GroupMisstep.OTHER_QUEUES,
        claim=SHARES,
        statement="A pass divides the queues that the last route of the topic names.",
        needs=(Kind.REBALANCE, Kind.ROUTE),
        seen=(Kind.ROUTE,),
        rules=("EN-5", "RB-4"),
    ),
    GroupStep(
        misstep=GroupMisstep.OTHER_MEMBERS,
        claim=SHARES,
        statement="A pass divides among the members that a broker has.",
        needs=(Kind.REBALANCE, Kind.MEMBERS, Kind.BROKER_START),
        rules=("EN-2", "RB-4"),
    ),
    GroupStep(
        misstep=GroupMisstep.OTHER_STRATEGY,
        claim=SHARES,
        statement="A client divides a topic by one strategy as long as it runs.",
        needs=(Kind.REBALANCE,),
        rules=("RB-6",),
    ),
    GroupStep(
        misstep=GroupMisstep.UNKNOWN_GIVEN,
        claim=SHARES,
        statement="A pass gives queues of those that it divides.",
        needs=(Kind.REBALANCE,),
        rules=("RB-21",),
    ),
    GroupStep(
        misstep=GroupMisstep.SILENT,
        claim=LIFECYCLE,
        statement="A process that balances a topic goes on to tell it the brokers, before they forget it.",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE),
        seen=(Kind.HEARTBEAT,),
        rules=("ST-4", "ST-6"),
    ),
)
"""What must follow; in the order of :class:`GroupMisstep`."""
