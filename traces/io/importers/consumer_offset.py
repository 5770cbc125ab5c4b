"""Files of stored offsets, and copies of one such file at different times.

- ``consumerOffset.json`` of a broker: offsets of all groups (``ConsumerOffsetManager``), written every 5 s;
- ``delayOffset.json`` of a broker: how far each delay level was delivered (``ScheduleMessageService``);
- ``offsets.json`` of a broadcasting client, ``…/<client id>/<group>/offsets.json`` (``LocalFileOffsetStore``).

The first copy contributes every offset, a later one those that differ from the copy before it. Changes of an offset
between two copies that were undone again are not visible: even a series of many copies is no evidence about commits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from ...format.kinds import Kind, Result
from ...format.kinds import Path as Way
from ...format.problems import Problems
from ...format.schema import Group, Header
from ...format.whole_number import whole_number
from ..compressed import pieces_of
from ..json_text import read_json, what_is_wrong
from . import fastjson
from .clock import millis_of, zone_of
from .protocol import Event, Imported, Importer

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
"""EN-15: the topic in whose queue ``level - 1`` messages of a delay level wait."""

_TABLES = '"offsetTable"'
_MILLIS = re.compile(r"(?<!\d)(1\d{12})(?!\d)")
_STAMP = re.compile(r"(?<!\d)(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)[-_.T ]?(\d\d)[-_.:]?(\d\d)[-_.:]?(\d\d)(?!\d)")

Cell = tuple[str | None, str, str | None, int]
"""Group, topic, broker and queue id of a stored offset."""


@dataclass(frozen=True, kw_only=True)
class ConsumerOffset(Importer):
    """Reads files of stored offsets."""

    name: str = "consumer-offset"
    reads_series = True
    zone: str | None = None  # time zone of a date and time in the name of a file; UTC if None
    broker: str | None = None  # name of the broker; if None, the folder of a file if files of several folders are read

    def detects(self, head: str, name: str) -> bool:
        """Whether it is a JSON object with a table of offsets."""
        return head.lstrip().startswith("{") and _TABLES in head

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read one file."""
        return self.read_series([path], problems)

    def read_series(self, paths: Sequence[Path], problems: Problems) -> Imported:
        """Read copies of files; those of one folder and table are a series, in the order of their times."""
        copies = sorted((self._copy(path, problems) for path in paths), key=_Copy.order)
        copies = [copy for copy in copies if copy.table is not None]
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(
                source=f"stored offsets in {len(copies)} file{'' if len(copies) == 1 else 's'}",
                evidence=frozenset({Kind.FILE_PERSIST}),
                groups={copy.group: Group(mode="broadcasting") for copy in copies if copy.group},
            ),
            events=self._events(copies, problems, skipped),
            skipped=skipped,
        )

    def _copy(self, path: Path, problems: Problems) -> _Copy:
        text = b"".join(pieces_of(path, problems)).decode(errors="replace")
        table = None
        try:
            told = fastjson.loads(text)
            table = told.get("offsetTable") if isinstance(told, dict) else None
            if not isinstance(table, dict):
                problems.add(str(path), 0, "no table of offsets")
                table = None
        except ValueError as error:
            problems.add(str(path), getattr(error, "lineno", 0), f"no JSON: {what_is_wrong(error)}")
        return _Copy(path=path, time=_time_of(path, self.zone), table=table)

    def _events(self, copies: Sequence[_Copy], problems: Problems, skipped: Counter[str]) -> Iterator[Event]:
        several = len({copy.folder for copy in copies}) > 1
        stored: dict[tuple[Path, str], dict[Cell, int]] = {}
        for copy in copies:
            broker = self.broker or (copy.folder.name if several and not copy.client else None)
            owner: Event = {"time": copy.time, "client": copy.client, "broker": broker}
            yield owner | {
                "kind": Kind.FILE_PERSIST,
                "result": Result.OK,
                "group": copy.group,
                "detail": copy.path.name,
            }
            before = stored.setdefault((copy.folder, copy.what), {})
            told = dict(copy.cells(problems))
            # ``ConsumerManageProcessor#queryConsumerOffset`` answers that nothing is stored; clients in Go store -1.
            now = {cell: offset for cell, offset in told.items() if offset >= 0}
            skipped["negative offset, as if nothing were stored"] += len(told) - len(now)
            for cell in sorted(now, key=str):
                if before.get(cell) != now[cell]:
                    group, topic, at, queue = cell
                    yield (
                        owner
                        | {
                            "kind": Kind.COMMIT,
                            "path": Way.FILE,
                            "group": group,
                            "topic": topic,
                            "broker": at or broker,
                            "queue": queue,
                            "offset": now[cell],
                        }
                        | ({"level": queue + 1} if topic == SCHEDULE_TOPIC else {})
                    )
                else:
                    skipped["offset as in the copy before"] += 1
            skipped["offset that is not in the copy any more"] += len(set(before) - set(now))
            stored[copy.folder, copy.what] = now


@dataclass(frozen=True, kw_only=True)
class _Copy:
    """One file: its table as read; None if it could not be read."""

    path: Path
    time: int
    table: dict[str, Any] | None

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def what(self) -> str:
        """Which table it is: copies of one table have the same."""
        keys = list(self.table or {})
        if any(key.startswith("{") for key in keys):
            return "local"
        return "delay" if keys and all(key.isdecimal() for key in keys) else "consumer"

    @property
    def group(self) -> str | None:
        """The group of a broadcasting client's file."""
        return self.folder.name if self.what == "local" else None

    @property
    def client(self) -> str | None:
        """The client id of a broadcasting client's file."""
        return self.folder.parent.name if self.what == "local" else None

    def order(self) -> tuple[int, bool, str]:
        """By time; of two files with the same time, the backup is the older one (``MixAll#string2File``)."""
        return self.time, not self.path.name.endswith(".bak"), str(self.path)

    def cells(self, problems: Problems) -> Iterator[tuple[Cell, int]]:
        """Every stored offset; an invalid one is a problem."""
        for key, value in (self.table or {}).items():
            if self.what == "local":
                queue = _queue_of(key)
                told = [((self.group, queue.get("topic"), queue.get("brokerName"), queue.get("queueId")), value)]
            elif self.what == "delay":
                told = [((None, SCHEDULE_TOPIC, None, whole_number(key) - 1), value)]
            else:
                topic, _, group = key.partition("@")
                queues = value if isinstance(value, dict) and topic and group else {None: value}
                told = [
                    ((group, topic, None, int(at) if at and re.fullmatch(r"\d{1,9}", at) else None), offset)
                    for at, offset in queues.items()
                ]
            for (owner, name, broker, at), offset in told:
                if not (_is_whole(offset) and _is_whole(at) and name):
                    problems.add(str(self.path), 0, f"{key!r}: {offset!r} is no offset of a queue")
                    continue
                yield (owner, name, broker, at), offset


def _queue_of(key: str) -> dict[str, Any]:
    """The message queue for which a key of a broadcasting client's table stands; empty if it is none."""
    try:
        queue = read_json(key) if key.startswith("{") else {}
    except ValueError:
        return {}
    return queue if isinstance(queue, dict) else {}


def _is_whole(value: object) -> TypeGuard[int]:
    return type(value) is int


def _time_of(path: Path, zone: str | None) -> int:
    """When a copy was made, ms: by the name of the file, otherwise by its time of modification."""
    millis = _MILLIS.search(path.name)
    if millis:
        return int(millis[1])
    stamp = _STAMP.search(path.name)
    if stamp:
        year, month, day, hour, minute, second = stamp.groups()
        try:
            return millis_of(f"{year}-{month}-{day} {hour}:{minute}:{second}", zone_of(zone or "UTC"))
        except ValueError:
            pass
    return path.stat().st_mtime_ns // 1_000_000
