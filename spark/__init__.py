"""The monitors of ``traces/`` over Spark: for traces that one machine should not, or cannot, go through alone.

:func:`mine` takes and returns DataFrames, :func:`check_with_spark` takes files. Reading order: ``session``, ``check``
and ``frames`` (the doors), ``blocks`` (events on their way), ``order`` (events by time again), ``judging`` (what tasks
do with them), ``writing``.
"""

from __future__ import annotations

from .check import check_with_spark
from .frames import Mined, mine
from .session import open_session
from .writing import write_findings

__all__ = ["Mined", "check_with_spark", "mine", "open_session", "write_findings"]
