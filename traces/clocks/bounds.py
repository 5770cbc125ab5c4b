"""Bounds: how far two clocks can be apart, from causal pairs, as difference constraints in whole microseconds.

With a time as its recorder wrote it = true time + offset of the recorder, "a before b" means that offset(b) - offset(a)
is at most b's time - a's. Clocks drift, so bounds are computed for moments, one in the middle of each piece of time; a
pair says less about a moment the further away it is. Bounds of several pairs add up along a path from recorder to
recorder, and the shortest path gives the tightest bound; a cycle of negative length is a contradiction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .observed import Matched

DRIFT = 500e-6
"""Maximum drift between two clocks: a crystal drifts by 100 ppm, a clock that is slewed by NTP by 500 ppm."""

STEP = 2_000_000
"""Minimum length of a piece of time, µs: the drift within it is less than what pairs leave open. Longer pieces are
doubled, and doubled again, so that a recording that continues keeps its pieces until it is twice as long.
"""

FREE = 1 << 60
"""There is no bound."""

_CELLS = 4_000_000
_PIECES = 512
_WAYPOINTS = 200

_TOGETHER = 1 << 16
"""Number of entries that fit into a processor's cache, and are traversed many times."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What the pairs of each piece of time imply.

    Attributes:
        recorders: positions, in :class:`Matched`, of the recorders that occur in pairs.
        begin: beginning of the first piece, µs; ``length``: of a piece.
        direct: pieces × recorders × recorders: upper bounds of offset(second) - offset(first), µs, from the pairs of
            that piece alone; FREE without any.
        piece: for each pair, its piece.
    """

    recorders: Any
    begin: int
    length: int
    direct: Any
    piece: Any

    @property
    def times(self) -> Any:
        """The middle of each piece, µs."""
        return self.begin + self.length * np.arange(len(self.direct)) + self.length // 2

    def within(self, first: int, end: int) -> Any:
        """The tightest bounds for the pieces ``first`` … ``end`` - 1, from the pairs of these pieces.

        If the entry of a recorder with itself is below 0, they contradict each other.
        """
        return closed(spread(self.direct[first:end], self.length))

    def agree(self, first: int, end: int) -> bool:
        """Whether offsets that drift by no more than DRIFT can explain all pairs of these pieces."""
        return not (np.diagonal(self.within(first, end), axis1=1, axis2=2) < 0).any()

    def contradiction(self, piece: int) -> list[int]:
        """A negative cycle, as positions in ``recorders``, from the pairs of one piece; empty if there is none."""
        weights = self.direct[piece]
        if (weights >= 0).all() or self.agree(piece, piece + 1):
            return []
        import networkx as nx  # imported here, as most traces do not need it and it takes a while

        graph = nx.DiGraph()
        for a, b in np.argwhere(weights < FREE).tolist():
            graph.add_edge(a, b, weight=int(weights[a, b]))
        for part in nx.strongly_connected_components(graph):
            try:
                return list(nx.find_negative_cycle(graph.subgraph(part).copy(), next(iter(part))))
            except nx.NetworkXError:
                continue  # none in this part
        return []


def bounds_of(matched: Matched, slack: int = 0) -> Bounds:
    """The bounds that pairs imply.

    ``slack`` is the uncertainty of times, µs, besides that of whole seconds. There must be a pair.
    """
    recorders, ends = np.unique(np.r_[matched.earlier, matched.later], return_inverse=True)
    earlier, later = ends[: len(matched.earlier)], ends[len(matched.earlier) :]
    begin, end = int(matched.earlier_time.min()), int(matched.earlier_time.max())
    pieces = max(1, min(_PIECES, _CELLS // len(recorders) ** 2))
    length = STEP
    while length * pieces <= end - begin:
        length *= 2
    piece = (matched.earlier_time - begin) // length
    direct = np.full((int(piece.max()) + 1, len(recorders), len(recorders)), FREE, np.int64)
    away = np.abs(matched.earlier_time - begin - piece * length - length // 2)
    weights = matched.later_time - matched.earlier_time + (away * DRIFT).astype(np.int64) + slack
    weights += matched.coarse[matched.later]
    np.minimum.at(direct, (piece, earlier, later), weights)
    return Bounds(recorders=recorders, begin=begin, length=length, direct=direct, piece=piece)


def spread(direct: Any, length: int) -> Any:
    """The bounds of each piece extended to all others, weakened by the possible drift in between."""
    drift = (np.arange(len(direct)) * int(length * DRIFT))[:, None, None]
    known = np.where(direct < FREE, direct, 2 * FREE)
    forward = np.minimum.accumulate(known - drift) + drift
    backward = np.minimum.accumulate((known + drift)[::-1])[::-1] - drift
    return np.minimum(np.minimum(forward, backward), FREE)


def closed(bounds: Any) -> Any:
    """The shortest paths at every moment: Floyd and Warshall's algorithm, for all moments at once.

    If there are many recorders, only those with most neighbours are used as intermediate nodes; the bounds are then
    valid, but may be wider.
    """
    count = bounds.shape[1]
    found = bounds.copy()
    np.einsum("kii->ki", found)[...] = np.minimum(np.einsum("kii->ki", found), 0)
    neighbours = (bounds < FREE).any(axis=0).sum(axis=0)
    ways = np.argsort(-neighbours, kind="stable")[:_WAYPOINTS].tolist()
    step = max(1, _TOGETHER // max(1, count) ** 2)
    for some in (found[first : first + step] for first in range(0, len(found), step)):
        longer = np.empty_like(some)
        for via in ways:
            np.add(some[:, :, via, None], some[:, None, via, :], out=longer)
            np.minimum(some, longer, out=some)
    return np.minimum(found, FREE, out=found)
