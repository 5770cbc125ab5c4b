"""Writing findings: complete tables, or none."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from ..traces.errors import TraceError
from .session import failures

if TYPE_CHECKING:
    from .frames import Mined

RUN = "run-"
"""Prefix of the folder of a run, after a dot, the name of the target and another dot; readers therefore skip it."""

BEFORE = "before-"
"""Prefix of the folder with the tables of an earlier run while it is replaced."""


def write_findings(mined: Mined, folder: str) -> None:
    """Write the tables ``findings`` and ``verdicts`` as Parquet into a folder, which they replace as a whole.

    They are written beside it, in a hidden folder, and moved when they are complete: a reader sees either the earlier
    tables or these. What a killed run has left is removed by the next one; if it was killed between removing the
    earlier tables and putting its own in place, the earlier ones are restored first.

    The folder is a path or URL on any file system that Spark knows.

    Raises:
        TraceError: the folder contains something that this function did not write, or cannot be written.
    """
    with failures():
        files = _Files(mined, folder)
        files.recover()
        files.need_tables_or_nothing()
        run = files.beside(RUN)
        order = list(mined.findings.columns)
        for name, frame in (("findings", mined.findings.sortWithinPartitions(*order)), ("verdicts", mined.verdicts)):
            frame.write.parquet(f"{run}/{name}")
        files.put(run)


class _Files:
    """The target folder and its neighbours, through Spark's own file systems."""

    def __init__(self, mined: Mined, folder: str) -> None:
        context: Any = mined.findings.sparkSession.sparkContext
        self._path_of = context._jvm.org.apache.hadoop.fs.Path
        given = self._path_of(folder)
        self._system = given.getFileSystem(context._jsc.hadoopConfiguration())
        self._folder = self._system.makeQualified(given)
        self._parent, self._name = self._folder.getParent(), str(self._folder.getName())
        if self._parent is None:
            raise TraceError(f"{folder} is a whole file system; name a folder in it.")

    def beside(self, what: str) -> str:
        """A new hidden folder beside the target."""
        return str(self._path_of(self._parent, f".{self._name}.{what}{uuid.uuid4().hex}").toString())

    def recover(self) -> None:
        """Restore what a killed run has moved away, and remove what it has left."""
        for left in self._left(BEFORE):
            if self._system.exists(self._folder):
                self._system.delete(left, True)
            else:
                self._system.rename(left, self._folder)
        for left in self._left(RUN):
            self._system.delete(left, True)

    def need_tables_or_nothing(self) -> None:
        if not self._system.exists(self._folder):
            return
        found = sorted(str(one.getPath().getName()) for one in self._system.listStatus(self._folder))
        others = [name for name in found if name not in ("findings", "verdicts")]
        if others:
            given = self._folder.toString()
            raise TraceError(f"{given} holds {others[0]}, which no earlier run has written; name another folder.")

    def put(self, run: str) -> None:
        """Replace the target by a finished run."""
        before = self._path_of(self.beside(BEFORE))
        if self._system.exists(self._folder):
            self._system.rename(self._folder, before)
        if not self._system.rename(self._path_of(run), self._folder):
            self._system.rename(before, self._folder)
            raise TraceError(f"{run} cannot be renamed to {self._folder.toString()}.")
        self._system.delete(before, True)

    def _left(self, what: str) -> list[Any]:
        if not self._system.exists(self._parent):
            return []
        start = f".{self._name}.{what}"
        listed = (one.getPath() for one in self._system.listStatus(self._parent))
        return [path for path in listed if str(path.getName()).startswith(start)]
