"""Rebalance: every client computes its own share from its own view, whenever it likes, and nobody waits for anybody.

One topic is divided. A timer or a notification starts a *pass* (RB-1: ``RebalanceService#run``). It reads the cached
route (EN-5: ``MQClientInstance#topicRouteData2TopicSubscribeInfo``), asks one broker for the member list (RB-4:
``MQClientInstance#findConsumerIdList``), sorts both and asks the strategy (RB-6: ``RebalanceImpl#rebalanceByTopic``),
drops what is no longer its own and takes the rest (RB-30: ``RebalanceImpl#updateProcessQueueTableInRebalance``). With
``steps=fine`` other processes may come between these steps; with ``steps=whole`` a pass is indivisible.
"""

from __future__ import annotations

from enum import IntEnum

from .kernel import (
    BoolLike,
    ConfigurationError,
    Constants,
    Domain,
    Elements,
    Int,
    IntLike,
    Machine,
    MemberSet,
    SetOf,
    State,
    all_of,
    any_of,
    implies,
    ite,
    not_,
    same,
)
from .membership import Broker, Consumer, Life, alive, reaches
from .share import STRATEGIES, share


class Queue(Domain, size="queues", label="q"):
    """Queues of the topic, in sorted order; those below the readable number are readable (EN-5)."""


class Pass(IntEnum):
    """How far the rebalance thread of a client is."""

    IDLE = 0
    ASKED = 1
    DROPPED = 2


rebalance = Machine("rebalance", doc="Routes, views, passes and ownership of the queues of one topic.")
rebalance.constant("queues", 4, low=1, high=8, doc="readable queues of the topic, once all route changes are made")
rebalance.constant("strategy", "AVG", choices=STRATEGIES, doc="how queues are divided")
rebalance.constant("last_strategy", "same", choices=("same", *STRATEGIES), doc="strategy of the last consumer")
rebalance.constant("steps", "whole", choices=("whole", "fine"), doc="grain of a pass")
rebalance.constant("route_changes", 0, high=2, doc="how many queues are added while running")
rebalance.constant("pauses", 0, high=2, doc="how often a consumer may stop working for a while (RB-3, or a GC pause)")
rebalance.constant("same_id", 0, high=1, doc="1 when consumers 0 and 1 carry the same client id")
rebalance.constant("unsubscribed", 0, high=1, doc="1 when the last consumer does not subscribe the topic")
rebalance.constraint(
    "same_id",
    "consumers",
    holds=lambda k: not k.same_id or k.consumers >= 2,
    message="one id twice needs two consumers",
)
rebalance.constraint(
    "route_changes",
    "queues",
    holds=lambda k: k.route_changes < k.queues,
    message="a topic has a queue before others are added",
)
rebalance.constant("orderly", 0, high=1, doc="1 when a queue is taken only with the broker's lock")


def _members_at_start(k: Constants) -> MemberSet:
    return MemberSet(Elements("Consumer", "c", k.consumers), lambda d: d < k.running)


def _queues_at_start(k: Constants) -> IntLike:
    return k.queues - k.route_changes if k.route_changes else k.queues


def _owned_at_start(k: Constants, c: int, q: int) -> bool:
    if c >= k.running or not subscribes(k, c):
        return False
    if not isinstance(k.queues, int):
        raise ConfigurationError("with an unbounded number of queues running=0 is needed; consumers join later.")
    return bool(share(k, c, _members_at_start(k), _queues_at_start(k), q))


def _lock_at_start(k: Constants, q: int) -> int:
    return next((c + 1 for c in range(k.consumers) if _owned_at_start(k, c, q)), 0)


rebalance.variable("owns", bool, Consumer, Queue, init=_owned_at_start, doc="in the table and not dropped")
rebalance.variable("view", SetOf(Consumer), Consumer, init=lambda k, c, d: c < k.running and d < k.running)
rebalance.variable("at", Pass, Consumer, when=lambda k: k.steps == "fine")
rebalance.variable("readable", Int(1, "queues"), init=_queues_at_start, when=lambda k: k.route_changes > 0)
rebalance.variable(
    "route", Int(1, "queues"), Consumer, init=lambda k, c: _queues_at_start(k), when=lambda k: k.route_changes > 0
)
rebalance.variable(
    "view_route", Int(1, "queues"), Consumer, init=lambda k, c: _queues_at_start(k), when=lambda k: k.route_changes > 0
)
rebalance.variable("paused", bool, Consumer, when=lambda k: k.pauses > 0)
rebalance.variable("lock", Int(0, "consumers"), Queue, init=_lock_at_start, when=lambda k: k.orderly == 1, doc="OR-1")


def subscribes(k: Constants, c: IntLike) -> bool:
    """Whether ``c`` consumes the topic; a member that does not is counted all the same (EN-2)."""
    return not (k.unsubscribed and c == k.consumers - 1)


def readable_queues(s: State) -> IntLike:
    """Number of readable queues the name server announces."""
    return s.readable if s.route_changes else s.queues


def queues_in_view(s: State, c: Consumer) -> IntLike:
    """Number of queues ``c`` divided in its last pass: its ``mqAll``."""
    return s.view_route[c] if s.route_changes else s.queues


def idle(s: State, c: Consumer) -> BoolLike:
    """Whether ``c`` is between two passes."""
    return s.at[c] == Pass.IDLE if s.steps == "fine" else True


def wanted(s: State, c: Consumer, q: IntLike) -> BoolLike:
    """Whether the last pass of ``c`` allocated ``q`` to it."""
    return share(s.constants, c, s.view[c], queues_in_view(s, c), q)


def obtainable(s: State, c: Consumer, q: IntLike) -> BoolLike:
    """RB-30.3: an orderly client takes a queue only with the broker's lock (OR-1: ``RebalanceLockManager#tryLock``)."""
    return any_of(s.lock[q] == 0, s.lock[q] == c + 1) if s.orderly else True


def may_ask(s: State, c: Consumer, b: Broker) -> BoolLike:
    """Whether a pass of ``c`` can begin with the member list of ``b``.

    A broker that knows no member answers an error, and the pass does nothing (RB-5:
    ``ConsumerManageProcessor#getConsumerListByGroup``).
    """
    if not subscribes(s.constants, c):
        return False
    return all_of(
        s.life[c] == Life.UP,
        idle(s, c),
        not_(s.paused[c]) if s.pauses else True,
        reaches(s, c, b),
        s.woken[c] if s.periodic == 0 else True,
        s.exists(Consumer, lambda d: s.members[b].has(d)),
    )


def _note_view(s: State, c: Consumer, b: Broker) -> None:
    s.view[c] = s.members[b]
    if s.route_changes:
        s.view_route[c] = s.route[c]
    if s.periodic == 0:
        s.woken[c] = False


@rebalance.action(fair=True, tells="{c} rebalances with the member list of {b}", when=lambda k: k.steps == "whole")
def rebalance_pass(s: State, c: Consumer, b: Broker) -> None:
    """RB-4, RB-6, RB-30: a whole pass; in orderly mode it skips queues whose lock another client has."""
    s.require(may_ask(s, c, b))
    _note_view(s, c, b)
    queues = s.route[c] if s.route_changes else s.queues

    def mine(q: IntLike) -> BoolLike:
        return share(s.constants, c, s.members[b], queues, q)

    s.owns[c] = lambda q: all_of(mine(q), obtainable(s, c, q))
    if s.orderly:
        s.lock = lambda q: ite(all_of(mine(q), obtainable(s, c, q)), c + 1, ite(s.lock[q] == c + 1, 0, s.lock[q]))


@rebalance.action(fair=True, tells="{c} asks {b} for the member list", when=lambda k: k.steps == "fine")
def ask_members(s: State, c: Consumer, b: Broker) -> None:
    """RB-4: the route from the cache, the member list from one broker of the topic."""
    s.require(may_ask(s, c, b))
    _note_view(s, c, b)
    s.at[c] = Pass.ASKED


@rebalance.action(fair=True, tells="{c} drops the queues that are no longer its own", when=lambda k: k.steps == "fine")
def drop_queues(s: State, c: Consumer) -> None:
    """RB-30.1 and 2: all that left the share are marked dropped before any queue is added."""
    s.require(s.at[c] == Pass.ASKED, s.life[c] == Life.UP)
    s.owns[c] = lambda q: all_of(s.owns[c, q], wanted(s, c, q))
    if s.orderly:
        s.lock = lambda q: ite(all_of(s.lock[q] == c + 1, not_(wanted(s, c, q))), 0, s.lock[q])
    s.at[c] = Pass.DROPPED


@rebalance.action(fair=True, tells="{c} takes {q}", when=lambda k: k.steps == "fine")
def take_queue(s: State, c: Consumer, q: Queue) -> None:
    """RB-30.3: one queue of the share enters the table; nothing waits for its old owner."""
    s.require(s.at[c] == Pass.DROPPED, s.life[c] == Life.UP, wanted(s, c, q), not_(s.owns[c, q]), obtainable(s, c, q))
    s.owns[c, q] = True
    if s.orderly:
        s.lock[q] = c + 1


@rebalance.action(fair=True, tells="{c} ends its pass", when=lambda k: k.steps == "fine")
def end_pass(s: State, c: Consumer) -> None:
    """RB-30.4: every queue of the share was taken, or its lock was refused."""
    missing = s.exists(Queue, lambda q: all_of(wanted(s, c, q), not_(s.owns[c, q]), obtainable(s, c, q)))
    s.require(s.at[c] == Pass.DROPPED, s.life[c] == Life.UP, not_(missing))
    s.at[c] = Pass.IDLE


@rebalance.action(budget="route_changes", tells="a queue is added to the topic")
def add_queue(s: State) -> None:
    """The route at the name server gets one more readable queue."""
    s.require(s.readable < s.queues)
    s.readable = s.readable + 1


@rebalance.action(fair=True, tells="{c} refreshes its route", when=lambda k: k.route_changes > 0)
def refresh_route(s: State, c: Consumer) -> None:
    """ST-3: every 30 s the cached route is replaced (``MQClientInstance#startScheduledTask``)."""
    s.require(s.life[c] == Life.UP, s.route[c] != s.readable)
    s.route[c] = s.readable


@rebalance.action(budget="pauses", tells="{c} pauses")
def pause(s: State, c: Consumer) -> None:
    """A paused or frozen client keeps its queues, its heartbeats go on, and it consumes nothing (RB-3).

    ``DefaultMQPushConsumerImpl#tryRebalance`` does nothing while paused.
    """
    s.require(s.life[c] == Life.UP, not_(s.paused[c]), idle(s, c))
    s.paused[c] = True


@rebalance.action(fair=True, tells="{c} resumes", when=lambda k: k.pauses > 0)
def resume(s: State, c: Consumer) -> None:
    """The pause ends."""
    s.require(s.paused[c])
    s.paused[c] = False


def _can_expire(k: Constants) -> bool:
    return bool(k.orderly and k.crashes + k.pauses > 0)


@rebalance.action(fair=True, tells="the lock of {q} expires", when=_can_expire)
def expire_lock(s: State, q: Queue) -> None:
    """OR-1: a lock that a dead or frozen holder does not renew for 60 s is free again.

    ``RebalanceLockManager.LockEntry#isExpired``.
    """

    def silent(c: Consumer) -> BoolLike:
        return any_of(s.life[c] == Life.GONE, s.paused[c] if s.pauses else False)

    s.require(s.exists(Consumer, lambda c: all_of(s.lock[q] == c + 1, silent(c))))
    s.lock[q] = 0


def owner(s: State, c: Consumer, q: IntLike) -> BoolLike:
    """Whether ``c`` runs and has ``q`` in its table, not dropped."""
    return all_of(alive(s, c), s.owns[c, q])


def settled(s: State) -> BoolLike:
    """Whether the group has come to rest: what the partition lemma assumes, of a group with a running client.

    Every running client has applied a view that equals the set of running clients, all divided the same queues, and
    every queue of its share was taken.
    """
    k = s.constants

    def applied(c: Consumer) -> BoolLike:
        complete = s.forall(Queue, lambda q: same(s.owns[c, q], wanted(s, c, q)))
        seen = s.forall(Consumer, lambda d: same(s.view[c].has(d), alive(s, d)))
        return all_of(complete, seen, same(queues_in_view(s, c), readable_queues(s)))

    return all_of(
        s.exists(Consumer, lambda c: alive(s, c)),
        s.forall(Consumer, lambda c: implies(alive(s, c), applied(c)) if subscribes(k, c) else True),
    )
