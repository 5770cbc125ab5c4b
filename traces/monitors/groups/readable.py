"""Queues that no member reads: messages are stored only where some member of the group can read (A13; D8 for a retry
topic), and some member gives itself each queue that members know (RB-1, RB-21).

Producers use the number of write queues, consumers the number of read queues (EN-5). Messages in a queue beyond the
second number have no reader, and no member knows that it exists. Members learn of added queues at their next poll of
the route; until then nothing is reported about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from ...encoding.names import RETRY_PREFIX, Actor, Slot
from ...encoding.store_counts import Stored
from ...engine.context import brokers_of
from ...engine.findings import Doubt
from ...format.coverage import EVER, EVIDENCE_BIT
from ...format.kinds import Kind
from ...format.whole_number import whole_number
from .groups_seen import GroupsSeen
from .runs import Run
from .subscriptions import parse_subscription

CLAIM, HAS_OWNER = "every-queue-is-readable", "every-queue-gets-an-owner"

DIVIDING = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""Strategies that give each queue to some member; the others may leave queues out, depending on their settings."""

_FRESH = 5_000
"""A route that was polled this shortly before counts as that of the queue's beginning, ms."""

_AT_ONCE = 1_000
"""A producer sends to all known queues in turn: queues whose first messages are so close, in ms, are of one age."""


def judge_readable(groups: GroupsSeen) -> None:
    """Report every queue with messages that no member of a consuming group ever saw."""
    told, stores, context, settings = groups.told, groups.stores, groups.context, groups.settings
    known: dict[str, dict[str, set[str]]] = {}
    consumed: dict[str, set[str]] = {}
    asked: dict[tuple[str, str], int] = {}
    for group in sorted({"", *told.by_group}):
        for run in (told if group else groups.common).of(group, Kind.REBALANCE, Kind.ROUTE):
            known.setdefault(group, {}).setdefault(run.topic, set()).update(run.queues or ())
            if run.kind is Kind.ROUTE:
                asked[group, run.topic] = max(asked.get((group, run.topic), run.last), run.last)
        for run in told.of(group, Kind.HEARTBEAT):
            texts = run.subscriptions or ()
            consumed.setdefault(group, set()).update(parse_subscription(text)[0] for text in texts)
    # A route without a group is known to all members of its client.
    everywhere = known.pop("", {})
    views_of_all = context.events.different("queues", kinds=(Kind.REBALANCE, Kind.ROUTE))
    brokers = frozenset().union(*(brokers_of(queues or ()) for (queues,) in views_of_all))
    for slot, stored in sorted(stores.items()):
        text = f"{slot.broker}:{slot.queue}"
        for group in [slot.group] if slot.group else sorted(known):
            views = known.get(group, {})
            if not _consumes(group, slot.topic, views, consumed):
                continue
            knows = views.get(slot.topic, set()) | everywhere.get(slot.topic, set())
            if text in knows:
                groups.notebook.judge(CLAIM)
                continue
            latest = max(asked.get((who, slot.topic), EVER) for who in (group, ""))
            # If nobody records route polls, a member may have polled at any time.
            is_told = bool(context.evidence & EVIDENCE_BIT[Kind.ROUTE])
            may_be_old = latest >= stored.since - _FRESH or not is_told
            is_old = may_be_old and _is_as_old(slot, stored, stores, knows)
            is_late = context.end > stored.since + settings.new_topic
            due = stored.since + (0 if is_old else settings.new_topic)
            if context.end <= due:
                continue
            groups.notebook.judge(CLAIM)
            # Without any view of the topic, its passes may just not have been recorded; nor do members learn who ended.
            # A broker that nobody here knows may belong to another cluster with the same names of topics and groups.
            seen = (
                slot.broker in brokers
                and bool(views.get(slot.topic))
                and _last_sign(told.by_group[group], slot.topic) > due
            )
            groups.notebook.violation(
                CLAIM,
                slot=Slot(group, slot.topic, slot.broker, slot.queue),
                since=context.begin,
                time=context.end,
                value=stored.messages,
                until=stored.last + 1,
                doubt=Doubt.NONE if seen and (is_told or is_late) else Doubt.EVIDENCE,
            )


def _is_as_old(slot: Slot, stored: Stored, stores: Mapping[Slot, Stored], known: Iterable[str]) -> bool:
    """Whether a queue got its messages together with a queue of its broker that members know.

    It was then not added later, if a member has polled the route meanwhile.
    """
    for text in known:
        broker, _, queue = text.rpartition(":")
        if broker != slot.broker or not queue.isdecimal():
            continue
        other = stores.get(replace(slot, queue=whole_number(queue)))
        if other is not None and abs(stored.since - other.since) <= _AT_ONCE and stored.first >= other.first:
            return True
    return False


def _last_sign(runs: Iterable[Run], topic: str) -> int:
    """When a member that reported its view of the topic was last heard of, ms."""
    last: dict[Actor, int] = {}
    for run in runs:
        last[run.actor] = max(last.get(run.actor, run.last), run.last)
    views = (run.actor for run in runs if run.topic == topic and run.kind in (Kind.REBALANCE, Kind.ROUTE))
    return max((last[actor] for actor in views), default=EVER)


def _consumes(group: str, topic: str, views: Mapping[str, set[str]], consumed: Mapping[str, set[str]]) -> bool:
    """Whether the group consumes the topic, according to the recording."""
    if topic == RETRY_PREFIX + group:
        return bool(views)
    return topic in views or topic in consumed.get(group, ())


def judge_unassigned(groups: GroupsSeen) -> None:
    """Report every queue in which messages waited for long, that members saw, and that nobody took: no pass gave it to
    anybody, or in a complete recording, no member added it (RB-30).

    A member whose passes over the topic were not recorded, or not with their answer, may have taken it: then the topic,
    or the queue, is not judged.
    """
    told, settings, context = groups.told, groups.settings, groups.context
    is_told = context.complete and bool(context.evidence & EVIDENCE_BIT[Kind.ASSIGN])
    taken = set(context.events.different("group", "topic", "broker", "queue", kinds=(Kind.ASSIGN,)))
    limit = settings.silent_death + settings.rounds + settings.route_poll
    for group in sorted(told.by_group):
        topics: dict[str, list[Run]] = {}
        for run in told.of(group, Kind.REBALANCE):
            topics.setdefault(run.topic, []).append(run)
        alive = {run.actor.name for run in told.of(group, Kind.HEARTBEAT)} if is_told else set[str]()
        topics = {topic: runs for topic, runs in topics.items() if _all_are_recorded(runs, alive)}
        for slot, stored in sorted(groups.stores.items()):
            runs = topics.get(slot.topic, [])
            if slot.group not in ("", group) or not runs:
                continue
            queue = f"{slot.broker}:{slot.queue}"
            seen = [run for run in runs if queue in (run.queues or ())]
            is_given = any(run.assigned is None or queue in run.assigned for run in runs)
            # Of a retry queue that is given, ``every-queue-moves`` says that nobody had it.
            may_be_taken = is_given and (bool(slot.group) or not is_told)
            if not seen or may_be_taken or (group, slot.topic, slot.broker, slot.queue) in taken:
                continue
            since, until = max(seen[0].first, stored.since), max(run.last for run in seen)
            if until - since > limit:
                groups.notebook.violation(
                    HAS_OWNER,
                    slot=Slot(group, slot.topic, slot.broker, slot.queue),
                    since=since,
                    time=until,
                    value=until - since,
                    expected=limit,
                    late=until - since - limit,
                )


def _all_are_recorded(runs: Sequence[Run], others: Set[str]) -> bool:
    """Whether all members that passes saw have recorded passes too, or are among ``others``."""
    known = {run.actor.name for run in runs} | others
    return all(run.detail in DIVIDING and known.issuperset(run.members or ("",)) for run in runs)
