"""What a check requires of its input, be it files or a DataFrame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from ..clocks.clocks import Clocks
from ..format.coverage import Hole
from ..format.kinds import Kind
from ..format.schema import Header
from ..io import Problems


class Recorded(Protocol):
    """A recording that is being checked.

    Attributes:
        header: merged header of all files.
        files: what was read.
        problems: its problems.
        left_out: the given files that are not traces.
        clocks: the clocks by which times are corrected; None if they are as recorded.
    """

    header: Header
    files: tuple[str, ...]
    problems: Problems
    left_out: tuple[str, ...]
    clocks: Clocks | None

    @property
    def evidence(self) -> Sequence[frozenset[Kind]]:
        """What each file states that it records; empty if it does not state it."""

    @property
    def skipped(self) -> Counter[str]:
        """How much of it is neither an event nor damage, by what it is."""

    def correct(self, clocks: Clocks) -> None:
        """From now on, return times corrected by these clocks."""

    def holes(self) -> list[Hole]:
        """What was lost in reading."""

    def events_of(
        self, processes: Collection[str], kinds: Collection[Kind], since: int, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """A superset of the events of some kinds of some clients or brokers from a time on (ms), in order of time."""
