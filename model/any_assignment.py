"""Any assignment: clients take and drop queues at any time, one at a time.

Real allocation (``assignment``) is one way to choose; its views may be stale, so a queue may have two owners for a
while, or none. A property that holds here, where clients take and drop as they like, holds for every strategy, every
view and every timing. With ``overlaps=0`` a queue is taken only while nobody else has it: the case in which the
partition lemma applies (G1). Initially all clients run, and nobody owns anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import BoolLike, Constants, IntLike, Machine, State, all_of, constant, not_, same, variable
from .lock import uses_locks
from .membership import Consumer
from .offsets import broadcasting, late_slot_free, may_commit, to_commit
from .process_queue import in_table, may_take, working
from .queue_table import Leaving, change_table
from .route import Queue, nothing
from .start_position import offset_answered

if TYPE_CHECKING:
    from .group import GroupState

any_assignment = Machine("any_assignment", doc="Clients that take and drop queues at any time.")


@any_assignment.state
class AnyAssignmentState(State):
    """Which queues the clients have."""

    consumers = constant(2, low=1, high=6, doc="client instances of the group")
    queues = constant(1, low=1, high=8, doc="queues, the retry queue included")
    moves = constant(0, high=4, doc="how often a client may drop a queue and live on")
    moves_left: IntLike
    overlaps = constant(1, high=1, doc="0: a queue is taken only while nobody else has it")
    lost_commits = constant(0, high=3, doc="how many final commits may be lost")
    owns = variable(bool, Consumer, Queue, doc="in the table and not dropped")


def _at_once(k: Constants) -> bool:
    """Whether a dropped queue leaves the table at once; an orderly client must first give back its lock."""
    return not uses_locks(k)


@any_assignment.action(fair=True, tells="{c} takes {q}")
def take(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-30.3: the queue enters the table without waiting for its old owner."""
    s.require(may_enter(s, c, q), offset_answered(s, c, q))
    change_table(s, c, lost=nothing, won=lambda p: same(p, q))


def may_enter(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a pass of ``c`` would add ``q``, provided that ``c`` can find out where to start."""
    return all_of(working(s, c), not_(in_table(s, c, q)), may_take(s, c, q), _free(s, c, q))


def _free(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    if s.overlaps or broadcasting(s.constants):
        return True
    return s.forall(Consumer, lambda d: not_(s.owns[d, q]))


@any_assignment.action(budget="moves", tells="{c} drops {q}", when=_at_once)
def drop(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-32: the last commit is sent, and arrives before anything else happens."""
    s.require(working(s, c), s.owns[c, q])
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)


@any_assignment.action(budget="moves", tells="{c} drops {q}", when=uses_locks)
def drop_in_order(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-30.1: the queue is marked as dropped; nothing new is begun, and the offset no longer moves."""
    s.require(working(s, c), s.owns[c, q])
    s.owns[c, q] = False
    s.dropped[c, q] = True


@any_assignment.action(
    budget="lost_commits", tells="{c} drops {q}; its last commit is lost", when=lambda k: k.moves > 0 and _at_once(k)
)
def drop_losing_commit(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-32, OF-5: the last commit is one-way, so nobody notices that it was lost (G3-4)."""
    s.require(working(s, c), s.owns[c, q], may_commit(s, c, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=Leaving(persists=False))


@any_assignment.action(
    budget="late_commits", tells="{c} drops {q}; its last commit is held up", when=lambda k: k.moves > 0 and _at_once(k)
)
def drop_delaying_commit(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-8: the next owner's query may overtake the last commit (G3-4)."""
    s.require(working(s, c), s.owns[c, q], may_commit(s, c, q), late_slot_free(s, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=Leaving(persists=False))
    s.late[q] = to_commit(s, c, q)
