"""Shutdown: a client stops gracefully, and still owns its queues while others are notified to take them.

ST-8, ST-9: ``DefaultMQPushConsumerImpl#shutdown``. Offsets are persisted before running listeners are done, and queues
are dropped last of all: messages finished in between are never committed, and come again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .faults import vanish
from .history import Cause
from .kernel import IntLike, Machine, State, constant, not_, variable
from .membership import Consumer, Life
from .offsets import may_commit, to_commit, write_offset
from .process_queue import working
from .queue_table import Leaving
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

shutdown = Machine("shutdown", doc="Graceful stops of clients.")


@shutdown.state
class ShutdownState(State):
    """Which clients, shutting down, have persisted their offsets."""

    leaves = constant(0, high=3, doc="how many clients may shut down in order")
    persisted = variable(bool, Consumer, when=lambda k: k.leaves > 0, doc="ST-8 (2) is done")


@shutdown.definition
def service_stops(s: GroupState, c: IntLike) -> None:
    """ST-8 (1): what else happens when the consume service stops; an orderly one unlocks its queues."""


@shutdown.action(budget="leaves", tells="{c} begins to shut down")
def stop(s: GroupState, c: Consumer) -> None:
    """ST-8 (1): no listener is started any more; running ones are not waited for (``shutdown``)."""
    s.require(working(s, c))
    s.life[c] = Life.STOPPING
    service_stops(s, c)


@shutdown.action(fair=True, tells="{c}, shutting down, persists the offset of {q}", when=lambda k: k.leaves > 0)
def persist_at_stop(s: GroupState, c: Consumer, q: Queue) -> None:
    """ST-8 (2): one last commit for each owned queue."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]), may_commit(s, c, q))
    write_offset(s, c, q, to_commit(s, c, q), Cause.SHUTDOWN)


@shutdown.action(fair=True, tells="{c} has persisted its offsets and unregisters", when=lambda k: k.leaves > 0)
def unregister(s: GroupState, c: Consumer) -> None:
    """ST-8 (3): others may take its queues from now on, or have done so; what finishes now is not committed (ST-9)."""
    s.require(s.life[c] == Life.STOPPING, not_(s.persisted[c]))
    s.require(s.forall(Queue, lambda q: not_(may_commit(s, c, q))))
    s.persisted[c] = True


@shutdown.action(fair=True, tells="{c} drops all its queues and is gone", when=lambda k: k.leaves > 0)
def end_stop(s: GroupState, c: Consumer) -> None:
    """ST-8 (5): the last step of a shutdown, without another commit."""
    s.require(s.life[c] == Life.STOPPING, s.persisted[c])
    vanish(s, c, Leaving(cause=Cause.SHUTDOWN, persists=False, listeners_go_on=False))


shutdown.explanation(
    "C4",
    "shutdown-commits-too-early",
    naive="duplicates-only-after-a-crash",
    exact="every-duplicate-has-a-cause",
    constants={"messages": 1, "causes": 1, "repeats": 1, "overlaps": 0, "leaves": 1},
    doc="Offsets are persisted before running listeners are done (ST-9): what they finish comes again. Set "
    "awaitTerminationMillisWhenShutdown above the longest listener call. Source: #2085, ROCKETMQ-102.",
)
