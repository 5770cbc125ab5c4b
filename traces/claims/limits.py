"""Rows of :class:`.steps.Misstep` about limits and reasons: how much a client holds and gives out, and why it stops.

They are read like the others, and are in a file of their own because of their number.
"""

from __future__ import annotations

from ..format.kinds import Kind
from .evidence import LEAVING, PULLS
from .step import Step

_STORES = "stores-follow-each-other"

BATCH_ABOVE = Step(
    statement=(
        "All listener calls into which a pull is split have the same number of messages, except the last one, "
        "which may have fewer."
    ),
    told=(
        "was given {message} in a call whose size is not {expected}, although the pull was split into calls of "
        "that size"
    ),
    needs=(Kind.DELIVER, *PULLS, Kind.ASSIGN, Kind.RESULT),
    seen=(Kind.PULL_RESULT, Kind.ASSIGN),
    rules=("CC-1", "OR-6"),
)
NOTHING_CACHED = Step(
    statement="A client that puts off a pull because it holds too much of the queue does hold something of it.",
    told="put off a pull of {queue} because it held too much of it, but held {expected} messages",
    needs=(Kind.FLOW_CONTROL, *PULLS, *LEAVING, Kind.ASSIGN),
    seen=(Kind.PULL_RESULT, Kind.REMOVED, Kind.ASSIGN),
    rules=("PL-7", "PL-8", "PL-9", "PQ-8"),
)
OTHER_CONTROL = Step(
    statement=(
        "Only clients with orderly listeners wait for a lock, and only the others are held up by the span of "
        "what they hold."
    ),
    told="put off a pull of {queue} for a reason that does not apply to its kind of listener",
    needs=(Kind.FLOW_CONTROL,),
    rules=("PL-9", "PL-10"),
)
TOO_FULL = Step(
    statement=(
        "A client that holds more than 1,000 messages of a queue, or a span of 2,000, does not pull from it. In "
        "doubt, as other limits may be configured."
    ),
    told="pulled {queue} from offset {offset} while it held {expected} messages, or offsets, of it",
    needs=(*PULLS, *LEAVING, Kind.ASSIGN, Kind.REVOKE),
    seen=(Kind.PULL_RESULT, Kind.REMOVED, Kind.ASSIGN),
    rules=("PL-7", "PL-9"),
)
CLEANED_ORDERLY = Step(
    statement="Messages of orderly listeners never expire, however long the listeners take.",
    told="cleaned {message} although its listener is orderly",
    needs=(Kind.EXPIRE,),
    rules=("PQ-9",),
)
CLEANED_BEHIND = Step(
    statement="A client cleans only the first message of a window.",
    told="cleaned {message} although offset {expected} was before it in the window",
    needs=(*LEAVING, Kind.EXPIRE, Kind.ASSIGN),
    seen=(Kind.REMOVED, Kind.ASSIGN),
    rules=("PQ-9",),
)
SENT_NOTHING = Step(
    statement="A pull stores only an offset above 0.",
    told="stored offset {offset} of {queue} with a pull",
    needs=(Kind.COMMIT,),
    rules=("PL-14",),
)
NO_BROADCAST = Step(
    statement="A broadcasting client sends brokers neither offsets with its pulls nor messages that failed.",
    told="sent a broker an offset or a message of {queue} although it is a broadcasting client",
    needs=(Kind.ASSIGN,),
    rules=("CC-11", "OF-10", "PL-14"),
)
ASKED_UNLOCKED = Step(
    statement="A client of an orderly group asks where to begin only after it has locked the queue.",
    told="took {queue} at offset {offset}, for which it had asked {span} before it locked the queue",
    needs=(Kind.ASSIGN, Kind.LOCK, Kind.UNLOCK, Kind.OFFSET_QUERY),
    seen=(Kind.LOCK, Kind.OFFSET_QUERY),
    rules=("PL-11", "RB-30"),
)
PULLED_UNLOCKED = Step(
    statement="A client does not pull an orderly queue whose lock was refused and has run out.",
    told="pulled {queue} from offset {offset}, {span} after its lock of the queue was refused",
    needs=(Kind.PULL, Kind.LOCK, Kind.ASSIGN),
    seen=(Kind.LOCK, Kind.ASSIGN),
    rules=("OR-9", "PL-10"),
)
NEVER_RESET = Step(
    statement="A client drops a queue for a reset that an operator has asked for.",
    told="dropped {queue} for a reset although nobody had reset its offset",
    needs=(Kind.REVOKE, Kind.RESET),
    seen=(Kind.REVOKE,),
    rules=("OF-31",),
)
NOTHING_WRONG = Step(
    statement="A client corrects an offset, and drops its queue for it, only as a broker has told it to do.",
    told="corrected its offset of {queue} although no broker had sent it there",
    needs=(Kind.ASSIGN, *PULLS),
    seen=(Kind.PULL_RESULT, Kind.ASSIGN),
    rules=("PL-23",),
)
OTHER_REASON = Step(
    statement="Only clients with orderly listeners lock queues, or lose a queue with its lock.",
    told="locked {queue}, or dropped it because of its lock, although its listener needs none",
    needs=(Kind.ASSIGN,),
    rules=("OR-9", "RB-30"),
)
AGAIN_AT_ONCE = Step(
    statement="A listener is given a message that could not be sent back again after 5 s.",
    told="was given {message} again {span} after it could not be sent back",
    needs=(Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.ASSIGN),
    seen=(Kind.SEND_BACK, Kind.ASSIGN),
    rules=("CC-12", "SB-5"),
)
AGAIN_UNCOUNTED = Step(
    statement="A listener is given a message that could not be sent back with a count that is one higher.",
    told="was given {message} again with the count {expected}, after it could not be sent back",
    needs=(Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.ASSIGN),
    seen=(Kind.SEND_BACK, Kind.ASSIGN),
    rules=("CC-12", "SB-6"),
)
UNLOCKED_BUSY = Step(
    statement=(
        "A client that gives up a queue of an orderly group unlocks it when its listener has returned, or 20 s after "
        "it last renewed the lock."
    ),
    told="unlocked {queue} while its listener was busy with offset {offset}",
    needs=(Kind.DELIVER, Kind.RESULT, Kind.LOCK, Kind.UNLOCK, Kind.ASSIGN, Kind.REVOKE),
    excused_by=(Kind.UNREGISTER, Kind.CLIENT_STOP),
    seen=(Kind.RESULT, Kind.LOCK, Kind.ASSIGN),
    rules=("OR-3", "OR-9"),
)
LOCKED_LEFT = Step(
    statement="A client that has unlocked a queue locks it again only in order to take it.",
    told="locked {queue}, which it had given up and unlocked, and did not take it again",
    needs=(Kind.LOCK, Kind.UNLOCK, Kind.ASSIGN, Kind.REVOKE, Kind.OFFSET_QUERY, Kind.REBALANCE),
    seen=(Kind.ASSIGN, Kind.OFFSET_QUERY),
    rules=("OR-9", "RB-30", "RB-33"),
)
NO_HEARTBEAT = Step(
    statement="A client that sends heartbeats to one broker sends them to every broker from which it pulls.",
    told="pulled {queue}, although it had sent no heartbeat to this broker for {span}, and others to another one",
    needs=(Kind.PULL, Kind.PULL_RESULT, Kind.HEARTBEAT),
    seen=(Kind.PULL_RESULT, Kind.HEARTBEAT),
    rules=("EN-1", "ST-4", "ST-6"),
)
NOT_HELD = Step(
    claim=_STORES,
    statement="A broker holds a pull of which it has no new message: a client is not told so again and again at once.",
    told="was told {expected} times in {span} that there is nothing new at offset {offset} of {queue}",
    needs=PULLS,
    seen=(Kind.PULL, Kind.PULL_RESULT),
    rules=("PL-13", "PL-22"),
)
LEGAL = Step(
    statement=(
        "A pull is found illegal only if it is outside of its queue, or if an operator has reset the offset, of "
        "which the next pull is told: a reset from before the recording, by its first answer."
    ),
    told="was told that offset {offset} of {queue}, which ends at {expected}, is illegal although nobody had reset it",
    needs=(Kind.PULL_RESULT, Kind.RESET),
    excused_by=(Kind.RESET,),
    rules=("PL-18", "PL-19"),
)
MARK_LEFT = Step(
    statement="The low-water mark is above a message that has just left the window as its first.",
    told="removed {message} from the window, but its low-water mark stayed there",
    needs=(Kind.REMOVED,),
    rules=("PQ-2",),
)
GIVEN_COUNT = Step(
    statement="A message of an ordinary topic is given to a listener for the first time with the count 0.",
    told="was given {message} for the first time with the count {expected}",
    needs=(*LEAVING, Kind.ASSIGN),
    seen=(Kind.REMOVED, Kind.ASSIGN),
    rules=("EN-14", "SB-6"),
)
PUT_OFF_UNCOUNTED = Step(
    statement="An orderly listener that put off a single message is given it again with a higher count.",
    told="was given {message} again with the count {expected}, the one with which it had put it off",
    needs=(*LEAVING, Kind.ASSIGN),
    seen=(Kind.RESULT, Kind.ASSIGN),
    rules=("OR-7", "OR-8"),
)
OTHER_LEVEL = Step(
    statement="A message that failed goes back with the level that its listener asked for, a cleaned one with level 3.",
    told="sent {message} back with another delay level than {expected}, the one that was due",
    needs=(Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK),
    seen=(Kind.DELIVER, Kind.SEND_BACK),
    rules=("CC-12", "CC-14", "PQ-9"),
)
OUT_OF_TURN = Step(
    claim=_STORES,
    statement="A broker delivers the messages of one delay level in the order in which they were stored.",
    told="delivered {message} from a delay level {span} after another one of that level that was due later",
    needs=(Kind.DELAY_DELIVER, Kind.BROKER_START),
    rules=("DL-5",),
)
TARDY = Step(
    claim=_STORES,
    statement="A broker delivers the messages of a delay level soon after they are due.",
    told="delivered {message} late, like everything from that delay level for {span}",
    needs=(Kind.DELAY_DELIVER, Kind.BROKER_START),
    rules=("DL-4", "DL-5"),
)
OLD_OFFSET = Step(
    statement="A client that stores the offset of a queue stores the one that it has in memory, not an older one.",
    told="stored offset {offset} of {queue} while it had {expected} in memory",
    needs=(Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.ASSIGN, Kind.RESET, Kind.CORRECT),
    seen=(Kind.COMMIT_MEMORY, Kind.ASSIGN),
    rules=("OF-5", "OF-6"),
)
WOKEN_LATE = Step(
    claim=_STORES,
    statement="A waiting pull is answered when there is a message, in groups that take all messages of a topic.",
    told=(
        "waited {span} for offset {offset} of {queue} although it was stored, as it did in most of {expected} "
        "such pulls"
    ),
    needs=(*PULLS, Kind.HEARTBEAT, Kind.REBALANCE, Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, Kind.BROKER_START),
    in_part_without=(Kind.FILE_PERSIST, Kind.FILE_LOAD, Kind.MEMBERS, Kind.BROKER_STOP),
    seen=(Kind.PULL, Kind.PULL_RESULT, Kind.HEARTBEAT),
    of_broker=(Kind.STORE,),
    rules=("PL-19", "PL-22"),
)
STORED_ELSEWHERE = Step(
    claim=_STORES,
    statement="A listener is given each message, and each retry, at the queue and offset at which it was stored.",
    told="was given as {message} another message than the one that its broker had stored there",
    needs=(Kind.DELIVER, Kind.STORE),
    seen=(Kind.DELIVER,),
    of_broker=(Kind.STORE,),
    rules=("EN-13", "PL-19"),
)
SENT_FINISHED = Step(
    statement=(
        "Of a call with several messages, only those after the acknowledged ones are sent back. Judged only "
        "where the recording shows the result of each of them."
    ),
    told="sent {message} back although its listener had acknowledged it",
    needs=(Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK, Kind.ASSIGN),
    seen=(Kind.DELIVER, Kind.RESULT, Kind.SEND_BACK),
    rules=("CC-10", "CC-12"),
)
