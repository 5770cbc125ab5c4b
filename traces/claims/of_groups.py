"""Claims about groups: members, subscriptions and rebalance."""

from __future__ import annotations

from ..format.kinds import Kind
from .claim import Monitor, TraceClaim
from .evidence import ENDS, HEARTBEATS, LIFE, STRATEGY

OF_GROUPS = (
    TraceClaim(
        id="one-process-for-each-client-id",
        statement="No two live processes of a group have the same client id.",
        monitor=Monitor.GROUPS,
        needs=((Kind.CLIENT_START, Kind.HEARTBEAT),),
        excused_by=(Kind.UNREGISTER, *ENDS),
        lasts=True,
        rules=("EN-2", "EN-6", "RB-21"),
        bugs=("A1",),
        settled_by=HEARTBEATS,
    ),
    TraceClaim(
        id="same-subscriptions",
        statement="All members of a group consume the same topics with the same expressions.",
        monitor=Monitor.GROUPS,
        needs=((Kind.HEARTBEAT,),),
        excused_by=(Kind.HEARTBEAT, Kind.UNREGISTER, *ENDS),
        lasts=True,
        rules=("EN-2", "ST-5", "FI-1"),
        bugs=("A2", "A3", "A7"),
        settled_by="heartbeats, or the broker's log of changed subscriptions",
    ),
    TraceClaim(
        id="allocation-as-the-strategy-says",
        statement="A client assigns itself the queues that its strategy computes from what it saw.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        excused_by=(),
        of_itself=True,
        rules=("RB-6", "RB-21", "RB-27"),
        bugs=("A6", "A11", "A14"),
        settled_by=STRATEGY,
    ),
    TraceClaim(
        id="views-agree",
        statement=(
            "Members of a group do not disagree about the members for longer than two rounds of rebalance, nor "
            "about the queues for longer than that and the time to learn of a new route."
        ),
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        excused_by=(Kind.REBALANCE, Kind.UNREGISTER, *ENDS),
        lasts=True,
        rules=("EN-2", "RB-1", "RB-4"),
        bugs=("A5", "A12"),
        settled_by=STRATEGY,
    ),
    TraceClaim(
        id="every-topic-is-balanced",
        statement="A client keeps rebalancing all its topics.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,), (Kind.HEARTBEAT,)),
        violated_by=((Kind.REBALANCE,), (Kind.HEARTBEAT,), (Kind.ROUTE,)),
        excused_by=(Kind.REBALANCE, Kind.HEARTBEAT, Kind.ROUTE, Kind.UNREGISTER, *ENDS),
        lasts=True,
        seen_or_told=(Kind.REBALANCE,),
        rules=("RB-1",),
        bugs=("A8",),
        settled_by=STRATEGY,
    ),
    TraceClaim(
        id="processes-act-in-order",
        statement="A process starts, acts in its group, leaves it and stops, in that order; so does a broker.",
        monitor=Monitor.GROUPS,
        needs=((Kind.CLIENT_START,),),
        excused_by=(*LIFE, Kind.ASSIGN, Kind.REVOKE, Kind.BROKER_START, Kind.BROKER_STOP, Kind.FILE_LOAD),
        lasts=True,
        of_itself=True,
        rules=("ST-1", "ST-4", "ST-8"),
        bugs=("A1",),
        settled_by=HEARTBEATS,
    ),
    TraceClaim(
        id="shares-are-taken",
        statement="A client takes and gives up what its last rebalance says, which is based on what brokers told it.",
        monitor=Monitor.GROUPS,
        needs=((Kind.REBALANCE,),),
        excused_by=(*LIFE, Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE, Kind.ROUTE, Kind.MEMBERS, Kind.LOCK),
        lasts=True,
        of_itself=True,
        rules=("EN-2", "EN-5", "RB-21", "RB-30"),
        bugs=("A5", "A11", "A12"),
        settled_by=STRATEGY,
    ),
)
"""Keyed by group."""

OF_TOPICS = (
    TraceClaim(
        id="every-queue-is-readable",
        statement="Messages are stored only in queues that some member knows of.",
        monitor=Monitor.GROUPS,
        needs=((Kind.STORE, Kind.DELAY_DELIVER), (Kind.REBALANCE, Kind.ROUTE)),
        violated_by=((Kind.STORE,),),
        excused_by=(Kind.REBALANCE, Kind.ROUTE, Kind.HEARTBEAT),
        rules=("EN-5",),
        bugs=("A13", "D8"),
        settled_by=STRATEGY,
    ),
)
"""Keyed by topic, which several groups may read."""
