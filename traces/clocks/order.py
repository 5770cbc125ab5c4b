"""The order of events of two processes: certainly before, certainly after, or not decidable.

The bounds from causal pairs say how far the clock of each process may be from its reference after correction, to either
side. An event of one process is certainly before one of another if its time stamp is earlier by more than both bounds
together allow, or by more than the assumed skew, if that is less: a clock with few events has loose bounds, which alone
is no reason to doubt it. If a clock has no bound on one side, the skew is used for that side, or what the tightest of
some causal pairs leaves open on the other side, if that is larger (in steps, each twice the one before, so that it
hardly changes as a recording continues). For a clock that was seen to be off, nothing is assumed.

If no clock is off, the distance between two processes is the greater of the values assumed for them: both their bounds
together are at least as much if one of them is bounded on one side only, and otherwise the skew decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ...machine_code.compiled import part
from ..encoding.names import Actor
from .clocks import HELD_UP, UNBOUNDED, Clocks

LOOSE = 1_000
"""A clock to which causal pairs leave more room than this counts as unbounded, ms."""

FEW = 4
"""If at least this many clocks are seen to be right for each one that is off, that one is an exception, and says
nothing about the others.
"""

PLAUSIBLE = 10_000
"""No clock is off by more than this without being noticed, ms: longer durations are long by any clock."""

MANY = 10
"""This many pairs are no coincidence: if they all leave much open on one side, and nothing bounds the other, the clock
may well be off.
"""

SOME = 3
"""From this number of causal pairs on, the clock is the reason if all of them leave much open, and not what happened
between them.
"""

ORDER = np.dtype([(name, np.int64) for name in ("reference", "slow", "fast", "assumed", "least")])
"""For a process: code of its reference clock, -1 for none; by how many ms its corrected clock may be behind the
reference, and ahead of it; the distance from others to assume if there is no bound, and the least distance to assume.
"""


@part
def apart(order: Any, first: int, second: int) -> Any:
    """By how many ms an event of ``second`` must be later than one of ``first``, by their time stamps, to be certainly
    later.

    Args:
        order: ORDER by actor code, with one more entry for processes that are not known.
        first: actor code of the process that recorded the first; below 0 if it is not known.
        second: of the process that recorded the other.
    """
    one, other = order[first], order[second]
    assumed = max(one.assumed, other.assumed)
    if one.reference == other.reference and one.reference >= 0 and one.slow < UNBOUNDED and other.fast < UNBOUNDED:
        return min(max(one.slow + other.fast, one.least), assumed)
    return assumed


def gaps(order: Any, first: Any, second: Any) -> Any:
    """:func:`apart` for columns of actor codes."""
    one, other = order[first], order[second]
    known = (one["reference"] == other["reference"]) & (one["reference"] >= 0)
    known &= (one["slow"] < UNBOUNDED) & (other["fast"] < UNBOUNDED)
    assumed = np.maximum(one["assumed"], other["assumed"])
    sure = np.minimum(np.maximum(one["slow"] + other["fast"], one["least"]), assumed)
    return np.where(known, sure, assumed)


_apart: Any = cast(Any, apart).py_func


class _Row(NamedTuple):
    """An entry of ORDER."""

    reference: int
    slow: int
    fast: int
    assumed: int
    least: int


class Order:
    """The order of events, for the processes of a check.

    Attributes:
        skew: the assumed distance of clocks without bounds, and the least distance, ms; or as long as some thread was
            delayed, if that is more.
    """

    def __init__(self, clocks: Clocks, skew: int) -> None:
        self._clocks, self.skew = clocks, (skew := max(skew, clocks.held_up))
        off = sum(map(self.is_off, clocks.clocks))
        right = sum(self.is_tight(one) and not self.is_off(one) for one in clocks.clocks)
        self._is_refuted = 0 < FEW * off > right
        self._references = {clock.reference: -1 for clock in clocks.clocks.values() if clock.reference is not None}
        self._references = {actor: code for code, actor in enumerate(self._references)}
        self._rows = {actor: self._row(clocks, actor) for actor in clocks.clocks}
        rows = self._rows.values()
        self.widest = max([skew, *(min(row.slow + row.fast, row.assumed) for row in rows if row.reference >= 0)])
        self.widest = max([self.widest, *(row.assumed for row in rows if row.reference < 0)])
        self._unknown = _Row(-1, UNBOUNDED, UNBOUNDED, self.widest, skew)
        self._unseen = _Row(-1, UNBOUNDED, UNBOUNDED, skew, skew)

    def table(self, actors: Sequence[Actor]) -> Any:
        """ORDER by actor code, with the entry for processes that are not known."""
        return np.array([*(self._rows.get(actor, self._unseen) for actor in actors), self._unknown], ORDER)

    def apart(self, first: Actor, second: Actor) -> int:
        """Like :func:`apart`."""
        rows = self._rows.get(first, self._unseen), self._rows.get(second, self._unseen)
        return int(_apart(rows, 0, 1))

    def is_loose(self, actor: Actor) -> bool:
        """Whether pairs leave so much open that no order with others is certain, given that other clocks were seen to
        be off.

        The assumed skew applies until the clocks of others, and not just of a few, were corrected by more than it, or
        this clock was corrected at all: it may then be further off on the open side.
        """
        clock = self._clocks.clocks.get(actor)
        if clock is None or self.is_tight(actor):
            return False
        return self._is_refuted or any(clock.correction)

    def is_open(self, actor: Actor) -> bool:
        """Whether nothing bounds how far it is off on at least one side, so that it may be as far off as clocks ever
        are.

        Either no pair bounds the clock of this process by less than clocks are ever off, while pairs compare those of
        other processes; or many pairs do, all on one side, and none closely.
        """
        clock = self._clocks.clocks.get(actor)
        if clock is None:
            return False
        known = [bound for bound in (clock.slow, clock.fast) if bound is not None]
        if not clock.pairs or min(known, default=0) > PLAUSIBLE:
            return actor.incarnation >= 0 and any(one.pairs for one in self._clocks.clocks.values())
        return len(known) == 1 and clock.pairs >= MANY and known[0] > max(self.skew, LOOSE)

    def is_unsure(self, one: Actor, other: Actor) -> bool:
        """Whether the order of two is never certain: one is loose, or off while the other is not known to be right."""
        is_loose = self.is_loose(one) or self.is_loose(other)
        return is_loose or (
            (self.is_off(one) or self.is_off(other)) and not (self.is_tight(one) and self.is_tight(other))
        )

    def is_tight(self, actor: Actor) -> bool:
        """Whether pairs bound its clock closely on both sides."""
        clock = self._clocks.clocks.get(actor)
        open_ = None if clock is None or not clock.pairs else clock.uncertainty
        return open_ is not None and open_ <= max(self.skew, LOOSE)

    def is_off(self, actor: Actor) -> bool:
        """Whether its clock was corrected by more than the assumed skew."""
        clock = self._clocks.clocks.get(actor)
        return clock is not None and max(map(abs, clock.correction)) > 1000 * self.skew

    def _row(self, clocks: Clocks, actor: Actor) -> _Row:
        clock = clocks.clocks[actor]
        reference = -1 if clock.reference is None else self._references[clock.reference]
        known = [bound for bound in (clock.slow, clock.fast) if bound is not None]
        slow = UNBOUNDED if clock.slow is None else clock.slow
        fast = UNBOUNDED if clock.fast is None else clock.fast + HELD_UP
        assumed = self.skew + clock.coarse
        if self.is_off(actor):
            assumed = UNBOUNDED
        elif len(known) == 1 and clock.pairs >= SOME and clock.closest is not None and clock.closest > self.skew:
            assumed = max(assumed, 1)
            while assumed < clock.closest:
                assumed *= 2
            slow, fast = max(slow, assumed), max(fast, assumed)
        return _Row(reference, slow, fast, assumed, self.skew)
