"""The folder of a trace table, and how parts of it are published: each by renaming one folder.

A batch of ingested recordings is ``batch=00000001``, a run of mining ``run=00000001``. Both are written in a hidden
folder beside them and renamed when complete, so that every reader sees all of it or nothing. Renaming also reserves the
number: the second process finds the name taken, and publishes nothing.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from ...traces.errors import TraceError
from ...traces.io.addresses import is_address, local_path, store_of
from ...traces.io.parquet import FAILURES
from ...traces.io.writing import ROWS_OF_A_PAGE

T = TypeVar("T")

VERSION = 1
"""Version of the manifests of batches and runs."""

MANIFEST = "_manifest.json"
"""The manifest of a batch or a run. Spark and other tools skip names that begin with ``_``."""

BATCH, RUN = "batch", "run"

LONGEST = 200
"""Maximum length of the name of a folder, as limited by file systems."""

PACKING = {
    "compression": "zstd",
    "compression_level": 1,
    "write_page_checksum": True,
    "max_rows_per_page": ROWS_OF_A_PAGE,
}
"""Options for writing Parquet."""

_NUMBER = re.compile(r"=(\d{8,})$")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class AtWorkError(TraceError):
    """Another process is writing to the table."""


class Table:
    """A trace table in a folder that all machines can reach under one name.

    Attributes:
        folder: the folder.
    """

    def __init__(self, folder: Path | str) -> None:
        if is_address(folder) or store_of(folder):
            raise TraceError(
                f"{folder}: the table is a folder, and addresses are not written to: mount the store, and name the "
                "folder; what is published there is made whole by renaming a folder, which object stores cannot do."
            )
        self.folder = local_path(folder).absolute()

    def published(self, what: str) -> list[tuple[Path, Mapping[str, Any]]]:
        """The folders of all batches, or runs, in their order, each with its manifest.

        Raises:
            TraceError: one was written by a later version, or is damaged.
        """
        return [(path, _manifest(path)) for path in self.folders(what)]

    def latest(self, what: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """The same, the latest first, each read only when it is needed."""
        return ((path, _manifest(path)) for path in reversed(self.folders(what)))

    def folders(self, what: str) -> list[Path]:
        """The folders of all batches, or runs, in their order."""
        return sorted((path for path in self.folder.glob(f"{what}=*") if _NUMBER.search(path.name)), key=_number)

    def need(self) -> None:
        """Raise TraceError if there is no table yet."""
        if not any(self.folder.glob(f"{BATCH}=*")):
            raise TraceError(f"{self.folder}: there is no trace table; 'rocketproof pipeline ingest' makes one.")

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Be the only process that makes batches, or runs; what a killed process has left of them is removed.

        Raises:
            AtWorkError: another process is writing.
            TraceError: the folder cannot be written to.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f".{what}.lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise TraceError(f"{self.folder}: cannot hold a trace table: {error.strerror or error}.") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.seek(0)
                who = lock.read().strip()
                raise AtWorkError(
                    f"{self.folder}: {who or 'another process'} is at work on this table; run again when it is done."
                ) from None
            lock.truncate(0)
            lock.write(f"process {os.getpid()} of {os.uname().nodename}")
            lock.flush()
            for left in self.folder.glob(f".{what}-*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    def next_name(self, what: str) -> str:
        """The name of the next batch or run."""
        return f"{what}={max(map(_number, self.folders(what)), default=0) + 1:08}"

    @contextmanager
    def publishing(self, name: str) -> Iterator[Path]:
        """A hidden folder, which is published under a name if the block ends normally, and removed otherwise.

        Raises:
            TraceError: there is no space, it cannot be written to, or another process has published meanwhile.
        """
        target = self.folder / name
        staging = self.folder / f".{name.partition('=')[0]}-{uuid.uuid4().hex}"
        try:
            staging.mkdir(parents=True)
            yield staging
            _flush(staging)
            # Renaming never replaces a folder that is not empty.
            os.rename(staging, target)
            _sync(self.folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                raise TraceError(
                    f"{self.folder}: another process has published {target.name} meanwhile; nothing is doubled or "
                    "lost: run again."
                ) from None
            raise TraceError(failed(self.folder, error)) from None
        except TraceError as error:
            if "No space left" in str(error) or "Disk quota" in str(error):
                raise TraceError(failed(self.folder, OSError(errno.ENOSPC, "No space left on device"))) from None
            raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    @staticmethod
    def write_manifest(folder: Path, said: Mapping[str, Any]) -> None:
        """Write the manifest of a batch or a run."""
        text = json.dumps({"version": VERSION, **said}, ensure_ascii=False, indent=1)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def failed(folder: Path, error: OSError) -> str:
    """One line about a table that cannot be written."""
    if error.errno in _NO_ROOM:
        return f"{folder}: the disk is full; nothing of this batch or run is published: make room, and run again."
    return f"{folder}: cannot be written: {error.strerror or error}; nothing of this batch or run is published."


def folder_of(cluster: str) -> str:
    """The folder of a cluster within a table of a run."""
    return f"cluster={quote(cluster, safe='')}"


def cluster_of(folder: Path) -> str:
    """The cluster to which a folder belongs; empty if it belongs to none."""
    name, _, value = folder.name.partition("=")
    return unquote(value) if name == "cluster" else ""


def table_of(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table."""
    columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in schema]
    return pa.Table.from_arrays(
        [pa.array(column, one.type) for column, one in zip(columns, schema, strict=True)], schema=schema
    )


def texts(*names: str) -> list[pa.Field]:
    """Columns of texts."""
    return [pa.field(name, pa.string()) for name in names]


def read_piece(path: Path, **how: Any) -> pa.Table:
    """The rows of a published file; ``how`` are options of ``pyarrow.parquet.read_table``.

    Raises:
        TraceError: it cannot be read.
    """
    try:
        return pq.read_table(path, partitioning=None, **how)
    except FAILURES as error:
        raise TraceError(f"{path}: a published piece of the table cannot be read: {error}. Restore it.") from None


def by_size(things: Iterable[T], size: Callable[[T], int], *, most: int, count: int = sys.maxsize) -> Iterator[list[T]]:
    """Things in groups of limited total size in bytes, and limited number; one that is larger alone is a group of its
    own.
    """
    run, total = list[T](), 0
    for thing in things:
        more = size(thing)
        if run and (total + more > most or len(run) == count):
            yield run
            run, total = [], 0
        run.append(thing)
        total += more
    if run:
        yield run


def digest_of(*parts: Any) -> str:
    """A short name for values that JSON can express: equal for equal values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _manifest(folder: Path) -> Mapping[str, Any]:
    try:
        content = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise TraceError(_unreadable(folder, error.strerror)) from None
    return read_manifest(content, folder)


def read_manifest(content: bytes, folder: Path | str) -> Mapping[str, Any]:
    """The manifest of a batch or a run.

    Raises:
        TraceError: it is damaged, or of a later version.
    """
    try:
        said = json.loads(content)
        version = said["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(_unreadable(folder, error)) from None
    if type(version) is not int or version > VERSION:
        raise TraceError(
            f"{folder}: written in version {version} of the table, and this kit knows {VERSION}: update rocketproof."
        )
    assert isinstance(said, dict)
    return said


def _unreadable(folder: Path | str, why: Any) -> str:
    return (
        f"{Path(folder) / MANIFEST}: cannot be read: {why}. Restore it, or move the folder out of the table and do "
        "again what made it."
    )


def _number(path: Path) -> int:
    found = _NUMBER.search(path.name)
    return int(found[1]) if found else 0


def _flush(folder: Path) -> None:
    """Make sure that everything is on the disk before it gets its name."""
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
