"""Repeated events among splits: which events of each occurred before, in the same split or in another.

``traces.recorders.repeated`` defines which events are the same. For each event, only its position and a number that is
equal for equal events are shuffled; only the positions of repeated ones come to the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..traces.encoding.coding import COLUMNS
from ..traces.format.schema import ARROW, plain
from ..traces.io import Split, read_split
from ..traces.io.time_order import TimeOrder

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

_PLAIN = {name: plain(ARROW).field(name).type for name in COLUMNS}
_STANDS = ("mark", "seq", "file", "place", "row")
_TOLD = pa.schema([*_PLAIN.items(), *((f"its_{name}", pa.int64()) for name in _STANDS)])
"""Columns of an event: what is known about it; then what else equal events have in common, and its position."""


def are_scattered(splits: Sequence[Split], files: Sequence[TimeOrder], *, sound: bool) -> bool:
    """Whether an event may be repeated elsewhere than next to itself.

    Args:
        splits: what was read.
        files: how far each file is in order.
        sound: whether the events have no problems.
    """
    if any(split.groups is None for split in splits) or not all(file.by_time for file in files):
        return True
    spans = [(file.first[0], file.last[0]) for file in files if file.first and file.last]
    overlap = any(later[0] < earlier[1] for earlier, later in pairwise(spans))
    return len(files) > 1 and (overlap or not sound)


def same(mark: Column | str, names: Sequence[str]) -> Column:
    """A number that is equal for equal events: from these columns, and ``mark``, which equal events have in common."""
    from pyspark.sql import functions

    known = [functions.col(f"`{name}`") for name in names]
    # A missing value does not change the number, so the fact that it is missing must.
    return functions.xxhash64(mark, *(part for column in known for part in (column, column.isNull())))


def repeated_in(spark: SparkSession, splits: Sequence[Split], counted: Sequence[bool]) -> list[Any]:
    """For each split, the numbers of its events that occurred before, in the order of reading, from 0.

    ``counted``: for each, whether ``seq`` comes from its recorder.
    """
    from pyspark.sql import Window, functions
    from pyspark.sql.pandas.types import from_arrow_schema

    work = list(zip(splits, counted, strict=True))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from _told(place, *work[place])

    told = spark.range(0, len(work), 1, len(work)).mapInArrow(read, from_arrow_schema(_TOLD))
    events = told.select("time", same("its_mark", COLUMNS).alias("same"), *(f"its_{name}" for name in _STANDS[1:]))
    alike = Window.partitionBy("time", "same").orderBy("its_file", "its_seq", "its_place", "its_row")
    nth = events.withColumn("nth", functions.row_number().over(alike))
    again = nth.where("nth > 1").select("its_place", "its_row").toArrow()
    place, row = (again.column(name).to_numpy() for name in again.column_names)
    return [np.sort(row[place == number]) for number in range(len(splits))]


def _told(place: int, split: Split, counted: bool) -> Iterator[pa.RecordBatch]:
    row = 0
    for batch in read_split(split).batches((*COLUMNS, "seq")):
        seq = batch.column("seq").to_numpy(zero_copy_only=False)
        at_a_place = pc.and_(*(pc.is_valid(batch.column(name)) for name in ("queue", "offset")))
        mark = np.where(counted | ~at_a_place.to_numpy(zero_copy_only=False), seq, 0)
        stands = (mark, seq, *(np.full(len(batch), number, np.int64) for number in (split.file, place)))
        rows = np.arange(row, row + len(batch))
        row += len(batch)
        columns = [batch.column(name).cast(type_) for name, type_ in _PLAIN.items()]
        yield pa.RecordBatch.from_arrays(
            [*columns, *(pa.array(one, pa.int64()) for one in (*stands, rows))], schema=_TOLD
        )
