"""Which properties of the model are judged for a group, in which configuration: the single table for it.

A configuration of the model is the deployment scaled down: it has as many consumers, queues and brokers, up to three,
four and two, with a fault budget on top. A mistake that breaks a property is put into the configuration, if the model
has a constant for it, so that the answer is a story about the mistake itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..model.assignment import assignment
from ..model.consumption import consumption
from ..model.kernel import Machine
from ..model.orderly_lock import orderly_lock
from ..properties import allocation, broadcast, consistent_hash, delivery, filtering, retry, retry_policy
from ..properties import assignment as ownership
from ..properties import orderly_lock as locks
from ..properties.claim import Constants
from ..properties.property import Property
from ..properties.theorem import Theorem
from .clients import version
from .consumers import Consumer
from .facts import GroupFacts
from .rules.members import expression, same_ids
from .rules.orderly import FORCED_UNLOCK, WAITS_FOR_LISTENER

SHARES = "deployed-shares"
"""Id of the check that runs the deployment's own strategies; it is not a question to the model."""
MOST_CONSUMERS, MOST_QUEUES, MOST_BROKERS = 3, 4, 2
TICK = 10_000
"""Milliseconds for which a tick of the lock machine stands."""
MOST_TICKS = 12

Asked = Callable[[GroupFacts], bool]
Configured = Callable[[GroupFacts], Mapping[str, int | str]]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A property that is judged for a group."""

    subject: Property | Theorem  # the property, or the theorem
    machine: Machine | None = None  # the machine that it is about; None for a theorem
    asked: Asked  # whether it is judged for a group
    constants: Configured = lambda facts: {}  # the configuration for a group
    # ids of the findings that break the property's assumptions, and thus explain why it does not hold
    broken_by: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Id of the property."""
        return self.subject.id


def _divides(facts: GroupFacts) -> bool:
    return facts.clustering


def _concurrent(facts: GroupFacts) -> bool:
    return facts.clustering and bool(facts.retrying)


def _orderly(facts: GroupFacts) -> bool:
    return facts.clustering and bool(facts.locking)


def _runs(strategy: str) -> Asked:
    return lambda facts: facts.clustering and facts.any("allocate_message_queue_strategy", strategy)


def _on_broker(low: tuple[int, ...], high: tuple[int, ...]) -> Asked:
    return lambda facts: _concurrent(facts) and any(low <= version(b.version) < high for b in facts.brokers)


def membership_of(facts: GroupFacts) -> Constants:
    """The group for the assignment machine: its size and its mistakes, and all faults that the machine has.

    A permanent mistake needs no fault to show, so its configuration has none: the story is about the mistake alone.
    """
    mistakes = _mistakes(facts)
    members = max(len(facts.clients), facts.group.planned_members or 1)
    consumers = min(members, MOST_CONSUMERS)
    if "same_id" in mistakes and members > 2:
        consumers = 3
    fewest = min((len(facts.queues(topic)) for topic in facts.topics), default=1)
    constants: Constants = {
        "consumers": consumers,
        "running": max(1, consumers - 1),
        "queues": max(1, min(fewest, MOST_QUEUES)),
        "strategy": facts.clients[0].settings.allocate_message_queue_strategy,
        **mistakes,
    }
    if mistakes:
        return constants
    faults: Constants = {"leaves": 1, "crashes": 1}
    if _orderly(facts):
        return {**constants, "orderly": 1, **faults}
    return {**constants, "brokers": min(len(facts.brokers), MOST_BROKERS), **faults, "broker_restarts": 1, "cuts": 1}


def _mistakes(facts: GroupFacts) -> Constants:
    constants: Constants = {}
    if same_ids(facts):
        constants["same_id"] = 1
    if any(not client.subscribes(topic) for topic in facts.topics for client in facts.clients):
        constants["unsubscribed"] = 1
    used = facts.every("allocate_message_queue_strategy")
    if len(used) > 1:
        constants["last_strategy"] = str(used[1])
    return constants


def _join(facts: GroupFacts) -> Constants:
    return {**ownership.JOIN, "strategy": facts.clients[0].settings.allocate_message_queue_strategy}


def locking_of(facts: GroupFacts) -> Constants:
    """The windows of an orderly group in ticks; rounded so that no danger is rounded away."""
    settings = facts.locking[0].settings
    broker_life = min(broker.lock_max_live_time for broker in facts.brokers)
    slowest = settings.slowest_listener_millis or 0
    times = (
        settings.lock_max_live_time,
        broker_life,
        settings.unlock_delay_time_mills,
        slowest,
        settings.lock_interval,
    )
    tick = max(TICK, -(-max(times) // MOST_TICKS))
    constants: Constants = {
        "consumers": min(max(2, len(facts.clients)), MOST_CONSUMERS),
        "renewals": "certain",
        "renewal": max(1, -(-settings.lock_interval // tick)),
        "client_window": max(1, -(-settings.lock_max_live_time // tick)),
        "broker_window": max(1, broker_life // tick),
        "batch": -(-slowest // tick) if slowest > WAITS_FOR_LISTENER else 0,
        "leaves": 1,
        "await_listeners": int(_waits(settings)),
        "crashes": 1,
    }
    if settings.java_before(*FORCED_UNLOCK):  # a late unlock leads to many more states; two clients show its effect
        return {**constants, "consumers": 2, "version": "4.9.8"}
    return {**constants, "force": 1, "unlock_delay": settings.unlock_delay_time_mills // tick}


def delivery_of(facts: GroupFacts) -> Constants:
    """Concurrent delivery in batches or one by one, with rebalances, deaths and failing listeners and send-backs."""
    batches = any(client.settings.consume_message_batch_max_size > 1 for client in facts.clients)
    return {**(delivery.BATCHES if batches else delivery.FAULTS), "version": _release(facts)}


def tags_of(facts: GroupFacts) -> Constants:
    """Members with the same expression, or with different ones."""
    return dict(filtering.DIFFERENT if _different_wishes(facts) else filtering.EQUAL)


def retries_of(facts: GroupFacts) -> Constants:
    """One message that fails until it is a dead letter; with 4.x brokers, through the fallback."""
    settings = facts.retrying[0].settings
    old = any(version(broker.version) < (5, 0, 0) for broker in facts.brokers)
    constants: Constants = dict(retry.FALLBACK if old else retry.CHAIN_ONLY)
    if old:
        constants["version"] = "4.9.8"
    if settings.delay_level_when_next_consume and not old:
        constants["listener_level"] = max(-1, min(settings.delay_level_when_next_consume, 2))
    return constants


def send_back_of(facts: GroupFacts) -> Constants:
    """Failing messages whose copies are stored, or lost because there is no retry queue."""
    none: Constants = {"retry_queues": 0} if facts.group.retry_queue_nums <= 0 else {}
    return {**retry.CHAIN_ONLY, **none}


def slow_listener_of(facts: GroupFacts) -> Constants:
    """A listener that may exceed the consume timeout, if it is known to."""
    settings = facts.retrying[0].settings
    expires = (settings.slowest_listener_millis or 0) >= settings.consume_timeout * 60_000
    return dict(retry.EXPIRED if expires else retry.CHAIN_ONLY)


def offset_files_of(facts: GroupFacts) -> Constants:
    """Broadcasting members with one offset file each, or with a common one."""
    return {**(broadcast.SHARED if same_ids(facts) else broadcast.FAULTS), "version": _release(facts)}


def _release(facts: GroupFacts) -> str:
    old = any(client.settings.java_before(5, 0, 0) for client in facts.clients)
    return "4.9.8" if old else "5.3.3"


def _different_wishes(facts: GroupFacts) -> bool:
    return any(len(_wishes(facts, topic)) > 1 for topic in facts.topics)


def _wishes(facts: GroupFacts, topic: str) -> set[str]:
    return {expression(client.settings, topic) for client in facts.clients if client.subscribes(topic)}


def _filters(facts: GroupFacts) -> bool:
    return _concurrent(facts) and any(_wishes(facts, topic) != {"*"} for topic in facts.topics)


def _broadcasts(facts: GroupFacts) -> bool:
    return facts.every("message_model") == ["BROADCASTING"] and facts.any("listener", "concurrently")


def _divides_once(facts: GroupFacts) -> bool:
    return facts.clustering and facts.any("idempotent", False)


def _needs_once(facts: GroupFacts) -> bool:
    return _concurrent(facts) and _divides_once(facts)


def _has_several(facts: GroupFacts) -> bool:
    return _concurrent(facts) and len(facts.clients) > 1


def _stores_retries(facts: GroupFacts) -> bool:
    return _concurrent(facts) and facts.group.retry_queue_nums > 0


def _stores_no_retries(facts: GroupFacts) -> bool:
    return _concurrent(facts) and facts.group.retry_queue_nums <= 0


def only_after_crash_of(facts: GroupFacts) -> Mapping[str, int | str]:
    """The configuration in which it is first claimed that only a crash repeats a message."""
    return next(claim.constants for claim in delivery.claims() if claim.property is delivery.only_after_crash)


def _waits(settings: Consumer) -> bool:
    """Whether a shutdown waits for running listeners."""
    wait = settings.await_termination_millis_when_shutdown
    return wait > 0 and wait >= (settings.slowest_listener_millis or 0)


_MEMBERSHIP_MISTAKES = ("A1", "A2", "RB-27", "EN-1", "RB-23", "RB-24", "RB-25", "RB-26")
_THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (
        *allocation.ALLOCATION_THEOREMS,
        *consistent_hash.RING_THEOREMS,
        *retry_policy.RETRY_THEOREMS,
        *retry_policy.NAIVE_RETRY_THEOREMS,
    )
}


def _of_rules(theorem: str, asked: Asked, *broken_by: str) -> Question:
    return Question(subject=_THEOREMS[theorem], asked=asked, broken_by=broken_by)


def _of_members(subject: Property, asked: Asked, *broken_by: str) -> Question:
    return Question(subject=subject, machine=assignment, asked=asked, constants=membership_of, broken_by=broken_by)


def _of_consumption(subject: Property, asked: Asked, constants: Configured, *broken_by: str) -> Question:
    return Question(subject=subject, machine=consumption, asked=asked, constants=constants, broken_by=broken_by)


QUESTIONS: tuple[Question, ...] = (
    _of_rules("averagely-partition", _runs("AVG"), "A1", "RB-27"),
    _of_rules("circle-partition", _runs("AVG_BY_CIRCLE"), "A1", "RB-27"),
    _of_rules("machine-room-partition", _runs("MACHINE_ROOM"), "A1", "RB-24"),
    _of_rules("config-partition", _runs("CONFIG"), "RB-23"),
    _of_rules("nearby-partition", _runs("MACHINE_ROOM_NEARBY"), "A1", "RB-25"),
    _of_rules("consistent-hash-owner-is-one", _runs("CONSISTENT_HASH"), "A1", "RB-26", "RB-27"),
    _of_members(ownership.partition_lemma, _divides, *_MEMBERSHIP_MISTAKES),
    _of_members(ownership.overlap_heals, _has_several, "A1", "RB-27", "EN-1"),
    _of_members(ownership.disagreement_ends, _divides),
    Question(subject=ownership.one_owner, machine=assignment, asked=_divides_once, constants=_join),
    Question(
        subject=locks.exclusive,
        machine=orderly_lock,
        asked=_orderly,
        constants=locking_of,
        broken_by=("E8", "C4", "RB-34", "E2", "EN-1"),
    ),
    _of_consumption(delivery.offset_safe, _concurrent, delivery_of),
    _of_consumption(delivery.at_least_once, _concurrent, delivery_of),
    _of_consumption(delivery.explained, _concurrent, delivery_of),
    _of_consumption(delivery.only_after_crash, _needs_once, only_after_crash_of),
    _of_consumption(filtering.past_wanted, _filters, tags_of, "A3"),
    _of_consumption(retry.never_lost, _concurrent, send_back_of, "SB-12", "RB-23"),
    _of_consumption(retry.attempts, _concurrent, retries_of, "SB-15"),
    _of_consumption(retry.delay_as_asked, _concurrent, retries_of, "SB-15"),
    _of_consumption(retry.only_failed, _concurrent, slow_listener_of, "F3"),
    _of_rules("retries-as-often-as-the-maximum", _concurrent, "SB-12"),
    _of_rules("retry-level-is-three-plus-attempts", _concurrent, "CC-14"),
    _of_rules("success-means-stored", _stores_retries),
    _of_rules("success-always-means-stored", _stores_no_retries, "SB-12"),
    _of_rules("both-ways-count-alike-5.3.3", _on_broker((5, 1, 1), (6,))),
    _of_rules("both-ways-count-alike-4.9.8", _on_broker((4,), (5,)), "SB-15"),
    _of_consumption(broadcast.nothing_skipped, _broadcasts, offset_files_of, "OF-11"),
    _of_consumption(broadcast.handled_by_each, _broadcasts, lambda facts: broadcast.FAILING, "G5"),
    _of_consumption(broadcast.reaches_all, _broadcasts, lambda facts: broadcast.CRASH),
)
