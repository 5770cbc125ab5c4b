"""Findings: what monitors write, one row each, in the same form on every engine.

A row with a cause explains something (a duplicate, a decrease); a row without one, :attr:`Cause.NONE`, is a violation
of its claim, unless it is in doubt. Rows name queues, messages and actors by code, see :mod:`..encoding.names`.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np


class Doubt(enum.IntFlag):
    """Why a violation may be none."""

    NONE = 0
    SKEW = 1  # it rests on the order of two events of different clocks, closer than the skew or of unknown difference
    GAP = 2  # an excuse may be in a hole of the recording
    EVIDENCE = 4  # an excuse is of a kind that was not recorded
    MODEL = 8  # everything recorded about the queue is a behaviour of the model, in which the claim is a theorem
    LEVELS = 16  # it rests on delay levels that were not stated for the brokers


@enum.unique
class Note(enum.IntEnum):
    """The kinds of rows besides violations and explained repetitions."""

    NONE = 0
    SKIPPED = 1  # offsets ``offset`` … ``until`` (excluded) were skipped by actor at time
    OWNERSHIP = 2  # actor owned the queue from ``since`` to ``time``; value = path code of the end
    OFFSET = 3  # the stored offset was ``value`` at ``time``, by actor; expected = path code, until = log end or -1
    CHAIN = 4  # what became of a message: value = verdict code, see traces.format.message_status
    UNPULLED = 5  # actor had the queue from ``since`` to ``time``, and never pulled it; ``offset`` = where it starts
    END = 6  # the queue ended at ``offset``: as actor learnt at ``time`` or, if it is a broker, as it has stored


ROW = np.dtype(
    [
        ("claim", np.int16),  # code of the claim; -1 for rows that belong to none
        ("note", np.uint8),  # Note
        ("cause", np.uint8),  # code of model.history.Cause or Regression, 0 without
        ("doubt", np.uint8),  # Doubt flags
        ("slot", np.int32),  # the queue, -1 without
        ("origin", np.int64),  # the message, 0 without
        ("offset", np.int64),
        ("until", np.int64),  # end of a range of offsets, excluded
        ("since", np.int64),  # time of the earlier event, ms
        ("time", np.int64),  # time of the event that showed it, ms
        ("actor", np.int32),  # who acted, -1 without
        ("other", np.int32),  # who acted at ``since``, -1 without
        ("value", np.int64),  # what was seen
        ("expected", np.int64),  # what should have been seen
        ("late", np.int64),  # for how long it had been too late by ``time``, ms: events in this time excuse nothing
    ]
)
"""One finding."""

ORDER = ("claim", "note", "slot", "origin", "offset", "time", "since", "actor", "other", "value", "expected", "cause")
"""The columns by which findings are sorted, so that engines can be compared."""


def sort_rows(rows: Any) -> Any:
    """Rows in the order of :data:`ORDER`."""
    return rows[np.lexsort([rows[name] for name in reversed(ORDER)])]
