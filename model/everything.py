"""Everything at once: the message layer on top of real membership and real rebalance.

``consumption`` lets clients take and drop queues at any time. Here a queue changes hands only for the reasons it does
in RocketMQ: joins, leaves, deaths, heartbeats, stale member lists, and a broker that loses its tables. The action texts
are shared; this module only adds what else happens when a table changes. Listeners are concurrent or orderly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .allocation import averagely_owns
from .concurrently import concurrently
from .consume_queue import consume_queue, is_retry
from .history import Cause, Regression, history, note_cause, note_commit
from .kernel import BoolLike, IntLike, Machine, MemberSet, State, all_of, any_of, implies, ite, not_, variable
from .membership import Broker, Consumer, Life, broker_forgets, membership, reaches
from .offsets import may_commit, offsets, to_commit, write_offset
from .orderly import orderly
from .orderly_ownership import orderly_ownership
from .process_queue import drops_in_steps, in_table, may_take, process_queue, reaches_broker
from .pull import pull_loop
from .queue_table import Leaving, change_windows
from .rebalance import allocated, locks_change, obtainable, rebalance, table_changes
from .retry_copy import retry_copy
from .route import Chosen, Queue, nothing
from .schedule import schedule
from .send_back import send_back
from .share import share
from .start_position import start_position
from .start_stop import may_unregister, process_ends, start_stop

if TYPE_CHECKING:
    from .group import GroupState

everything = Machine(
    "everything",
    doc="Membership, rebalance, pulling, listeners and offsets together; queues change hands as real views make them.",
).include(membership, start_stop, rebalance, consume_queue, history, process_queue, pull_loop, concurrently, offsets)
everything.include(start_position, retry_copy, send_back, schedule, orderly, orderly_ownership)
everything.constraint(
    "repairs", holds=lambda k: not k.repairs, message="repairs are followed in the machines assignment and consumption"
)
everything.constraint(
    "orderly",
    "listener",
    "steps",
    holds=lambda k: k.orderly == (k.listener == "orderly") and (not k.orderly or k.steps == "fine"),
    message="orderly listeners need orderly=1 and steps=fine: a queue is unlocked and taken in steps",
)
everything.constraint(
    "mode",
    holds=lambda k: k.mode == "clustering",
    message="broadcasting clients need no membership; they are followed in the machines assignment and consumption",
)
everything.constraint(
    "unsubscribes",
    "copies",
    holds=lambda k: not k.unsubscribes or not k.copies,
    message="a client that unsubscribes the topic keeps the retry topic, which is not followed",
)
everything.constraint(
    "running", holds=lambda k: k.running == 0, message="here all clients start during the run, so that windows open"
)


@everything.refine(allocated)
def topic_and_retry_queue(s: GroupState, c: IntLike, view: MemberSet, queues: IntLike, q: IntLike) -> BoolLike:
    """EN-10, RB-4: the retry topic is a topic of its own, divided separately."""
    if not s.copies:
        return share(s.constants, c, view, queues, q)
    if is_retry(s.constants, q):
        return all_of(view.has(c), averagely_owns(0, view.rank(c), 1, view.size()))
    return share(s.constants, c, view, queues - 1, q)


@everything.refine(table_changes)
def windows_follow(s: GroupState, c: IntLike, lost: Chosen, won: Chosen, *, persists: bool = True) -> None:
    """RB-30: a queue that leaves ends its window, with a last commit if it ``persists``; one that enters begins a new
    one.

    A window of an orderly client ends only once no listener runs there (RB-33: ``orderly_ownership``).
    """
    if drops_in_steps(s.constants) and won is nothing:
        s.dropped[c] = lambda q: any_of(lost(q), s.dropped[c, q])
        return
    change_windows(s, c, lost=lost, won=won, leaving=Leaving(persists=persists))


@everything.refine(locks_change)
def locks_follow(s: GroupState, c: IntLike, granted: Chosen, unlocked: Chosen) -> None:
    """RB-30.3, RB-33: locks come and go with the windows."""


@everything.refine(reaches_broker)
def not_cut_off(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Queue ``q`` is on broker ``q`` modulo the number of brokers, from which ``c`` may be cut off."""
    return s.forall(Broker, lambda b: implies(q % s.brokers == b, reaches(s, c, b)))


@everything.refine(obtainable)
def offset_known(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-40, RB-30.3: a queue whose offset cannot be queried is left out of the pass, and so is an orderly one whose
    lock is refused, or which is still being given up (RB-35).
    """
    leaves = s.dropped[c, q] if drops_in_steps(s.constants) else False
    return any_of(s.owns[c, q], all_of(not_cut_off(s, c, q), may_take(s, c, q), not_(leaves)))


@everything.refine(process_ends)
def windows_end(s: GroupState, c: IntLike, in_order: bool) -> None:
    """ST-8 (5), or a death: the windows are gone, without another commit."""
    cause = Cause.SHUTDOWN if in_order else Cause.CRASH
    leaving = Leaving(cause=cause, persists=False, listeners_go_on=False)
    if s.leaves:
        s.persisted[c] = False
    change_windows(s, c, lost=lambda q: in_table(s, c, q), won=nothing, leaving=leaving)


@everything.state
class EverythingState(State):
    """Which clients, shutting down, have persisted their offsets."""

    persisted = variable(bool, Consumer, when=lambda k: k.leaves > 0, doc="ST-8 (2) is done")


everything.remember(
    "life", "members", "owns", "view", "committed", "persisted", "next_offset", when=lambda k: k.watch_steps == 1
)


@everything.refine(may_unregister)
def persisted_first(s: GroupState, c: IntLike) -> BoolLike:
    """ST-8: offsets are persisted (2) before the client unregisters (3)."""
    return s.persisted[c]


@everything.action(fair=True, tells="{c}, shutting down, persists the offset of {q}", when=lambda k: k.leaves > 0)
def persist_at_stop(s: GroupState, c: Consumer, q: Queue) -> None:
    """ST-8 (2): one last commit for each owned queue, whether or not a broker still lists the client."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]), may_commit(s, c, q))
    write_offset(s, c, q, to_commit(s, c, q), Cause.SHUTDOWN)


@everything.action(fair=True, tells="{c} has persisted its offsets", when=lambda k: k.leaves > 0)
def offsets_persisted(s: GroupState, c: Consumer) -> None:
    """ST-8 (2) is done; what finishes from now on is no longer committed (ST-9)."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]))
    s.require(s.forall(Queue, lambda q: not_(may_commit(s, c, q))))
    s.persisted[c] = True


@everything.refine(broker_forgets)
def offsets_go_back(s: GroupState, b: IntLike) -> None:
    """OF-23: besides its members, the broker loses the commits since its last flush, for the queues it stores."""

    def kept_there(q: IntLike) -> BoolLike:
        return q % s.brokers == b

    note_commit(s, kept_there, lambda q: s.on_disk[q], because=lambda _: Regression.BROKER_RESTART)
    note_cause(s, Cause.BROKER_RESTART, lambda q, m: all_of(kept_there(q), s.on_disk[q] <= m, m < s.committed[q]))
    s.committed = lambda q: ite(kept_there(q), s.on_disk[q], s.committed[q])
