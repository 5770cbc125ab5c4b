"""The monitors of ``traces/`` on Spark: for traces that are too large for one machine.

:func:`mine` takes and returns DataFrames, :func:`check_with_spark` takes files. Reading order: ``session``, ``check``
and ``frames`` (the entry points), ``blocks`` (events in transit), ``order`` (events sorted by time again), ``judging``
(what tasks do with them), ``writing``.
"""

from __future__ import annotations

from .check import check_with_spark
from .frames import Mined, mine
from .session import open_session
from .writing import write_findings

__all__ = ["Mined", "check_with_spark", "mine", "open_session", "write_findings"]
