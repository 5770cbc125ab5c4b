"""Late update: a worker that stands still between the last check of ``dropped`` and the update of the in-memory offset
(CC-13).

Removing messages, checking whether the window was dropped, and writing the in-memory offset are three steps. In
between, the window may end, its offset entry may be removed, and the queue may be added again: then the mark of the old
window raises the offset of the new one (G2-9). If the queue is not added again, the entry belongs to a queue that is
not owned, and the next periodic persist removes it (OF-6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .concurrently import concurrent, handle, in_task, returns
from .consume_queue import Message
from .history import note_success
from .kernel import Int, Machine, State, any_of, constant, maximum, not_, variable
from .membership import Consumer, Life
from .process_queue import NO_OFFSET, in_table, low_water_mark, take_out, working
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

late_update = Machine("late_update", doc="Workers that update the in-memory offset late.")


@late_update.state
class LateUpdateState(State):
    """Updates of the in-memory offset that have not yet happened."""

    held_updates = constant(0, high=2, doc="how often a worker may stand still before it updates the offset")
    held_update = variable(
        Int(NO_OFFSET, "messages"),
        Consumer,
        Queue,
        when=lambda k: k.held_updates > 0,
        doc="mark that a worker is about to write; -1: none",
    )


@late_update.action(
    budget="held_updates", tells="{c} is done with {m} of {q} and about to update the offset", when=concurrent
)
def finish_without_update(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """CC-13: the messages are removed, the window is not dropped, and the in-memory offset is updated later."""
    s.require(returns(s, c, q, m), s.held_update[c, q] == NO_OFFSET)
    note_success(s, c, q, lambda o: in_task(s, c, q, m, o))
    handle(s, q, lambda o: in_task(s, c, q, m, o))
    take_out(s, c, q, lambda o: in_task(s, c, q, m, o))
    s.held_update[c, q] = low_water_mark(s, c, q, lambda o: in_task(s, c, q, m, o))


@late_update.action(fair=True, tells="{c} updates the offset of {q} at last", when=lambda k: k.held_updates > 0)
def update_late(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-1: the entry is raised, or made, whichever window is there by now."""
    s.require(any_of(working(s, c), s.life[c] == Life.STOPPING), s.held_update[c, q] != NO_OFFSET)
    s.memory[c, q] = maximum(s.memory[c, q], s.held_update[c, q])
    s.held_update[c, q] = NO_OFFSET


@late_update.action(
    fair=True, tells="{c} removes its offset of {q}, which it does not own", when=lambda k: k.held_updates > 0
)
def remove_unowned(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-6: an entry of a queue that is not in the table is removed without being sent."""
    s.require(working(s, c), not_(in_table(s, c, q)), s.memory[c, q] != NO_OFFSET)
    s.memory[c, q] = NO_OFFSET
