"""Queues with messages that members know, and that none of them ever gives itself (RB-1, RB-21)."""

from __future__ import annotations

from collections.abc import Sequence

from ..encoding.names import Slot
from ..format.kinds import Kind
from .groups_seen import GroupsSeen
from .runs import Run

CLAIM = "every-queue-gets-an-owner"

DIVIDING = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""Strategies that give each queue to some member; the others may leave queues out, depending on their settings."""


def judge_unassigned(groups: GroupsSeen) -> None:
    """Report every queue in which messages waited for long, that members saw, and that no pass of any of them took.

    A member whose passes over the topic were not recorded may have taken it, so such topics are not judged.
    """
    told, settings = groups.told, groups.settings
    limit = settings.silent_death + settings.rounds + settings.route_poll
    for group in sorted(told.by_group):
        topics: dict[str, list[Run]] = {}
        for run in told.of(group, Kind.REBALANCE):
            topics.setdefault(run.topic, []).append(run)
        topics = {topic: runs for topic, runs in topics.items() if _all_are_recorded(runs)}
        for slot, stored in sorted(groups.stores.items()):
            runs = topics.get(slot.topic, [])
            if slot.group not in ("", group) or not runs:
                continue
            queue = f"{slot.broker}:{slot.queue}"
            seen = [run for run in runs if queue in (run.queues or ())]
            if not seen or any(queue in (run.assigned or ()) for run in runs):
                continue
            since, until = max(seen[0].first, stored.since), max(run.last for run in seen)
            if until - since > limit:
                groups.notebook.violation(
                    CLAIM,
                    slot=Slot(group, slot.topic, slot.broker, slot.queue),
                    since=since,
                    time=until,
                    value=until - since,
                    expected=limit,
                    late=until - since - limit,
                )


def _all_are_recorded(runs: Sequence[Run]) -> bool:
    known = {run.actor.name for run in runs}
    return all(run.detail in DIVIDING and known.issuperset(run.members or ("",)) for run in runs)
