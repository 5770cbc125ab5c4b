"""The files of a table: each is identified by its content, and one that has grown replaces its earlier content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...traces.errors import TraceError
from ...traces.format.problems import Problems
from .fetching import Stored
from .manifest import File, Source
from .recording import Live


class Seen:
    """The files that a table has."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self._by_path: dict[str, list[File]] = {}
        self._contents: dict[str, str] = {}
        files = [file for source in live.sources for file in source.files] + list(live.passed)
        for file in files:
            self._by_path.setdefault(file.path, []).append(file)
            self._contents.setdefault(file.content, file.path)

    def look(self, path: Path) -> File | None:
        """A file in its present state; None if it cannot be read. One with the same size and date is not read again."""
        try:
            stat = path.stat()
            for known in self._by_path.get(str(path), ()):
                if (known.size, known.changed) == (stat.st_size, stat.st_mtime_ns):
                    return known
            content = content_of(path)
        except OSError:
            return None
        return File(path=str(path), size=stat.st_size, changed=stat.st_mtime_ns, content=content)

    def knows(self, stored: Stored) -> bool:
        """Whether a file of a store is there in its present state, and is not read together with others."""
        together = {file.path for source in self.live.sources if source.joined for file in source.files}
        same = any(
            (file.size, file.changed) == (stored.size, stored.changed)
            for file in self._by_path.get(str(stored.path), ())
        )
        return same and str(stored.path) not in together

    def has(self, file: File) -> bool:
        """Whether its content is in the table, under any name."""
        return file.content in self._contents and (file.size > 0 or file.path in self._by_path)

    def passed_over(self, found: Mapping[Path, File]) -> set[Path]:
        """Files that can be ignored: those that are there, unless they may be read together with new ones."""
        together = {file.path for source in self.live.sources if source.joined for file in source.files}
        return {path for path, file in found.items() if self.has(file) and str(path) not in together}

    def tells_more(self, problems: Problems) -> bool:
        """Whether there are problems of files that the table does not know."""
        known = {(one.file, one.what) for one in self.live.problems.kept}
        return any((one.file, one.what) not in known for one in problems.kept)

    def replaced_by(self, source: Sequence[File]) -> list[Source]:
        """The recordings whose files all are among these now, or are beginnings of these.

        Raises:
            TraceError: one that was read together with some of these has files that are not given.
        """
        now = {file.path: file for file in source}
        found = []
        for one in self.live.sources:
            kept = [file for file in one.files if file.path in now and begins(now[file.path], file)]
            if len(kept) == len(one.files):
                found.append(one)
            elif kept and one.joined:
                missing = next(file for file in one.files if file not in kept)
                raise TraceError(
                    f"{missing.path} was read together with {kept[0].path}, and is not given, or is another file now: "
                    "give it too, or give another --cluster, so that nothing is counted twice."
                )
        return found


def content_of(path: Path, size: int | None = None) -> str:
    """SHA-256 of a file, or of its first ``size`` bytes.

    Raises:
        OSError: it cannot be read.
    """
    digest, left = hashlib.sha256(), size
    with path.open("rb") as file:
        while block := file.read(1 << 20 if left is None else min(left, 1 << 20)):
            digest.update(block)
            left = None if left is None else left - len(block)
    return digest.hexdigest()


def begins(now: File, before: File) -> bool:
    """Whether a file is unchanged, or begins with its earlier content."""
    if now.size <= before.size:
        return now.content == before.content
    return content_of(Path(now.path), before.size) == before.content
