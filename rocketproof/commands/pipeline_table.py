"""The table on which a command of the pipeline works: a folder, or a schema of a catalog and a working folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..spark.pipeline import Table

_SCHEMA = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


@contextmanager
def table_of(words: str, *, work: str, session: Callable[[], SparkSession], writes: bool) -> Iterator[Table]:
    """The table that a user names, copied from a catalog into a folder first if it is in one.

    Args:
        words: a folder; or ``catalog.schema``, unless there is a folder with that name.
        work: the working folder for a table of a catalog.
        session: opens a session that knows the catalog.
        writes: whether new content of that folder is copied into the catalog after the block ends normally.

    Raises:
        InputError: there is no working folder, or there is one without a catalog.
        TraceError: there is no such table, or it cannot be read or written.
    """
    from ..spark.pipeline import SparkCatalog, Table, copy_table, restore_table

    if Path(words).exists() or not _SCHEMA.fullmatch(words):
        if work:
            raise InputError(
                f"--work is of a table of a catalog, such as lake.rocketmq; {words} is taken for a folder."
            )
        yield Table(words)
        return
    if not work:
        raise InputError(
            f"there is no folder {words}; if that is a schema of a catalog, name a folder to work in: --work DIR."
        )
    spark, table = session(), Table(work)
    catalog = SparkCatalog(spark, words)
    restore_table(spark, catalog, table)
    yield table
    if writes:
        copy_table(table, catalog)
