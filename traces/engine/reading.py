"""What a check asks of what it reads, be it files or a DataFrame."""

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
        header: of all files together.
        files: what was read.
        problems: what was wrong with it.
        left_out: what of the given is no trace.
        clocks: by which times are corrected, None where they are as they were recorded.
    """

    header: Header
    files: tuple[str, ...]
    problems: Problems
    left_out: tuple[str, ...]
    clocks: Clocks | None

    @property
    def evidence(self) -> Sequence[frozenset[Kind]]:
        """What each file says it records; empty where it does not say."""

    @property
    def skipped(self) -> Counter[str]:
        """How much of it is no event and no damage, by what it is."""

    def correct(self, clocks: Clocks) -> None:
        """From now on, give times as they should be by these clocks."""

    def holes(self) -> list[Hole]:
        """What was lost in reading."""

    def events_of(
        self, clients: Collection[str], kinds: Collection[Kind], since: int, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """At least the events of some kinds of some clients from a time on (ms), in the order of time."""
