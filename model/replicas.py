"""Replicas: the offset table of a master and the copy of it at a slave (OF-4, OF-23).

The slave copies the whole table every 10 s or 60 s. While the master is away, clients read and write the copy, which is
older. When the master is back, its own table counts again and overwrites the slave's: nothing is merged. ``committed``
is the table of the replica that serves clients, ``other`` that of the other replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import Cause, Regression, note_cause, note_commit
from .kernel import Constants, Int, Machine, State, all_of, constant, not_, variable
from .offsets import lowest, stored_at_start
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

replicas = Machine("replicas", doc="Master and slave, their offset tables, fail-over and return.")


def _copied(k: Constants) -> bool:
    return bool(k.slaves > 0)


@replicas.state
class ReplicasState(State):
    """The offset table of the other broker."""

    slaves = constant(0, high=1, doc="1: there is a slave, which copies the offsets of the master")
    fail_overs = constant(0, high=2, doc="how often the master may fail, and the slave take over")
    other = variable(Int(lowest, "messages"), Queue, init=stored_at_start, when=_copied, doc="the other table")
    failed_over = variable(bool, when=lambda k: k.fail_overs > 0, doc="the slave serves clients")


replicas.constraint(
    "slaves", "fail_overs", holds=lambda k: k.slaves or not k.fail_overs, message="only a slave can take over"
)
replicas.constraint(
    "slaves",
    "mode",
    holds=lambda k: k.mode == "clustering" or not k.slaves,
    message="brokers keep offsets in clustering",
)


@replicas.action(fair=True, tells="the slave copies the offsets of the master", when=_copied)
def copy_offsets(s: GroupState) -> None:
    """OF-23: ``SlaveSynchronize#syncConsumerOffset``; the slave's own table is overwritten."""
    if s.fail_overs:
        s.require(not_(s.failed_over))
    s.require(s.exists(Queue, lambda q: s.other[q] != s.committed[q]))
    s.other = lambda q: s.committed[q]


def _exchange(s: GroupState) -> None:
    note_commit(s, lambda _: True, lambda q: s.other[q], because=lambda _: Regression.FAIL_OVER)
    note_cause(s, Cause.BROKER_RESTART, lambda q, m: all_of(s.other[q] <= m, m < s.committed[q]))
    s.committed = lambda q: s.other[q]
    s.other = lambda q: s.committed[q]


@replicas.action(budget="fail_overs", tells="the master is away, clients turn to the slave")
def fail_over(s: GroupState) -> None:
    """OF-4, OF-23: reads and writes of offsets go to the slave, whose copy is 10 s to 60 s old."""
    s.require(not_(s.failed_over))
    _exchange(s)
    s.failed_over = True


@replicas.action(fair=True, tells="the master is back", when=lambda k: k.fail_overs > 0)
def return_of_master(s: GroupState) -> None:
    """B5: offsets that clients committed at the slave in the meantime are not merged; the next copy overwrites them."""
    s.require(s.failed_over)
    _exchange(s)
    s.failed_over = False


replicas.explanation(
    "B5",
    "old-master-overwrites-offsets",
    naive="offset-never-back",
    exact="every-regression-has-a-cause",
    constants={"messages": 1, "consumers": 1, "slaves": 1, "fail_overs": 1, "watch_offsets": 1},
    doc="While the master is away clients commit to the slave. When it is back its older table counts, and the slave's "
    "is overwritten: what was consumed during the outage comes again. Source: #1094, #1440, #2513, #7790.",
)
