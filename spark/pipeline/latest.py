"""The latest event of a cluster, as far as its time can be believed: nothing happens after it was ingested.

The time of the latest event moves the watermark, and what is carried from run to run. One process whose clock is a year
ahead, or one time that is damaged, would move both a year ahead, and all that comes then would be late. An event cannot
have happened after its file was written last, nor after the file was ingested: what is later is mined like all events,
and moves nothing.
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
    """The latest time, ms, that an event of a recording can have."""
    written = max((file.changed for file in source.files), default=sys.maxsize) // 1_000_000 + 1
    return min(written, source.at)


def latest_of(live: Live, days: tuple[str, str] = ("", "")) -> int:
    """The time of the latest event that is possible, ms; of the latest of all where none is.

    Only what is of these days counts, the first and the last one; an empty one is no bound.

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
    """Recordings of batches after one that have events which are not possible, by more than some ms; with the latest.

    None where no event of the cluster is possible: then its recordings are of a time to come, such as made ones.
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
