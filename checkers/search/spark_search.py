"""The search beyond one machine: states are divided into shares by their hash, which Spark's tasks expand and
settle.

A level of the search is a folder of Parquet files, one per share, each in the order of :mod:`.sorted_states`. A task
expands a share and sends each successor to the share to which it belongs; there another task removes known states and
writes the share of the next level. Tasks write a file under a name of their own and then rename it, and every attempt
writes the same, so nothing is lost if a worker is lost. The driver writes the checkpoints.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ...machine_code.compiled import heavy
from ...model.kernel.native import NativeMachine, load_machine
from ...properties.property import Property
from ..exploration import Limits, raise_wrong_write
from . import sorted_states as states
from .folder_error import LOCK
from .level_search import CHECKPOINT, MOST_RUNS, Known, LevelSearch
from .loop import hash_of
from .native_calls import NOT_FOUND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROOM = 1 << 18
"""Number of successors that a task holds before it sends them on."""

_SHARE = 2
"""Number of shares for each task that Spark runs at a time."""

_STATE = "state"
_SENT = "share int, told string, states binary"


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What a task must know: LLVM's text of the machine, sizes, the folder, and what is wanted."""

    text: str
    words: int
    fan: int
    shares: int
    folder: str
    terminal: int
    inverted: int
    wanted: int
    properties: int

    def machine(self) -> tuple[int, int]:
        """Addresses of the successor and the property function in this process."""
        successors, properties, _ = _loaded(self.text)
        return successors, properties

    def read(self, name: str, share: int) -> Any:
        """The states of a share of a level, or of a merged set."""
        files, root = _place(self.folder)
        with files.open_input_file(f"{root}/{name}/{share:05}.parquet") as file:
            column = pq.read_table(file, columns=[_STATE]).column(0).combine_chunks()
        if not len(column):
            return np.empty((0, self.words), np.uint64)
        array = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        data = np.frombuffer(array.buffers()[1], np.uint64, len(array) * self.words, array.offset * self.words * 8)
        return data.reshape(-1, self.words).copy()

    def write(self, name: str, share: int, rows: Any) -> None:
        """Write states of that kind: completely, or not at all."""
        files, root = _place(self.folder)
        size = self.words * 8
        data = pa.py_buffer(np.ascontiguousarray(rows).tobytes())
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), len(rows), [None, data])
        files.create_dir(f"{root}/{name}", recursive=True)
        written = f"{root}/{name}/.{share:05}-{uuid.uuid4().hex}"
        with files.open_output_stream(written) as file:
            pq.write_table(pa.table({_STATE: column}), file, compression="zstd", use_dictionary=False)
        files.move(written, f"{root}/{name}/{share:05}.parquet")


@functools.lru_cache(maxsize=4)
def _loaded(text: str) -> tuple[int, int, Any]:
    return load_machine(text)


def _place(folder: str) -> tuple[Any, str]:
    files, root = fs.FileSystem.from_uri(folder)
    return files, root.rstrip("/")


@heavy
def share_out(words: Any, shares: int, out: Any) -> None:
    """The share of each state, by bits of its hash that are not used for sorting."""
    for row in range(len(words)):
        out[row] = (hash_of(words, row, words.shape[1]) & np.uint64(0xFFFFF)) * np.uint64(shares) >> np.uint64(20)


def expand_share(task: _Task, level: str, share: int) -> Iterator[tuple[int, str, bytes]]:
    """Successors of a share, for the shares to which they belong; the last row, for its own, says what was seen."""
    successors, properties = task.machine()
    table = task.read(level, share)
    room = max(2 * task.fan, min(_ROOM, len(table) * task.fan + task.fan))
    made, ordered, new = np.empty((room, task.words), np.uint64), np.empty(room, np.uint64), None
    tags, taken = np.empty(task.fan, np.int64), np.zeros(task.fan, np.int64)
    told = states.new_report()
    at = 0
    while at < len(table):
        recent = np.repeat(table[:1], 1 << 12, axis=0)  # every state of the level is known
        at = states.expand(
            successors, properties, task.terminal, table, at, len(table), made, tags, recent, taken, told
        )
        if told[states.WRONG_STATE] >= 0:
            break
        count = int(told[states.WRITTEN])
        states.keys(made[:count], ordered[:count])
        ordered[:count].sort()
        new = np.empty_like(made[:count])
        new = new[: states.unique(made[:count], ordered[:count], new)]
        belongs = np.empty(len(new), np.int32)
        share_out(new, task.shares, belongs)
        for to in np.unique(belongs).tolist():
            yield to, "", new[belongs == to].tobytes()
    yield share, json.dumps({"taken": taken.tolist(), "told": told.tolist()}), b""


def settle_share(
    task: _Task, level: str, known: Sequence[str], share: int, rows: Iterable[tuple[str, bytes]]
) -> dict[str, Any]:
    """Write the new states of a share of the next level; returns their number, and what was found and seen."""
    _, properties = task.machine()
    seen: list[Any] = []
    sorted_ones: list[Any] = []
    for told, data in rows:
        if told:
            seen.append(json.loads(told))
        else:
            sorted_ones.append(np.frombuffer(data, np.uint64).reshape(-1, task.words))
    new = _together(sorted_ones, task.words).copy()
    for name in known:
        new = new[: states.subtract(new, task.read(name, share))]
    found = np.full(task.properties, NOT_FOUND, np.int64)
    if task.wanted:
        states.judge(properties, task.wanted, task.inverted, new, found)
    task.write(level, share, new)
    return {"share": share, "count": len(new), "found": found.tolist(), "seen": seen}


def _together(sorted_ones: list[Any], words: int) -> Any:
    """Sorted states as one sorted set."""
    while len(sorted_ones) > 1:
        sorted_ones.sort(key=len)
        one, other = sorted_ones[:2]
        out = np.empty((len(one) + len(other), words), np.uint64)
        sorted_ones[:2] = [out[: states.merge(one, other, out)]]
    return sorted_ones[0] if sorted_ones else np.empty((0, words), np.uint64)


def _level(number: int) -> str:
    return f"level-{number:05}"


class SparkSearch(LevelSearch):
    """A search, as :class:`.level_search.LevelSearch`, whose states are in a folder that all workers of a session can
    reach: a path or URI, empty or with what an interrupted search of the same configuration has left. It gives up after
    a level.

    Raises:
        FolderError: the folder contains something else.
    """

    def __init__(
        self,
        native: NativeMachine,
        properties: Sequence[Property],
        limits: Limits,
        *,
        session: SparkSession,
        folder: str,
        terminal: bool,
    ) -> None:
        super().__init__(native, properties, limits, terminal=terminal)
        self._session = session
        self._files, self._root = _place(folder)
        self._task = _Task(
            text=native.text,
            words=self.words,
            fan=self.fan,
            shares=_SHARE * session.sparkContext.defaultParallelism,
            folder=folder,
            terminal=self.terminal,
            inverted=self._inverted,
            wanted=(1 << len(properties)) - 1,
            properties=len(properties),
        )
        self._known = self._begin()

    def _begin(self) -> Known:
        task = self._task
        self._files.create_dir(self._root, recursive=True)
        present = [item.base_name for item in self._files.get_file_info(fs.FileSelector(self._root))]
        checkpoint = None
        if CHECKPOINT in present:
            with self._files.open_input_file(f"{self._root}/{CHECKPOINT}") as file:
                checkpoint = file.read()
        known = self._interrupted(task.folder, checkpoint, is_empty=not set(present) - {LOCK})
        if known is not None:
            self._task = replace(task, shares=known.shares)
            return known
        known = self._first(_level(0), shares=task.shares, nowhere=(NOT_FOUND, NOT_FOUND, NOT_FOUND))
        belongs = np.empty(1, np.int32)
        share_out(self.initial, task.shares, belongs)
        for share in range(task.shares):
            task.write(_level(0), share, self.initial[: int(share == belongs[0])])
        found = np.full(task.properties, NOT_FOUND, np.int64)
        states.judge(self.native.properties, task.wanted, task.inverted, self.initial, found)
        known.found = [(0, int(belongs[0]), 0) if at >= 0 else known.deadlock for at in found.tolist()]
        self._write_checkpoint(known)
        return known

    def bytes_per_state(self) -> float:
        """See :class:`.level_search.LevelSearch`."""
        files = self._files.get_file_info(fs.FileSelector(self._root, recursive=True))
        return float(sum(item.size or 0 for item in files)) / self.states

    def close(self) -> None:
        """See :class:`.level_search.LevelSearch`."""
        if not self._known.levels[-1]:
            self._files.delete_dir_contents(self._root)

    def _next_level(self) -> bool:
        known, task, number = self._known, self._task, len(self._known.levels)
        before, after, names = _level(number - 1), _level(number), [name for name, _ in reversed(known.runs)]
        expand, settle = expand_share, settle_share

        def sent(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for share in _numbers(batches):
                for row in expand(task, before, share):
                    yield pa.RecordBatch.from_arrays(
                        [pa.array([row[0]], pa.int32()), pa.array([row[1]]), pa.array([row[2]], pa.binary())],
                        ["share", "told", "states"],
                    )

        def settled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            rows: dict[int, list[tuple[str, bytes]]] = {}
            for batch in batches:
                for row in batch.to_pylist():
                    rows.setdefault(row["share"], []).append((row["told"], row["states"]))
            for share, of_share in sorted(rows.items()):
                yield _text(json.dumps(settle(task, after, names, share, of_share)))

        from pyspark.sql import functions

        made = self._shares().mapInArrow(sent, _SENT)
        placed = made.repartitionById(task.shares, functions.col("share"))
        answers = sorted(
            (json.loads(row["told"]) for row in placed.mapInArrow(settled, "told string").collect()),
            key=lambda answer: int(answer["share"]),
        )
        self._add_up(answers, number)
        return True

    def _add_up(self, answers: list[dict[str, Any]], number: int) -> None:
        known = self._known
        deadlock = known.deadlock
        for answer in answers:
            share = int(answer["share"])
            for seen in answer["seen"]:
                if seen["told"][states.WRONG_STATE] >= 0:
                    run = self._run_to(number - 1, share, seen["told"][states.WRONG_STATE])
                    assert run is not None
                    raise_wrong_write(self._plain, run, seen["told"][states.WRONG_INSTANCE])
                known.transitions += seen["told"][states.MADE]
                known.taken = [sum(pair) for pair in zip(known.taken, seen["taken"], strict=True)]
                if deadlock[0] < 0 <= seen["told"][states.DEADLOCK]:
                    deadlock = number - 1, share, seen["told"][states.DEADLOCK]
            for bit, place in enumerate(answer["found"]):
                if place >= 0 > known.found[bit][0]:
                    known.found[bit] = number, share, place
        known.deadlock = deadlock
        new = sum(int(answer["count"]) for answer in answers)
        known.levels.append(new)
        known.runs.append((_level(number), new))
        while len(known.runs) > MOST_RUNS:
            self._merge_two()
        self._write_checkpoint(known)

    def _merge_two(self) -> None:
        known, task = self._known, self._task
        at = known.smallest_two()
        (one, first), (other, second) = known.runs[at : at + 2]
        name = f"merged-{known.merged:05}"

        def merged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for share in _numbers(batches):
                task.write(name, share, _together([task.read(one, share), task.read(other, share)], task.words))
                yield _text(str(share))

        self._shares().mapInArrow(merged, "told string").collect()
        known.merged += 1
        known.runs[at : at + 2] = [(name, first + second)]

    def _shares(self) -> Any:
        shares = self._task.shares
        return self._session.range(0, shares, 1, shares)

    def _write_checkpoint(self, known: Known) -> None:
        new = f"{self._root}/.{CHECKPOINT}"
        with self._files.open_output_stream(new) as file:
            file.write(json.dumps(asdict(known)).encode())
        self._files.move(new, f"{self._root}/{CHECKPOINT}")
        needed = {name for name, _ in known.runs}
        for item in self._files.get_file_info(fs.FileSelector(self._root)):
            if item.base_name.startswith("merged-") and item.base_name not in needed:
                self._files.delete_dir(item.path)

    def _state_at(self, level: int, *place: int) -> Any:
        share, row = place
        return self._task.read(_level(level), share)[row : row + 1]

    def _state_before(self, level: int, wanted: Any) -> Any:
        task = self._task

        def looked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            successors, _ = task.machine()
            out, tags = np.empty((task.fan, task.words), np.uint64), np.empty(task.fan, np.int64)
            for share in _numbers(batches):
                table = task.read(_level(level), share)
                row = states.predecessor(successors, table, wanted, out, tags)
                if row >= 0:
                    yield _text(json.dumps([share, table[row].tolist()]))

        rows = self._shares().mapInArrow(looked, "told string").collect()
        return np.array([min(json.loads(row["told"]) for row in rows)[1]], np.uint64)


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _text(text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([text])], ["told"])
