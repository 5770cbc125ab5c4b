"""Scans: frames that are the rows of Parquet files and nothing else, whose files tasks can therefore read themselves.

Spark passes a frame to Python row by row through Java, which costs more than reading the files and checking them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from ..traces.format.problems import Trouble
from ..traces.format.schema import BY_NAME
from ..traces.io import Problems, Split
from ..traces.io.parquet import FAILURES, ParquetTrace
from ..traces.io.splits import splits_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HARMLESS = frozenset({Trouble.NO_HEADER, Trouble.HEADER, Trouble.OTHER_NAME, Trouble.NEAR_NAME})
"""Problems with what a frame does not have, or gets elsewhere."""


def splits_of_scan(events: DataFrame) -> Sequence[Split]:
    """The parts of its files, if a frame is a scan of Parquet files of this machine that Arrow understands as Spark
    does; otherwise none.
    """
    plan = events._jdf.queryExecution().analyzed()
    if _name(plan) != "LogicalRelation" or _name(plan.relation()) != "HadoopFsRelation":
        return ()
    relation, files = plan.relation(), [urlsplit(file) for file in sorted(events.inputFiles())]
    of_parquet = _name(relation.fileFormat()) == "ParquetFileFormat" and relation.partitionSchema().isEmpty()
    if not of_parquet or any(file.scheme != "file" for file in files):
        return ()
    problems, paths = Problems(), [Path(unquote(file.path)) for file in files]
    try:
        sources = [ParquetTrace(path, problems) for path in paths]
    except FAILURES:
        return ()
    known = BY_NAME.keys() & set(events.columns)
    alike = all(BY_NAME.keys() & set(source.schema.names) == known for source in sources)
    # Only Spark knows in which zone it reads a time stamp.
    stamps = any(pa.types.is_timestamp(source.schema.field(name).type) for source in sources for name in known if alike)
    if not alike or stamps or problems.by_kind.keys() - _HARMLESS:
        return ()
    return [replace(split, file=0) for split in splits_of(sources)]


def _name(of: Any) -> str:
    return str(of.getClass().getSimpleName())
