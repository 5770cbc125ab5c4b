"""Bounds: how far two clocks can be apart, from causal pairs, as difference constraints in whole microseconds.

With a time as its recorder wrote it = true time + offset of the recorder, "a before b" says offset(b) - offset(a) is at
most b's time - a's. Clocks drift, so the bounds are made for times, one in the middle of each piece of time; a pair
says less about a moment the further it is from it. Bounds of several pairs add up along a way from recorder to
recorder, and the shortest way is the tightest; a way back to its beginning that is shorter than 0 is a contradiction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .observed import Matched

DRIFT = 500e-6
"""Two clocks drift apart by no more than this: a crystal by 100 ppm, one that is slewed by NTP by 500 ppm."""

STEP = 2_000_000
"""Pieces of time are at least so long, µs: what drifts meanwhile is less than what pairs leave open. Longer ones are
twice as long, and again, so that a recording that goes on has the pieces that it had, until it is twice as long."""

FREE = 1 << 60
"""Nothing bounds it."""

_CELLS = 4_000_000
_PIECES = 512
_WAYPOINTS = 200

_TOGETHER = 1 << 16
"""So many entries fit into the cache of a processor, and are gone through many times."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What pairs of each piece of time say.

    Attributes:
        recorders: places of the recorders of :class:`Matched` that any pair is about.
        begin: when the first piece begins, µs; ``length``: of a piece.
        direct: pieces × recorders × recorders: at most so much is offset(second) - offset(first), µs, by the pairs of
            that piece alone; FREE without any.
        piece: of each pair, the piece it is in.
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
        """The tightest bounds at the times ``first`` … ``end`` - 1, by the pairs of these pieces.

        Where an entry of a recorder with itself is below 0 they contradict each other.
        """
        return closed(spread(self.direct[first:end], self.length))

    def agree(self, first: int, end: int) -> bool:
        """Whether offsets that drift by no more than DRIFT can explain all pairs of these pieces."""
        return not (np.diagonal(self.within(first, end), axis1=1, axis2=2) < 0).any()

    def contradiction(self, piece: int) -> list[int]:
        """A way round that is shorter than 0, as places in ``recorders``, by the pairs of one piece; empty if none."""
        weights = self.direct[piece]
        if (weights >= 0).all() or self.agree(piece, piece + 1):
            return []
        import networkx as nx  # which most traces do without, and takes a while

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
    """The bounds that pairs give.

    Args:
        matched: the pairs, at least one.
        slack: times are known to no more than this, µs.
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
    np.minimum.at(direct, (piece, earlier, later), weights)
    return Bounds(recorders=recorders, begin=begin, length=length, direct=direct, piece=piece)


def spread(direct: Any, length: int) -> Any:
    """What the pairs of each piece say about the times of all others: less, by what clocks may drift meanwhile."""
    drift = (np.arange(len(direct)) * int(length * DRIFT))[:, None, None]
    known = np.where(direct < FREE, direct, 2 * FREE)
    forward = np.minimum.accumulate(known - drift) + drift
    backward = np.minimum.accumulate((known + drift)[::-1])[::-1] - drift
    return np.minimum(np.minimum(forward, backward), FREE)


def closed(bounds: Any) -> Any:
    """The shortest ways at every moment: Floyd and Warshall's, for all times at once.

    Of many recorders, those with most neighbours are ways to others; the bounds are right then, and may be wider.
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
