"""What an importer is: it reads files of another form than the kit's own, and returns events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from ...format.kinds import Kind
from ...format.problems import Problems
from ...format.schema import Header

Event = dict[str, Any]
"""One event: the names of schema.FIELDS with plain Python values; absent values are missing or None."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an importer made from a file."""

    header: Header  # header with the evidence that such a file can provide
    events: Iterator[Event]  # in the order of the file; read lazily. They need not be sorted by time
    # how much of the file is neither an event nor damage, by what it is, such as log lines with another content.
    # Complete once the events have been read
    skipped: Counter[str] = field(default_factory=Counter)


UNKNOWN_CLIENT = "unknown"
"""The client of an event if nothing shows it."""


def with_losses(events: Iterator[Event], why: str) -> Iterator[Event]:
    """Events of which any may be missing: a gap over all their time comes after them."""
    first = last = None
    for event in events:
        first = event["time"] if first is None else min(first, event["time"])
        last = event["time"] if last is None else max(last, event["time"])
        yield event
    if last is not None:
        yield {"time": last, "kind": Kind.GAP, "due": first, "detail": why}


@dataclass(frozen=True, kw_only=True)
class Importer(ABC):
    """Reads one form of files. The first importer of the registry that detects a file reads it.

    All fields but ``name`` are options, such as ``zone``; None if they are not given.
    """

    name: str  # of the form, such as message-trace, as used with ``--format``
    reads_series: ClassVar[bool] = False  # whether several files make one series, such as copies of a file over time

    @property
    def options(self) -> dict[str, Any]:
        """The options, each with its value."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "name"}

    @abstractmethod
    def detects(self, head: str, name: str) -> bool:
        """Whether a file is of this form.

        ``head`` has its first 64 KiB, decompressed, with bytes that are not UTF-8 replaced; ``name`` is without
        folders.
        """

    @abstractmethod
    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file, which :func:`~rocketproof.traces.io.compressed.lines_of` opens, compressed or not.

        May be called several times for the same file, and must then find the same problems in the same order. Lines
        that cannot be read are added to ``problems`` with file and line, and left out.
        """

    def read_series(self, paths: Sequence[Path], problems: Problems) -> Imported:
        """Read the files of a series, in the order of their names; without series, the only one."""
        return self.read(paths[0], problems)
