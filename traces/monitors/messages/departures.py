"""Departures: after which events a message's status is no longer that of its queue, but that of its retries.

The monitor by queue reports the status of messages in a queue, the monitor by message that of messages that have left
it for a retry. Both use this one rule, so that each offset of a queue is reported by exactly one of them. A message has
left its place once it is sent back successfully (SB-5), even if another client has it there at the same time. If the
trace records no send-backs, a failure counts instead, until the message is delivered at that place again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import hot
from ...encoding.names import BROADCASTING, DEAD_LETTER_TOPIC, NO_QUEUE, OF_A_TOPIC, ORDERLY, RETRY_TOPIC
from ...format.kinds import FAILURES, SUCCESSES, Kind, Result

IS_SUCCESS = np.array([result in SUCCESSES for result in Result])
IS_FAILURE = np.array([result in FAILURES or result is Result.SUSPEND for result in Result])
"""Whether a listener has consumed a message, or will be given it again, by the code of its result."""

# Copies are always reported by the monitor by message, and a broadcasting group never retries (CC-11).
_STAYS = BROADCASTING | RETRY_TOPIC | DEAD_LETTER_TOPIC | OF_A_TOPIC | NO_QUEUE


@hot
def departs(kind: Kind, result: Result, flags: int, send_backs: bool) -> Any:
    """Whether a message leaves its place with an event there.

    Kind, result and flags of its slot are codes; ``send_backs``: whether the trace records any.
    """
    if flags & _STAYS != 0:
        return False
    if send_backs:
        return kind == Kind.SEND_BACK and result == Result.OK
    # An orderly listener gets the message again at the same place (OR-7).
    return kind == Kind.EXPIRE or (kind == Kind.RESULT and IS_FAILURE[result] and flags & ORDERLY == 0)
