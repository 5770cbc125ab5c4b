"""Explanations by the activity of a group: for example, a queue has no owner while nobody consumes.

The fold by queue does not know about other queues and processes. Its suspicions are therefore checked again at the end,
with what the context says about groups: few rows, plain Python.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...claims.claims import CODE
from ...claims.obligations import Reason
from ...claims.settings import REBALANCE_PERIOD, Settings
from ...encoding.names import RETRY_PREFIX, Actor, Names, Slot
from ...engine.context import Context
from ...engine.findings import Doubt
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import Kind
from ..groups.memberships import Membership, Memberships
from ..groups.processes import more_than_once
from ..groups.runs import Run, Told, told_by
from ..standstills import Standstills, within

_CURRENT, _OWNED, _OWNERS, _MOVES, _FLAPPING, _OVERLAPS = (
    CODE["subscription-is-current"],
    CODE["every-queue-gets-an-owner"],
    CODE["only-owners-commit"],
    CODE["every-queue-moves"],
    CODE["no-flapping"],
    CODE["overlaps-are-short"],
)
_BROKERS = EVIDENCE_BIT[Kind.BROKER_START] | EVIDENCE_BIT[Kind.BROKER_STOP]
_SIGNS = EVIDENCE_BIT[Kind.HEARTBEAT] | EVIDENCE_BIT[Kind.REBALANCE] | EVIDENCE_BIT[Kind.CLIENT_START]


def without_explained(rows: Any, *, names: Names, settings: Settings, context: Context) -> Any:
    """The rows without the explained ones; others may now be in doubt."""
    of_groups = np.isin(rows["claim"], (_CURRENT, _OWNED, _OWNERS, _FLAPPING, _OVERLAPS))
    of_groups |= (rows["claim"] == _MOVES) & (rows["value"] == Reason.NO_OWNER)
    suspects = of_groups & (rows["note"] == 0)
    if not suspects.any():
        return rows
    group = _Groups(context, settings, names)
    keep = np.ones(len(rows), np.bool_)
    for at in np.flatnonzero(suspects):
        row = rows[at]
        slot = names.slots[row["slot"]]
        since, until, unseen = int(row["since"]), int(row["time"]), False
        if row["claim"] == _FLAPPING:
            changes = group.changes(slot, names.actors[row["actor"]], since, until)
            keep[at] = row["value"] - changes > settings.flaps and not group.broker_began(since, until)
            # RB-20: lists of brokers that are back differ for a while, and each pass may ask another broker.
            is_fast = until - since <= row["value"] * settings.rebalance
            unseen = not context.evidence & _BROKERS and not is_fast
        elif row["claim"] == _OVERLAPS:
            both = (names.actors[row["actor"]], names.actors[row["other"]])
            learnt = group.routes_learnt(slot, since, until, both)
            row["late"] -= group.stood_still(both, since, until)
            row["late"] = min(row["late"], row["value"] - settings.new_topic * learnt)
            keep[at] = row["late"] > 0
            unseen = not context.evidence & EVIDENCE_BIT[Kind.REBALANCE] and row["value"] <= settings.new_topic
            unseen |= any(group.has_ended_unseen(slot, actor, since + settings.rounds) for actor in both)
        elif row["claim"] == _OWNERS:
            # PL-23: remaining work for a dropped queue is done when the process continues.
            still = group.stood_still([names.actors[row["actor"]]], since, until)
            keep[at] = still == 0 or until - since - still > settings.rounds
        elif row["claim"] == _CURRENT:
            waited = group.waited_for_broker(names.actors[row["actor"]], since, until)
            keep[at] = until - since - waited > settings.refusals
        else:
            had_time = group.had_time(slot, since, until)
            keep[at] = group.wants(slot, since, until) and had_time > 0
            if row["claim"] == _OWNED:
                takers = [names.actors[row["actor"]]] if row["actor"] >= 0 else []
                delay = group.held_up(since, until) + group.stood_still(takers, since, until)
                learnt = group.routes_learnt(slot, since, until)
                delay += learnt * settings.new_topic - settings.rounds if learnt else 0
                delay += settings.silent_death * group.has_old_connections(slot, since, until)
                if row["other"] >= 0:
                    delay += group.awaited(names.actors[row["other"]], since, until)
                row["late"] -= delay
                keep[at] &= row["late"] > 0
            row["late"] = min(row["late"], had_time)
            unseen = not context.evidence & _SIGNS
            if row["claim"] == _OWNED and not context.evidence & _BROKERS:
                # RB-4, RB-20: it was not recorded whether a broker was away, and which clients it knew when it was
                # back.
                is_long = row["late"] > settings.heartbeat
                unseen |= not is_long or not group.divides(slot, since, until)
        if unseen:
            row["doubt"] |= int(Doubt.EVIDENCE)
    return rows[keep]


class _Groups:
    """What the context says about groups."""

    def __init__(self, context: Context, settings: Settings, names: Names) -> None:
        self._settings = settings
        self._names = names
        self._events, self._end = context.events, context.end
        self._recorded = bool(context.evidence & _SIGNS)
        self._told: Told = context.events.once(told_by, 2 * REBALANCE_PERIOD)
        self._memberships = context.once(Memberships.of_all, settings.skew)
        self._still = context.events.once(Standstills.of, settings.rounds)
        self._broker_starts = [event["time"] for event in context.events.of_kinds(Kind.BROKER_START)]
        self._broker_starts += [until for _, _, until in self._still.of_brokers]

    def had_time(self, slot: Slot, since: int, until: int) -> int:
        """For how long within a period some client of a group had lived long enough to have taken a queue, ms.

        The whole period if this is not recorded. The queues of a broadcasting member are its own: nobody else can take
        them.
        """
        if not self._recorded:
            return until - since
        longest, back = 0, self._back(slot, since, until)
        memberships = [*self._memberships.of(slot.group), *self._memberships.of("")]
        again = [self._wants_again(membership, slot.topic, since, until) for membership in memberships]
        # RB-6: until the last of its members consumes the topic, part of the queues is given to those that do not.
        back = max([back, *(time for time in again if time < until)])
        for membership, wanted in zip(memberships, again, strict=True):
            if not self._may_take(slot, membership.actor):
                continue
            begin, end = (
                max(self._knows(membership, slot.topic), since, wanted),
                min(self._memberships.until(membership, certain=True), until),
            )
            if end - begin > self._settings.rounds:
                last = end if slot.client else until  # when this member ends, others of its group may take a queue
                longest = max(longest, last - max(begin, back) - self._settings.rounds)
        return longest

    def has_ended_unseen(self, slot: Slot, actor: Actor, time: int) -> bool:
        """Whether a process may have ended before a time, although nobody recorded it: its client began anew."""
        one = self._memberships.at(slot.group, actor, time)
        return one is not None and one.last <= time and self._memberships.has_ended_unseen(one)

    def _may_take(self, slot: Slot, actor: Actor) -> bool:
        """Whether a queue is one of a process: in broadcasting, each member has queues of its own."""
        return not slot.client or self._names.member(actor) == Actor(slot.client, slot.member)

    def _knows(self, membership: Membership, topic: str) -> int:
        """ST-3: from when on a member knows the route of a topic, if this was recorded.

        If the name server did not answer while the member started, it asks again at its next poll.
        """
        learnt = [
            run.first
            for run in self._told.about(membership.group, Kind.ROUTE, topic)
            if run.actor == membership.actor and run.first >= membership.first
        ]
        return min(learnt[0], membership.first + self._settings.route_poll) if learnt else membership.first

    def _wants_again(self, membership: Membership, topic: str, since: int, until: int) -> int:
        """EN-10: since when a member consumes a topic; ``until`` if it does not, ``since`` if it always did."""
        again = until
        for run, topics in reversed(self._heartbeats(membership.group).get(membership.actor, ())):
            if run.first <= until:
                if run.last >= since and not _consumes(topics, topic):
                    return again
                again = run.first
        return since

    def wants(self, slot: Slot, since: int, until: int) -> bool:
        """Whether the group still consumes the topic of a queue, and the queue still exists, according to the
        recording.

        Whether a queue that came back has been there for long enough is part of :meth:`had_time`.
        """
        after = since + self._settings.rounds
        wanted = [
            topics
            for actor, heartbeats in self._heartbeats(slot.group).items()
            if self._may_take(slot, actor)
            for run, topics in heartbeats
            if run.last >= after and run.first <= until
        ]
        if wanted and not any(_consumes(topics, slot.topic) for topics in wanted):
            return False
        seen = [
            run.queues
            for run in self._divided(slot)
            if run.queues is not None and run.last >= after and run.first <= until
        ]
        if seen and not any(f"{slot.broker}:{slot.queue}" in queues for queues in seen):
            return False
        return bool(self._passes(slot, since, until)) or self._is_in_route(slot, since, until)

    def _passes(self, slot: Slot, since: int, until: int) -> list[Run]:
        """Passes over the topic of a queue within a period, for which it is known what they saw."""
        return [
            run for run in self._divided(slot) if run.queues is not None and since <= run.last and run.first <= until
        ]

    def _back(self, slot: Slot, since: int, until: int) -> int:
        """From when on a queue existed: the time of the pass that saw it again, if it came back with its broker."""
        queue = f"{slot.broker}:{slot.queue}"
        passes = self._passes(slot, since, until)
        without = max(
            (run.last for run in passes if queue not in (run.queues or ()) and run.last <= until), default=since
        )
        if without == since:
            return since
        return min(
            (run.first for run in passes if queue in (run.queues or ()) and run.first > without), default=without
        )

    def _is_in_route(self, slot: Slot, since: int, until: int) -> bool:
        """ST-3: whether a queue was in the route for long enough for all to know it; yes if not recorded."""
        told = [
            run for run in self._told.about("", Kind.ROUTE, slot.topic) if run.queues is not None and run.first <= until
        ]
        queue = f"{slot.broker}:{slot.queue}"
        until_others = zip(told, [*(run.first for run in told[1:]), until], strict=False)
        without = [end for run, end in until_others if queue not in (run.queues or ())]
        latest = max(without, default=since - self._settings.new_topic)
        return latest <= since - self._settings.new_topic or until - latest > self._settings.new_topic

    def divides(self, slot: Slot, since: int, until: int) -> bool:
        """Whether some member saw a queue in a pass while nobody had it, and long enough before somebody took it."""
        queue = f"{slot.broker}:{slot.queue}"
        return any(
            run.last >= since + self._settings.rounds
            and run.first <= until - self._settings.rebalance
            and (run.queues is None or queue in run.queues)
            for run in self._divided(slot)
        )

    def broker_began(self, since: int, until: int) -> bool:
        """RB-20: whether a period lies in the time in which a broker that starts or resumes does not know all
        members.

        It learns of each by its next heartbeat. Until then, and for a round of rebalance after it, members see
        different lists if they ask different brokers.
        """
        within = self._settings.heartbeat + self._settings.rounds
        return any(start <= until and until <= start + within for start in self._broker_starts)

    def held_up(self, since: int, until: int) -> int:
        """RB-4, RB-20: for how long within a period rebalance passes may have got no answer from a broker, or a wrong
        one.

        One that stands still answers nobody, and one that has just started or resumed does not know all members.
        """
        still = within(((begin, end) for _, begin, end in self._still.of_brokers), since, until)
        began = any(since - self._settings.rounds <= start <= until for start in self._broker_starts)
        return still + (self._settings.heartbeat if began else 0)

    def has_old_connections(self, slot: Slot, since: int, until: int) -> bool:
        """ST-6: whether a pass over a topic saw a client twice that was only one process.

        A broker lists each connection of a client, even an unused one, until it finds it dead.
        """
        alive: dict[str, set[Actor]] = {}
        for membership in self._memberships.of(slot.group):
            if membership.first <= until and membership.last >= since:
                alive.setdefault(membership.actor.name, set()).add(membership.actor)
        return any(
            len(alive.get(name, ())) <= 1 for run in self._passes(slot, since, until) for name in more_than_once(run)
        )

    def stood_still(self, actors: Collection[Actor], since: int, until: int) -> int:
        """For how long within a period one of some processes stood still, and learnt nothing."""
        return max((within(self._still.of_client(actor), since, until) for actor in actors), default=0)

    def waited_for_broker(self, actor: Actor, since: int, until: int) -> int:
        """ST-5: for how long within a period some broker answered no heartbeat of a client while others did, ms.

        A heartbeat waits for the answer, and none is sent to any broker meanwhile: a second round that finds
        ``lockHeartbeat`` taken is left out (``MQClientInstance#sendHeartbeatToAllBrokerWithLock``).
        """
        beats: dict[str | None, list[int]] = {}
        for time, broker in self._events.rows("time", "broker", kinds=(Kind.HEARTBEAT,), of=actor):
            beats.setdefault(broker, []).append(time)
        longest, next_round = 0, self._settings.heartbeat // 2
        for broker, answered in beats.items():
            others = [time for other, times in beats.items() if other != broker for time in times]
            gaps = [
                (begin, end)
                for begin, end in pairwise([*answered, self._end])
                if begin < until and since < end and end - begin > 2 * next_round
            ]
            without = [
                (begin, end)
                for begin, end in gaps
                if any(begin + next_round < time < end - next_round for time in others)
            ]
            longest = max(longest, within(without, since, until))
        return longest

    def awaited(self, last: Actor, since: int, until: int) -> int:
        """ST-6: for how long brokers may count the last owner of a queue as a member and give it the queue again, ms.

        Only if it stood still, or reached no broker, until they dropped it.
        """
        dropped = self._settings.silent_death
        spans = self._still.of_client(last)
        return max(
            (dropped for begin, end in spans if begin <= until and since <= end and end - begin > dropped), default=0
        )

    def routes_learnt(self, slot: Slot, since: int, until: int, actors: Collection[Actor] = ()) -> int:
        """EN-11: by how many different lists of queues beyond one some processes, or all, divided a topic within a
        period.

        Each list is learnt at the next poll of routes. Until then, two clients may give themselves the same queue, or
        each may leave it to the other.
        """
        seen = {
            frozenset(run.queues)
            for run in self._told.about(slot.group, Kind.REBALANCE, slot.topic)
            if (not actors or run.actor in actors)
            and run.queues is not None
            and run.first <= until
            and run.last >= since - self._settings.rounds
        }
        return max(len(seen) - 1, 0)

    def changes(self, slot: Slot, actor: Actor, since: int, until: int) -> int:
        """How often, within a period or shortly before it, a process of a group came or went, or a client saw other
        members.

        Brokers may have different lists for a while, and a pass asks any of them (RB-4).
        """
        members = {one.actor for group in (slot.group, "") for one in self._memberships.of(group)}
        begin = since - self._settings.rounds
        divided = [
            (run.members, run.queues)
            for run in self._told.about(slot.group, Kind.REBALANCE, slot.topic)
            if run.actor == actor and begin <= run.last and run.first <= until
        ]
        steps = sum(step.actor in members and begin <= step.time <= until for step in self._told.steps)
        return steps + sum(one != other for one, other in pairwise(divided))

    def _heartbeats(self, group: str) -> Mapping[Actor, Sequence[tuple[Run, frozenset[str]]]]:
        return self._told.heartbeats.get(group, {})

    def _divided(self, slot: Slot) -> list[Run]:
        """The passes over the topic of a queue by the processes that may take it."""
        return [
            run for run in self._told.about(slot.group, Kind.REBALANCE, slot.topic) if self._may_take(slot, run.actor)
        ]


def _consumes(topics: Collection[str], topic: str) -> bool:
    """EN-10: retries are consumed, whether or not a heartbeat says so."""
    return topic in topics or (topic.startswith(RETRY_PREFIX) and bool(topics))
