"""The search beyond memory: states are kept in a folder, in sorted files that are memory-mapped and read in order.

Each level of the search is a file. Its successors are collected, sorted and stripped of known states, as many at a time
as fit into the memory limit; what is left is merged into the file of the next level.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...model.kernel.native import NativeMachine
from ...properties.property import Property
from ..exploration import Limits, raise_wrong_write
from . import sorted_states as states
from .folder_error import LOCK, FolderError
from .level_search import CHECKPOINT, MOST_RUNS, Known, LevelSearch
from .native_calls import NOT_FOUND

_CHUNK = 1 << 14
"""Number of states of a level that a thread expands at a time."""

_RECENT = 1 << 16
"""Number of recent successors that each thread recognises at once as not new."""


def _level(number: int) -> str:
    return f"level-{number:05}.states"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A folder, made if there is none, in which no other process searches meanwhile.

    Raises:
        FolderError: another process searches there already; or the folder cannot be made, or written, now or later.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = f"another process searches in {folder}; wait for it, or name another folder."
                raise FolderError(text) from None
            yield
    except OSError as error:
        raise FolderError(
            f"cannot write to {folder}: {error.strerror or error}; a search goes on where it was if started again."
        ) from None


class DiskSearch(LevelSearch):
    """A search, as :class:`.level_search.LevelSearch`, that keeps its states in a folder: an empty one, or one with
    what an interrupted search of the same configuration has left; see :func:`alone_in`. The limit of ``bytes`` is the
    memory for sorting; mapped files do not count.

    Raises:
        FolderError: the folder contains something else.
        OSError: the folder cannot be written, or is full.
    """

    def __init__(
        self,
        native: NativeMachine,
        properties: Sequence[Property],
        limits: Limits,
        *,
        folder: Path,
        terminal: bool,
        threads: int,
    ) -> None:
        super().__init__(native, properties, limits, terminal=terminal)
        self.folder = folder
        self._threads = threads
        share = limits.memory() // threads // (2 * 8 * self.words + 8)
        self.room = max(2 * self.fan, min(states.MOST, share))
        self._known = self._begin()

    def _begin(self) -> Known:
        checkpoint = self.folder / CHECKPOINT
        known = self._interrupted(
            self.folder,
            checkpoint.read_bytes() if checkpoint.exists() else None,
            is_empty=all(path.name == LOCK for path in self.folder.iterdir()),
        )
        if known is not None:
            for path in [*self.folder.glob("new-*.states"), *self.folder.glob("merging-*.states")]:
                path.unlink()  # of the level in which the search was interrupted
            return known
        known = self._first(_level(0), shares=1, nowhere=(NOT_FOUND, NOT_FOUND))
        self.initial.tofile(self.folder / _level(0))
        self._judge(known, self.initial)
        self._write_checkpoint(known)
        return known

    def bytes_per_state(self) -> float:
        """See :class:`.level_search.LevelSearch`."""
        return sum(path.stat().st_size for path in self.folder.glob("*.states")) / self.states

    def close(self) -> None:
        """See :class:`.level_search.LevelSearch`."""
        if not self._known.levels[-1]:
            for path in [*self.folder.glob("*.states"), self.folder / CHECKPOINT]:
                path.unlink(missing_ok=True)

    def _state_at(self, level: int, *place: int) -> Any:
        (row,) = place
        return self._mapped(_level(level), self._known.levels[level])[row : row + 1].copy()

    def _state_before(self, level: int, wanted: Any) -> Any:
        out, tags = np.empty((self.fan, self.words), np.uint64), np.empty(self.fan, np.int64)
        before = self._mapped(_level(level), self._known.levels[level])
        row = states.predecessor(self.native.successors, before, wanted, out, tags)
        return before[row : row + 1].copy()

    def _next_level(self) -> bool:
        known, number = self._known, len(self._known.levels)
        level = self._mapped(_level(number - 1), known.levels[-1])
        # The states found last, which are found again most often, come first, so that less is looked up in the rest.
        runs = [self._mapped(name, count) for name, count in reversed(known.runs)]
        expanding = _Expanding(self, level, runs)
        with ThreadPoolExecutor(self._threads, thread_name_prefix="search") as pool:
            workers = list(pool.map(lambda _: expanding.work(), range(self._threads)))
            wrong = [worker.told for worker in workers if worker.told[states.WRONG_STATE] >= 0]
            if wrong:
                first = min(wrong, key=lambda told: int(told[states.WRONG_STATE]))
                run = self._run_to(number - 1, int(first[states.WRONG_STATE]))
                assert run is not None
                raise_wrong_write(self._plain, run, int(first[states.WRONG_INSTANCE]))
            if expanding.is_late:
                return False
            new = self._merged(expanding.runs, _level(number), pool)
        for worker in workers:
            known.transitions += int(worker.told[states.MADE])
            known.taken = (worker.taken + known.taken).tolist()
        stuck = [int(worker.told[states.DEADLOCK]) for worker in workers if worker.told[states.DEADLOCK] >= 0]
        if stuck and known.deadlock[0] < 0:
            known.deadlock = number - 1, min(stuck)
        known.levels.append(new)
        if new:
            self._judge(known, self._mapped(_level(number), new))
            known.runs.append((_level(number), new))
            self._keep_few()
        self._write_checkpoint(known)
        return True

    def _judge(self, known: Known, level: Any) -> None:
        wanted = sum(1 << bit for bit, (at, *_) in enumerate(known.found) if at < 0)
        if not wanted:
            return
        found = np.full(self._properties, NOT_FOUND, np.int64)
        states.judge(self.native.properties, wanted, self._inverted, level, found)
        for bit in np.flatnonzero(found >= 0).tolist():
            known.found[bit] = len(known.levels) - 1, int(found[bit])

    def _merged(self, runs: list[tuple[str, int]], name: str, pool: ThreadPoolExecutor) -> int:
        """Merge sorted files into one with the given name, and remove them; returns its number of states."""
        step = 0
        while len(runs) > 1:
            runs.sort(key=lambda run: run[1])
            pairs = [(runs[at], runs[at + 1]) for at in range(0, len(runs) - 1, 2)]
            names = [f"merging-{step + at:05}.states" for at in range(len(pairs))]
            step += len(pairs)
            merged = pool.map(lambda pair, to: self._merge(pair[0], pair[1], to), pairs, names)
            rest = [runs[-1]] if len(runs) % 2 else []
            counts = list(merged)
            for run in runs[: len(runs) - len(rest)]:
                (self.folder / run[0]).unlink()
            runs = [*zip(names, counts, strict=True), *rest]
        if not runs:
            return 0
        (self.folder / runs[0][0]).rename(self.folder / name)
        return runs[0][1]

    def _merge(self, one: tuple[str, int], other: tuple[str, int], name: str) -> int:
        path, most = self.folder / name, one[1] + other[1]
        with path.open("wb") as file:
            # Reserved now: if the disk were full, writing through a mapping would kill the process.
            os.posix_fallocate(file.fileno(), 0, most * self.words * 8)
        count: int = states.merge(self._mapped(*one), self._mapped(*other), self._mapped(name, most))
        with path.open("r+b") as file:
            file.truncate(count * self.words * 8)
        return count

    def _keep_few(self) -> None:
        known = self._known
        while len(known.runs) > MOST_RUNS:
            at = known.smallest_two()
            name = f"merged-{known.merged:05}.states"
            known.merged += 1
            known.runs[at : at + 2] = [(name, self._merge(known.runs[at], known.runs[at + 1], name))]

    def _write_checkpoint(self, known: Known) -> None:
        new = self.folder / f"{CHECKPOINT}.new"
        new.write_text(json.dumps(asdict(known)))
        new.replace(self.folder / CHECKPOINT)
        needed = {name for name, _ in known.runs}
        for path in self.folder.glob("merged-*.states"):
            if path.name not in needed:
                path.unlink()

    def _mapped(self, name: str, count: int) -> Any:
        if not count:
            return np.empty((0, self.words), np.uint64)
        mapped = np.memmap(self.folder / name, np.uint64, "r+", shape=(count, self.words))
        return mapped.view(np.ndarray)


@dataclass(kw_only=True)
class _Worker:
    """What one thread has found in a level."""

    taken: Any
    told: Any


class _Expanding:
    """The expansion of a level by threads that take chunks of it."""

    def __init__(self, search: DiskSearch, level: Any, known: Sequence[Any]) -> None:
        self.runs: list[tuple[str, int]] = []  # name and number of states of the sorted files of new states
        self._search = search
        self._level = level
        self._known = known
        self._next = 0
        self._lock = threading.Lock()
        self.is_late = False  # whether the time is over before all of the level was expanded

    def work(self) -> _Worker:
        """Expand chunks until none are left."""
        search = self._search
        words, fan = search.words, search.fan
        worker = _Worker(taken=np.zeros(fan, np.int64), told=states.new_report())
        room = min(search.room, len(self._level) * fan + fan)
        made, ordered = np.empty((room, words), np.uint64), np.empty(room, np.uint64)
        tags = np.empty(fan, np.int64)
        recent = np.repeat(search.initial, min(_RECENT, 1 << room.bit_length()), axis=0)
        count = 0
        while (chunk := self._chunk()) is not None:
            at, end = chunk
            while at < end:
                at = states.expand(
                    search.native.successors,
                    search.native.properties,
                    search.terminal,
                    self._level,
                    at,
                    end,
                    made[count:],
                    tags,
                    recent,
                    worker.taken,
                    worker.told,
                )
                count += int(worker.told[states.WRITTEN])
                if worker.told[states.WRONG_STATE] >= 0:
                    return worker
                if at < end:
                    self._put(made[:count], ordered[:count])
                    count = 0
        self._put(made[:count], ordered[:count])
        return worker

    def _chunk(self) -> tuple[int, int] | None:
        self.is_late = self.is_late or self._search.is_late()
        with self._lock:
            begin = self._next if not self.is_late else len(self._level)
            self._next = min(begin + _CHUNK, len(self._level))
        return (begin, self._next) if begin < len(self._level) else None

    def _put(self, made: Any, ordered: Any) -> None:
        """Write the new states among the successors to a sorted file."""
        states.keys(made, ordered)
        ordered.sort()
        new = np.empty_like(made)
        count = states.unique(made, ordered, new)
        for run in self._known:
            count = states.subtract(new[:count], run)
        if not count:
            return
        with self._lock:
            name = f"new-{len(self.runs):05}.states"
            self.runs.append((name, count))
        (self._search.folder / name).write_bytes(memoryview(new[:count]))
