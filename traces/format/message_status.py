"""What became of a message: the complete list of statuses, none of which is inferred from an offset alone."""

from __future__ import annotations

import enum


@enum.unique
class MessageStatus(enum.IntEnum):
    """What became of a message, for its group."""

    ACKNOWLEDGED = 0  # a listener succeeded with it
    PENDING_RETRY = 1  # it failed, and waits for its next attempt
    DEAD_LETTERED = 2
    FILTERED = 3  # the queue owner's expression does not ask for it
    SKIPPED = 4  # the stored offset, or a start position, jumped over it
    LOST = 5  # the stored offset passed it although it was never consumed, or its retry never came
    WAITING = 6  # not delivered when the trace ends, and the stored offset is not past it
    IN_LISTENER = 7  # delivered, but no result before the trace ends
    DROPPED = 8  # it failed in a broadcasting group, which never retries (G5)
    NOT_OBSERVABLE = 9  # the trace lacks the necessary events
