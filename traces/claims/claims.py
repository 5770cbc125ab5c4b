"""Claims about recorded runs: what must hold of a trace, on what evidence, and who judges it.

They are the properties of ``properties/``, as far as events can show them. A claim is judged by one monitor; its code
in findings is its position here, and is never stored.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from ..format.kinds import Kind


class Monitor(enum.StrEnum):
    """The folds, by what they are keyed."""

    QUEUES = "queues"  # group, topic, broker, queue: ownership, offsets, deliveries
    MESSAGES = "messages"  # origin: attempts, delays, dead letters
    GROUPS = "groups"  # group: members, subscriptions, rebalances


@dataclass(frozen=True, kw_only=True)
class TraceClaim:
    """One claim.

    Attributes:
        id: short name with dashes.
        statement: one sentence a user of RocketMQ understands.
        monitor: who judges it.
        needs: kinds of events without which it cannot be judged; of each tuple one is enough.
        violated_by: kinds of events that a violation shows itself by: where one of them may be missing it cannot be
            said to hold. Of each tuple one is enough.
        excused_by: kinds of events that excuse what seems a violation: where one of them may be missing it is in doubt.
        lasts: what excuses it may have happened at any time before, such as that somebody took a queue long ago; else
            shortly before what seems the violation began.
        within: what excuses it comes after that beginning, as the result of a call comes after the call.
        counts_with: of these, kinds without which no violation counts; of each tuple one is enough. For the others the
            fold knows better what can be told without them. Nobody records a change of role where there is none: it
            is taken not to have happened.
        seen: kinds of which each process that a violation names must have recorded some: who never did may not record
            them at all, and the violation is in doubt then.
        seen_or_told: the same of kinds of which there may be none; that they are recorded may be said instead.
        of_others: the same as ``seen_or_told`` of every client of the group, where nobody may be named.
        of_broker: the same of the broker of the queue.
        rules: rules of RocketMQ it rests on.
        bugs: entries of the zoo of known bugs that break it.
        settled_by: which recording would settle it where it cannot be observed.
    """

    id: str
    statement: str
    monitor: Monitor
    needs: tuple[tuple[Kind, ...], ...]
    violated_by: tuple[tuple[Kind, ...], ...]
    excused_by: tuple[Kind, ...]
    lasts: bool = False
    within: bool = False
    counts_with: tuple[tuple[Kind, ...], ...] = ()
    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    of_others: tuple[Kind, ...] = ()
    of_broker: tuple[Kind, ...] = ()
    rules: tuple[str, ...]
    bugs: tuple[str, ...]
    settled_by: str


_DELIVERIES = ((Kind.DELIVER,),)
_RESULTS = ((Kind.DELIVER,), (Kind.RESULT,))
_ENDS = (Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
_LIFE = (Kind.CLIENT_START, *_ENDS, Kind.HEARTBEAT, Kind.UNREGISTER)
_WINDOWS = (Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_START, *_ENDS)
_BROKERS = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
_MENDINGS = (Kind.RESET, Kind.CORRECT, Kind.PULL_RESULT, *_BROKERS)
_LISTENERS = (Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.EXPIRE)
_SCHEDULE = (Kind.DELAY_STORE, Kind.DELAY_DELIVER)
_STEPS = (
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.PULL,
    Kind.PULL_RESULT,
    Kind.DELIVER,
    Kind.RESULT,
    Kind.EXPIRE,
    Kind.REMOVED,
    Kind.DISCARDED,
    Kind.COMMIT_MEMORY,
    Kind.OFFSET_QUERY,
    Kind.RESET,
    Kind.CORRECT,
    Kind.UNREGISTER,
    *_ENDS,
)
_HOOK = "a consume-message hook (consumer side)"
_OFFSETS = "the client's log of persisted offsets, or the broker's commit requests"

CLAIMS = (
    # By queue.
    TraceClaim(
        id="every-duplicate-has-a-cause",
        statement="A message that is delivered again from its queue has a recorded cause.",
        monitor=Monitor.QUEUES,
        needs=_DELIVERIES,
        violated_by=_DELIVERIES,
        excused_by=(
            *_WINDOWS,
            *_MENDINGS,
            Kind.RESULT,
            Kind.SEND_BACK,
            Kind.EXPIRE,
            Kind.COMMIT,
            Kind.OFFSET_QUERY,
        ),
        counts_with=((Kind.BROKER_START,),),
        seen_or_told=(Kind.ASSIGN, Kind.RESULT),
        rules=("CC-12", "CC-13", "OF-20", "RB-30"),
        bugs=("B1", "B2", "B9", "C5"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="offset-never-back-without-cause",
        statement="The stored offset of a queue decreases only for a reason of the closed list.",
        monitor=Monitor.QUEUES,
        needs=((Kind.COMMIT,),),
        violated_by=((Kind.COMMIT,),),
        excused_by=(
            *_WINDOWS,
            *_MENDINGS,
            Kind.COMMIT,
            Kind.OFFSET_QUERY,
        ),
        counts_with=((Kind.BROKER_START,), (Kind.RESET,), (Kind.CORRECT,)),
        of_others=(Kind.ASSIGN,),
        rules=("OF-8", "OF-20", "OF-30"),
        bugs=("B1", "B2", "B3", "B4", "B5"),
        settled_by=_OFFSETS,
    ),
    TraceClaim(
        id="offset-never-past-unfinished",
        statement="The stored offset never passes a message whose listener is still running.",
        monitor=Monitor.QUEUES,
        needs=(*_RESULTS, (Kind.COMMIT,)),
        violated_by=((Kind.DELIVER,), (Kind.COMMIT,)),
        excused_by=(
            Kind.RESULT,
            Kind.DISCARDED,
            Kind.EXPIRE,
            Kind.SEND_BACK,
            *_MENDINGS,
            *_ENDS,
        ),
        counts_with=((Kind.RESULT,), (Kind.SEND_BACK, Kind.EXPIRE), (Kind.RESET,), (Kind.CORRECT,)),
        seen_or_told=(Kind.RESULT,),
        rules=("PQ-2", "CC-13"),
        bugs=("B7",),
        settled_by=_OFFSETS,
    ),
    TraceClaim(
        id="nothing-skipped",
        statement="The stored offset passes no message that was neither delivered nor filtered out.",
        monitor=Monitor.QUEUES,
        needs=((Kind.DELIVER,), (Kind.PULL_RESULT,), (Kind.COMMIT,)),
        # A first start above the beginning of a queue shows itself by what it asks for and where it begins.
        violated_by=((Kind.DELIVER,), (Kind.PULL_RESULT,), (Kind.COMMIT,), (Kind.ASSIGN,), (Kind.OFFSET_QUERY,)),
        excused_by=(
            Kind.DELIVER,
            Kind.PULL_RESULT,
            Kind.OFFSET_QUERY,
            *_MENDINGS,
        ),
        counts_with=((Kind.RESET,), (Kind.CORRECT,)),
        of_others=(Kind.DELIVER,),
        rules=("PQ-2", "RB-41", "FI-3"),
        bugs=("B6", "B9", "E6", "G1"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="failed-message-comes-again",
        statement="The stored offset passes a failed message only after it was sent back.",
        monitor=Monitor.QUEUES,
        needs=(*_RESULTS, (Kind.SEND_BACK,), (Kind.COMMIT,)),
        violated_by=((Kind.RESULT,), (Kind.COMMIT,)),
        excused_by=(
            Kind.SEND_BACK,
            Kind.RESULT,
            Kind.DELIVER,
            Kind.EXPIRE,
            *_MENDINGS,
        ),
        counts_with=((Kind.RESET,), (Kind.CORRECT,)),
        seen_or_told=(Kind.SEND_BACK,),
        of_others=(Kind.DELIVER,),
        rules=("CC-12", "SB-5"),
        bugs=("D1", "E6"),
        settled_by="send-backs with their answers (an RPC hook)",
    ),
    TraceClaim(
        id="only-owners-commit",
        statement="A client stores offsets only of queues it has.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN,), (Kind.COMMIT,)),
        violated_by=((Kind.COMMIT,), (Kind.REVOKE,)),
        excused_by=(Kind.ASSIGN,),
        lasts=True,
        counts_with=((Kind.ASSIGN,),),
        seen=(Kind.ASSIGN,),
        rules=("OF-6", "RB-32"),
        bugs=("B3",),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="overlaps-are-short",
        statement="Two clients own one queue no longer than two rounds of rebalance.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        violated_by=((Kind.ASSIGN,),),
        excused_by=(
            Kind.REVOKE,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        counts_with=((Kind.REVOKE,),),
        seen_or_told=(Kind.REVOKE,),
        rules=("RB-1", "RB-30"),
        bugs=("A1", "A5"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="every-queue-gets-an-owner",
        statement="No queue that had an owner, or has messages, is without one for long while the group lives.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        violated_by=((Kind.ASSIGN,), (Kind.REVOKE,)),
        excused_by=(
            Kind.ASSIGN,
            Kind.REBALANCE,
            Kind.HEARTBEAT,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        counts_with=((Kind.ASSIGN,),),
        of_others=(Kind.ASSIGN,),
        rules=("RB-1", "RB-20"),
        bugs=("A7", "A9", "A12"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="no-flapping",
        statement="A client does not drop and take one queue again and again while nothing else changes.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        violated_by=((Kind.ASSIGN,), (Kind.REVOKE,)),
        excused_by=(
            Kind.ASSIGN,
            Kind.CLIENT_START,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        within=True,
        rules=("PQ-11", "PL-9"),
        bugs=("A10", "E1", "F7"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="orderly-one-listener",
        statement="In an orderly group no listener is called while another client's listener runs on the queue.",
        monitor=Monitor.QUEUES,
        needs=_RESULTS,
        violated_by=_DELIVERIES,
        excused_by=(
            Kind.RESULT,
            Kind.DISCARDED,
            *_ENDS,
        ),
        counts_with=((Kind.RESULT,),),
        rules=("OR-3", "OR-11"),
        bugs=("E2", "E3", "E5", "E8"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="orderly-in-order",
        statement="In an orderly group a client gets the messages of a queue in the order of their offsets.",
        monitor=Monitor.QUEUES,
        needs=_DELIVERIES,
        violated_by=_RESULTS,
        excused_by=(
            Kind.DELIVER,
            Kind.RESULT,
            Kind.SEND_BACK,
            *_WINDOWS,
            *_MENDINGS,
        ),
        counts_with=((Kind.ASSIGN,), (Kind.SEND_BACK,)),
        rules=("OR-3", "PQ-5"),
        bugs=("E6",),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="every-queue-moves",
        statement="A queue with messages left makes progress.",
        monitor=Monitor.QUEUES,
        needs=((Kind.PULL_RESULT, Kind.STORE), (Kind.DELIVER, Kind.COMMIT)),
        violated_by=((Kind.PULL_RESULT,), (Kind.DELIVER,), (Kind.RESULT,), (Kind.COMMIT,)),
        excused_by=(
            *_WINDOWS,
            *_LISTENERS,
            Kind.PULL,
            Kind.PULL_RESULT,
            Kind.COMMIT,
            Kind.FLOW_CONTROL,
            Kind.LOCK,
        ),
        lasts=True,
        counts_with=((Kind.SEND_BACK,),),
        rules=("PL-9", "PQ-11"),
        bugs=("A2", "A9", "B8", "E1", "E4", "F1", "F4", "F5"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="reset-is-followed",
        statement="An owner goes on where an operator has set the offset of its queue.",
        monitor=Monitor.QUEUES,
        needs=((Kind.RESET,), (Kind.ASSIGN,), (Kind.PULL, Kind.PULL_RESULT)),
        violated_by=((Kind.RESET,), (Kind.ASSIGN,)),
        excused_by=(*_WINDOWS, Kind.CORRECT, Kind.PULL_RESULT),
        rules=("OF-30", "OF-31"),
        bugs=("B3",),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="orderly-lock-is-renewed",
        statement="The owner of an orderly queue renews its lock as long as it has the queue.",
        monitor=Monitor.QUEUES,
        needs=((Kind.LOCK,), (Kind.ASSIGN,), (Kind.PULL, Kind.PULL_RESULT)),
        violated_by=((Kind.ASSIGN,), (Kind.LOCK,)),
        excused_by=(*_WINDOWS, *_BROKERS, Kind.LOCK, Kind.LOCK_LOST),
        seen_or_told=(Kind.LOCK,),
        rules=("OR-9", "OR-11"),
        bugs=("E3", "E5"),
        settled_by="the lock requests of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="nothing-after-revoke",
        statement="No listener is called with a message of a queue that its client gave up a while ago.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,), (Kind.DELIVER,)),
        violated_by=((Kind.REVOKE,), (Kind.DELIVER,)),
        excused_by=_WINDOWS,
        counts_with=((Kind.ASSIGN,), (Kind.REVOKE,)),
        seen=(Kind.ASSIGN,),
        rules=("CC-3", "OR-6", "RB-32"),
        bugs=("A5", "E3"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="query-answers-what-is-stored",
        statement="A client that asks for the stored offset of a queue is told the one that was stored last.",
        monitor=Monitor.QUEUES,
        needs=((Kind.COMMIT,), (Kind.OFFSET_QUERY,)),
        violated_by=((Kind.COMMIT,), (Kind.OFFSET_QUERY,)),
        excused_by=(Kind.COMMIT, Kind.RESET, Kind.CORRECT, *_BROKERS),
        counts_with=((Kind.RESET,), (Kind.BROKER_START,)),
        of_others=(Kind.COMMIT,),
        rules=("OF-3", "OF-20", "OF-21"),
        bugs=("B4", "B5"),
        settled_by=_OFFSETS,
    ),
    TraceClaim(
        id="nothing-without-its-cause",
        statement="A client pulls, delivers and ends only what it was given: queues by assignment, messages by pulls.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN, Kind.PULL_RESULT, Kind.DELIVER),),
        violated_by=((Kind.ASSIGN,), (Kind.PULL_RESULT,), (Kind.DELIVER,), (Kind.RESULT,)),
        excused_by=(Kind.CLIENT_START, Kind.ASSIGN, Kind.PULL_RESULT, Kind.DELIVER),
        lasts=True,
        rules=("CC-1", "PL-1", "PL-19", "RB-30"),
        bugs=(),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="steps-follow-each-other",
        statement="A client goes on from its last step with a queue: pulls from answers, offsets from what left.",
        monitor=Monitor.QUEUES,
        needs=((Kind.ASSIGN, Kind.PULL, Kind.RESULT, Kind.REMOVED, Kind.COMMIT_MEMORY),),
        violated_by=((Kind.ASSIGN, Kind.PULL, Kind.RESULT, Kind.REMOVED, Kind.COMMIT_MEMORY),),
        excused_by=_STEPS,
        lasts=True,
        rules=("CC-13", "OF-5", "PL-19", "PQ-2", "RB-30"),
        bugs=("B6", "B7", "E6"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="events-fit-each-other",
        statement="What two events tell of one thing is the same: an answer fits its question, a result its delivery.",
        monitor=Monitor.QUEUES,
        needs=((Kind.PULL_RESULT, Kind.DELIVER, Kind.OFFSET_QUERY),),
        violated_by=((Kind.PULL_RESULT, Kind.DELIVER, Kind.OFFSET_QUERY),),
        excused_by=_STEPS,
        lasts=True,
        rules=("CC-3", "PL-19", "RB-41", "SB-6"),
        bugs=("G1", "G4"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="stores-follow-each-other",
        statement="A broker stores messages of a queue one after another, retries and dead letters in their topics.",
        monitor=Monitor.QUEUES,
        needs=((Kind.STORE,),),
        violated_by=((Kind.STORE,),),
        excused_by=(Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, *_BROKERS),
        lasts=True,
        rules=("DL-8", "EN-14", "SB-9", "DQ-1"),
        bugs=("H1", "H5"),
        settled_by="what brokers store, which the capture agent in them sees",
    ),
    # By message.
    TraceClaim(
        id="maximum-as-configured",
        statement="A send-back names the maximum of retries that its group has.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.SEND_BACK,),),
        violated_by=((Kind.SEND_BACK,),),
        excused_by=(),
        rules=("SB-2", "SB-14"),
        bugs=("D3",),
        settled_by="send-backs with their answers (an RPC hook)",
    ),
    TraceClaim(
        id="attempts-follow-each-other",
        statement="Every retry has a count one higher than the failed delivery before it.",
        monitor=Monitor.MESSAGES,
        needs=_DELIVERIES,
        violated_by=_DELIVERIES,
        excused_by=(*_LISTENERS,),
        of_others=(Kind.DELIVER,),
        rules=("SB-6", "SB-14"),
        bugs=("C2", "D7", "F2"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="attempts-within-the-maximum",
        statement="No message is delivered more often than the configured maximum of retries allows.",
        monitor=Monitor.MESSAGES,
        needs=_DELIVERIES,
        violated_by=_DELIVERIES,
        excused_by=(Kind.SEND_BACK,),
        rules=("SB-14", "SB-15"),
        bugs=("D3",),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="every-copy-has-a-cause",
        statement="A second copy of one attempt of a message has a recorded cause.",
        monitor=Monitor.MESSAGES,
        needs=_DELIVERIES,
        violated_by=_DELIVERIES,
        excused_by=(
            *_LISTENERS,
            *_SCHEDULE,
            *_BROKERS,
            *_ENDS,
        ),
        rules=("SB-7", "SB-17", "PQ-9"),
        bugs=("C3", "F3", "H2", "H3", "H4", "H5"),
        settled_by="send-backs with their answers (an RPC hook)",
    ),
    TraceClaim(
        id="only-failed-messages-are-sent-back",
        statement="A message is sent back only after a delivery that failed or ran too long.",
        monitor=Monitor.MESSAGES,
        needs=(*_RESULTS, (Kind.SEND_BACK,)),
        violated_by=((Kind.SEND_BACK,),),
        excused_by=(*_LISTENERS,),
        seen_or_told=(Kind.RESULT,),
        rules=("CC-12", "PQ-9"),
        bugs=("C2", "F2"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="retry-waits-as-its-level-says",
        statement="A retry comes no sooner than the delay of its level after the failure.",
        monitor=Monitor.MESSAGES,
        needs=_RESULTS,
        violated_by=_RESULTS,
        excused_by=(
            *_LISTENERS,
            Kind.DELAY_STORE,
        ),
        rules=("DL-2", "DL-3", "SB-14"),
        bugs=("D4", "D6"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="level-as-the-count-says",
        statement="A message that is sent back waits at the level its count and the listener ask for.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.DELAY_STORE,),),
        violated_by=((Kind.DELAY_STORE,),),
        excused_by=(*_LISTENERS,),
        rules=("SB-14", "DL-2"),
        bugs=("D4", "D6"),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="never-before-it-is-due",
        statement="A delayed message is not delivered before it is due.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.DELAY_STORE,), (Kind.DELAY_DELIVER,)),
        violated_by=((Kind.DELAY_STORE,), (Kind.DELAY_DELIVER,)),
        excused_by=(),
        rules=("DL-3", "DL-5"),
        bugs=("H7",),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="delivered-when-due",
        statement="A delayed message is delivered when it is due, or shortly after.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.DELAY_STORE,), (Kind.DELAY_DELIVER,)),
        violated_by=((Kind.DELAY_STORE,),),
        excused_by=(
            Kind.DELIVER,
            *_SCHEDULE,
            *_BROKERS,
        ),
        rules=("DL-4", "DL-5"),
        bugs=("H1", "H6", "H7"),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="dead-letter-exactly-at-the-maximum",
        statement="A message becomes a dead letter exactly when its last attempt has failed, or the listener gives up.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.DEAD_LETTER,), (Kind.SEND_BACK, Kind.RESULT)),
        violated_by=((Kind.DEAD_LETTER,), (Kind.SEND_BACK, Kind.RESULT)),
        excused_by=(
            *_LISTENERS,
            *_SCHEDULE,
            Kind.DEAD_LETTER,
        ),
        rules=("SB-14", "DQ-1"),
        bugs=("D2", "D3"),
        settled_by="the broker's dead-letter topic",
    ),
    TraceClaim(
        id="nothing-after-the-dead-letter",
        statement="A dead letter is not delivered to its group again.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.DEAD_LETTER,), (Kind.DELIVER,)),
        violated_by=((Kind.DEAD_LETTER,), (Kind.DELIVER,)),
        excused_by=(
            *_LISTENERS,
            *_SCHEDULE,
        ),
        rules=("DQ-1",),
        bugs=("D3",),
        settled_by="the broker's dead-letter topic",
    ),
    TraceClaim(
        id="sent-back-message-comes-again",
        statement="A message that was sent back is stored again, as a retry or as a dead letter.",
        monitor=Monitor.MESSAGES,
        needs=((Kind.SEND_BACK,), (Kind.DELAY_STORE, Kind.STORE, Kind.DELIVER)),
        violated_by=((Kind.SEND_BACK,),),
        excused_by=(
            *_LISTENERS,
            *_SCHEDULE,
            Kind.STORE,
            Kind.DEAD_LETTER,
        ),
        of_broker=(Kind.DELAY_DELIVER, Kind.DEAD_LETTER),
        of_others=(Kind.DELIVER,),
        rules=("SB-12", "SB-14"),
        bugs=("D7", "D8"),
        settled_by="the broker's schedule topic",
    ),
    # By group.
    TraceClaim(
        id="one-process-for-each-client-id",
        statement="No two live processes of a group have the same client id.",
        monitor=Monitor.GROUPS,
        needs=((Kind.CLIENT_START, Kind.HEARTBEAT),),
        violated_by=((Kind.CLIENT_START, Kind.HEARTBEAT),),
        excused_by=(
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        rules=("EN-2", "EN-6", "RB-21"),
        bugs=("A1",),
        settled_by="start and heartbeat of every client",
    ),
    TraceClaim(
        id="same-subscriptions",
        statement="All members of a group consume the same topics with the same expressions.",
        monitor=Monitor.GROUPS,
        needs=((Kind.HEARTBEAT,),),
        violated_by=((Kind.HEARTBEAT,),),
        excused_by=(
            Kind.HEARTBEAT,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        rules=("EN-2", "ST-5", "FI-1"),
        bugs=("A2", "A3", "A7"),
        settled_by="heartbeats, or the broker's log of changed subscriptions",
    ),
    TraceClaim(
        id="allocation-as-the-strategy-says",
        statement="A client gives itself the queues that its strategy computes from what it saw.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        violated_by=((Kind.REBALANCE,),),
        excused_by=(),
        rules=("RB-6", "RB-21", "RB-27"),
        bugs=("A6", "A11", "A14"),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="views-agree",
        statement="Members of a group do not differ about members for longer than two rounds, nor about queues for "
        "longer than it takes to learn of a route besides.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        violated_by=((Kind.REBALANCE,),),
        excused_by=(
            Kind.REBALANCE,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        rules=("EN-2", "RB-1", "RB-4"),
        bugs=("A5", "A12"),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="every-topic-is-balanced",
        statement="A client balances all its topics, again and again.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,), (Kind.HEARTBEAT,)),
        violated_by=((Kind.REBALANCE,), (Kind.HEARTBEAT,)),
        excused_by=(
            Kind.REBALANCE,
            Kind.HEARTBEAT,
            Kind.ROUTE,
            Kind.UNREGISTER,
            *_ENDS,
        ),
        lasts=True,
        rules=("RB-1",),
        bugs=("A8",),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="processes-act-in-order",
        statement="A process starts, acts in its group, leaves it and stops, in that order; so does a broker.",
        monitor=Monitor.GROUPS,
        needs=((Kind.CLIENT_START,),),
        violated_by=((Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.HEARTBEAT, Kind.BROKER_START),),
        excused_by=(*_LIFE, Kind.ASSIGN, Kind.REVOKE, Kind.BROKER_START, Kind.BROKER_STOP, Kind.FILE_LOAD),
        lasts=True,
        rules=("ST-1", "ST-4", "ST-8"),
        bugs=("A1",),
        settled_by="start and heartbeat of every client",
    ),
    TraceClaim(
        id="shares-are-taken",
        statement="A client takes and gives up what its last pass of rebalance says, which goes by what it was told.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        violated_by=((Kind.REBALANCE, Kind.ASSIGN),),
        excused_by=(*_LIFE, Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE, Kind.ROUTE, Kind.MEMBERS, Kind.LOCK),
        lasts=True,
        rules=("EN-2", "EN-5", "RB-21", "RB-30"),
        bugs=("A5", "A11", "A12"),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="subscription-is-current",
        statement="Pulls are not refused for an outdated or missing subscription for longer than a heartbeat period.",
        monitor=Monitor.QUEUES,
        needs=((Kind.PULL_RESULT,),),
        violated_by=((Kind.PULL_RESULT,),),
        excused_by=(Kind.PULL_RESULT,),
        within=True,
        rules=("PL-16", "ST-5"),
        bugs=("A2", "A4"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="illegal-offset-is-mended",
        statement="A pull offset found illegal is mended, not asked for again.",
        monitor=Monitor.QUEUES,
        needs=((Kind.PULL_RESULT,),),
        violated_by=((Kind.PULL_RESULT,),),
        excused_by=(
            Kind.PULL_RESULT,
            Kind.CORRECT,
            Kind.RESET,
        ),
        within=True,
        rules=("PL-23",),
        bugs=("G4",),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="every-queue-is-readable",
        statement="Messages are stored only in queues that some member knows of.",
        monitor=Monitor.GROUPS,
        needs=((Kind.STORE,), (Kind.REBALANCE, Kind.ROUTE)),
        violated_by=((Kind.STORE,),),
        excused_by=(
            Kind.REBALANCE,
            Kind.ROUTE,
            Kind.HEARTBEAT,
        ),
        rules=("EN-5",),
        bugs=("A13", "D8"),
        settled_by="a wrapped allocation strategy",
    ),
)
"""All claims."""

CODE: Mapping[str, int] = {claim.id: code for code, claim in enumerate(CLAIMS)}
"""The code of each claim, by id."""


def claim(id: str) -> TraceClaim:
    """The claim of an id; KeyError without one."""
    return CLAIMS[CODE[id]]
