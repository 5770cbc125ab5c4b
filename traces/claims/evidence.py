"""Kinds of events that several claims need or that excuse several, and recordings that settle several."""

from __future__ import annotations

from ..format.kinds import IN_WINDOW, Kind

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
