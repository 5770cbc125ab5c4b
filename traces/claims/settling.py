"""What would settle a claim that cannot be judged: recorders of the missing kinds of events."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..format.kinds import LOCKS, Kind
from .claim import TraceClaim

RECORDED: Mapping[str, tuple[Kind, ...]] = {
    "a consume-message hook (consumer side)": (Kind.DELIVER, Kind.RESULT),
    "the client's log of persisted offsets, or the broker's commit requests": (Kind.COMMIT,),
    "pull results of the consumer (an RPC hook)": (Kind.PULL_RESULT,),
    "send-backs with their answers (an RPC hook)": (Kind.SEND_BACK,),
    "the client's log of added and removed queues": (Kind.ASSIGN, Kind.REVOKE),
    "the lock requests of the consumer (an RPC hook)": LOCKS,
    "the broker's schedule topic": (Kind.DELAY_STORE, Kind.DELAY_DELIVER),
    "what brokers store, which the capture agent in them sees": (Kind.STORE,),
    "the broker's dead-letter topic": (Kind.DEAD_LETTER,),
    "start and heartbeat of every client": (Kind.CLIENT_START, Kind.HEARTBEAT),
    "heartbeats, or the broker's log of changed subscriptions": (Kind.HEARTBEAT,),
    "a wrapped allocation strategy": (Kind.REBALANCE, Kind.ROUTE),
    "ends of clients, which the capture agents see": (Kind.CLIENT_STOP, Kind.CLIENT_CRASH, Kind.UNREGISTER),
    "starts and ends of brokers, in their logs": (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH),
    "resets, in the broker's log": (Kind.RESET,),
}
"""Which recorders record which kinds."""


def would_settle(claim: TraceClaim, lacking: Collection[Kind]) -> str:
    """The end of a sentence about what is missing; empty if nothing is known to record it.

    A recording that usually settles a claim is not suggested if it was given, and something else is missing.
    """
    usual = RECORDED.get(claim.settled_by, ())
    if any(kind in usual for kind in lacking):
        return f"; {claim.settled_by} would settle it"
    by = next((words for words, kinds in RECORDED.items() if any(kind in kinds for kind in lacking)), "")
    return f"; {by} would settle it" if by else ""
