"""Lost memory: everything that the parts of the machine keep for a client and that dies with its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .correction import client_resets, corrects, leaves_zombies
from .kernel import IntLike, Machine
from .orderly_ownership import unlocks_late
from .process_queue import NO_OFFSET, process_forgets
from .start_position import starts_in_steps

if TYPE_CHECKING:
    from .group import GroupState

lost_memory = Machine("lost_memory", doc="What dies with a process.")


@lost_memory.refine(process_forgets)
def forget_everything(s: GroupState, c: IntLike) -> None:
    """Dropped windows, tasks and workers are gone, as is everything that the client knew or was about to do."""
    if leaves_zombies(s.constants):
        s.zombie[c] = False
    if corrects(s.constants):
        s.target[c] = NO_OFFSET
        if s.version == "4.9.8" and s.held_updates:
            s.target_set[c] = False
    if client_resets(s.constants):
        s.ghost[c] = NO_OFFSET
        s.reset_due[c] = False
        s.resetting[c] = False
    if s.held_updates:
        s.held_update[c] = NO_OFFSET
    if starts_in_steps(s.constants):
        s.unknown[c] = False
    if unlocks_late(s.constants):
        s.unlocking[c] = False
