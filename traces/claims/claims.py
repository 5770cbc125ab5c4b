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


class Ground(enum.StrEnum):
    """What a violation rests on."""

    CONFLICT = "conflict"  # events that contradict each other: gaps in the trace cannot make it go away
    ABSENCE = "absence"  # something that should have been recorded and was not: a gap in the trace weakens it


@dataclass(frozen=True, kw_only=True)
class TraceClaim:
    """One claim.

    Attributes:
        id: short name with dashes.
        statement: one sentence a user of RocketMQ understands.
        monitor: who judges it.
        ground: what a violation rests on.
        needs: kinds of events without which it cannot be judged; of each tuple one is enough.
        rules: rules of RocketMQ it rests on.
        bugs: entries of the zoo of known bugs that break it.
        settled_by: which recording would settle it where it cannot be observed.
    """

    id: str
    statement: str
    monitor: Monitor
    ground: Ground
    needs: tuple[tuple[Kind, ...], ...]
    rules: tuple[str, ...]
    bugs: tuple[str, ...]
    settled_by: str


_DELIVERIES = ((Kind.DELIVER,),)
_RESULTS = ((Kind.DELIVER,), (Kind.RESULT,))
_HOOK = "a consume-message hook (consumer side)"
_OFFSETS = "the client's log of persisted offsets, or the broker's commit requests"

CLAIMS = (
    # By queue.
    TraceClaim(
        id="every-duplicate-has-a-cause",
        statement="A message that is delivered again from its queue has a recorded cause.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=_DELIVERIES,
        rules=("CC-12", "CC-13", "OF-20", "RB-30"),
        bugs=("B1", "B2", "B9", "C5"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="offset-never-back-without-cause",
        statement="The stored offset of a queue decreases only for a reason of the closed list.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.COMMIT,),),
        rules=("OF-8", "OF-20", "OF-30"),
        bugs=("B1", "B2", "B3", "B4", "B5"),
        settled_by=_OFFSETS,
    ),
    TraceClaim(
        id="offset-never-past-unfinished",
        statement="The stored offset never passes a message whose listener is still running.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=(*_RESULTS, (Kind.COMMIT,)),
        rules=("PQ-2", "CC-13"),
        bugs=("B7",),
        settled_by=_OFFSETS,
    ),
    TraceClaim(
        id="nothing-skipped",
        statement="The stored offset passes no message that was neither delivered nor filtered out.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.DELIVER,), (Kind.PULL_RESULT,), (Kind.COMMIT,)),
        rules=("PQ-2", "RB-41", "FI-3"),
        bugs=("B6", "B9", "E6", "G1"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="failed-message-comes-again",
        statement="The stored offset passes a failed message only after it was sent back.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=(*_RESULTS, (Kind.SEND_BACK,), (Kind.COMMIT,)),
        rules=("CC-12", "SB-5"),
        bugs=("D1", "E6"),
        settled_by="send-backs with their answers (an RPC hook)",
    ),
    TraceClaim(
        id="only-owners-commit",
        statement="A client stores offsets only of queues it has.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.ASSIGN,), (Kind.COMMIT,)),
        rules=("OF-6", "RB-32"),
        bugs=("B3",),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="overlaps-are-short",
        statement="Two clients own one queue no longer than two rounds of rebalance.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        rules=("RB-1", "RB-30"),
        bugs=("A1", "A5"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="every-queue-gets-an-owner",
        statement="No queue that had an owner is without one for longer than two rounds while the group lives.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        rules=("RB-1", "RB-20"),
        bugs=("A7", "A9", "A12"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="no-flapping",
        statement="A client does not drop and take one queue again and again while nothing else changes.",
        monitor=Monitor.QUEUES,
        ground=Ground.CONFLICT,
        needs=((Kind.ASSIGN,), (Kind.REVOKE,)),
        rules=("PQ-11", "PL-9"),
        bugs=("A10", "E1", "F7"),
        settled_by="the client's log of added and removed queues",
    ),
    TraceClaim(
        id="orderly-one-listener",
        statement="In an orderly group no listener is called while another client's listener runs on the queue.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=_RESULTS,
        rules=("OR-3", "OR-11"),
        bugs=("E2", "E3", "E5", "E8"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="orderly-in-order",
        statement="In an orderly group a client gets the messages of a queue in the order of their offsets.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=_DELIVERIES,
        rules=("OR-3", "PQ-5"),
        bugs=("E6",),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="every-queue-moves",
        statement="A queue with messages left makes progress.",
        monitor=Monitor.QUEUES,
        ground=Ground.ABSENCE,
        needs=((Kind.PULL_RESULT, Kind.STORE), (Kind.DELIVER, Kind.COMMIT)),
        rules=("PL-9", "PQ-11"),
        bugs=("A2", "A9", "B8", "E1", "E4", "F1", "F4", "F5"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    # By message.
    TraceClaim(
        id="attempts-follow-each-other",
        statement="Every retry has a count one higher than the failed delivery before it.",
        monitor=Monitor.MESSAGES,
        ground=Ground.ABSENCE,
        needs=_DELIVERIES,
        rules=("SB-6", "SB-14"),
        bugs=("C2", "D7", "F2"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="attempts-within-the-maximum",
        statement="No message is delivered more often than the configured maximum of retries allows.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=_DELIVERIES,
        rules=("SB-14", "SB-15"),
        bugs=("D3",),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="every-copy-has-a-cause",
        statement="A second copy of one attempt of a message has a recorded cause.",
        monitor=Monitor.MESSAGES,
        ground=Ground.ABSENCE,
        needs=_DELIVERIES,
        rules=("SB-7", "SB-17", "PQ-9"),
        bugs=("C3", "F3", "H2", "H3", "H4", "H5"),
        settled_by="send-backs with their answers (an RPC hook)",
    ),
    TraceClaim(
        id="only-failed-messages-are-sent-back",
        statement="A message is sent back only after a delivery that failed or ran too long.",
        monitor=Monitor.MESSAGES,
        ground=Ground.ABSENCE,
        needs=(*_RESULTS, (Kind.SEND_BACK,)),
        rules=("CC-12", "PQ-9"),
        bugs=("C2", "F2"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="retry-waits-as-its-level-says",
        statement="A retry comes no sooner than the delay of its level after the failure.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=_RESULTS,
        rules=("DL-2", "DL-3", "SB-14"),
        bugs=("D4", "D6"),
        settled_by=_HOOK,
    ),
    TraceClaim(
        id="level-as-the-count-says",
        statement="A message that is sent back waits at the level its count and the listener ask for.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=((Kind.DELAY_STORE,),),
        rules=("SB-14", "DL-2"),
        bugs=("D4", "D6"),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="never-before-it-is-due",
        statement="A delayed message is not delivered before it is due.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=((Kind.DELAY_STORE,), (Kind.DELAY_DELIVER,)),
        rules=("DL-3", "DL-5"),
        bugs=("H7",),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="delivered-when-due",
        statement="A delayed message is delivered when it is due, or shortly after.",
        monitor=Monitor.MESSAGES,
        ground=Ground.ABSENCE,
        needs=((Kind.DELAY_STORE,), (Kind.DELAY_DELIVER,)),
        rules=("DL-4", "DL-5"),
        bugs=("H1", "H6", "H7"),
        settled_by="the broker's schedule topic",
    ),
    TraceClaim(
        id="dead-letter-exactly-at-the-maximum",
        statement="A message becomes a dead letter exactly when its last attempt has failed, or the listener gives up.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=((Kind.DEAD_LETTER,), (Kind.SEND_BACK, Kind.RESULT)),
        rules=("SB-14", "DQ-1"),
        bugs=("D2", "D3"),
        settled_by="the broker's dead-letter topic",
    ),
    TraceClaim(
        id="nothing-after-the-dead-letter",
        statement="A dead letter is not delivered to its group again.",
        monitor=Monitor.MESSAGES,
        ground=Ground.CONFLICT,
        needs=((Kind.DEAD_LETTER,), (Kind.DELIVER,)),
        rules=("DQ-1",),
        bugs=("D3",),
        settled_by="the broker's dead-letter topic",
    ),
    TraceClaim(
        id="sent-back-message-comes-again",
        statement="A message that was sent back is stored again, as a retry or as a dead letter.",
        monitor=Monitor.MESSAGES,
        ground=Ground.ABSENCE,
        needs=((Kind.SEND_BACK,), (Kind.DELAY_STORE, Kind.STORE, Kind.DELIVER)),
        rules=("SB-12", "SB-14"),
        bugs=("D7", "D8"),
        settled_by="the broker's schedule topic",
    ),
    # By group.
    TraceClaim(
        id="one-process-for-each-client-id",
        statement="No two live processes of a group have the same client id.",
        monitor=Monitor.GROUPS,
        ground=Ground.CONFLICT,
        needs=((Kind.CLIENT_START, Kind.HEARTBEAT),),
        rules=("EN-5", "RB-21"),
        bugs=("A1",),
        settled_by="start and heartbeat of every client",
    ),
    TraceClaim(
        id="same-subscriptions",
        statement="All members of a group consume the same topics with the same expressions.",
        monitor=Monitor.GROUPS,
        ground=Ground.CONFLICT,
        needs=((Kind.HEARTBEAT,),),
        rules=("FI-1", "FI-3", "RB-20"),
        bugs=("A2", "A3", "A7"),
        settled_by="heartbeats, or the broker's log of changed subscriptions",
    ),
    TraceClaim(
        id="allocation-as-the-strategy-says",
        statement="A client gives itself the queues that its strategy computes from what it saw.",
        monitor=Monitor.GROUPS,
        ground=Ground.CONFLICT,
        needs=((Kind.REBALANCE,),),
        rules=("RB-21", "RB-30"),
        bugs=("A6", "A11", "A14"),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="views-agree",
        statement="Members of a group do not differ about members and queues for longer than two rounds.",
        monitor=Monitor.GROUPS,
        ground=Ground.CONFLICT,
        needs=((Kind.REBALANCE,),),
        rules=("RB-1", "RB-20"),
        bugs=("A5", "A12"),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="every-topic-is-balanced",
        statement="A client that balances one of its topics balances all of them.",
        monitor=Monitor.GROUPS,
        ground=Ground.ABSENCE,
        needs=((Kind.REBALANCE,), (Kind.HEARTBEAT,)),
        rules=("RB-1",),
        bugs=("A8",),
        settled_by="a wrapped allocation strategy",
    ),
    TraceClaim(
        id="subscription-is-current",
        statement="Pulls are not refused for an outdated or missing subscription for longer than a heartbeat period.",
        monitor=Monitor.QUEUES,
        ground=Ground.CONFLICT,
        needs=((Kind.PULL_RESULT,),),
        rules=("FI-3", "PL-24"),
        bugs=("A2", "A4"),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="illegal-offset-is-mended",
        statement="A pull offset found illegal is mended, not asked for again.",
        monitor=Monitor.QUEUES,
        ground=Ground.CONFLICT,
        needs=((Kind.PULL_RESULT,),),
        rules=("PL-23",),
        bugs=("G4",),
        settled_by="pull results of the consumer (an RPC hook)",
    ),
    TraceClaim(
        id="every-queue-is-readable",
        statement="Messages are stored only in queues that some member knows of.",
        monitor=Monitor.GROUPS,
        ground=Ground.ABSENCE,
        needs=((Kind.STORE,), (Kind.REBALANCE, Kind.ROUTE)),
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
