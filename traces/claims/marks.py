"""Marks of a queue, and conditions of its ownership: what they are, and which events move, begin and end them.

A queue has *marks*, offsets that follow each other: the end of the log, the pull position, the end of what is finished,
the in-memory offset, the stored offset. :data:`MOVES` says which events move them, :data:`TURNS` which events begin and
end a condition. :mod:`.obligations` says what has to follow from them, and by when.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..format.kinds import ANSWERS, Kind, Path, Result


@enum.unique
class Mark(enum.IntEnum):
    """A position in a queue, as its group sees it."""

    LOG_END = 0  # known end of the queue
    PULLED = 1  # end of what its owner has pulled
    FINISHED = 2  # everything below is finished, filtered out or passed; comes from the fold by queue
    MEMORY = 3  # in-memory offset of its owner
    STORED = 4  # stored offset
    DELIVERED = 5  # end of what its owner's listener was given
    LOCKED = 6  # the beginning, once a lock of it was seen


class Condition(enum.IntFlag):
    """A condition of an owned queue; it ends with the ownership."""

    NONE = 0
    UNLOCKED = 1  # its lock was refused or lost, with neither a lock nor a pull since then
    REFUSED = 2  # the last pull was refused
    EXPIRED = 4  # a message was cleaned because of its time; the in-memory offset need not follow at once (PQ-9)
    COPIED = 8  # the stored offset comes from copies of the file, not from its owner's commits
    ASKED = 16  # a pull is under way
    UNANSWERED = 32  # a pull was given up without an answer: the broker cannot be reached
    RESET = 64  # an operator has set the offset, and its owner has not taken it anew since
    PULLING = 128  # its owner has pulled it since it took it
    AGAIN = 256  # its owner was given messages that another one had finished, and may not be through with them
    POLLING = 512  # its owner was seen to pull again after an answer without messages
    EMPTY = 1024  # the last pull was answered without messages
    ASKING = 2048  # its owner has pulled it, and was answered
    WENT_ON = 4096  # RESET, and its owner got an answer to a pull since, as if there had been none


@enum.unique
class Value(enum.IntEnum):
    """Which field of an event has the new position of a mark."""

    OFFSET = 0
    AFTER_OFFSET = 1
    NEXT = 2
    HIGH = 3
    ZERO = 4  # no field: the beginning is meant


@enum.unique
class Beside(enum.IntEnum):
    """The position of an event's message relative to the mark FINISHED."""

    ANYWHERE = 0
    BELOW = 1
    BEYOND = 2  # or at it


@enum.unique
class Who(enum.IntEnum):
    """Whose events count."""

    ANYBODY = 0
    OWNER = 1


REFUSALS = (
    Result.SUBSCRIPTION_NOT_LATEST,
    Result.SUBSCRIPTION_NOT_EXIST,
    Result.OFFSET_ILLEGAL,
    Result.ERROR,
    Result.FAILED,
)
"""Results of a request that was not answered."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """An event moves a mark.

    Attributes:
        kind: kind of the event.
        mark: the mark.
        to: the field with the new position.
        results: results with which it moves the mark; empty for any.
        who: whose events do.
        only_forward: a lower position does not move it.
        of_retries: only in retry queues: messages stored elsewhere may not concern the group.
        of_broadcasting: only in broadcasting groups: their clients begin where their file says.
    """

    kind: Kind
    mark: Mark
    to: Value = Value.OFFSET
    results: tuple[Result, ...] = ()
    who: Who = Who.ANYBODY
    only_forward: bool = False
    of_retries: bool = False
    of_broadcasting: bool = False


MOVES = (
    Move(kind=Kind.PULL_RESULT, mark=Mark.LOG_END, to=Value.HIGH, results=ANSWERS),
    Move(kind=Kind.STORE, mark=Mark.LOG_END, to=Value.AFTER_OFFSET, only_forward=True, of_retries=True),
    Move(kind=Kind.DELAY_DELIVER, mark=Mark.LOG_END, to=Value.AFTER_OFFSET, only_forward=True, of_retries=True),
    Move(kind=Kind.PULL, mark=Mark.PULLED, who=Who.OWNER, only_forward=True),
    Move(
        kind=Kind.PULL_RESULT,
        mark=Mark.PULLED,
        to=Value.NEXT,
        results=ANSWERS,
        who=Who.OWNER,
        only_forward=True,
    ),
    Move(kind=Kind.DELIVER, mark=Mark.PULLED, to=Value.AFTER_OFFSET, who=Who.OWNER, only_forward=True),
    Move(kind=Kind.DELIVER, mark=Mark.DELIVERED, to=Value.AFTER_OFFSET, who=Who.OWNER, only_forward=True),
    Move(kind=Kind.LOCK, mark=Mark.LOCKED, to=Value.ZERO),
    Move(kind=Kind.COMMIT_MEMORY, mark=Mark.MEMORY, who=Who.OWNER),
    Move(kind=Kind.ASSIGN, mark=Mark.STORED, of_broadcasting=True),
    Move(kind=Kind.COMMIT, mark=Mark.STORED),
    Move(kind=Kind.OFFSET_QUERY, mark=Mark.STORED, results=(Result.OK,)),
    Move(kind=Kind.OFFSET_QUERY, mark=Mark.STORED, to=Value.ZERO, results=(Result.MISSING,)),
    Move(kind=Kind.RESET, mark=Mark.STORED),
)
"""How events move marks. A queue that is taken is pulled from its owner's start, and has no in-memory offset."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """An event begins conditions, and ends others.

    Attributes:
        kind: kind of the event.
        results: results with which it does, and ``paths``; empty for any.
        given: only if these conditions already apply.
        at: position of its message.
        begins: the conditions that apply from then on; ``ends``: those that no longer do.
        who: whose events do.
    """

    kind: Kind
    results: tuple[Result, ...] = ()
    paths: tuple[Path, ...] = ()
    given: Condition = Condition.NONE
    at: Beside = Beside.ANYWHERE
    begins: Condition = Condition.NONE
    ends: Condition = Condition.NONE
    who: Who = Who.OWNER


_COPIES = (Path.NONE, Path.FILE, Path.REPLICA)

TURNS = (
    Turn(kind=Kind.LOCK, begins=Condition.UNLOCKED),
    Turn(kind=Kind.LOCK, results=(Result.OK,), ends=Condition.UNLOCKED),
    Turn(kind=Kind.LOCK_LOST, begins=Condition.UNLOCKED),
    Turn(kind=Kind.FLOW_CONTROL, paths=(Path.ORDERLY,), begins=Condition.UNLOCKED),
    Turn(kind=Kind.PULL, given=Condition.ASKED, begins=Condition.UNANSWERED),
    Turn(kind=Kind.PULL, given=Condition.EMPTY, begins=Condition.POLLING),
    Turn(
        kind=Kind.PULL,
        begins=Condition.ASKED | Condition.PULLING,
        ends=Condition.UNLOCKED | Condition.EMPTY,
    ),
    Turn(kind=Kind.PULL_RESULT, begins=Condition.PULLING, ends=Condition.UNLOCKED),
    Turn(kind=Kind.PULL_RESULT, results=ANSWERS, given=Condition.ASKED, begins=Condition.ASKING),
    Turn(kind=Kind.PULL_RESULT, ends=Condition.ASKED | Condition.UNANSWERED),
    Turn(kind=Kind.PULL_RESULT, results=ANSWERS, ends=Condition.REFUSED),
    Turn(kind=Kind.PULL_RESULT, results=(Result.NO_NEW_MESSAGE,), begins=Condition.EMPTY),
    Turn(kind=Kind.PULL_RESULT, results=REFUSALS, begins=Condition.REFUSED),
    Turn(kind=Kind.EXPIRE, begins=Condition.EXPIRED),
    Turn(kind=Kind.COMMIT_MEMORY, ends=Condition.EXPIRED),
    Turn(kind=Kind.RESET, begins=Condition.RESET, ends=Condition.WENT_ON, who=Who.ANYBODY),
    Turn(kind=Kind.PULL_RESULT, results=ANSWERS, given=Condition.RESET, begins=Condition.WENT_ON),
    Turn(kind=Kind.CORRECT, ends=Condition.RESET | Condition.WENT_ON),
    Turn(kind=Kind.COMMIT, paths=_COPIES, begins=Condition.COPIED, who=Who.ANYBODY),
    Turn(kind=Kind.DELIVER, at=Beside.BELOW, begins=Condition.AGAIN),
    Turn(kind=Kind.COMMIT_MEMORY, at=Beside.BEYOND, ends=Condition.AGAIN),
    Turn(kind=Kind.COMMIT, at=Beside.BEYOND, ends=Condition.AGAIN),
)
"""How events begin and end conditions; rows apply one after another, in this order."""
