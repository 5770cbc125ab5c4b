"""Processes: starts, stops and deaths of clients and brokers, and recordings with gaps."""

from __future__ import annotations

from ...model.membership import Life
from ...model.process_queue import Orphan, Stage
from ..format.kinds import Kind
from . import texts
from .events import Event
from .follow import Follower, Handler


def starts(f: Follower, event: Event) -> None:
    """ST-1: a process that runs; in broadcasting it may take the place of one that is gone (EN-7)."""
    c = f.side_of(event)
    if f.get("life", c) == Life.GONE:
        f.take("restart", "it cannot start: the process before it has left no readable offset file", c=c)
        f.sides[c].old.clear()
        f.sides[c].values.clear()
        f.sides[c].stopped = None


def begins_to_stop(f: Follower, c: int) -> None:
    """ST-8 (1): the first sign of a shutdown is the latest moment at which it may have begun."""
    if f.get("life", c) == Life.UP:
        f.take("stop", "it cannot begin to shut down", c=c)


def unregisters(f: Follower, event: Event) -> None:
    """ST-8 (3): after the offsets were persisted."""
    c = f.side_of(event)
    begins_to_stop(f, c)
    if not f.may("unregister", c=c):
        f.run(texts.persisted, "it has not begun to shut down", c=c)


def stops(f: Follower, event: Event) -> None:
    """ST-8 (5): the end of a shutdown."""
    c = f.side_of(event)
    side = f.sides[c]
    begins_to_stop(f, c)
    if not f.get("persisted", c) and not f.may("unregister", c=c):
        f.run(texts.persisted, c=c)
    # The process may live on for a while, and its listeners with it: their results change nothing (CC-9).
    side.outlives = {m for m in side.live if f.stage(c, m) is Stage.RUNNING or f.orphan(c, m) is Orphan.RUNNING}
    f.take("end_stop", "it cannot end its shutdown", c=c)
    side.stopped = event.time
    side.drop(event.time)
    side.live.clear()


def dies(f: Follower, event: Event) -> None:
    """The process is gone without warning."""
    c = f.side_of(event)
    f.take("die", "it is gone already", c=c)
    f.sides[c].drop(event.time)
    f.sides[c].live.clear()


def broker_restarts(f: Follower, event: Event) -> None:
    """OF-23, OR-1: offsets are those of the last flush, which shows when they are read; locks are lost."""
    if event.kind is not Kind.BROKER_STOP:
        f.truncated = True
    f.store.doubtful = True
    if f.locks and event.kind is not Kind.ROLE_CHANGE:
        f.may("forget_locks")


def gap(f: Follower, event: Event) -> str | None:
    """Events are missing: the windows to which they may belong are not followed any further."""
    numbers = range(len(f.sides)) if event.actor is None else (f.side_of(event),)
    if event.actor is None and event.broker is not None:
        f.store.doubtful = True
        f.gaps += 1
        return "gaps in the recording"
    for c in numbers:
        f.gaps += 1
        f.lose(c, "after a gap in the recording, up to the next assignment")
    return "gaps in the recording"


HANDLERS: dict[Kind, Handler] = {
    Kind.CLIENT_START: starts,
    Kind.UNREGISTER: unregisters,
    Kind.CLIENT_STOP: stops,
    Kind.CLIENT_CRASH: dies,
    Kind.BROKER_STOP: broker_restarts,
    Kind.BROKER_CRASH: broker_restarts,
    Kind.BROKER_START: broker_restarts,
    Kind.ROLE_CHANGE: broker_restarts,
    Kind.GAP: gap,
}
"""Kinds of this file."""
