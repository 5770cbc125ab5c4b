"""Start and stop of a client instance, graceful or by death.

A client that stops gracefully unregisters first and drops its queues last, so for a while it still owns what others
have already been notified to take (ST-9, from the order in ``DefaultMQPushConsumerImpl#shutdown``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import BoolLike, IntLike, Machine, State, constant, implies, not_
from .lock import unlock_batch, uses_locks
from .membership import Broker, Consumer, Life, alive, reaches, wake
from .rebalance import Pass

if TYPE_CHECKING:
    from .group import GroupState

start_stop = Machine("start_stop", doc="Starts, graceful stops and deaths of client instances.")


@start_stop.state
class StartStopState(State):
    """How often clients may stop or die."""

    leaves = constant(0, high=3, doc="how many consumers may stop gracefully")
    crashes = constant(0, high=3, doc="how many consumers may die without a word")


@start_stop.action(tells="{c} starts", when=lambda k: k.consumers > k.running)
def start(s: GroupState, c: Consumer) -> None:
    """ST-1: the instance runs; it is not a member anywhere until its heartbeats arrive.

    ``DefaultMQPushConsumerImpl#start``.
    """
    s.require(s.life[c] == Life.NEW)
    s.life[c] = Life.UP
    if s.periodic == 0:
        s.woken[c] = True


@start_stop.definition
def service_stops(s: GroupState, c: IntLike) -> None:
    """ST-8 (1): what else happens when the consume service stops; an orderly one unlocks its queues."""
    if uses_locks(s.constants):
        unlock_batch(s, c, lambda _: True)


@start_stop.action(budget="leaves", tells="{c} begins to shut down")
def stop(s: GroupState, c: Consumer) -> None:
    """ST-8 (1): the consume service stops, orderly locks are released; its queues stay undropped until the last step.

    ``DefaultMQPushConsumerImpl#shutdown``, ``ConsumeMessageOrderlyService#shutdown``.
    """
    s.require(s.life[c] == Life.UP)
    s.life[c] = Life.STOPPING
    service_stops(s, c)


@start_stop.definition
def may_unregister(s: GroupState, c: IntLike) -> BoolLike:
    """What must happen before a stopping client unregisters: its offsets are persisted (ST-8 (2))."""
    return True


@start_stop.definition
def process_ends(s: GroupState, c: IntLike, in_order: bool) -> None:
    """What else is lost with the process of ``c``, which stopped ``in_order`` or died."""


@start_stop.action(fair=True, tells="{b} unregisters {c}", when=lambda k: k.leaves > 0)
def unregister(s: GroupState, c: Consumer, b: Broker) -> None:
    """ST-6 (a): UNREGISTER_CLIENT removes the channel and notifies the others.

    ``ClientManageProcessor#unregisterClient``, ``ConsumerManager#unregisterConsumer``.
    """
    s.require(s.life[c] == Life.STOPPING, s.members[b].has(c), reaches(s, c, b), may_unregister(s, c))
    s.members[b] = s.members[b].remove(c)
    wake(s, b)


@start_stop.action(fair=True, tells="{c} drops all its queues and is gone", when=lambda k: k.leaves > 0)
def end_stop(s: GroupState, c: Consumer) -> None:
    """ST-8 (5): only after unregistering at every broker it can reach does a client drop its queues.

    ``RebalanceImpl#destroy``, last in ``DefaultMQPushConsumerImpl#shutdown``.
    """
    s.require(s.life[c] == Life.STOPPING, may_unregister(s, c))
    s.require(s.forall(Broker, lambda b: implies(reaches(s, c, b), not_(s.members[b].has(c)))))
    _vanish(s, c, in_order=True)


@start_stop.action(budget="crashes", tells="{c} dies")
def die(s: GroupState, c: Consumer) -> None:
    """The process ends without warning; every broker still lists it, and its locks stay."""
    s.require(alive(s, c))
    _vanish(s, c, in_order=False)


def _vanish(s: GroupState, c: Consumer, *, in_order: bool) -> None:
    """Nothing of a process outlives it, so nothing of it stays in the state."""
    process_ends(s, c, in_order)
    s.life[c] = Life.GONE
    s.owns[c] = False
    s.view[c] = s.empty(Consumer)
    if s.steps == "fine":
        s.at[c] = Pass.IDLE
    if s.pauses:
        s.paused[c] = False
    if s.unsubscribes:
        s.subscribed[c] = True
    if s.repairs:
        s.leftover[c] = False
    if s.periodic == 0:
        s.woken[c] = False
