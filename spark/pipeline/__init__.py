"""The pipeline: recordings are ingested into a trace table, the table is mined, and reports tell what was found.

Reading order: ``table`` (folders, and how a part of the table is published), ``manifest`` (what a batch says of
itself), ``ingest``, ``recording`` (a cluster of the table as a trace), ``carried`` (from run to run), ``mining``,
``answers`` (from a run back to the answer of a check).
"""

from __future__ import annotations

from .answers import Answered, answers_of
from .ingest import Ingested, ingest
from .mining import Mining, mine_table
from .recording import read_events
from .table import Table

__all__ = ["Answered", "Ingested", "Mining", "Table", "answers_of", "ingest", "mine_table", "read_events"]
