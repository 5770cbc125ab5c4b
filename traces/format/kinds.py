"""The vocabulary of a trace: what can happen, how it can end, and on which path it came about.

The values are the words of the file. The position of a word in its enumeration is its code, which monitors and compiled
functions use, so new words are only ever added at the end.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TypeVar


class Kind(enum.StrEnum):
    """What happened. Each kind gives the shared fields their meaning; the actor is the client or the broker."""

    # Of processes.
    CLIENT_START = "client_start"  # the client instance runs
    CLIENT_STOP = "client_stop"  # an orderly shutdown is complete
    CLIENT_CRASH = "client_crash"  # the process died, as seen by an observer outside
    HEARTBEAT = "heartbeat"  # subscriptions = what it states that it consumes in group
    UNREGISTER = "unregister"  # the client leaves the group by request 35
    BROKER_START = "broker_start"
    BROKER_STOP = "broker_stop"
    BROKER_CRASH = "broker_crash"
    ROLE_CHANGE = "role_change"  # result = master or slave
    MEMBERS = "members"  # the broker's list for group: members
    ROUTE = "route"  # queues = the queues of topic that the client, or the name server, knows
    # Of ownership.
    REBALANCE = "rebalance"  # of group on topic: members, queues as seen, assigned = the answer, detail = strategy
    ASSIGN = "assign"  # the client adds the queue, offset = where it starts
    REVOKE = "revoke"  # the client drops the queue, path = why
    LOCK = "lock"  # result ok, failed (refused), or error where the request failed
    UNLOCK = "unlock"
    LOCK_LOST = "lock_lost"  # the client finds its lock expired or refused
    # Of offsets.
    OFFSET_QUERY = "offset_query"  # result ok (offset), none or error
    COMMIT_MEMORY = "commit_memory"  # the client's own table: offset
    COMMIT = "commit"  # the group's stored offset becomes offset, path = on which path
    RESET = "reset"  # an operator sets the group's offset
    CORRECT = "correct"  # the client corrects an illegal pull offset: offset = the new one
    FILE_LOAD = "file_load"  # of local offsets, or of a broker's table
    FILE_PERSIST = "file_persist"
    # Of pulling.
    PULL = "pull"  # pull request from offset
    PULL_RESULT = "pull_result"  # pull from offset: result, next, min, max, count of messages that came
    FLOW_CONTROL = "flow_control"  # the client does not pull, path = why
    # Of consumption.
    DELIVER = "deliver"  # the listener is called with the message at offset
    RESULT = "result"  # the call has ended for the message at offset
    REMOVED = "removed"  # the message left the window, next = the low-water mark then
    DISCARDED = "discarded"  # a result that was ignored: the queue was dropped meanwhile
    EXPIRE = "expire"  # the client cleans a message whose listener runs too long
    SEND_BACK = "send_back"  # request 36 or its fallback (path), result ok or failed, level requested, max_attempts
    # Of the broker's store.
    STORE = "store"  # a message is stored in a real topic, the retry topic included
    DELAY_STORE = "delay_store"  # it waits at level until due; topic, attempt = of the message it will be
    DELAY_DELIVER = "delay_deliver"  # the waiting message moves to queue and offset of its topic
    DEAD_LETTER = "dead_letter"  # stored in the dead-letter topic of group
    # Of the recording itself.
    GAP = "gap"  # the recorder lost count events between due and time (ms)


class Result(enum.StrEnum):
    """How it ended."""

    NONE = ""
    OK = "ok"
    FAILED = "failed"
    ERROR = "error"
    MISSING = "none"  # of an offset query: nothing is stored
    LATER = "later"
    SUSPEND = "suspend"
    EXCEPTION = "exception"
    NULL = "null"
    TIMEOUT = "timeout"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    FOUND = "found"
    NO_NEW_MESSAGE = "no_new_message"
    NO_MATCHED_MESSAGE = "no_matched_message"
    OFFSET_ILLEGAL = "offset_illegal"
    SUBSCRIPTION_NOT_LATEST = "subscription_not_latest"
    SUBSCRIPTION_NOT_EXIST = "subscription_not_exist"
    MASTER = "master"
    SLAVE = "slave"


class Path(enum.StrEnum):
    """On which path, or why."""

    NONE = ""
    PERIODIC = "periodic"  # commit: every 5 s
    PIGGYBACK = "piggyback"  # commit: with a pull request
    REMOVAL = "removal"  # commit, revoke: the queue is given up by rebalance
    SHUTDOWN = "shutdown"
    RESET = "reset"
    CORRECTION = "correction"
    EXPIRED = "expired"  # revoke: no pull for 120 s; send_back: the consume timeout
    LOCK = "lock"  # revoke: the lock was lost
    UNSUBSCRIBE = "unsubscribe"
    REQUEST = "request"  # send_back: request 36
    FALLBACK = "fallback"  # send_back: produced by the client
    FILE = "file"
    REPLICA = "replica"
    COUNT = "count"  # flow_control: too many messages cached
    SIZE = "size"
    SPAN = "span"
    ORDERLY = "orderly"  # flow_control: the queue is not locked
    APPLICATION = "application"  # send_back: DefaultMQPushConsumer#sendMessageBack, whatever the listener answers


_Word = TypeVar("_Word", bound=enum.StrEnum)


def codes(words: type[_Word]) -> Mapping[_Word, int]:
    """The code of each word."""
    return {word: code for code, word in enumerate(words)}


CLIENT_ENDS = frozenset({Kind.CLIENT_STOP, Kind.CLIENT_CRASH})
"""Kinds that show that a client is gone."""

BROKER_RUNS = frozenset({Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE})
"""Kinds that show whether a broker runs, and in which role."""

IN_WINDOW = (Kind.DELIVER, Kind.RESULT, Kind.REMOVED, Kind.DISCARDED, Kind.EXPIRE)
"""Kinds that show what becomes of a message in the window of the client that pulled it."""

LOCKS = (Kind.LOCK, Kind.UNLOCK, Kind.LOCK_LOST)
"""Kinds about the lock of a queue, as recorded by an orderly client."""

CALLS = frozenset({Kind.DELIVER, Kind.RESULT})
"""The beginning and end of a listener call."""

STORES = frozenset({Kind.STORE, Kind.DELAY_STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER})
"""Kinds for a message that a broker stores."""

OF_BROKERS = BROKER_RUNS | STORES | {Kind.MEMBERS}
"""Kinds that only brokers, or their observers, record, even if the event names a client."""

CONTEXT = frozenset(
    {
        *(Kind.CLIENT_START, Kind.HEARTBEAT, Kind.UNREGISTER, Kind.REBALANCE, Kind.ROUTE, Kind.MEMBERS),
        *(Kind.FILE_LOAD, Kind.FILE_PERSIST, Kind.GAP),
        *CLIENT_ENDS,
        *BROKER_RUNS,
    }
)
"""Kinds that concern more than one queue or message: they are few, and read before everything else."""

OWNERSHIP = frozenset({Kind.ASSIGN, Kind.REVOKE})
"""Kinds that show who has a queue: also few, and compared with what else groups do."""

ANSWERS = (Result.FOUND, Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE)
"""Results of a pull that was answered."""

FAILURES = frozenset({Result.LATER, Result.EXCEPTION, Result.NULL, Result.ROLLBACK, Result.FAILED})
"""Results after which a message is not consumed; ``timeout`` occurs with whatever the listener finally returned."""

SUCCESSES = frozenset({Result.OK, Result.COMMIT, Result.TIMEOUT})
"""Results after which it is consumed. TR-4: a call that took too long counts as the listener says; ``timeout`` is
success.
"""
