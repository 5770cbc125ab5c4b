"""Clocks: the time of every recorder, made comparable as far as causal pairs allow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.names import Actor
from .bounds import FREE, Bounds, bounds_of
from .observed import Matched, Observed
from .offsets import Stretch, earliest_first, left_open, settled, stretches_of
from .pairs import PAIRS
from .strays import without_strays

HELD_UP = 20
"""How long a thread may be delayed between an action and its time stamp, ms: closer events have no certain order."""

HELD_UP_LONGER = (20, 50, 128)
"""If pairs contradict each other by less than one of these, ms, a thread of a busy machine was delayed by that much,
and no clock was set: time synchronisation sets clocks only by more than the last value (``ntpd``, 128 ms).
"""

UNBOUNDED = 1 << 40
"""Uncertainty of a clock without any bound, ms."""

_MILLIS = 1000


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recorder's clock between two of its steps."""

    since: int  # beginning, by this clock, µs
    times: tuple[int, ...]  # µs by this clock; ``offsets``: how far it was ahead then, µs; in between it drifts
    offsets: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A recorder's clock compared with the others.

    Attributes:
        recorder: its recorder.
        pairs: number of causal pairs in which it takes part.
        runs: how far it is ahead; empty if it is considered right.
        reference: the recorder with which it is compared; None without any pair.
        low: lower bound of how far it is ahead of the reference, µs, over the whole recording; ``high``: upper bound.
            None if there is no bound on that side.
        slow: how far it may be behind the reference after correction, ms, and ``fast`` ahead of it; None if there is no
            bound on that side.
        closest: the least that is left open to one side at some moment, ms; None if there is no bound.
        coarse: by how much an event may be later than its time, ms, as the recorder writes whole seconds; included in
            ``slow``.
    """

    recorder: Actor
    pairs: int
    runs: tuple[Run, ...] = ()
    reference: Actor | None = None
    low: int | None = None
    high: int | None = None
    slow: int | None = None
    fast: int | None = None
    closest: int | None = None
    coarse: int = 0

    @property
    def uncertainty(self) -> int | None:
        """How far it may be from the reference after correction, to either side, ms; None if this is not bounded."""
        if self.slow is None or self.fast is None:
            return None
        return max(self.slow, self.fast)

    @property
    def correction(self) -> tuple[int, int]:
        """The least and the most that is taken off its times: how far it is ahead, µs."""
        offsets = [offset for run in self.runs for offset in run.offsets] or [0]
        return min(offsets), max(offsets)

    @property
    def bend(self) -> int:
        """By how much correction may change the distance between two of its times, ms, rounded up."""
        least, most = self.correction
        return -((least - most) // _MILLIS)

    @property
    def drift(self) -> float:
        """How much faster it runs, in parts per million, over its longest run; 0 if this was not observed."""
        run = max(self.runs, key=lambda one: one.times[-1] - one.times[0], default=None)
        if run is None or run.times[-1] == run.times[0]:
            return 0.0
        return 1e6 * (run.offsets[-1] - run.offsets[0]) / (run.times[-1] - run.times[0])

    def corrected(self, micros: Any) -> Any:
        """Times by this clock, µs, corrected; their order never changes."""
        if not self.runs:
            return micros
        micros = np.asarray(micros, np.int64)
        found, least = micros.copy(), -FREE
        for run, following in zip(self.runs, (*self.runs[1:], None), strict=True):
            chosen = micros >= run.since if run is not self.runs[0] else np.ones(len(micros), bool)
            times = micros[chosen]
            offsets = np.rint(np.interp(times - run.since, np.array(run.times) - run.since, run.offsets))
            found[chosen] = np.maximum(times - offsets.astype(np.int64), least)
            if following is not None:
                last = np.interp(following.since - run.since, np.array(run.times) - run.since, run.offsets)
                least = max(least, following.since - round(float(last)))
        return found


@dataclass(frozen=True, kw_only=True)
class Step:
    """A time in which no steadily running clocks explain the causal order."""

    since: int  # µs; ``until``: µs. Events in between have no certain order between recorders
    until: int
    recorders: tuple[Actor, ...]  # those whose clock was set; if that is not known, all that contradict each other
    events: tuple[str, ...]  # the causal pairs that contradict each other, in words

    @classmethod
    def of_one(cls, recorder: Actor, since: int, until: int, told: str) -> Step:
        """A step of one recorder between two times, ms, both included; ``told`` says what shows it."""
        return cls(since=1000 * since, until=1000 * (until + 1), recorders=(recorder,), events=(told,))

    def __str__(self) -> str:
        whose = " and ".join(map(str, self.recorders)) or "a recorder"
        told = f": {'; '.join(self.events)}" if self.events else ""
        return f"the clock of {whose} was set, or events are not as they were{told}"


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """The clocks of all recorders."""

    clocks: Mapping[Actor, Clock] = field(default_factory=dict)  # of each recorder that was seen
    steps: tuple[Step, ...] = ()  # where clocks were set
    held_up: int = 0  # by how much time stamps may be late, ms, if pairs show this; otherwise 0
    senders: frozenset[str] = frozenset()  # ids of clients that stamp their commits themselves, see :mod:`.senders`

    @cached_property
    def corrects(self) -> bool:
        """Whether correction changes any time."""
        return any(clock.runs for clock in self.clocks.values())

    def corrected(self, recorder: Actor, micros: Any) -> Any:
        """Corrected times of a recorder, µs."""
        clock = self.clocks.get(recorder)
        return micros if clock is None else clock.corrected(micros)

    @classmethod
    def of(cls, batches: Iterable[tuple[Actor, pa.RecordBatch, Any]], *, broadcasting: Collection[str] = ()) -> Clocks:
        """The clocks of recordings.

        The events of each recorder are in its order; in ``broadcasting`` groups every client has its own offsets.
        """
        seen = Observed()
        for recorder, batch, micros in batches:
            seen.see(batch, recorder, micros)
        return clocks_of(seen, broadcasting)


def clocks_of(seen: Observed, broadcasting: Collection[str] = ()) -> Clocks:
    """The clocks that explain the observed pairs; in ``broadcasting`` groups every client has its own offsets."""
    matched = seen.matched(broadcasting)
    clocks = {one: Clock(recorder=one, pairs=0) for one in (matched.recorders[at] for at in matched.present)}
    if not len(matched.pair):
        return Clocks(clocks=clocks, senders=seen.senders)
    bounds, held_up = _explained(matched)
    if not bounds.agree(0, len(bounds.direct)):
        matched = without_strays(matched)
        bounds, held_up = _explained(matched)
    steps = _taken_out(bounds, matched)
    ends = stretches_of(bounds)
    counts = np.bincount(np.r_[matched.earlier, matched.later], minlength=len(matched.recorders))
    weights = counts[bounds.recorders]
    stretches = settled(bounds, ends, weights, held_up * _MILLIS)
    for (first, _), (other, end) in pairwise(ends):
        steps.append(_step(bounds, stretches, matched, earliest_first(bounds, other, end, first), other))
    references = _references(bounds, weights, matched)
    for place, code in enumerate(bounds.recorders.tolist()):
        clocks[matched.recorders[code]] = _clock(
            matched.recorders[code], int(weights[place]), bounds, stretches, matched, place, code, references[place]
        )
    return Clocks(
        clocks=clocks,
        steps=tuple(sorted(steps, key=lambda step: step.since)),
        held_up=held_up,
        senders=seen.senders,
    )


def _explained(matched: Matched) -> tuple[Bounds, int]:
    """The bounds that pairs imply, and the delay of threads, ms, without which pairs contradict each other."""
    in_millis = not (matched.earlier_time % _MILLIS).any() and not (matched.later_time % _MILLIS).any()
    bounds, slack = bounds_of(matched), 0
    if in_millis and not bounds.agree(0, len(bounds.direct)):
        # A time in ms may be up to a millisecond before the moment for which it stands.
        slack = _MILLIS - 1
        bounds = bounds_of(matched, slack=slack)
    if bounds.agree(0, len(bounds.direct)):
        return bounds, 0
    for held_up in HELD_UP_LONGER:
        # The bounds of the two directions add up to everything that the pairs allow.
        there = bounds_of(matched, slack=slack + held_up * _MILLIS // 2)
        if there.agree(0, len(there.direct)):
            return bounds_of(matched, slack=slack + held_up * _MILLIS), held_up
    return bounds, 0


def _references(bounds: Bounds, weights: Any, matched: Matched) -> list[int]:
    """For each recorder, its reference: among the recorders that pairs connect, one with the most pairs.

    Of several with about as many it is the first by name, so that it does not change whenever the recording continues.
    """
    about = [int(weight).bit_length() for weight in weights]
    told = [str(matched.recorders[code]) for code in bounds.recorders.tolist()]
    of_broker = [matched.recorders[code].incarnation < 0 for code in bounds.recorders.tolist()]
    near = (bounds.direct < FREE).any(axis=0)
    near |= near.T
    found = [-1] * len(weights)
    for hub in sorted(range(len(weights)), key=lambda place: (-about[place], not of_broker[place], told[place])):
        waiting = [] if found[hub] >= 0 else [hub]
        while waiting:
            place = waiting.pop()
            if found[place] < 0:
                found[place] = hub
                waiting += np.flatnonzero(near[place]).tolist()
    return found


def _clock(
    recorder: Actor,
    pairs: int,
    bounds: Bounds,
    stretches: list[Stretch],
    matched: Matched,
    place: int,
    code: int,
    hub: int,
) -> Clock:
    runs: tuple[Run, ...] = ()
    if any(one.offsets[:, place].any() for one in stretches):
        times = bounds.times
        runs = tuple(
            Run(
                since=bounds.begin + one.first * bounds.length,
                times=tuple(times[one.first : one.end].tolist()),
                offsets=tuple(one.offsets[:, place].tolist()),
            )
            for one in stretches
        )
    own = bounds.piece[(matched.earlier == code) | (matched.later == code)]
    slow, fast, closest = left_open(stretches, hub, place, int(own.min()), int(own.max()))
    coarse = int(matched.coarse[code])
    return Clock(
        recorder=recorder,
        pairs=pairs,
        runs=runs,
        low=_known(-int(min(one.bounds[:, place, hub].min() for one in stretches))),
        high=_known(int(min(one.bounds[:, hub, place].min() for one in stretches))),
        reference=matched.recorders[int(bounds.recorders[hub])],
        slow=_in_millis(coarse if place == hub else slow + coarse),
        fast=0 if place == hub else _in_millis(fast),
        closest=0 if place == hub else _in_millis(closest),
        coarse=coarse // _MILLIS,
    )


def _known(bound: int) -> int | None:
    return bound if abs(bound) < FREE // 2 else None


def _in_millis(bound: int) -> int | None:
    return -(-bound // _MILLIS) if bound < FREE // 2 else None


def _taken_out(bounds: Bounds, matched: Matched) -> list[Step]:
    """Pieces that contradict themselves, which are then ignored."""
    steps = []
    for piece in range(len(bounds.direct)):
        way = bounds.contradiction(piece)
        if way:
            since = bounds.begin + piece * bounds.length
            recorders = tuple(matched.recorders[int(bounds.recorders[one])] for one in dict.fromkeys(way))
            events = _told(bounds, matched, list(pairwise(way)), piece, piece + 1)
            steps.append(Step(since=since, until=since + bounds.length, recorders=recorders, events=events))
            bounds.direct[piece] = FREE
    return steps


def _step(bounds: Bounds, stretches: list[Stretch], matched: Matched, first: int, end: int) -> Step:
    """The step at the beginning of the piece ``end``, or as early as in the piece before ``first``."""
    before = next(one for one in stretches if one.end == end)
    after = next(one for one in stretches if one.first == end)
    change = np.abs(after.offsets[0] - before.offsets[-1])
    moved = np.flatnonzero(change > _MILLIS)
    recorders = tuple(matched.recorders[int(bounds.recorders[one])] for one in moved)
    ways = [(a, b) for a in moved.tolist() for b in range(len(bounds.recorders)) if a != b]
    return Step(
        since=bounds.begin + max(first - 1, 0) * bounds.length,
        until=bounds.begin + (end + 1) * bounds.length,
        recorders=recorders,
        events=_told(bounds, matched, [*ways, *((b, a) for a, b in ways)], max(first - 1, 0), end + 1),
    )


def _told(
    bounds: Bounds, matched: Matched, ways: list[tuple[int, int]], first: int, end: int, most: int = 4
) -> tuple[str, ...]:
    """The tightest pair in each direction between two recorders, in words."""
    told: list[str] = []
    for a, b in ways:
        chosen = np.flatnonzero(
            (matched.earlier == bounds.recorders[a])
            & (matched.later == bounds.recorders[b])
            & (bounds.piece >= first)
            & (bounds.piece < end)
        )
        if not len(chosen) or len(told) == most:
            continue
        at = chosen[np.argmin((matched.later_time - matched.earlier_time)[chosen])]
        told.append(
            f"{PAIRS[int(matched.pair[at])].name}: {matched.recorders[int(matched.earlier[at])]} at "
            f"{_clock_time(int(matched.earlier_time[at]))}, {matched.recorders[int(matched.later[at])]} at "
            f"{_clock_time(int(matched.later_time[at]))}"
        )
    return tuple(told)


def _clock_time(micros: int) -> str:
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%H:%M:%S") + f".{micros % 1_000_000:06d}"
