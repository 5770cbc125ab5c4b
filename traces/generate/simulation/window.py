"""A window of a client over a queue: what is recorded about it, and which messages are in it."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, part
from ...format.kinds import Kind, Path, Result
from .broker import row_at
from .codes import numbers
from .rows import C
from .world import SPAN, origin_at

OPEN, DONE, NOT_SENT_BACK = numbers(3)
"""States of an offset in a window: to be consumed, finished, or failed and not yet sent back."""

PLAIN = constant(1 << 20)
"""Added to the count of a message that a mutant sends back, or gives out again, without reason."""

MASK = SPAN - 1


@part
def row_of(world: Any, kind: Kind, w: int) -> int:
    """A new row of a window's client about the window's queue."""
    win = world.windows[w]
    process = world.processes[win.process]
    i = row_at(world, kind, win.queue)
    world.rows[C.client, i] = process.client
    world.rows[C.incarnation, i] = process.incarnation
    world.rows[C.group, i] = 0
    return i


@part
def row_about(world: Any, kind: Kind, w: int, offset: int, attempt: int) -> int:
    """Like :func:`row_of`, about one message."""
    i = row_of(world, kind, w)
    world.rows[C.offset, i] = offset
    world.rows[C.origin, i] = origin_at(world, world.windows[w].queue, offset)
    world.rows[C.attempt, i] = attempt
    return i


@part
def row_of_send_back(world: Any, w: int, offset: int, attempt: int, path: Path, result: Result, level: int) -> None:
    """Like :func:`row_about`, for a message that was sent back, or should have been."""
    i = row_about(world, Kind.SEND_BACK, w, offset, attempt)
    world.rows[C.path, i] = path
    world.rows[C.result, i] = result
    world.rows[C.level, i] = level
    world.rows[C.max_attempts, i] = world.all[0].maximum


@part
def is_alive(world: Any, w: int) -> bool:
    """Whether the process of a window still runs."""
    return bool(world.processes[world.windows[w].process].alive)


@part
def finished(world: Any, w: int, offset: int) -> None:
    """PQ-2, CC-13: a message leaves the window, and the in-memory offset becomes the smallest that is left."""
    win = world.windows[w]
    if offset < win.base or world.done[win.ring][offset & MASK] == DONE:
        return
    remove(world, w, offset)
    if win.memory < win.base:
        win.memory = win.base


@part
def remove(world: Any, w: int, offset: int) -> None:
    """A message leaves the window; the in-memory offset stays."""
    win = world.windows[w]
    ring = world.done[win.ring]
    ring[offset & MASK] = DONE
    win.cached -= 1
    while win.base < win.top and ring[win.base & MASK] == DONE:
        win.base += 1


@part
def other_given(world: Any, w: int, offset: int) -> Any:
    """The latest other window of the same queue and consumers that has given this offset to a listener; -1 without."""
    v = world.cells[world.windows[w].cell].window
    while v >= 0 and (v == w or offset < world.windows[v].start or offset >= world.windows[v].begun):
        v = world.windows[v].before
    return v
