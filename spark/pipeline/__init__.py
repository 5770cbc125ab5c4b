"""The pipeline: recordings are ingested into a trace table, the table is mined, and reports present the findings.

Reading order: ``table`` (folders, and how a part of the table is published), ``manifest`` (the description of a batch),
``ingest`` (with ``seen``, ``pieces``, ``batch_tables``), ``recording`` (a cluster of the table as a trace), ``latest``
(the time that it has reached), ``carried`` (state from run to run), ``mining``, ``answers`` (from a run back to the
answer of a check), ``catalog``, ``copying`` (into tables of a catalog), ``restoring`` (from them). As a stream:
``alerts`` (what to report about a run, with ``late``), ``arriving`` (sources), ``watching``.
"""

from __future__ import annotations

from .alerts import Told, publish_alerts
from .answers import Answered, answers_of
from .arriving import Folders, Lines
from .catalog import SparkCatalog
from .copying import copy_table
from .ingest import Ingested, ingest
from .mining import Mining, mine_table
from .recording import read_events
from .restoring import restore_table
from .table import Table
from .watching import Watch, Watched, watch

__all__ = [
    "Answered",
    "Folders",
    "Ingested",
    "Lines",
    "Mining",
    "SparkCatalog",
    "Table",
    "Told",
    "Watch",
    "Watched",
    "answers_of",
    "copy_table",
    "ingest",
    "mine_table",
    "publish_alerts",
    "read_events",
    "restore_table",
    "watch",
]
