"""The delivery before an unexplained one: its process must have recorded the kind of event that would explain it."""

from __future__ import annotations

import enum


@enum.unique
class Unexplained(enum.IntEnum):
    """The delivery before an unexplained one; findings have it in ``value``."""

    OTHER = 0  # it succeeded, or another process was given the message
    FAILED = 1  # it failed in the same process, which retries if the message could not be sent back (SB-5)
    TOLD = 2  # it is at or above the offset at which the process was told to begin, which somebody may have reset
