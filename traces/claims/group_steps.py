"""Steps of groups: what a process does in its group follows from what it did, and from what it was sent, before.

:class:`GroupMisstep` is to be read as a specification, as :mod:`.steps` is for queues;
:mod:`..monitors.groups.group_steps` applies it. A row is judged if the kinds that it needs were recorded, from the
first of them on.
"""

from __future__ import annotations

from ..format.kinds import Kind
from .step import Step, Steps

LIFECYCLE, SHARES = "processes-act-in-order", "shares-are-taken"


class GroupMisstep(Steps):
    """What must be true of a process and its group, or of a broker."""

    NOT_STARTED = Step(
        claim=LIFECYCLE,
        statement="A process starts before it does anything else in a group.",
        told="acted in group {group} before it started there",
        needs=(Kind.CLIENT_START,),
        beside=(Kind.CLIENT_START,),
        complete=True,
        seen=(Kind.CLIENT_START,),
        rules=("ST-1",),
    )
    STARTED_TWICE = Step(
        claim=LIFECYCLE,
        statement="A process that is running does not start again.",
        told="started in group {group}, where it was already running",
        needs=(Kind.CLIENT_START, Kind.CLIENT_STOP),
        excused_by=(Kind.CLIENT_CRASH,),
        seen_or_told=(Kind.CLIENT_STOP,),
        rules=("ST-1",),
    )
    STOPPED_TWICE = Step(
        claim=LIFECYCLE,
        statement="A process stops once.",
        told="stopped in group {group}, where it was not running",
        needs=(Kind.CLIENT_START, Kind.CLIENT_STOP),
        seen=(Kind.CLIENT_START,),
        rules=("ST-8",),
    )
    ACTS_STOPPED = Step(
        claim=LIFECYCLE,
        statement="A process that has stopped, or left its group, does nothing more there.",
        told="went on in group {group} {span} after it had stopped, or left the group",
        needs=(Kind.CLIENT_START, Kind.CLIENT_STOP),
        seen=(Kind.CLIENT_START,),
        rules=("ST-8",),
    )
    NOT_UNREGISTERED = Step(
        claim=LIFECYCLE,
        statement="A process leaves its group at the brokers before it stops.",
        told="stopped without leaving group {group} at the brokers",
        needs=(Kind.UNREGISTER, Kind.CLIENT_STOP),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    )
    NOT_STOPPED = Step(
        claim=LIFECYCLE,
        statement="A process that has given up its queues in order to shut down stops.",
        told="gave up its queues in order to shut down but had not stopped {span} later",
        needs=(Kind.REVOKE, Kind.CLIENT_START, Kind.CLIENT_STOP),
        rules=("ST-8",),
    )
    HAD_AT_STOP = Step(
        claim=LIFECYCLE,
        statement="A process that stops has given up all its queues.",
        told="stopped without giving up {queue}",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_STOP),
        seen=(Kind.ASSIGN,),
        rules=("ST-8", "RB-32"),
    )
    STARTED_IN_VAIN = Step(
        claim=LIFECYCLE,
        statement="A process that starts in a group sends a heartbeat to its brokers.",
        told="started in group {group} without a heartbeat to any broker",
        needs=(Kind.CLIENT_START, Kind.HEARTBEAT, Kind.UNREGISTER, Kind.CLIENT_STOP),
        seen_or_told=(Kind.HEARTBEAT,),
        rules=("ST-1", "ST-4"),
    )
    OLD_SUBSCRIPTION = Step(
        claim=LIFECYCLE,
        statement="A subscription that was left out or replaced is not sent again.",
        told="sent a subscription to {topic} again that another one had replaced",
        needs=(Kind.HEARTBEAT,),
        rules=("EN-9", "ST-4"),
    )
    NOT_ALL_TOLD = Step(
        claim=LIFECYCLE,
        statement="A process tells the brokers everything that it has subscribed to.",
        told="left {topic} out of its heartbeats, although it had subscribed to it before",
        needs=(Kind.HEARTBEAT,),
        rules=("EN-9", "ST-4"),
    )
    NOT_TOLD = Step(
        claim=LIFECYCLE,
        statement="A process rebalances only topics that its heartbeats name.",
        told="rebalanced {topic}, which its heartbeats do not name",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE),
        seen=(Kind.HEARTBEAT,),
        rules=("RB-1", "ST-4"),
    )
    BROKER_NOT_RUNNING = Step(
        claim=LIFECYCLE,
        statement="A broker registers and removes members only while it runs.",
        told="acted although it was not running",
        needs=(Kind.BROKER_START, Kind.BROKER_STOP),
        seen=(Kind.BROKER_START,),
        rules=("ST-4",),
    )
    BROKER_TWICE = Step(
        claim=LIFECYCLE,
        statement="A broker starts only when it is not running, and stops once.",
        told="started or stopped twice in a row",
        needs=(Kind.BROKER_START, Kind.BROKER_STOP),
        excused_by=(Kind.BROKER_CRASH,),
        seen=(Kind.BROKER_START,),
        seen_or_told=(Kind.BROKER_STOP,),
        rules=("OF-20",),
    )
    NOT_LOADED = Step(
        claim=LIFECYCLE,
        statement="A broker that cannot load its tables does not start.",
        told="started although it could not load its tables",
        needs=(Kind.BROKER_START, Kind.FILE_LOAD),
        rules=("OF-20",),
    )
    NOT_GIVEN = Step(
        claim=SHARES,
        statement="A client takes only a queue that its last rebalance of the topic gives it.",
        told="took {queue}, which its last rebalance did not give it",
        needs=(Kind.REBALANCE, Kind.ASSIGN),
        beside=(Kind.REBALANCE,),
        seen=(Kind.REBALANCE,),
        rules=("RB-27", "RB-30"),
    )
    STILL_GIVEN = Step(
        claim=SHARES,
        statement=(
            "A client gives up a queue in a rebalance only if its last rebalance of the topic does not give it "
            "the queue."
        ),
        told="gave up {queue} in a rebalance although its last rebalance gave it the queue",
        needs=(Kind.REBALANCE, Kind.REVOKE),
        seen=(Kind.REBALANCE,),
        rules=("RB-30",),
    )
    KEPT = Step(
        claim=SHARES,
        statement="A client gives up what a rebalance takes away before it rebalances the topic again.",
        told="kept {queue}, which a rebalance had taken away {span} before",
        needs=(Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.ASSIGN,),
        rules=("RB-30", "RB-32"),
    )
    NOT_ENDING = Step(
        claim=SHARES,
        statement="A client that shuts down gives up its queues only after it has left its group.",
        told="gave up {queue} in order to shut down before it had left group {group}",
        needs=(Kind.REVOKE, Kind.UNREGISTER, Kind.CLIENT_START),
        beside=(Kind.UNREGISTER,),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    )
    OTHER_QUEUES = Step(
        claim=SHARES,
        statement="A rebalance divides the queues that the last route of the topic names.",
        told="divided different queues of {topic} from those that its last route names",
        needs=(Kind.REBALANCE, Kind.ROUTE),
        seen=(Kind.ROUTE,),
        rules=("EN-5", "RB-4"),
    )
    OTHER_MEMBERS = Step(
        claim=SHARES,
        statement="A rebalance divides queues among the members that a broker lists.",
        told="divided {topic} among members that no broker had listed",
        needs=(Kind.REBALANCE, Kind.MEMBERS, Kind.BROKER_START),
        rules=("EN-2", "RB-4"),
    )
    OTHER_STRATEGY = Step(
        claim=SHARES,
        statement="A client divides a topic by the same strategy for as long as it runs.",
        told="divided {topic} by another strategy than before",
        needs=(Kind.REBALANCE,),
        rules=("RB-6",),
    )
    UNKNOWN_GIVEN = Step(
        claim=SHARES,
        statement="A rebalance assigns only queues that it divides, and each of them once.",
        told="assigned itself queues of {topic} that are not among those it divided, or one of them twice",
        needs=(Kind.REBALANCE,),
        rules=("RB-21",),
    )
    SILENT = Step(
        claim=LIFECYCLE,
        statement=(
            "A process that rebalances a topic keeps sending heartbeats often enough for brokers not to forget it."
        ),
        told="rebalanced {topic} of group {group} although it had sent no heartbeat for {span}",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE),
        seen=(Kind.HEARTBEAT,),
        rules=("ST-4", "ST-6"),
    )
    NOT_READ = Step(
        claim=LIFECYCLE,
        statement="A broker reads each table that it keeps before it starts.",
        told="started without reading a table that it keeps",
        needs=(Kind.BROKER_START, Kind.FILE_LOAD),
        beside=(Kind.FILE_LOAD,),
        complete=True,
        rules=("OF-20",),
    )
    FILE_NOT_READ = Step(
        claim=LIFECYCLE,
        statement="A broadcasting process reads its file of offsets before it divides a topic.",
        told="divided {topic} of group {group} without having read its offset file",
        needs=(Kind.CLIENT_START, Kind.FILE_LOAD, Kind.REBALANCE),
        complete=True,
        seen=(Kind.CLIENT_START,),
        seen_or_told=(Kind.FILE_LOAD,),
        rules=("OF-10", "ST-1"),
    )
    NOT_TAKEN = Step(
        claim=SHARES,
        statement=(
            "A client takes a queue that one rebalance after another gives it, unless it is refused the lock of "
            "an orderly queue: a broker that tells it the members, or receives its heartbeats, also tells it "
            "the offset. In doubt if the topic is on several brokers, and heartbeats do not name the one of the queue."
        ),
        told="did not take {queue}, which its rebalances gave it for {span}",
        needs=(Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE),
        beside=(Kind.ASSIGN,),
        rules=("RB-30", "RB-41"),
    )
    NOT_NEWER = Step(
        claim=LIFECYCLE,
        statement="A client that takes queues of a topic sends the brokers a newer subscription to it.",
        told="sent the brokers its old subscription to {topic}, {span} after it had taken queues",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE, Kind.ASSIGN),
        seen=(Kind.HEARTBEAT, Kind.REBALANCE),
        rules=("RB-37", "ST-4"),
    )
    RETRIES_TOLD = Step(
        claim=LIFECYCLE,
        statement="A broadcasting process does not subscribe to a topic of retries, as there are none.",
        told="told the brokers that it consumes {topic} although it is broadcasting",
        needs=(Kind.HEARTBEAT,),
        rules=("CC-11", "EN-10"),
    )
    STILL_TOLD = Step(
        claim=SHARES,
        statement="A client gives up queues of a topic that it no longer consumes.",
        told="gave up queues of {topic} as if it did not consume it, although it told the brokers that it does",
        needs=(Kind.REVOKE, Kind.HEARTBEAT),
        seen=(Kind.HEARTBEAT,),
        rules=("RB-36",),
    )
    UNWRITTEN = Step(
        claim=LIFECYCLE,
        statement="A broker writes each table that it keeps again and again, and once more when it stops.",
        told="did not write a table that it keeps for {span}",
        needs=(Kind.BROKER_START, Kind.BROKER_STOP),
        beside=(Kind.FILE_PERSIST,),
        excused_by=(Kind.BROKER_CRASH,),
        rules=("OF-23", "DL-4"),
    )
    STILL_HAD = Step(
        claim=SHARES,
        statement="A client that no longer consumes a topic gives up its queues in the next rebalances.",
        told="kept queues of {topic} for {span} after it had told the brokers that it no longer consumes it",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.HEARTBEAT, Kind.REBALANCE, Kind.ASSIGN),
        rules=("RB-36",),
    )
    UNLISTED = Step(
        claim=SHARES,
        statement="A broker that receives a client's heartbeats names it among the members of its group.",
        told="divided {topic} for {span} among members of group {group} without itself, although it sent "
        "heartbeats to the brokers meanwhile",
        needs=(Kind.HEARTBEAT, Kind.REBALANCE, Kind.BROKER_START),
        seen=(Kind.HEARTBEAT, Kind.REBALANCE),
        rules=("EN-1", "RB-20", "ST-4"),
    )
    OTHER_EXPRESSION = Step(
        claim=LIFECYCLE,
        statement="A subscription has one expression: another one has a newer version.",
        told="sent the brokers another expression for {topic} than before, with the same version",
        needs=(Kind.HEARTBEAT,),
        rules=("EN-9", "ST-4"),
    )
