"""The latest event of a cluster with a credible time: nothing happens after it was ingested.

The time of the latest event moves the watermark, and the state carried from run to run. One process whose clock is a
year ahead, or one damaged time, would move both a year ahead, and everything that comes then would be late. An event
cannot have happened after its file was last written, nor after the file was ingested: later events are mined like all
others, but move nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc

from .manifest import Piece, Source
from .recording import Live, pieces_of
from .table import read_piece


def possible(source: Source) -> int:
    """The latest possible time, ms, of an event of a recording."""
    written = max((file.changed for file in source.files), default=sys.maxsize) // 1_000_000 + 1
    return min(written, source.at)


def latest_of(live: Live, days: tuple[str, str] = ("", "")) -> int:
    """The latest possible time of an event, ms; if no time is possible, the latest of all.

    Only events of these days count, from the first to the last; an empty day is no bound.

    Raises:
        TraceError: events cannot be read.
    """
    own = [(piece, source) for source in live.sources for piece in pieces_of(source, days)]
    latest = max((piece.end for piece, source in own if piece.end <= possible(source)), default=None)
    for piece, source in own:
        most = possible(source)
        if piece.begin <= most < piece.end and (latest is None or latest < most):
            found = _latest_in(live.folders[source.id], piece, most)
            latest = found if latest is None else max(latest, found)
    return max(piece.end for piece, _ in own) if latest is None else latest


def dated_later(live: Live, *, after: str, more: int) -> Iterator[tuple[str, int]]:
    """Recordings of batches after a given one that have events beyond the possible time by more than some ms; with the
    latest.

    None if no event of the cluster is possible: its recordings are then dated in the future, for example because they
    were generated.
    """
    ends = [(source, max((piece.end for piece in pieces_of(source)), default=0)) for source in live.sources]
    if all(piece.begin > possible(source) for source, _ in ends for piece in pieces_of(source)):
        return
    for source, end in ends:
        if live.folders[source.id].name > after and end > possible(source) + more:
            yield source.file, end


def _latest_in(folder: Path, piece: Piece, most: int) -> int:
    times = read_piece(folder / piece.path, columns=["time"])["time"]
    return int(pc.max(times.filter(pc.less_equal(times, most))).as_py())
