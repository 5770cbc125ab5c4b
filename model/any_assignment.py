"""Any assignment: clients take and drop queues whenever it pleases, one at a time.

Real allocation (``assignment``) is one way to choose; its views may be stale, so a queue may have two owners for a
while, or none. A property that holds here, where clients take and drop as they like, holds for every strategy, every
view and every timing. With ``overlaps=0`` a queue is taken only while nobody else has it: the case in which the
partition lemma applies (G1). At first all clients run, and nobody owns anything.
"""

from __future__ import annotations

from .history import Cause
from .kernel import BoolLike, IntLike, Machine, State, not_, same
from .membership import Consumer, Life
from .offsets import broadcasting, late_slot_free, may_commit, to_commit, write_offset
from .process_queue import may_take, working
from .queue_table import Leaving, change_table, nothing
from .rebalance import Queue

any_assignment = Machine("any_assignment", doc="Clients that take and drop queues at any time, start, stop and die.")
any_assignment.constant("consumers", 2, low=1, high=6, doc="client instances of the group")
any_assignment.constant("queues", 1, low=1, high=8, doc="queues, the retry queue included")
any_assignment.constant("broker_restarts", 0, high=2, doc="how often the broker may crash and come back")
any_assignment.constant("moves", 0, high=4, doc="how often a client may drop a queue and live on")
any_assignment.constant("overlaps", 1, high=1, doc="0: a queue is taken only while nobody else has it")
any_assignment.constant("crashes", 0, high=3, doc="how many clients may die without a word")
any_assignment.constant("leaves", 0, high=3, doc="how many clients may shut down in order")
any_assignment.constant("restarts", 0, high=3, doc="how many clients may be started in the place of a gone one")
any_assignment.constant("pauses", 0, high=2, doc="how often a client may stand still (GC, SIGSTOP)")
any_assignment.constant("lost_commits", 0, high=3, doc="how many final commits may be lost")


any_assignment.variable("life", Life, Consumer, init=Life.UP)
any_assignment.variable("owns", bool, Consumer, Queue, doc="in the table and not dropped")
any_assignment.variable("paused", bool, Consumer, when=lambda k: k.pauses > 0)
any_assignment.variable("persisted", bool, Consumer, when=lambda k: k.leaves > 0, doc="ST-8 (2) is done")


@any_assignment.action(fair=True, tells="{c} takes {q}")
def take(s: State, c: Consumer, q: Queue) -> None:
    """RB-30.3: the queue enters the table, and nothing waits for its old owner."""
    s.require(working(s, c), not_(s.owns[c, q]), may_take(s, c, q), _free(s, c, q))
    change_table(s, c, lost=nothing, won=lambda p: same(p, q))


def _free(s: State, c: IntLike, q: IntLike) -> BoolLike:
    if s.overlaps or broadcasting(s.constants):
        return True
    return s.forall(Consumer, lambda d: not_(s.owns[d, q]))


@any_assignment.action(budget="moves", tells="{c} drops {q}")
def drop(s: State, c: Consumer, q: Queue) -> None:
    """RB-32: the last commit is sent, and arrives before anything else happens."""
    s.require(working(s, c), s.owns[c, q])
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)


@any_assignment.action(
    budget="lost_commits", tells="{c} drops {q}; its last commit is lost", when=lambda k: k.moves > 0
)
def drop_losing_commit(s: State, c: Consumer, q: Queue) -> None:
    """RB-32, OF-5: the last commit is one-way, so nobody notices that it was lost (G3-4)."""
    s.require(working(s, c), s.owns[c, q], may_commit(s, c, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=Leaving(persists=False))


@any_assignment.action(
    budget="late_commits", tells="{c} drops {q}; its last commit is held up", when=lambda k: k.moves > 0
)
def drop_delaying_commit(s: State, c: Consumer, q: Queue) -> None:
    """OF-8: the next owner's query may overtake the last commit (G3-4)."""
    s.require(working(s, c), s.owns[c, q], may_commit(s, c, q), late_slot_free(s, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing, leaving=Leaving(persists=False))
    s.late[q] = to_commit(s, c, q)


@any_assignment.action(budget="crashes", tells="{c} dies")
def die(s: State, c: Consumer) -> None:
    """The process ends without a word, and with it all that was only in its memory."""
    s.require(s.life[c] != Life.GONE)
    _vanish(s, c, Leaving(cause=Cause.CRASH, persists=False, listeners_go_on=False))


@any_assignment.action(budget="leaves", tells="{c} begins to shut down")
def stop(s: State, c: Consumer) -> None:
    """ST-8 (1): no listener is started any more; those that run are not waited for (``shutdown``)."""
    s.require(working(s, c))
    s.life[c] = Life.STOPPING


@any_assignment.action(fair=True, tells="{c}, shutting down, persists the offset of {q}", when=lambda k: k.leaves > 0)
def persist_at_stop(s: State, c: Consumer, q: Queue) -> None:
    """ST-8 (2): one last commit for each owned queue."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]), may_commit(s, c, q))
    write_offset(s, c, q, to_commit(s, c, q), Cause.SHUTDOWN)


@any_assignment.action(fair=True, tells="{c} has persisted its offsets and unregisters", when=lambda k: k.leaves > 0)
def unregister(s: State, c: Consumer) -> None:
    """ST-8 (3): others may take its queues from now on, or have done so; what finishes now is not committed (ST-9)."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]))
    s.require(s.forall(Queue, lambda q: not_(may_commit(s, c, q))))
    s.persisted[c] = True


@any_assignment.action(fair=True, tells="{c} drops all its queues and is gone", when=lambda k: k.leaves > 0)
def end_stop(s: State, c: Consumer) -> None:
    """ST-8 (5): the last step of a shutdown, without another commit."""
    s.require(s.life[c] == Life.STOPPING, s.persisted[c])
    _vanish(s, c, Leaving(cause=Cause.SHUTDOWN, persists=False, listeners_go_on=False))


def _vanish(s: State, c: IntLike, leaving: Leaving) -> None:
    change_table(s, c, lost=lambda q: s.owns[c, q], won=nothing, leaving=leaving)
    s.life[c] = Life.GONE
    if s.pauses:
        s.paused[c] = False
    if s.leaves:
        s.persisted[c] = False


@any_assignment.action(budget="restarts", tells="a client starts in the place of {c}")
def restart(s: State, c: Consumer) -> None:
    """ST-1: a process with a new client id (EN-7); only its files, in broadcasting, are still there."""
    s.require(s.life[c] == Life.GONE)
    s.life[c] = Life.UP


@any_assignment.action(budget="pauses", tells="{c} stands still")
def pause(s: State, c: Consumer) -> None:
    """A long garbage collection, or SIGSTOP: nothing happens in the process, others go on."""
    s.require(working(s, c))
    s.paused[c] = True


@any_assignment.action(fair=True, tells="{c} goes on", when=lambda k: k.pauses > 0)
def resume(s: State, c: Consumer) -> None:
    """The process runs again, and knows nothing of the time it missed."""
    s.require(s.paused[c])
    s.paused[c] = False
