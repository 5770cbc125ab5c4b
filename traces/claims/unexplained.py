"""What a delivery that nothing explains follows: what would explain it, its process must have recorded."""

from __future__ import annotations

import enum


class Unexplained(enum.IntEnum):
    """The delivery before one that nothing explains; findings have it in ``value``."""

    OTHER = 0  # it went well, or another process was given the message
    FAILED = 1  # it failed in the same process, which tries again where the message could not be sent back (SB-5)
