"""Reading traces: files of any known form as batches of events; problems are counted and located."""

from __future__ import annotations

from ..format.problems import Problem, Problems, Trouble
from .events import EXTRA, ROWS, batches_of
from .open import open_trace
from .splits import Split, SplitReader, read_split
from .trace import Trace

__all__ = [
    "EXTRA",
    "ROWS",
    "Problem",
    "Problems",
    "Split",
    "SplitReader",
    "Trace",
    "Trouble",
    "batches_of",
    "open_trace",
    "read_split",
]
