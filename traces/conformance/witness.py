"""Witnesses: what the model says about single queues with findings from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from ..io import Trace
from .clocks import in_time
from .conform import SLACK, unseen_of
from .events import FOLLOWED, Event
from .follow import Follower
from .machine import Machines
from .part import followed_again
from .result import Mismatch
from .sorting_out import sort_out, streams_in
from .streams import Place, Stream
from .unseen import Unseen

MOST_EVENTS = 200_000
"""Maximum number of events of a queue that are followed; about a queue with more, nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The result of following a queue through the model."""

    mismatches: tuple[Mismatch, ...] = ()  # events that the model does not allow, in the order of the trace
    assumed: str = ""  # what was assumed, or not followed, so that the rest is no full evidence; empty if nothing

    @property
    def allows_all(self) -> bool:
        """Whether everything recorded about the queue is a behaviour of the model, with nothing assumed."""
        return not self.mismatches and not self.assumed

    def mismatch_at(self, since: int, time: int) -> Mismatch | None:
        """The mismatch on which a finding rests: the first from ``since`` to ``time``, ms, or else the last before."""
        within = [one for one in self.mismatches if since <= one.time <= time + SLACK]
        before = [one for one in self.mismatches if one.time < since]
        return within[0] if within else before[-1] if before else None


def witnesses(trace: Trace, queues: Collection[tuple[str, str, int]]) -> Mapping[Place, Witness]:
    """Follow some queues through the model, each for all groups that consume it. Reads the trace once.

    Each is given by topic, broker and number.

    Raises:
        TraceError: there are no events.
    """
    machines = Machines()
    with ExitStack() as cleanup:
        recorders = in_time(trace, slack=SLACK)
        found = sort_out(trace, cleanup, only=frozenset(queues))
        unseen = unseen_of(trace, found, recorders)
        streams = streams_in(found, trace.header, most=MOST_EVENTS)
        return {stream.place: _witness(stream, unseen, machines) for stream in streams}


def _witness(stream: Stream, unseen: Unseen, machines: Machines) -> Witness:
    follower, reason = followed_again(stream, unseen, machines, slack=SLACK)
    if follower is None:
        return Witness(assumed=reason)
    return Witness(mismatches=tuple(follower.mismatches), assumed=_assumed(follower, stream.events, unseen))


def _assumed(follower: Follower, events: Collection[Event], unseen: Unseen) -> str:
    """What prevents full evidence."""
    if follower.gaps:
        return "events of this queue are missing"
    if follower.doubtful or unseen.holes:
        return "not all was recorded"
    missed = next(
        (event for event in events if event.outcome != FOLLOWED and event.actor in follower.stream.actors), None
    )
    return follower.assumed or (f"not followed: {missed.outcome or missed.kind}" if missed is not None else "")
