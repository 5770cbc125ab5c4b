"""Recordings in stores, such as ``s3a://``, ``hdfs://`` and ``gs://``: copied beside the table while they are
ingested.

Readers of recordings seek in files, and Python tasks have no access to Hadoop's file systems. The driver therefore lets
Hadoop copy new files into a folder of the table, which all machines can reach, and which is emptied later.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...traces.errors import TraceError
from ..session import failures
from .table import failed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FETCHED = "_fetched"
"""The folder of copies; readers of the table skip names that begin with ``_``."""

_AT_ONCE = 8
"""Number of files that are copied at the same time."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A file in a store.

    Attributes:
        address: address of the file.
        size: bytes; ``changed``: when, in ns since 1970.
        path: path of its copy, which identifies it from now on.
    """

    address: str
    size: int
    changed: int
    path: Path


@contextmanager
def fetching(
    spark: SparkSession, addresses: Sequence[str], table: Path, known: Callable[[Stored], bool]
) -> Iterator[tuple[list[Path], int]]:
    """Copies of the files at addresses, while the block runs, and how many files were already known and not copied.

    Folders are searched recursively; settings of ``spark`` say how stores are reached; ``known``: whether a file need
    not be copied.

    Raises:
        TraceError: a store cannot be reached or read, there is no such file, or it changed while it was copied.
    """
    root = table / FETCHED
    shutil.rmtree(root, ignore_errors=True)  # left by a killed process
    try:
        with failures():
            found: dict[Path, Stored] = {}
            for address in addresses:
                with _reaching(address):
                    found |= {one.path: one for one in _listed(spark, address, root)}
            wanted = [one for one in found.values() if not known(one)]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(partial(_copy, spark), wanted))
        yield [one.path for one in wanted], len(found) - len(wanted)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _listed(spark: SparkSession, address: str, root: Path) -> Iterator[Stored]:
    store, path = _opened(spark, address)
    if not store.exists(path):
        raise TraceError(f"{address}: there is no such file or folder.")
    begin = store.getFileStatus(path).getPath().toUri().getPath().rstrip("/")
    files, count = store.listFiles(path, True), 0
    while files.hasNext():
        status = files.next()
        told = status.getPath().toUri()
        name = told.getPath()
        if any(part.startswith((".", "_")) for part in name[len(begin) :].split("/")):
            continue
        count += 1
        yield Stored(
            address=status.getPath().toString(),
            size=int(status.getLen()),
            changed=int(status.getModificationTime()) * 1_000_000,
            path=_place([told.getScheme(), told.getAuthority() or "", *name.split("/")], root),
        )
    if not count:
        raise TraceError(f"{address}: no files in it.")


def _opened(spark: SparkSession, address: str) -> tuple[Any, Any]:
    """The store of an address, and the address as a path in it."""
    java: Any = spark._jvm
    path = java.org.apache.hadoop.fs.Path(address)
    return path.getFileSystem(spark._jsc.hadoopConfiguration()), path


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    """Turn Hadoop's error about a store that it cannot read into one line."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        yield
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage()).partition("\n")[0].rstrip(".;")
        raise TraceError(
            f"{address}: cannot be read: {reason}. Spark reaches a store with a package and settings, which --conf "
            "gives; or copy or mount what is there."
        ) from None


def _place(parts: Sequence[str], root: Path) -> Path:
    """The path for the copy of a file: names come from the store, and cannot lead elsewhere."""
    if any(part in (".", "..") or "\0" in part for part in parts):
        raise TraceError(f"{'/'.join(parts)!r}: the name of a file leads elsewhere.")
    return root.joinpath(*filter(None, parts))


def _copy(spark: SparkSession, one: Stored) -> None:
    java: Any = spark._jvm
    try:
        one.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TraceError(failed(one.path, error)) from None
    with _reaching(one.address):
        store, path = _opened(spark, one.address)
        store.copyToLocalFile(False, path, java.org.apache.hadoop.fs.Path(f"file://{one.path}"), True)
    if one.path.stat().st_size != one.size:
        raise TraceError(f"{one.address}: has changed while it was copied; ingest it when it is complete.")
    os.utime(one.path, ns=(one.changed, one.changed))
