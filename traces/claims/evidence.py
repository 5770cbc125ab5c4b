"""The evidence on which findings rest: kinds that several claims need or that excuse several, and what records them.

Some recorders see only listeners, or only requests to brokers; what others recorded says nothing about them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ..format.kinds import IN_WINDOW, LOCKS, Kind


@dataclass(frozen=True, kw_only=True)
class RestsOn:
    """Kinds without which the findings of a row of a table, or of a claim, are in doubt.

    Attributes:
        seen: kinds of which each named process must have recorded some: one that never did may not record them.
        seen_or_told: the same for kinds that need not occur; a statement that they are recorded is enough.
        of_others: like ``seen_or_told``, for every client of the group, if no process may be named.
        of_broker: the same for the broker of the queue.
        at_broker: the same for what is stored at the broker of the queue, by any process.
        of_itself: whether only actions of the named processes, or of brokers, can excuse it: a hole in the recording of
            another client then leaves no doubt.
    """

    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    of_others: tuple[Kind, ...] = ()
    of_broker: tuple[Kind, ...] = ()
    at_broker: tuple[Kind, ...] = ()
    of_itself: bool = False


DELIVERIES = ((Kind.DELIVER,),)
PULLS = (Kind.PULL, Kind.PULL_RESULT)
LEAVING = (Kind.DELIVER, Kind.RESULT, Kind.REMOVED)
RESULTS = ((Kind.DELIVER,), (Kind.RESULT,))
ENDS = (Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
LIFE = (Kind.CLIENT_START, *ENDS, Kind.HEARTBEAT, Kind.UNREGISTER)
WINDOWS = (Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_START, *ENDS)
BROKERS = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
MENDINGS = (Kind.RESET, Kind.CORRECT, Kind.PULL_RESULT, *BROKERS)
LISTENERS = (Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.EXPIRE)
SCHEDULE = (Kind.DELAY_STORE, Kind.DELAY_DELIVER)
WINDOW_STEPS = (
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.PULL,
    Kind.PULL_RESULT,
    *IN_WINDOW,
    Kind.COMMIT_MEMORY,
    Kind.OFFSET_QUERY,
    Kind.RESET,
    Kind.CORRECT,
    Kind.UNREGISTER,
    *ENDS,
)
HOOK = "a consume-message hook (consumer side)"
OFFSETS = "the client's log of persisted offsets, or the broker's commit requests"
PULL_RESULTS = "pull results of the consumer (an RPC hook)"
SEND_BACKS = "send-backs with their answers (an RPC hook)"
ASSIGNMENTS = "the client's log of added and removed queues"
STRATEGY = "a wrapped allocation strategy"
SCHEDULE_TOPIC = "the broker's schedule topic"
DEAD_LETTERS = "the broker's dead-letter topic"
HEARTBEATS = "start and heartbeat of every client"
RECORDED: Mapping[str, tuple[Kind, ...]] = {
    HOOK: (Kind.DELIVER, Kind.RESULT),
    OFFSETS: (Kind.COMMIT,),
    PULL_RESULTS: (Kind.PULL_RESULT,),
    SEND_BACKS: (Kind.SEND_BACK,),
    ASSIGNMENTS: (Kind.ASSIGN, Kind.REVOKE),
    "the lock requests of the consumer (an RPC hook)": LOCKS,
    SCHEDULE_TOPIC: (Kind.DELAY_STORE, Kind.DELAY_DELIVER),
    "what brokers store, which the capture agent in them sees": (Kind.STORE,),
    DEAD_LETTERS: (Kind.DEAD_LETTER,),
    HEARTBEATS: (Kind.CLIENT_START, Kind.HEARTBEAT),
    "heartbeats, or the broker's log of changed subscriptions": (Kind.HEARTBEAT,),
    STRATEGY: (Kind.REBALANCE, Kind.ROUTE),
    "ends of clients, which the capture agents see": (Kind.CLIENT_STOP, Kind.CLIENT_CRASH, Kind.UNREGISTER),
    "starts and ends of brokers, in their logs": (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH),
    "resets, in the broker's log": (Kind.RESET,),
}
"""Which recorders record which kinds."""


def would_settle(usually: str, lacking: Iterable[Collection[Kind]]) -> str:
    """What would settle a claim that lacks something, in words; empty if nothing is known to record it.

    What ``usually`` settles the claim is not suggested if it was given, and something else is missing.
    """
    wanted = {kind for kinds in lacking for kind in kinds}
    if not wanted.isdisjoint(RECORDED.get(usually, ())):
        return f"{usually} would settle it"
    by = next((words for words, kinds in RECORDED.items() if not wanted.isdisjoint(kinds)), "")
    return f"{by} would settle it" if by else ""
