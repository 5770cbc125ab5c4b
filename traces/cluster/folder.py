"""The folder that is written: files of lines that only grow, and the position to continue from, saved atomically.

The valid length of each file is in ``_state.json``, which is replaced once the lines are on disk. Lines beyond it were
being written when a run was killed: the next run cuts them off, and reads them again. Files whose names begin with
``_`` are not traces (:func:`~rocketproof.traces.io.open.open_trace`).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from .remoting import ClusterError

_STATE, _LOCK = "_state.json", "_lock"
_VERSION = 1


class Folder:
    """A folder, held by one run at a time.

    Args:
        path: the folder, which is made if it does not exist.
        asked: what is collected; a folder can only be continued with the same values.
        files: names of the files that grow; apart from replaced files, no other file is ever touched.

    Attributes:
        kept: what the last save stored; None in a new folder.
        waiting: bytes that are not saved yet.

    Raises:
        ClusterError: it contains something else, was made with other values, or is in use by another run.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, asked: Mapping[str, Any], files: Sequence[str]) -> None:
        self.path, self._asked, self._files = path, json.loads(json.dumps(asked)), tuple(files)
        if path.exists() and not path.is_dir():
            raise ClusterError(f"{path} is a file; name a folder.")
        path.mkdir(parents=True, exist_ok=True)
        others = [each for each in path.iterdir() if each.name not in (_LOCK, *files) and each.name[:5] != "_new_"]
        if others and not (path / _STATE).exists():
            raise ClusterError(f"{path} holds something else; name a new or empty folder, or one that was collected.")
        self._lock: IO[str] = (path / _LOCK).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ClusterError(f"another run writes {path}; wait for it, or name another folder.") from None
        self.kept: Any = None
        self._lengths: dict[str, int] = {}
        self._new: dict[str, list[str]] = {}
        self.waiting = 0
        try:
            self._go_on()
        except BaseException:
            self._lock.close()
            raise

    def _go_on(self) -> None:
        state = self.path / _STATE
        if not state.exists():
            return
        try:
            told = json.loads(state.read_text(encoding="utf-8"))
            version, asked = told["version"], told["asked"]
            self.kept, self._lengths = told["kept"], told["lengths"]
        except (ValueError, KeyError, TypeError):
            raise ClusterError(f"{state} cannot be read; collect into another folder.") from None
        if version != _VERSION:
            raise ClusterError(f"{state} is of another version of the kit ({version}); collect into another folder.")
        if asked != self._asked:
            names = sorted(name for name in {**asked, **self._asked} if asked.get(name) != self._asked.get(name))
            raise ClusterError(
                f"{self.path} was collected with another {' and '.join(names)}; ask for the same, or name another one."
            )
        self._cut()

    def holds(self, name: str) -> bool:
        """Whether a file has lines, saved or not."""
        return bool(self._lengths.get(name) or self._new.get(name))

    def add(self, name: str, line: str) -> None:
        """A further line of a file; it is written at the next save."""
        self._new.setdefault(name, []).append(line + "\n")
        self.waiting += len(line) + 1

    def save(self, kept: Any, replaced: Mapping[str, str] | None = None) -> None:
        """Write the lines, then the position to continue from.

        Args:
            kept: the position to continue from.
            replaced: files that are rewritten, with their texts. They are written first, so their content must also be
                true for the last save.

        Raises:
            OSError: the disk is full, or similar; the files that grow are as they were at the last save.
        """
        lengths = dict(self._lengths)
        try:
            for name, text in (replaced or {}).items():
                self._replace(name, text)
            for name, lines in self._new.items():
                data = "".join(lines).encode()
                with (self.path / name).open("ab") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                lengths[name] = lengths.get(name, 0) + len(data)
            state = {"version": _VERSION, "asked": self._asked, "kept": kept, "lengths": lengths}
            self._replace(_STATE, json.dumps(state))
        except BaseException:
            self._cut()
            raise
        self._lengths, self._new, self.waiting, self.kept = lengths, {}, 0, kept

    def _replace(self, name: str, text: str) -> None:
        beside = self.path / f"_new_{name}"
        with beside.open("w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        beside.replace(self.path / name)

    def _cut(self) -> None:
        """Cut off what was not saved."""
        for name in self._files:
            path, length = self.path / name, self._lengths.get(name, 0)
            if not path.exists():
                if length:
                    raise ClusterError(f"{path} is gone, which was collected before; collect into another folder.")
            elif path.stat().st_size < length:
                raise ClusterError(f"{path} is shorter than what was collected; collect into another folder.")
            elif not length:
                path.unlink()
            elif path.stat().st_size > length:
                os.truncate(path, length)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the folder for other runs. What was not saved is discarded, and read again by the next run."""
        self._lock.close()
