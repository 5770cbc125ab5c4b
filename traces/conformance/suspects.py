"""Suspects: which known bugs of the model allow an event that the correct model does not, at the places where it
stops.

If the correct machine does not allow an event of a queue, the queue is followed again by the machine with one known bug
after the other. A bug explains the mismatch if its machine gets further. This costs little: a machine is its texts, and
nothing is compiled; most bugs concern another mode or another kind of listener, and are not tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from ...model.consumption import consumption
from ...model.kernel import ModelError, Mutant
from ..format.schema import Group
from ..io import Trace
from .clocks import in_time
from .conform import SLACK, unseen_of
from .machine import Machines, is_filtered
from .part import followed_again
from .result import Mismatch
from .sorting_out import sort_out, streams_in
from .streams import Place, Stream
from .unseen import Unseen

MOST_QUEUES = 20
"""Maximum number of queues that are followed with every bug."""

MOST_EVENTS = 20_000
"""Maximum number of events of a queue that are followed with every bug: to well after the first mismatch."""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A queue at which the correct model stops, and the known bugs with which it continues."""

    place: Place  # which queue, of which group
    mismatch: Mismatch  # the first event that the correct model does not allow
    wholly: tuple[str, ...]  # ids of the mutants that allow every event of the queue
    further: tuple[str, ...]  # ids of those that allow this event, and stop at a later one
    asked: int  # number of mutants that were tried
    cut: bool = False  # whether only its beginning was followed, because it has very many events


def explained(trace: Trace, positions: Iterable[Place], *, slack: int = SLACK) -> tuple[Explained, ...]:
    """Follow queues at which the correct model stops, with each known bug. Reads the trace once.

    Of many ``positions``, the first are followed; ``slack`` is as for :func:`.conform.conform`.

    Raises:
        TraceError: there are no events.
    """
    wanted = set(list(dict.fromkeys(positions))[:MOST_QUEUES])
    if not wanted:
        return ()
    machines: dict[str, Machines] = {}
    found = []
    with ExitStack() as cleanup:
        recorders = in_time(trace, slack=slack)
        queues = frozenset((place.topic, place.broker, place.queue) for place in wanted)
        sorted_out = sort_out(trace, cleanup, only=queues)
        unseen = unseen_of(trace, sorted_out, recorders)
        for stream in streams_in(sorted_out, trace.header):
            if stream.place in wanted:
                found += _explained(stream, unseen, machines, slack)
    return tuple(sorted(found, key=lambda one: (one.mismatch.time, one.mismatch.seq)))


def possible(mutant: Mutant, group: Group, *, filtered: bool) -> bool:
    """Whether a group may have a bug: it has the bug's mode and kind of listener, and filters if the bug needs them."""
    needed = mutant.wrong_constants
    return (
        needed.get("mode", "clustering") == group.mode
        and ("listener" not in needed or needed["listener"] == group.listener)
        and (filtered or "expression" not in needed)
    )


def _explained(stream: Stream, unseen: Unseen, machines: dict[str, Machines], slack: int) -> list[Explained]:
    cut = len(stream.events) > MOST_EVENTS
    if cut:
        stream.events = stream.events[:MOST_EVENTS]
    right, _ = followed_again(stream, unseen, _machines(machines, ""), slack=slack)
    if right is None or not right.mismatches:
        return []
    first = right.mismatches[0]
    wholly, further, asked = [], [], 0
    filtered = is_filtered(stream)
    for mutant in consumption.mutants.values():
        if mutant.function is None or not possible(mutant, stream.group, filtered=filtered):
            continue
        asked += 1
        try:
            follower, _ = followed_again(stream, unseen, _machines(machines, mutant.id), slack=slack)
        except (ModelError, ValueError):  # its text reads something that this configuration does not have
            continue
        if follower is None:
            continue
        if not follower.mismatches:
            wholly.append(mutant.id)
        elif (follower.mismatches[0].time, follower.mismatches[0].seq) > (first.time, first.seq):
            further.append(mutant.id)
    place, allowed, passed = stream.place, tuple(wholly), tuple(further)
    return [Explained(place=place, mismatch=first, wholly=allowed, further=passed, asked=asked, cut=cut)]


def _machines(known: dict[str, Machines], mutant: str) -> Machines:
    if mutant not in known:
        known[mutant] = Machines(mutant)
    return known[mutant]
