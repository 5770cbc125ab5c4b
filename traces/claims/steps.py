"""Steps: what a process does with a queue follows from what it did before, one step after another, without a deadline.

:data:`STEPS` is read as a specification; :mod:`..monitors.steps` applies it. All events of a step are of one process,
whose order is certain. A row is asked where the kinds it needs were recorded, from the first of them on.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import Kind


class Misstep(enum.IntEnum):
    """What does not follow; rows of the claims of :data:`STEPS` have it in ``value``."""

    NOT_ASKED = 0  # a pull is answered that is not under way
    ELSEWHERE = 1  # a pull asks from ``offset``, and the window is at ``expected``
    ASKED_TWICE = 2  # a pull asks while the answer to the one before is awaited
    TAKEN_TWICE = 3  # a queue is taken by a client that has it
    NOT_HAD = 4  # a queue is given up by a client that has it no more
    NO_QUERY = 5  # a queue is taken whose stored offset was not asked for
    RETURNED_TWICE = 6  # a listener returns more often than it was called
    NOT_RETURNED = 7  # a message leaves the window that no listener has returned
    NOT_LEFT = 8  # the low-water mark passes a message that has not left the window, or it never leaves
    NOT_IN_WINDOW = 9  # the in-memory offset becomes what nothing that left the window has made of it
    BEYOND_MEMORY = 10  # an offset is stored above the in-memory one, ``expected``
    KEPT = 11  # a result is discarded although its client has the queue, and did not clean the message
    OTHER_ANSWER = 12  # an answer to a pull from ``offset``, and the pull was from ``expected``
    OTHER_START = 13  # a queue is taken at ``offset``, and the answer was ``expected``
    OTHER_MESSAGE = 14  # a result names another message than its delivery
    OTHER_COUNT = 15  # a result names the count ``offset`` … its delivery ``expected``
    OTHER_NEXT = 16  # a delivery of one message goes on elsewhere than behind it
    IMPOSSIBLE = 17  # the offsets or the number of messages of an answer contradict each other
    OTHER_BATCH = 18  # a listener is called with more messages than there are before where it goes on, ``expected``
    END_BACK = 19  # an answer tells an end or a beginning of the queue below the one told before, ``expected``
    NOT_REMEMBERED = 20  # a message left the window, and the in-memory offset is not set
    NEVER_RETURNED = 21  # a result is discarded that no listener has returned, or that was discarded before
    NO_SHUTDOWN = 22  # an offset is stored for a shutdown, and there is none
    NO_REMOVAL = 23  # an offset is stored since the queue is given up, and it is not
    NOT_STORED = 24  # messages from ``offset`` on are left out
    STORED_TWICE = 25  # a message is stored at an offset that has one
    FIRST_COUNT = 26  # a message that is not sent back is stored with a count
    OTHER_TOPIC = 27  # a retry or dead letter is stored in another topic than that of its group
    NEVER_ASKED = 28  # an offset is set or stored of a queue that the client neither asked for nor took
    NOT_BROUGHT = 29  # listeners are given more messages than the ``expected`` ones that pulls brought
    NOT_LOCKED = 30  # an orderly queue is taken that was not locked
    UNLOCKED_EARLY = 31  # an orderly queue is unlocked, and not given up within the life of a lock
    LOCK_OVER = 32  # an orderly message is delivered without the lock: it was refused, and is no longer had


@dataclass(frozen=True, kw_only=True)
class Step:
    """What must be so when an event happens.

    Attributes:
        misstep: what it is called where it is not.
        claim: the claim that it violates then.
        statement: what must be so, in one sentence.
        needs: kinds that must be recorded.
        beside: kinds of which the queue must have some event: who records them at all records them of each queue.
        seen: kinds of which the process must have recorded some: who never did may not record them, and then what
            does not follow is in doubt.
        seen_or_told: the same of kinds of which there may be none; that they are recorded may be said instead.
        rules: rules of RocketMQ it rests on.
    """

    misstep: Misstep
    claim: str = "steps-follow-each-other"
    statement: str
    needs: tuple[Kind, ...]
    beside: tuple[Kind, ...] = ()
    seen: tuple[Kind, ...] = ()
    seen_or_told: tuple[Kind, ...] = ()
    rules: tuple[str, ...]


_FIT, _STORES = "events-fit-each-other", "stores-follow-each-other"
_BROKER = (Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH)
_STORED = (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, *_BROKER)
_PULLS = (Kind.PULL, Kind.PULL_RESULT)
_LEAVING = (Kind.DELIVER, Kind.RESULT, Kind.REMOVED)

STEPS = (
    Step(
        misstep=Misstep.NOT_ASKED,
        statement="A pull is answered once.",
        needs=(*_PULLS, Kind.ASSIGN),
        seen=(Kind.PULL,),
        rules=("PL-1", "PL-19"),
    ),
    Step(
        misstep=Misstep.ELSEWHERE,
        statement="A pull asks from where the window begins, or where the answer before told it to go on.",
        needs=(*_PULLS, Kind.ASSIGN),
        seen=(Kind.PULL, Kind.PULL_RESULT),
        rules=("PL-1", "PL-19", "RB-41"),
    ),
    Step(
        misstep=Misstep.ASKED_TWICE,
        statement="A client does not pull a queue anew as long as it waits for an answer; a pull that failed unseen is "
        "repeated a second later.",
        needs=(*_PULLS, Kind.ASSIGN),
        seen=(Kind.PULL_RESULT,),
        rules=("PL-1", "PL-22"),
    ),
    Step(
        misstep=Misstep.TAKEN_TWICE,
        statement="A client takes a queue that it does not have.",
        needs=(Kind.ASSIGN, Kind.REVOKE),
        seen_or_told=(Kind.REVOKE,),
        rules=("RB-30", "RB-32"),
    ),
    Step(
        misstep=Misstep.NOT_HAD,
        statement="A client gives a queue up once.",
        needs=(Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.ASSIGN,),
        rules=("RB-30", "RB-32"),
    ),
    Step(
        misstep=Misstep.NO_QUERY,
        statement="A client asks for the stored offset of a queue before it takes it.",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY, Kind.COMMIT_MEMORY),
        beside=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen=(Kind.OFFSET_QUERY,),
        rules=("RB-40", "RB-41"),
    ),
    Step(
        misstep=Misstep.RETURNED_TWICE,
        statement="A listener returns as often as it was called.",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "OR-3"),
    ),
    Step(
        misstep=Misstep.NOT_RETURNED,
        statement="A message leaves the window when its listener has returned, or it took too long and was sent back.",
        needs=(*_LEAVING, Kind.EXPIRE),
        seen=(Kind.DELIVER, Kind.RESULT),
        seen_or_told=(Kind.EXPIRE,),
        rules=("CC-12", "PQ-2", "PQ-9"),
    ),
    Step(
        misstep=Misstep.NOT_LEFT,
        statement="The low-water mark of a window passes only messages that have left it; what is finished leaves.",
        needs=(*_LEAVING, Kind.DISCARDED),
        beside=(Kind.REMOVED,),
        seen=(Kind.DELIVER, Kind.RESULT, Kind.REMOVED),
        rules=("CC-13", "PQ-2"),
    ),
    Step(
        misstep=Misstep.NOT_IN_WINDOW,
        statement="The in-memory offset becomes what the window's low-water mark, a query, a reset or a pull without "
        "messages tells.",
        needs=(Kind.COMMIT_MEMORY, Kind.REMOVED, Kind.OFFSET_QUERY, Kind.PULL_RESULT, Kind.CORRECT, Kind.RESET),
        beside=(Kind.REMOVED,),
        seen=(Kind.REMOVED, Kind.PULL_RESULT),
        seen_or_told=(Kind.OFFSET_QUERY,),
        rules=("CC-13", "OF-5", "PL-19"),
    ),
    Step(
        misstep=Misstep.BEYOND_MEMORY,
        statement="A client stores no offset above its in-memory one.",
        needs=(Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.ASSIGN),
        seen=(Kind.COMMIT_MEMORY,),
        rules=("OF-5", "OF-6"),
    ),
    Step(
        misstep=Misstep.KEPT,
        statement="A result is discarded only where the queue was given up, or the message cleaned, meanwhile.",
        needs=(Kind.DISCARDED, Kind.ASSIGN, Kind.REVOKE, Kind.EXPIRE),
        seen=(Kind.ASSIGN,),
        seen_or_told=(Kind.REVOKE, Kind.EXPIRE),
        rules=("CC-9", "OR-6"),
    ),
    Step(
        misstep=Misstep.OTHER_ANSWER,
        claim=_FIT,
        statement="The answer to a pull is one to what was asked for.",
        needs=(*_PULLS, Kind.ASSIGN),
        seen=(Kind.PULL,),
        rules=("PL-1", "PL-19"),
    ),
    Step(
        misstep=Misstep.OTHER_START,
        claim=_FIT,
        statement="A client takes a queue where its stored offset is, if there is one.",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY),
        seen=(Kind.OFFSET_QUERY,),
        rules=("RB-40", "RB-41"),
    ),
    Step(
        misstep=Misstep.OTHER_MESSAGE,
        claim=_FIT,
        statement="A listener returns the message that it was given.",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "EN-13"),
    ),
    Step(
        misstep=Misstep.OTHER_COUNT,
        claim=_FIT,
        statement="A listener returns a message with the count that it was given.",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "SB-6"),
    ),
    Step(
        misstep=Misstep.OTHER_NEXT,
        claim=_FIT,
        statement="Behind a batch of one message comes the next offset.",
        needs=(Kind.DELIVER,),
        rules=("CC-1",),
    ),
    Step(
        misstep=Misstep.IMPOSSIBLE,
        claim=_FIT,
        statement="An answer lies between the ends of its queue, and brings no more messages than offsets, and none "
        "where it says there are none.",
        needs=(Kind.PULL_RESULT,),
        rules=("PL-19",),
    ),
    Step(
        misstep=Misstep.OTHER_BATCH,
        claim=_FIT,
        statement="A listener is called with as many messages as lie before the offset behind them, at most.",
        needs=(Kind.DELIVER,),
        rules=("CC-1",),
    ),
    Step(
        misstep=Misstep.END_BACK,
        claim=_FIT,
        statement="The ends of a queue that a client is told never go back, unless its broker starts anew.",
        needs=(Kind.PULL_RESULT, *_BROKER),
        rules=("PL-19",),
    ),
    Step(
        misstep=Misstep.NOT_REMEMBERED,
        statement="When a message has left its window, the in-memory offset is set to the low-water mark.",
        needs=(Kind.COMMIT_MEMORY, Kind.REMOVED, Kind.ASSIGN, Kind.REVOKE),
        beside=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen_or_told=(Kind.EXPIRE, Kind.REVOKE),
        rules=("CC-13", "OR-7"),
    ),
    Step(
        misstep=Misstep.NEVER_RETURNED,
        statement="A result is discarded once, after its listener has returned.",
        needs=(*_LEAVING, Kind.DISCARDED),
        seen=(Kind.DELIVER, Kind.RESULT),
        rules=("CC-9",),
    ),
    Step(
        misstep=Misstep.NO_SHUTDOWN,
        statement="A client that stores an offset for its shutdown leaves its group.",
        needs=(Kind.COMMIT, Kind.UNREGISTER, Kind.CLIENT_STOP, Kind.CLIENT_CRASH),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    ),
    Step(
        misstep=Misstep.NO_REMOVAL,
        statement="A client that stores an offset since it gives the queue up gives it up.",
        needs=(Kind.COMMIT, Kind.ASSIGN, Kind.REVOKE),
        seen_or_told=(Kind.REVOKE,),
        rules=("RB-32", "OF-6"),
    ),
    Step(
        misstep=Misstep.NOT_STORED,
        claim=_STORES,
        statement="A broker stores the messages of a queue at one offset after another.",
        needs=_STORED,
        seen=(Kind.STORE,),
        seen_or_told=(Kind.DELAY_DELIVER, Kind.DEAD_LETTER),
        rules=("DL-8", "PL-19"),
    ),
    Step(
        misstep=Misstep.STORED_TWICE,
        claim=_STORES,
        statement="A broker stores one message at an offset.",
        needs=_STORED,
        rules=("DL-8", "PL-19"),
    ),
    Step(
        misstep=Misstep.FIRST_COUNT,
        claim=_STORES,
        statement="What is stored outside of topics of retries and dead letters has the count 0.",
        needs=(Kind.STORE,),
        rules=("EN-14", "SB-6"),
    ),
    Step(
        misstep=Misstep.OTHER_TOPIC,
        claim=_STORES,
        statement="A retry is stored in the topic of retries of its group, a dead letter in that of its dead letters.",
        needs=(Kind.DEAD_LETTER, Kind.DELAY_DELIVER),
        rules=("SB-9", "SB-15", "DQ-1"),
    ),
    Step(
        misstep=Misstep.NEVER_ASKED,
        statement="A client sets and stores offsets of queues that it has asked for or taken.",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY, Kind.COMMIT_MEMORY),
        seen=(Kind.ASSIGN, Kind.OFFSET_QUERY),
        rules=("OF-5", "OF-6", "RB-40"),
    ),
    Step(
        misstep=Misstep.NOT_BROUGHT,
        statement="Listeners are given as many messages as pulls brought, at most: filtered ones are not among them.",
        needs=(*_LEAVING, *_PULLS, Kind.ASSIGN),
        seen=(Kind.PULL, Kind.PULL_RESULT),
        seen_or_told=(Kind.ASSIGN,),
        rules=("FI-3", "PL-19", "CC-1"),
    ),
    Step(
        misstep=Misstep.NOT_LOCKED,
        statement="A client of an orderly group takes a queue that it has locked.",
        needs=(Kind.ASSIGN, Kind.LOCK, Kind.UNLOCK),
        beside=(Kind.LOCK,),
        seen=(Kind.LOCK,),
        rules=("OR-1", "RB-30"),
    ),
    Step(
        misstep=Misstep.UNLOCKED_EARLY,
        statement="A client unlocks a queue that it gives up.",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.UNLOCK),
        seen_or_told=(Kind.REVOKE,),
        rules=("OR-9", "RB-32"),
    ),
    Step(
        misstep=Misstep.LOCK_OVER,
        statement="A listener is given nothing of an orderly queue whose lock was refused and has run out.",
        needs=(Kind.DELIVER, Kind.LOCK),
        seen=(Kind.LOCK,),
        rules=("OR-3", "OR-11"),
    ),
)
"""What must follow; in the order of :class:`Misstep`."""
