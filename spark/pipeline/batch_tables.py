"""The tables of a batch besides its trace: what was ingested, and what could not be used."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...traces.io.parquet import beside_a_trace
from .manifest import Batch
from .table import PACKING, table_of, texts

INGESTED = pa.schema(
    [
        *texts("cluster", "source", "path", "content"),
        pa.field("bytes", pa.int64()),
        pa.field("events", pa.int64()),
        pa.field("problems", pa.int64()),
        pa.field("replaces", pa.list_(pa.string())),
    ]
)
"""Columns of the table ``ingested``: a row for each file."""

SKIPPED = pa.schema(
    [
        *texts("cluster", "file"),
        pa.field("line", pa.int64()),
        *texts("kind", "what"),
        pa.field("count", pa.int64()),
    ]
)
"""Columns of the table ``skipped``: what could not be used, or was skipped, and where."""


def write_tables(folder: Path, batch: Batch) -> None:
    """Write these tables into the folder of a batch."""
    ingested = [
        (batch.cluster, source.id, file.path, file.content, file.size, source.rows, source.problems.count,
         list(source.replaces))
        for source in batch.sources for file in source.files
    ]  # fmt: skip
    skipped: list[tuple[Any, ...]] = [(batch.cluster, None, None, "left out", why, 1) for why in batch.left_out]
    for problems in (*(source.problems for source in batch.sources), batch.problems):
        skipped += [(batch.cluster, one.file, one.line or None, str(one.kind), one.what, 1) for one in problems.kept]
        kept = Counter(one.kind for one in problems.kept)
        skipped += [
            (batch.cluster, None, None, str(kind), "further ones", count - kept[kind])
            for kind, count in problems.by_kind.items() if count > kept[kind]
        ]  # fmt: skip
    for source in batch.sources:
        skipped += [(batch.cluster, source.file, None, "passed over", w, n) for w, n in source.skipped.items()]
    for name, schema, rows in (("ingested", INGESTED, ingested), ("skipped", SKIPPED, skipped)):
        made = table_of(rows, schema)
        (folder / name).mkdir()
        pq.write_table(beside_a_trace(made), folder / name / f"{name}.parquet", **PACKING)
