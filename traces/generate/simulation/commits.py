"""Offsets that clients store: every five seconds, and along with pulls (OF-6)."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import heavy, part
from ....model.history import Regression
from ...claims.settings import PERSIST_PERIOD
from ...format.kinds import Kind, Path
from .agenda import put
from .catalogue import Bug, Claim
from .codes import NO, ZERO
from .rows import C
from .window import MASK, OPEN, other_given, row_of
from .world import DECREASED, OWNED, PERSIST, VIOLATION, note, strikes

OLDER = 20
"""How much older an offset of another replica is (B4)."""

IN_FLIGHT = 4_000
"""Longer than a commit can be under way, so that a late commit cannot explain an older offset (B4), ms."""


@heavy
def commit(world: Any, w: int, path: Path | int) -> None:
    """The in-memory offset of a window is stored, unless the broker is down (OF-20: whatever was stored before)."""
    a = world.all[0]
    win = world.windows[w]
    cell = world.cells[win.cell]
    if win.memory < 0 or not (a.broadcasting or world.brokers[cell.broker].up):
        return
    ring = world.done[win.ring]
    alone = win.running == 1 and win.cached == 1 and win.memory == win.base and win.base + 1 == win.begun
    # What another process has finished is not passed unfinished.
    first = a.mutant == Bug.B7 and alone and ring[win.base & MASK] == OPEN and other_given(world, w, win.base) < 0
    if first and strikes(world, Bug.B7):
        note(world, VIOLATION, Claim.UNFINISHED, ZERO, win.queue, win.process, win.base, win.base + 1, ZERO, ZERO)
        win.memory = win.begun
    value = win.memory
    old = value == cell.committed and value - OLDER >= win.start and a.now - win.sent_at > IN_FLIGHT
    if a.mutant == Bug.B4 and old and cell.writer == w and not world.queues[win.queue].retry and strikes(world, Bug.B4):
        value -= OLDER
    i = row_of(world, Kind.COMMIT, w)
    world.rows[C.offset, i] = value
    world.rows[C.path, i] = Path.FILE if a.broadcasting else path  # OF-10
    if value < cell.committed:
        cause = (
            Regression.OVERLAP if cell.writer >= 0 and cell.writer != w and not win.astray else Regression.UNEXPLAINED
        )
        note(world, DECREASED, NO, cause, win.queue, win.process, value, cell.committed, ZERO, ZERO)
    cell.committed = value
    cell.writer = w
    win.sent = value
    win.sent_at = a.now


@part
def persist(world: Any, process: int) -> None:
    """OF-6: every 5 s a client stores the offsets that have changed."""
    if not world.processes[process].alive:
        return
    mutant = world.all[0].mutant
    w = world.processes[process].first
    while w >= 0:
        win = world.windows[w]
        if win.stage == OWNED and (win.memory != win.sent or mutant == Bug.B4):
            commit(world, w, Path.PERIODIC)
        w = win.sibling
    put(world, world.all[0].now + PERSIST_PERIOD, PERSIST, process, ZERO, ZERO)
