"""Departures: after which events a message is no longer told by its queue, but by its retries.

The monitor by queue tells the status of what is in a queue, the monitor by message that of what has left it to be tried
again. Both go by this one rule, so that each place of a queue is told by exactly one of them. A message has left its
place once it is sent back with success (SB-5), even if another client has it there at the same time. Where the trace
records no send-backs a failure stands for it, until the message is delivered at that place again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..encoding.names import BROADCASTING, DEAD_LETTER_TOPIC, NO_QUEUE, OF_A_TOPIC, ORDERLY, RETRY_TOPIC
from ..format.kinds import FAILURES, Kind, Result
from ..machine_code.compiled import hot

_IS_FAILURE = np.array([result in FAILURES or result is Result.SUSPEND for result in Result])
# Copies are told by the monitor by message anyway, and a broadcasting group tries nothing again (CC-11).
_STAYS = BROADCASTING | RETRY_TOPIC | DEAD_LETTER_TOPIC | OF_A_TOPIC | NO_QUEUE


@hot
def departs(kind: Kind, result: Result, flags: int, send_backs: bool) -> Any:
    """Whether a message leaves its place with an event there.

    Args:
        kind: of the event, a code.
        result: code.
        flags: of the slot.
        send_backs: whether the trace records them.
    """
    if flags & _STAYS != 0:
        return False
    if send_backs:
        return kind == Kind.SEND_BACK and result == Result.OK
    # An orderly listener has the message again at the same place (OR-7).
    return kind == Kind.EXPIRE or (kind == Kind.RESULT and _IS_FAILURE[result] and flags & ORDERLY == 0)
