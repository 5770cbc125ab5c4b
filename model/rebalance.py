"""Rebalance: every client computes its own share from its own view, at any time, without waiting for the others.

One topic is divided. A timer or a notification starts a *pass* (RB-1: ``RebalanceService#run``). It reads the cached
route (``route``), asks one broker for the member list (RB-4: ``MQClientInstance#findConsumerIdList``), sorts both and
asks the strategy (RB-6: ``RebalanceImpl#rebalanceByTopic``), drops what is no longer its own and takes the rest (RB-30:
``RebalanceImpl#updateProcessQueueTableInRebalance``). With ``steps=fine`` other processes may come between these steps;
with ``steps=whole`` a pass is indivisible.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from .kernel import (
    BoolLike,
    ConfigurationError,
    Constants,
    Elements,
    IntLike,
    Machine,
    MemberSet,
    SetOf,
    State,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    not_,
    same,
    variable,
)
from .lock import forget, grant_and_unlock, holds_lock, uses_locks
from .lock import obtainable as lock_obtainable
from .membership import Broker, Consumer, Life, alive, locks_are_lost, reaches
from .route import (
    Chosen,
    Queue,
    note_route,
    nothing,
    queues_in_route,
    queues_in_view,
    readable_at_start,
    readable_queues,
    route,
)
from .share import STRATEGIES, share
from .subscription import subscribed_at_start, subscribes, subscription

if TYPE_CHECKING:
    from .group import GroupState


class Pass(IntEnum):
    """How far the rebalance thread of a client is."""

    IDLE = 0
    ASKED = 1
    DROPPED = 2


rebalance = Machine("rebalance", doc="Views, passes and ownership of the queues of one topic.").include(
    route, subscription
)


def _members_at_start(k: Constants) -> MemberSet:
    return MemberSet(Elements("Consumer", "c", k.consumers), lambda d: d < k.running)


def owned_at_start(k: Constants, c: int, q: int) -> bool:
    """Whether ``c`` has ``q`` in the initial state."""
    if c >= k.running or not subscribed_at_start(k, c):
        return False
    if not isinstance(k.queues, int):
        raise ConfigurationError("with an unbounded number of queues running=0 is needed; consumers join later.")
    return bool(share(k, c, _members_at_start(k), readable_at_start(k), q))


@rebalance.state
class RebalanceState(State):
    """Views, passes and ownership."""

    strategy = constant("AVG", choices=STRATEGIES, doc="how queues are divided")
    last_strategy = constant("same", choices=("same", *STRATEGIES), doc="strategy of the last consumer")
    steps = constant("whole", choices=("whole", "fine"), doc="grain of a pass")
    pauses = constant(0, high=2, doc="how often a consumer may stop working for a while (RB-3, or a GC pause)")
    same_id = constant(0, high=1, doc="1 when consumers 0 and 1 carry the same client id")
    failing_topic = constant(0, high=1, doc="1 when dividing an earlier topic always fails in the last consumer")
    repairs = constant(0, high=2, doc="how often a queue is dropped to be taken again elsewhere (reset, bad offset)")
    idle_pulls = constant(0, high=1, doc="1 when the pull interval exceeds 120 s: each queue looks abandoned")
    orderly = constant(0, high=1, doc="1 when a queue is taken only with the broker's lock")
    owns = variable(bool, Consumer, Queue, init=owned_at_start, doc="in the table and not dropped")
    view = variable(
        SetOf(Consumer),
        Consumer,
        init=lambda k, c, d: c < k.running and d < k.running,
        doc="the member list of its last pass (RB-4)",
    )
    at = variable(Pass, Consumer, when=lambda k: k.steps == "fine", doc="how far its pass is (RB-30)")
    paused = variable(bool, Consumer, when=lambda k: k.pauses > 0, doc="it is paused, and does not rebalance (RB-3)")
    leftover = variable(bool, Consumer, Queue, when=lambda k: k.repairs > 0, doc="in the table, but dropped")


rebalance.constraint(
    "same_id",
    "consumers",
    holds=lambda k: not k.same_id or k.consumers >= 2,
    message="one id twice needs two consumers",
)
rebalance.constraint(
    "orderly",
    "unsubscribes",
    "repairs",
    "idle_pulls",
    holds=lambda k: not k.orderly or k.unsubscribes + k.repairs + k.idle_pulls == 0,
    message="what becomes of locks then is the business of orderly_lock",
)
rebalance.constraint(
    "idle_pulls",
    "steps",
    holds=lambda k: not k.idle_pulls or k.steps == "fine",
    message="a whole pass drops a queue and takes it again at once; use steps=fine to see it",
)


def idle(s: GroupState, c: Consumer) -> BoolLike:
    """Whether ``c`` is between two passes."""
    return s.at[c] == Pass.IDLE if s.steps == "fine" else True


@rebalance.definition
def allocated(s: GroupState, c: IntLike, view: MemberSet, queues: IntLike, q: IntLike) -> BoolLike:
    """Whether the strategy of ``c``, given members ``view`` and ``queues`` readable queues, allocates ``q`` to it."""
    return share(s.constants, c, view, queues, q)


@rebalance.definition
def table_changes(s: GroupState, c: IntLike, lost: Chosen, won: Chosen, *, persists: bool = True) -> None:
    """What else happens in ``c`` when queues ``lost`` leave its table, with a last commit if it ``persists``, and
    queues ``won`` enter it.
    """


@rebalance.definition
def locks_change(s: GroupState, c: IntLike, granted: Chosen, unlocked: Chosen) -> None:
    """RB-30.3, RB-33: a pass of ``c`` gets locks and gives locks back, at once: no listeners are followed here."""
    if uses_locks(s.constants):
        grant_and_unlock(s, c, granted, unlocked)


def wanted(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the last pass of ``c`` allocated ``q`` to it."""
    return allocated(s, c, s.view[c], queues_in_view(s, c), q)


@rebalance.definition
def obtainable(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-30.3: whether a pass of ``c`` can take ``q``, or keep it.

    A queue that is in the table, dropped or not, is not added again; an orderly client adds one only with the broker's
    lock (OR-1: ``RebalanceLockManager#tryLock``).
    """
    return all_of(
        lock_obtainable(s, c, q) if uses_locks(s.constants) else True,
        not_(s.leftover[c, q]) if s.repairs else True,
    )


@rebalance.refine(locks_are_lost)
def table_forgotten(s: GroupState, b: IntLike) -> None:
    """OR-1: the locks of the queues of ``b`` are gone; queue ``q`` is on broker ``q`` modulo the number of brokers."""
    if uses_locks(s.constants):
        forget(s, lambda q: q % s.brokers == b)


@rebalance.definition
def reaches_topic(s: GroupState, c: Consumer) -> BoolLike:
    """Whether a pass of ``c`` gets to this topic: always, as a failure in an earlier topic is caught.

    ``RebalanceImpl#doRebalance`` catches ``Throwable`` for each topic.
    """
    return True


@rebalance.definition
def looks_abandoned(s: GroupState, c: Consumer, q: IntLike) -> BoolLike:
    """RB-30.1: whether ``q``, which is in the share, was not pulled for 120 s (``ProcessQueue#isPullExpired``)."""
    return s.idle_pulls == 1


def divides(k: Constants) -> bool:
    """Whether the queues are divided among the clients: not in broadcasting (RB-7)."""
    return bool(k.get("mode", "clustering") == "clustering")


def may_begin(s: GroupState, c: Consumer) -> BoolLike:
    """Whether ``c`` can begin a pass."""
    return all_of(
        subscribes(s, c),
        s.life[c] == Life.UP,
        idle(s, c),
        reaches_topic(s, c),
        not_(s.paused[c]) if s.pauses else True,
        s.woken[c] if s.periodic == 0 else True,
    )


def may_ask(s: GroupState, c: Consumer, b: Broker) -> BoolLike:
    """Whether a pass of ``c`` can begin with the member list of ``b``.

    A broker that knows no member answers an error, and the pass does nothing (RB-5:
    ``ConsumerManageProcessor#getConsumerListByGroup``).
    """
    return all_of(may_begin(s, c), reaches(s, c, b), s.exists(Consumer, lambda d: s.members[b].has(d)))


def begin_pass(s: GroupState, c: Consumer) -> None:
    """A pass of ``c`` begins with the route that ``c`` knows."""
    note_route(s, c)
    if s.periodic == 0:
        s.woken[c] = False


def _note_view(s: GroupState, c: Consumer, b: Broker) -> None:
    s.view[c] = s.members[b]
    begin_pass(s, c)


def _whole(k: Constants) -> bool:
    return bool(k.steps == "whole" and divides(k))


@rebalance.action(fair=True, tells="{c} rebalances with the member list of {b}", when=_whole)
def rebalance_pass(s: GroupState, c: Consumer, b: Broker) -> None:
    """RB-4, RB-6, RB-30: a whole pass; in orderly mode it skips queues whose lock another client has."""
    s.require(may_ask(s, c, b))
    _note_view(s, c, b)

    def mine(q: IntLike) -> BoolLike:
        return allocated(s, c, s.members[b], queues_in_route(s, c), q)

    def kept(q: IntLike) -> BoolLike:
        return all_of(mine(q), obtainable(s, c, q))

    table_changes(s, c, lambda q: all_of(s.owns[c, q], not_(kept(q))), lambda q: all_of(kept(q), not_(s.owns[c, q])))
    s.owns[c] = kept
    locks_change(s, c, kept, lambda q: not_(kept(q)))


@rebalance.action(fair=True, tells="{c} asks {b} for the member list", when=lambda k: k.steps == "fine")
def ask_members(s: GroupState, c: Consumer, b: Broker) -> None:
    """RB-4: the route from the cache, the member list from one broker of the topic."""
    s.require(may_ask(s, c, b))
    _note_view(s, c, b)
    s.at[c] = Pass.ASKED


@rebalance.action(fair=True, tells="{c} drops the queues that are no longer its own", when=lambda k: k.steps == "fine")
def drop_queues(s: GroupState, c: Consumer) -> None:
    """RB-30.1 and 2: all queues that left the share are marked as dropped before any queue is added."""
    s.require(s.at[c] == Pass.ASKED, s.life[c] == Life.UP)

    def kept(q: IntLike) -> BoolLike:
        return all_of(wanted(s, c, q), not_(looks_abandoned(s, c, q)))

    table_changes(s, c, lambda q: all_of(s.owns[c, q], not_(kept(q))), nothing)
    s.owns[c] = lambda q: all_of(s.owns[c, q], kept(q))
    locks_change(s, c, nothing, lambda q: not_(wanted(s, c, q)))
    s.at[c] = Pass.DROPPED


@rebalance.action(fair="strongly", tells="{c} takes {q}", when=lambda k: k.steps == "fine")
def take_queue(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-30.3: one queue of the share enters the table, without waiting for its old owner.

    Strongly fair, like the end of the pass: a pass asks for each lock once, so no lock that changes hands holds it up.
    """
    s.require(s.at[c] == Pass.DROPPED, s.life[c] == Life.UP, wanted(s, c, q), not_(s.owns[c, q]), obtainable(s, c, q))
    table_changes(s, c, nothing, lambda p: same(p, q))
    s.owns[c, q] = True
    locks_change(s, c, lambda p: same(p, q), nothing)


@rebalance.action(fair="strongly", tells="{c} ends its pass", when=lambda k: k.steps == "fine")
def end_pass(s: GroupState, c: Consumer) -> None:
    """RB-30.4: every queue of the share was taken, or its lock was refused, and may have become free since.

    A lock that is free whenever it is asked for is got all the same: ``take_queue`` is strongly fair.
    """
    s.require(s.at[c] == Pass.DROPPED, s.life[c] == Life.UP)
    if not uses_locks(s.constants):
        missing = s.exists(Queue, lambda q: all_of(wanted(s, c, q), not_(s.owns[c, q]), obtainable(s, c, q)))
        s.require(not_(missing))
    s.at[c] = Pass.IDLE


@rebalance.action(budget="pauses", tells="{c} pauses")
def pause(s: GroupState, c: Consumer) -> None:
    """A paused or frozen client keeps its queues and its heartbeats continue, but it consumes nothing (RB-3).

    ``DefaultMQPushConsumerImpl#tryRebalance`` does nothing while paused.
    """
    s.require(s.life[c] == Life.UP, not_(s.paused[c]), idle(s, c))
    s.paused[c] = True


@rebalance.action(fair=True, tells="{c} resumes", when=lambda k: k.pauses > 0)
def resume(s: GroupState, c: Consumer) -> None:
    """The pause ends."""
    s.require(s.paused[c])
    s.paused[c] = False


def _owns_needlessly(s: GroupState, c: Consumer) -> BoolLike:
    """Whether ``c`` has queues of the topic in its table although it does not subscribe to it."""
    owns_some = s.exists(Queue, lambda q: s.owns[c, q])
    return all_of(s.life[c] == Life.UP, not_(s.subscribed[c]), idle(s, c), owns_some)


@rebalance.action(
    fair=True, tells="{c} drops the queues of a topic it does not subscribe", when=lambda k: k.unsubscribes > 0
)
def truncate(s: GroupState, c: Consumer) -> None:
    """RB-36: after all topics, a pass removes queues of topics that are no longer subscribed to, without a commit.

    ``RebalanceImpl#truncateMessageQueueNotMyTopic``.
    """
    s.require(_owns_needlessly(s, c))
    table_changes(s, c, lambda q: s.owns[c, q], nothing, persists=False)
    s.owns[c] = False


@rebalance.action(budget="repairs", tells="{c} drops {q}, to take it again from another offset")
def repair(s: GroupState, c: Consumer, q: Queue) -> None:
    """After an offset was refused, or on a reset, the queue is marked as dropped at once, and removed a little later.

    ``DefaultMQPushConsumerImpl#pullMessage`` (OFFSET_ILLEGAL), ``MQClientInstance#resetOffset``.
    """
    s.require(s.life[c] == Life.UP, idle(s, c), s.owns[c, q])
    table_changes(s, c, lambda p: same(p, q), lambda _: False)
    s.owns[c, q] = False
    s.leftover[c, q] = True


@rebalance.action(fair=True, tells="{c} removes {q}, dropped before, from its table", when=lambda k: k.repairs > 0)
def remove_queue(s: GroupState, c: Consumer, q: Queue) -> None:
    """The second half of a repair: from now on a pass may add the queue anew (``RebalanceImpl#removeProcessQueue``)."""
    s.require(s.life[c] == Life.UP, s.leftover[c, q])
    s.leftover[c, q] = False


def _cannot_be_asked(s: GroupState, c: Consumer, b: Broker) -> BoolLike:
    """Whether asking ``b`` for the members gives an error (RB-5), or no answer."""
    return any_of(not_(reaches(s, c, b)), not_(s.exists(Consumer, lambda d: s.members[b].has(d))))


def _can_expire(k: Constants) -> bool:
    return bool(k.orderly and k.crashes + k.pauses + k.leaves > 0 and k.get("clock", "stopped") == "stopped")


@rebalance.action(fair=True, tells="the lock of {q} expires", when=_can_expire)
def expire_lock(s: GroupState, q: Queue) -> None:
    """OR-1: a lock that a dead or frozen holder does not renew for 60 s is free again.

    So is that of a client which stopped while it gave a queue up: its stop unlocks only what is not dropped (ST-8 (1)).

    ``RebalanceLockManager.LockEntry#isExpired``.
    """

    def silent(c: Consumer) -> BoolLike:
        return any_of(s.life[c] == Life.GONE, s.paused[c] if s.pauses else False)

    s.require(s.exists(Consumer, lambda c: all_of(holds_lock(s, c, q), silent(c))))
    forget(s, lambda p: same(p, q))


def owner(s: GroupState, c: Consumer, q: IntLike) -> BoolLike:
    """Whether ``c`` runs and has ``q`` in its table, not dropped."""
    return all_of(alive(s, c), s.owns[c, q])


def settled(s: GroupState) -> BoolLike:
    """Whether the group has come to rest: the assumption of the partition lemma, for a group with a running client.

    Every running client has applied a view that equals the set of running clients, all divided the same queues, and
    every queue of its share was taken; a client that does not subscribe to the topic has none of its queues.
    """

    def applied(c: Consumer) -> BoolLike:
        complete = s.forall(Queue, lambda q: same(s.owns[c, q], wanted(s, c, q)))
        seen = s.forall(Consumer, lambda d: same(s.view[c].has(d), alive(s, d)))
        return all_of(complete, seen, same(queues_in_view(s, c), readable_queues(s)))

    def owns_nothing(c: Consumer) -> BoolLike:
        return s.forall(Queue, lambda q: not_(s.owns[c, q]))

    return all_of(
        s.exists(Consumer, lambda c: alive(s, c)),
        s.forall(Consumer, lambda c: implies(alive(s, c), ite(subscribes(s, c), applied(c), owns_nothing(c)))),
    )


@rebalance.mutant(
    "A8",
    "one-topic-error-kills-rebalance",
    of=reaches_topic,
    killed_by="disagreement-ends",
    constants={"consumers": 2, "running": 1, "failing_topic": 1},
)
def error_ends_pass(s: GroupState, c: Consumer) -> BoolLike:
    """An error in one topic ends the loop, so the topics after it are never divided.

    Source: commit 0e2d057457 (2016): only checked exceptions were caught, until then.
    """
    return not (s.failing_topic and c == s.consumers - 1)


@rebalance.mutant(
    "A7-still-pulled",
    "unsubscribed-queues-are-kept",
    of=truncate,
    killed_by="disagreement-ends",
    constants={"consumers": 2, "running": 2, "unsubscribes": 1},
    tells="{c} ends a pass and keeps the queues of a topic it does not subscribe",
)
def keep_unsubscribed_queues(s: GroupState, c: Consumer) -> None:
    """Only queues of subscribed topics are checked, so those of an unsubscribed one are pulled for ever.

    Source: rocketmq-client-go #1025.
    """
    s.require(_owns_needlessly(s, c))


rebalance.misconfiguration(
    "A1",
    "clientid-clash",
    killed_by="partition-lemma",
    constants={"consumers": 3, "running": 1},
    sets={"same_id": 1},
    doc="Two processes carry one client id (fixed instance name, or equal address and process id in containers). Each "
    "finds the first place of the id in the list: both take its share, and the second share has no owner. "
    "Source: #1547, #2760, #3480.",
)


rebalance.misconfiguration(
    "A10",
    "pull-interval-above-idle-limit",
    killed_by="disagreement-ends",
    constants={"consumers": 1, "running": 1, "steps": "fine"},
    sets={"idle_pulls": 1},
    doc="A queue that was not pulled for 120 s is dropped and taken again from the committed offset. With a longer "
    "pull interval each pass does so, and messages that are not committed yet come again. Source: #653.",
)


@rebalance.mutant(
    "A9",
    "dropped-queue-never-removed",
    of=remove_queue,
    killed_by="disagreement-ends",
    constants={"consumers": 1, "running": 1, "repairs": 1},
    tells="{c} looks for {q}, dropped before, in its table, and finds nothing to remove",
)
def remove_by_another_key(s: GroupState, c: Consumer, q: Queue) -> None:
    """The dropped queue stays in the table, since it is looked up by a key it is not stored under.

    A pass sees it there and never adds it anew. Source: rocketmq-client-go #414, #957, #1184.
    """
    s.require(s.life[c] == Life.UP, s.leftover[c, q])


@rebalance.mutant(
    "A11",
    "member-list-failure-read-as-no-topic",
    killed_by="owns-its-share",
    constants={"consumers": 2, "running": 2, "broker_restarts": 1},
    tells="{c} gets no member list from {b} and drops everything",
)
def read_failure_as_no_topic(s: GroupState, c: Consumer, b: Broker) -> None:
    """A member list that could not be read is taken for a topic without queues, instead of leaving all as it is.

    Source: rocketmq-rust #988. ``RebalanceImpl#rebalanceByTopic`` does nothing then.
    """
    s.require(s.life[c] == Life.UP, subscribes(s, c), idle(s, c), _cannot_be_asked(s, c, b))
    table_changes(s, c, lambda q: s.owns[c, q], lambda _: False)
    s.owns[c] = False


rebalance.explanation(
    "A5",
    "divergent-rebalance-views",
    naive="one-queue-one-consumer",
    exact="overlap-heals",
    constants={"consumers": 2, "running": 2, "brokers": 2, "cuts": 1},
    doc="Each member divides the queues alone, from the member list of one broker and its own route. While they differ "
    "a queue may have two owners, or none, until the next pass (20 s). Duplicates from such an overlap are no bug; an "
    "overlap that lasts for more than two passes is one.",
)
