"""Steps: what a process does with a queue follows from what it did before, one step after another, without a
deadline.

:class:`Misstep` is to be read as a specification; :mod:`..monitors.steps` applies it. All events of a step are of one
process, whose order is certain. A row is judged if the kinds that it needs were recorded, from the first of them on.
"""

from __future__ import annotations

from ..format.kinds import Kind
from . import limits
from .evidence import LEAVING, PULLS
from .step import Step, Steps

_FIT, _STORES = "events-fit-each-other", "stores-follow-each-other"
_STORED = (Kind.STORE, Kind.DELAY_DELIVER, Kind.DEAD_LETTER, Kind.BROKER_START)


class Misstep(Steps):
    """What must be true of a process and a queue, or of a broker and a queue."""

    NOT_ASKED = Step(
        statement="A pull is answered once.",
        told="received an answer to a pull of {queue} from offset {offset} that it had not sent",
        needs=(*PULLS, Kind.ASSIGN),
        seen=(Kind.PULL,),
        rules=("PL-1", "PL-19"),
    )
    ELSEWHERE = Step(
        statement="A pull begins at the start of the window, or where the previous answer told it to continue.",
        told="pulled {queue} from offset {offset} instead of {expected}",
        needs=(*PULLS, Kind.ASSIGN),
        seen=(Kind.PULL, Kind.PULL_RESULT),
        rules=("PL-1", "PL-19", "RB-41"),
    )
    ASKED_TWICE = Step(
        statement=(
            "A client does not pull a queue again while it waits for an answer; a pull that failed unseen is "
            "repeated a second later."
        ),
        told="pulled {queue} from offset {offset} again while it waited for the answer",
        needs=(*PULLS, Kind.ASSIGN),
        seen=(Kind.PULL_RESULT,),
        rules=("PL-1", "PL-22"),
    )
    TAKEN_TWICE = Step(
        statement="A client takes a queue that it does not have.",
        told="took {queue}, which it already had",
        needs=(Kind.ASSIGN, Kind.REVOKE),
        rules=("RB-30", "RB-32"),
    )
    NOT_HAD = Step(
        statement="A client gives up a queue only once.",
        told="gave up {queue}, which it had already given up",
        needs=(Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.ASSIGN,),
        rules=("RB-30", "RB-32"),
    )
    NO_QUERY = Step(
        statement="A client asks for the stored offset of a queue before it takes it.",
        told="took {queue} without asking for its stored offset",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY, Kind.COMMIT_MEMORY),
        beside=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen=(Kind.OFFSET_QUERY,),
        rules=("RB-40", "RB-41"),
    )
    RETURNED_TWICE = Step(
        statement="A listener returns as often as it was called.",
        told="ended {message} more often than it was given",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "OR-3"),
    )
    NOT_RETURNED = Step(
        statement=(
            "A message leaves the window only when its listener has returned, or when it took too long and was "
            "sent back."
        ),
        told="removed {message} from the window although no listener had returned it",
        needs=(*LEAVING, Kind.EXPIRE),
        in_part_without=(Kind.SEND_BACK,),
        seen=(Kind.DELIVER, Kind.RESULT),
        rules=("CC-12", "PQ-2", "PQ-9"),
    )
    NOT_LEFT = Step(
        statement=(
            "The low-water mark of a window passes only messages that have left it. Finished messages leave it, and "
            "so do messages that were sent back because they took too long."
        ),
        told="kept {message} in the window, although it was finished or sent back",
        needs=(*LEAVING, Kind.DISCARDED),
        beside=(Kind.REMOVED,),
        seen=(Kind.DELIVER, Kind.RESULT, Kind.REMOVED),
        rules=("CC-13", "PQ-2", "PQ-9"),
    )
    NOT_IN_WINDOW = Step(
        statement=(
            "The in-memory offset is set only to the window's low-water mark, or to what a query, a reset or a "
            "pull without messages says."
        ),
        told="set the in-memory offset of {queue} to {offset}, which follows from nothing that left the window",
        needs=(Kind.COMMIT_MEMORY, Kind.REMOVED, Kind.OFFSET_QUERY, Kind.PULL_RESULT, Kind.CORRECT, Kind.RESET),
        beside=(Kind.REMOVED,),
        seen=(Kind.REMOVED, Kind.PULL_RESULT),
        seen_or_told=(Kind.OFFSET_QUERY,),
        rules=("CC-13", "OF-5", "PL-19"),
    )
    BEYOND_MEMORY = Step(
        statement="A client stores no offset above the one in its memory.",
        told="stored offset {offset} of {queue} while it had {expected} in memory",
        needs=(Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.ASSIGN),
        seen=(Kind.COMMIT_MEMORY,),
        rules=("OF-5", "OF-6"),
    )
    KEPT = Step(
        statement="A result is discarded only if the queue was given up, or the message cleaned, in the meantime.",
        told="discarded the result of {message} although it had the queue",
        needs=(Kind.DISCARDED, Kind.ASSIGN, Kind.REVOKE, Kind.EXPIRE),
        seen=(Kind.ASSIGN,),
        rules=("CC-9", "OR-6"),
    )
    OTHER_ANSWER = Step(
        claim=_FIT,
        statement="The answer to a pull answers what was asked for.",
        told="pulled {queue} from offset {expected} and got an answer for {offset}",
        needs=(*PULLS, Kind.ASSIGN),
        seen=(Kind.PULL,),
        rules=("PL-1", "PL-19"),
    )
    OTHER_START = Step(
        claim=_FIT,
        statement="A client takes a queue at its stored offset, if there is one.",
        told="took {queue} at offset {offset} although it had been told {expected}",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY),
        seen=(Kind.OFFSET_QUERY,),
        rules=("RB-40", "RB-41"),
    )
    OTHER_MESSAGE = Step(
        claim=_FIT,
        statement="A listener returns the message that it was given.",
        told="ended a different message than the one it was given at {message}",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "EN-13"),
    )
    OTHER_COUNT = Step(
        claim=_FIT,
        statement="A message is finished, and sent back, with the count with which a listener was given it.",
        told="ended or sent back {message} with a different count than the one it was given, {expected}",
        needs=(Kind.DELIVER, Kind.RESULT),
        seen=(Kind.DELIVER,),
        rules=("CC-3", "SB-6"),
    )
    OTHER_NEXT = Step(
        claim=_FIT,
        statement="The offset after a batch of one message is the next one.",
        told="was given {message} alone but continues at {expected}",
        needs=(Kind.DELIVER,),
        rules=("CC-1",),
    )
    IMPOSSIBLE = Step(
        claim=_FIT,
        statement=(
            "An answer lies between the ends of its queue, brings no more messages than offsets, and brings "
            "none if it says that there are none."
        ),
        told="got an answer to a pull of {queue} from offset {offset} whose offsets contradict each other",
        needs=(Kind.PULL_RESULT,),
        rules=("PL-19",),
    )
    OTHER_BATCH = Step(
        claim=_FIT,
        statement=(
            "The number of messages in a listener call is the same for each of them, and fits the offset that follows "
            "them."
        ),
        told="was given {message} in a call up to offset {expected}, whose number of messages does not fit",
        needs=(Kind.DELIVER,),
        rules=("CC-1",),
    )
    END_BACK = Step(
        claim=_FIT,
        statement=(
            "The ends of a queue that a client is told never go back, unless the broker restarts, a slave "
            "answers, or the topic is created again."
        ),
        told="was told offset {offset} as an end of {queue}, after it had been told {expected}",
        needs=(Kind.PULL_RESULT, Kind.BROKER_START),
        excused_by=(Kind.ROLE_CHANGE, Kind.STORE),
        rules=("PL-19",),
    )
    NOT_REMEMBERED = Step(
        statement="When a message has left its window, the in-memory offset is set to the low-water mark.",
        told="finished {message} without setting an in-memory offset",
        needs=(Kind.COMMIT_MEMORY, Kind.REMOVED, Kind.ASSIGN, Kind.REVOKE),
        beside=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen=(Kind.COMMIT_MEMORY, Kind.REMOVED),
        seen_or_told=(Kind.EXPIRE,),
        rules=("CC-13", "OR-7"),
    )
    NEVER_RETURNED = Step(
        statement="A result is discarded once, after its listener has returned.",
        told="discarded a result of {message} that no listener had returned",
        needs=(*LEAVING, Kind.DISCARDED),
        seen=(Kind.DELIVER, Kind.RESULT),
        rules=("CC-9",),
    )
    NO_SHUTDOWN = Step(
        statement="A client that stores an offset for its shutdown leaves its group.",
        told="stored offset {offset} of {queue} for its shutdown but did not leave its group",
        needs=(Kind.COMMIT, Kind.UNREGISTER, Kind.CLIENT_STOP),
        excused_by=(Kind.CLIENT_CRASH,),
        seen_or_told=(Kind.UNREGISTER,),
        rules=("ST-8",),
    )
    NO_REMOVAL = Step(
        statement="A client that stores an offset because it is giving up the queue does give it up.",
        told="stored offset {offset} of {queue} in order to give up the queue but kept it",
        needs=(Kind.COMMIT, Kind.ASSIGN, Kind.REVOKE),
        rules=("RB-32", "OF-6"),
    )
    NOT_STORED = Step(
        claim=_STORES,
        statement="A broker stores the messages of a queue at one offset after another.",
        told="left out {queue} from offset {offset} on but stored messages after it",
        needs=_STORED,
        seen=(Kind.STORE,),
        seen_or_told=(Kind.DELAY_DELIVER, Kind.DEAD_LETTER),
        rules=("DL-8", "PL-19"),
    )
    STORED_TWICE = Step(
        claim=_STORES,
        statement="A broker stores one message at an offset, until the topic is deleted and created again.",
        told="stored a message at offset {offset} of {queue}, whose end was {expected}",
        needs=_STORED,
        rules=("DL-8", "PL-19"),
    )
    FIRST_COUNT = Step(
        claim=_STORES,
        statement="What is stored outside of retry and dead-letter topics has the count 0.",
        told="stored {message} with the count {expected}",
        needs=(Kind.STORE,),
        rules=("EN-14", "SB-6"),
    )
    OTHER_TOPIC = Step(
        claim=_STORES,
        statement=(
            "A retry is stored in the retry topic of its group, and a dead letter in the group's dead-letter topic."
        ),
        told="stored a retry or dead letter as {message}",
        needs=(Kind.DEAD_LETTER, Kind.DELAY_DELIVER),
        rules=("SB-9", "SB-15", "DQ-1"),
    )
    NEVER_ASKED = Step(
        statement="A client sets and stores offsets only of queues that it has asked about or taken.",
        told="set or stored offset {offset} of {queue}, which it had neither asked about nor taken",
        needs=(Kind.ASSIGN, Kind.OFFSET_QUERY, Kind.COMMIT_MEMORY),
        complete=True,
        seen=(Kind.ASSIGN, Kind.OFFSET_QUERY),
        rules=("OF-5", "OF-6", "RB-40"),
    )
    NOT_BROUGHT = Step(
        statement=(
            "Listeners are given at most as many messages as pulls brought, not counting those that were filtered out."
        ),
        told="was given {message}, one more than the {expected} messages that its pulls had brought",
        needs=(*LEAVING, *PULLS, Kind.ASSIGN),
        seen=(Kind.PULL, Kind.PULL_RESULT),
        rules=("FI-3", "PL-19", "CC-1"),
    )
    NOT_LOCKED = Step(
        statement="A client of an orderly group takes only a queue that it has locked.",
        told="took {queue} without locking it",
        needs=(Kind.ASSIGN, Kind.LOCK, Kind.UNLOCK),
        beside=(Kind.LOCK,),
        seen=(Kind.LOCK,),
        rules=("OR-1", "RB-30"),
    )
    UNLOCKED_EARLY = Step(
        statement="A client unlocks a queue only when it gives it up.",
        told="unlocked {queue} but kept it",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.UNLOCK),
        rules=("OR-9", "RB-32"),
    )
    LOCK_OVER = Step(
        statement=(
            "A listener is given nothing from an orderly queue whose lock was given back or is lost, or ran out while "
            "the client asked for it in vain, or did not renew it."
        ),
        told="was given {message} without the lock of the queue, which it had {span} before",
        needs=(Kind.DELIVER, Kind.LOCK),
        seen=(Kind.LOCK,),
        rules=("OR-3", "OR-11"),
    )
    LEFT_UNSTORED = Step(
        statement="A client that gives up a queue in a rebalance, or leaves its group, stores its in-memory offset.",
        told="gave up {queue} with offset {expected} in memory and did not store it",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.OFFSET_QUERY, Kind.COMMIT, Kind.COMMIT_MEMORY, *PULLS, Kind.UNREGISTER),
        seen=(Kind.OFFSET_QUERY, Kind.COMMIT, Kind.COMMIT_MEMORY),
        of_broker=(Kind.COMMIT,),
        rules=("OF-6", "RB-32", "ST-8"),
    )
    PULLED_LEFT = Step(
        statement="A client does not pull a queue that it has given up.",
        told="pulled {queue}, which it had given up {span} before",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.PULL),
        seen=(Kind.ASSIGN, Kind.REVOKE),
        rules=("PL-1", "RB-32"),
    )
    TWO_AT_ONCE = Step(
        statement="In an orderly group, a process calls its listener with one batch of a queue at a time.",
        told="was given {message} while its listener was busy with offset {expected} of that queue",
        needs=(Kind.DELIVER, Kind.RESULT, Kind.ASSIGN),
        seen=(Kind.RESULT, Kind.ASSIGN),
        rules=("OR-3",),
    )
    NOT_FIRST_QUEUE = Step(
        claim=_STORES,
        statement="A topic of dead letters has one queue on each broker.",
        told="stored a dead letter in {queue}, although there is only one queue",
        needs=(Kind.DEAD_LETTER,),
        rules=("DQ-1",),
    )
    NOT_PULLED_ON = Step(
        statement="A client that has a queue, and nothing of it in its cache, waits for the answer to a pull of it.",
        told="kept {queue} for another {span} without pulling from it again",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.PULL, Kind.PULL_RESULT, Kind.REMOVED, Kind.REBALANCE, Kind.BROKER_START),
        seen=(Kind.PULL, Kind.PULL_RESULT, Kind.REBALANCE),
        rules=("PL-1", "PL-22"),
    )
    NOT_WRITTEN = Step(
        statement="A broadcasting client that gives up a queue has written its in-memory offset to its file.",
        told="gave up {queue} with offset {expected} in memory, which its file does not have",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.CLIENT_STOP, Kind.UNREGISTER),
        seen=(Kind.COMMIT_MEMORY,),
        seen_or_told=(Kind.COMMIT,),
        rules=("OF-10", "ST-8"),
    )
    NOT_UNLOCKED = Step(
        statement="A client of an orderly group that gives up a queue in a rebalance, or ends, unlocks it.",
        told="gave up {queue} without giving its lock back",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.LOCK, Kind.UNLOCK, Kind.REBALANCE, Kind.DELIVER, Kind.RESULT),
        beside=(Kind.LOCK,),
        seen=(Kind.ASSIGN, Kind.LOCK),
        seen_or_told=(Kind.UNLOCK,),
        rules=("OR-9", "RB-32"),
    )
    NOT_DISCARDED = Step(
        statement="What a listener returns some time after its queue was given up is discarded.",
        told="ended {message} after it had given up the queue, but did not discard the result",
        needs=(Kind.ASSIGN, Kind.REVOKE, *LEAVING, Kind.DISCARDED),
        seen=(Kind.ASSIGN, Kind.RESULT),
        rules=("CC-9",),
    )
    LOCKED_TWICE = Step(
        statement=(
            "A broker locks a queue for one client, until that client unlocks it or the lock expires. If its life is "
            "not stated, it is as long as the time between two renewals."
        ),
        told="locked {queue} {span} after another client, whose lock had neither expired nor been given back",
        needs=(Kind.LOCK, Kind.UNLOCK, Kind.BROKER_START),
        seen=(Kind.LOCK,),
        seen_or_told=(Kind.UNLOCK,),
        rules=("OR-1", "OR-9"),
    )
    BELOW_WINDOW = Step(
        statement="A listener is given only messages of the window, and none below it.",
        told="was given {message}, which lies below its window from offset {expected} on",
        needs=(*LEAVING, Kind.ASSIGN, Kind.EXPIRE, Kind.RESET, Kind.CORRECT),
        seen=(Kind.ASSIGN, Kind.REMOVED),
        rules=("CC-1", "PQ-2"),
    )
    TOO_SOON = Step(
        statement=(
            "An orderly listener is given a message that it put off again only after a pause of at least 10 ms."
        ),
        told="was given {message} again {span} after it had put it off, without a pause",
        needs=(*LEAVING, Kind.ASSIGN),
        seen=(Kind.RESULT, Kind.ASSIGN),
        rules=("OR-7",),
    )
    NOT_HANDED = Step(
        statement=(
            "Listeners are given the messages of a pull before those of later pulls: one thread queues them all."
        ),
        told="was given later messages of {queue} for {span}, but not {expected} of those that a pull from offset "
        "{offset} on had brought",
        needs=(*LEAVING, *PULLS, Kind.ASSIGN, Kind.REVOKE, Kind.EXPIRE, Kind.RESET, Kind.CORRECT),
        seen=(Kind.PULL_RESULT, Kind.ASSIGN),
        rules=("CC-1", "PL-24"),
    )
    LEFT_OUT = Step(
        statement=(
            "A pull of a group that takes all messages of a topic brings every message up to where it "
            "continues. In doubt if they may be older than a minute, as a compacted topic keeps only the last "
            "message of each key."
        ),
        told="pulled {queue} from offset {offset} and did not receive {expected} of the messages before the next one",
        needs=(*PULLS, Kind.HEARTBEAT),
        seen=(Kind.PULL_RESULT, Kind.HEARTBEAT),
        of_others=(Kind.HEARTBEAT,),
        rules=("FI-3", "PL-17", "PL-19"),
    )
    NOT_ANSWERED = Step(
        statement=(
            "A broker that answers a client's other requests answers its pulls too: after 15 s if there are no "
            "messages."
        ),
        told="got no answer to two pulls of {queue} in {span}, although its broker told it who is in the group",
        needs=(*PULLS, Kind.REBALANCE, Kind.BROKER_START),
        seen=(Kind.PULL_RESULT, Kind.REBALANCE),
        rules=("PL-13", "PL-22"),
    )
    EXPIRED_EARLY = Step(
        statement=(
            "A message is cleaned only when its listener has had it for the consume timeout, which is at least "
            "a minute. Judged only if the recording or the deployment says what the timeout is."
        ),
        told="cleaned {message} {span} after a listener was given it",
        needs=(Kind.DELIVER, Kind.RESULT, Kind.EXPIRE),
        seen=(Kind.DELIVER,),
        rules=("PQ-9",),
    )
    NOT_RENEWED = Step(
        statement="A client that keeps pulling an orderly queue asks for its lock again before the lock expires.",
        told="let its lock of {queue} expire: it had last asked for it {span} before",
        needs=(Kind.LOCK, Kind.LOCK_LOST, Kind.ASSIGN, *PULLS),
        seen=(Kind.LOCK, Kind.PULL_RESULT),
        of_broker=(Kind.BROKER_START,),
        rules=("OR-9", "OR-11"),
    )
    REFUSED_FREE = Step(
        statement="A broker refuses a lock only while another client may have it.",
        told="was refused the lock of {queue}, which no other client could have had for {span}",
        needs=(Kind.LOCK, Kind.UNLOCK, Kind.REBALANCE, Kind.BROKER_START, Kind.BROKER_STOP),
        seen=(Kind.LOCK, Kind.REBALANCE),
        of_others=(Kind.LOCK,),
        rules=("OR-1", "OR-9"),
    )
    DENIED = Step(
        claim=_FIT,
        statement="A client is told that there are no messages only at the end of a queue.",
        told="was told for {span} that there is nothing at offset {offset} of {queue}, which ends at {expected}",
        needs=(Kind.PULL_RESULT,),
        rules=("PL-19",),
    )
    END_AHEAD = Step(
        claim=_STORES,
        statement="A client is told only of messages that the broker has stored.",
        told="was told that {queue} ends at offset {offset}, and nothing was stored from offset {expected} on",
        needs=(Kind.PULL_RESULT, *_STORED),
        in_part_without=(Kind.FILE_PERSIST, Kind.FILE_LOAD, Kind.MEMBERS, Kind.BROKER_STOP),
        seen=(Kind.PULL_RESULT,),
        of_broker=(Kind.STORE,),
        rules=("DL-8", "PL-19"),
    )
    END_BEHIND = Step(
        claim=_STORES,
        statement="A client that keeps asking is told of what the broker stored two minutes before.",
        told="learnt of nothing in {queue} from offset {offset} on, {span} after messages up to {expected} were stored",
        needs=(Kind.PULL_RESULT, *_STORED),
        in_part_without=(Kind.FILE_PERSIST, Kind.FILE_LOAD, Kind.MEMBERS, Kind.BROKER_STOP),
        seen=(Kind.PULL_RESULT,),
        of_broker=(Kind.STORE,),
        rules=("PL-19", "PL-22"),
    )
    IDLE_EARLY = Step(
        statement=(
            "A client that gives up a queue of its share because it no longer pulls it has not pulled it for 120 s."
        ),
        told="gave up {queue} as no longer pulled, {span} after it had pulled it",
        needs=(Kind.PULL, Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.PULL, Kind.ASSIGN),
        rules=("PQ-11", "RB-30"),
    )
    LED_BEYOND = Step(
        claim=_FIT,
        statement=(
            "An answer tells the client to continue at most at the end that the queue has when the client does so."
        ),
        told="was told to continue {queue} at offset {offset}, although the queue ended at {expected} when it did",
        needs=(*PULLS, Kind.ASSIGN, Kind.BROKER_START),
        seen=(Kind.PULL_RESULT,),
        rules=("PL-19", "FI-3"),
    )
    NOT_PERSISTED = Step(
        statement="A client that sends heartbeats also stores the offsets of its queues every 5 s.",
        told="stored offset {offset} of {queue} with a pull, but for {span} none separately",
        needs=(Kind.COMMIT, Kind.ASSIGN, Kind.REVOKE, Kind.HEARTBEAT),
        seen=(Kind.COMMIT, Kind.ASSIGN, Kind.HEARTBEAT),
        rules=("OF-6",),
    )
    PASSED_OVER = Step(
        statement="A client that stores the offsets of its queues at a broker every 5 s leaves none of them out.",
        told="did not store offset {offset} of {queue} for {span}, while it stored those of its other queues",
        needs=(Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.ASSIGN, Kind.REVOKE),
        seen=(Kind.COMMIT, Kind.COMMIT_MEMORY, Kind.ASSIGN),
        of_broker=(Kind.COMMIT,),
        rules=("OF-5", "OF-6"),
    )
    NOT_SET = Step(
        statement=(
            "A client that has dropped a queue for a reset takes it again where the reset has set it, unless "
            "another client has had it meanwhile."
        ),
        told="took {queue} at offset {offset} although it had dropped it for a reset to {expected}",
        needs=(Kind.ASSIGN, Kind.REVOKE, Kind.RESET, Kind.BROKER_START),
        seen=(Kind.ASSIGN,),
        of_others=(Kind.ASSIGN,),
        rules=("OF-30", "OF-31"),
    )
    BATCH_ABOVE = limits.BATCH_ABOVE
    NOTHING_CACHED = limits.NOTHING_CACHED
    OTHER_CONTROL = limits.OTHER_CONTROL
    TOO_FULL = limits.TOO_FULL
    CLEANED_ORDERLY = limits.CLEANED_ORDERLY
    CLEANED_BEHIND = limits.CLEANED_BEHIND
    SENT_NOTHING = limits.SENT_NOTHING
    NO_BROADCAST = limits.NO_BROADCAST
    ASKED_UNLOCKED = limits.ASKED_UNLOCKED
    PULLED_UNLOCKED = limits.PULLED_UNLOCKED
    NEVER_RESET = limits.NEVER_RESET
    NOTHING_WRONG = limits.NOTHING_WRONG
    OTHER_REASON = limits.OTHER_REASON
    AGAIN_AT_ONCE = limits.AGAIN_AT_ONCE
    MARK_LEFT = limits.MARK_LEFT
    GIVEN_COUNT = limits.GIVEN_COUNT
    OUT_OF_TURN = limits.OUT_OF_TURN
    AGAIN_UNCOUNTED = limits.AGAIN_UNCOUNTED
    LEGAL = limits.LEGAL
    PUT_OFF_UNCOUNTED = limits.PUT_OFF_UNCOUNTED
    OTHER_LEVEL = limits.OTHER_LEVEL
    OLD_OFFSET = limits.OLD_OFFSET
    WOKEN_LATE = limits.WOKEN_LATE
    SENT_FINISHED = limits.SENT_FINISHED
    STORED_ELSEWHERE = limits.STORED_ELSEWHERE
    TARDY = limits.TARDY
    LOCKED_LEFT = limits.LOCKED_LEFT
    UNLOCKED_BUSY = limits.UNLOCKED_BUSY
    NOT_HELD = limits.NOT_HELD
    NO_HEARTBEAT = limits.NO_HEARTBEAT
