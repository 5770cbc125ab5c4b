"""Correction: OFFSET_ILLEGAL, from the answer to the new window, step by step (PL-23).

The callback drops the window, which stays in the table. A task then sets the in-memory offset, sends it, and removes
the queue from the table, whichever window of the queue is there by then. In 5.3.3 the task runs at once, and the offset
is frozen from the first step to the last (OF-2). Nothing can come between, so this is one step here. In 4.9.8 the task
runs 10 s later, nothing is frozen, and a worker that still has to update the offset raises it before it is sent again.

With ``corrections=whole`` all of it is one step; see ``pull``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import Cause, Regression
from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, constant, not_, same, variable
from .membership import Consumer
from .offsets import late_slot_free, write_offset
from .process_queue import NO_OFFSET, under_repair, working
from .pull import answers, corrected_offset, outside, redirected
from .queue_table import Leaving, change_table
from .route import Queue, nothing

if TYPE_CHECKING:
    from .group import GroupState

correction = Machine("correction", doc="Windows that are dropped but still in the table, and corrected offsets.")


def server_resets(k: Constants) -> bool:
    """Whether resets are carried out by the broker (OF-30)."""
    return bool(k.resets > 0 and k.version == "5.3.3")


def client_resets(k: Constants) -> bool:
    """Whether resets are carried out by the clients (OF-31)."""
    return bool(k.resets > 0 and k.version == "4.9.8")


def corrects(k: Constants) -> bool:
    """Whether corrections happen, and are followed step by step."""
    moves = k.retentions + k.truncations + k.recreations > 0
    return bool(k.corrections == "steps" and (moves or server_resets(k)))


def leaves_zombies(k: Constants) -> bool:
    """Whether a window can be dropped and stay in the table."""
    return corrects(k) or client_resets(k)


def _in_two_steps(k: Constants) -> bool:
    """Whether other actions may come between setting the offset and removing the queue."""
    return bool(corrects(k) and k.version == "4.9.8" and k.held_updates > 0)


@correction.state
class CorrectionState(State):
    """Windows that are dropped, and still in the table."""

    resets = constant(0, high=2, doc="how often the operator may reset the offset of the group")
    reset_to = constant(0, doc="the offset of a reset")
    zombie = variable(bool, Consumer, Queue, when=leaves_zombies, doc="dropped, and still in the table")
    target = variable(
        Int(NO_OFFSET, "messages"), Consumer, Queue, when=corrects, doc="corrected offset still to be sent; -1: none"
    )
    target_set = variable(bool, Consumer, Queue, when=_in_two_steps, doc="the in-memory offset is set already")


@correction.definition
def reset_excludes_rebalance(s: GroupState) -> bool:
    """OF-31: whether a queue that is being reset stays in the table, so that no pass adds it again before the reset
    ends.
    """
    return True


@correction.refine(under_repair)
def dropped_for_repair(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """A dropped queue stays in the table until it is removed: its offset is still sent (OF-6), and no pass adds it
    again.
    """
    return s.zombie[c, q] if leaves_zombies(s.constants) and reset_excludes_rebalance(s) else False


def drop_and_correct(s: GroupState, c: IntLike, q: IntLike, offset: IntLike) -> None:
    """PL-23: the callback marks the window as dropped; the rest is left to a task."""
    leaving = Leaving(cause=Cause.OFFSET_CORRECTED, persists=False, keeps_entry=True)
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=leaving)
    s.zombie[c, q] = True
    s.target[c, q] = offset


@correction.action(fair=True, tells="{c} pulls outside {q}, and drops its window", when=corrects)
def answer_illegal(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-19, PL-23 OFFSET_ILLEGAL."""
    s.require(answers(s, c, q), outside(s, q, s.next_offset[c, q]), not_(redirected(s, q)))
    s.require(s.target[c, q] == NO_OFFSET)
    drop_and_correct(s, c, q, corrected_offset(s, q, s.next_offset[c, q]))


@correction.action(fair=True, tells="{c} sets its offset of {q} to the corrected one, and sends it", when=_in_two_steps)
def set_target(s: GroupState, c: Consumer, q: Queue) -> None:
    """[4.9.8] ``updateOffset(increaseOnly=false)`` and ``persist``, 10 s after the answer."""
    s.require(working(s, c), s.target[c, q] != NO_OFFSET, not_(s.target_set[c, q]))
    s.memory[c, q] = s.target[c, q]
    write_offset(s, c, q, s.target[c, q], Cause.OFFSET_CORRECTED, because=Regression.CORRECTED)
    s.target_set[c, q] = True


def _ready(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    set_before = s.target_set[c, q] if _in_two_steps(s.constants) else True
    return all_of(working(s, c), s.target[c, q] != NO_OFFSET, set_before)


def _last_offset(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The offset that is sent when the queue is removed; with two steps, whatever the in-memory entry is by then."""
    return s.memory[c, q] if _in_two_steps(s.constants) else s.target[c, q]


def _remove(s: GroupState, c: IntLike, q: IntLike, *, arrives: bool) -> None:
    leaving = Leaving(
        cause=Cause.OFFSET_CORRECTED,
        persists=arrives,
        offset=lambda p: _last_offset(s, c, p),
        because=lambda _: Regression.CORRECTED,
    )
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=leaving)
    s.zombie[c, q] = False
    s.target[c, q] = NO_OFFSET
    if _in_two_steps(s.constants):
        s.target_set[c, q] = False


@correction.action(fair=True, tells="{c} sends the corrected offset of {q} and removes the queue", when=corrects)
def end_correction(s: GroupState, c: Consumer, q: Queue) -> None:
    """``removeProcessQueue`` sends the offset and removes whichever window is there; the next pass adds the queue
    again.
    """
    s.require(_ready(s, c, q))
    _remove(s, c, q, arrives=True)


@correction.action(
    budget="late_commits", tells="{c} removes {q}; the corrected offset it sends is held up", when=corrects
)
def end_correction_late(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-8: the query of the next window may overtake the one-way persist of the corrected offset."""
    s.require(_ready(s, c, q), late_slot_free(s, q))
    _remove(s, c, q, arrives=False)
    s.late[q] = _last_offset(s, c, q)


@correction.action(budget="moves", tells="{c} loses {q}, of which it has only a dropped window", when=leaves_zombies)
def lose_dropped(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-32: a pass removes it like any other queue; the task that corrects the offset will nevertheless run."""
    s.require(working(s, c), s.zombie[c, q], not_(s.owns[c, q]))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    s.zombie[c, q] = False


@correction.mutant(
    "B3",
    "reset-races-with-commits",
    of=reset_excludes_rebalance,
    killed_by="reset-comes-through",
    constants={"messages": 2, "consumers": 1, "version": "4.9.8", "resets": 1},
)
def rebalance_goes_on(s: GroupState) -> bool:
    """A pass adds the queue again before the offset is written: the new window continues at the old position.

    client-go#852, fixed in 2.1.1; the same family as apache/rocketmq#2449 and #4206.
    """
    return False
