"""Views: who is in the group and which queues the topic has, as each member saw it in its latest pass (A5, A12).

Views differ for a moment whenever something changes, because each client looks for itself (RB-4). They must not differ
for longer than two rounds; for queues, two rounds after the next poll of routes.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import chain, groupby

from ....model.allocation import java_order
from ...claims.settings import Settings
from ...encoding.names import Actor
from ...engine.findings import Doubt
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import Kind
from ..notebook import Notebook, whole
from ..standstills import Standstills
from .agreement import Difference, Statement, disagreements, overlapping, statements
from .allocations import answers_otherwise
from .groups_seen import GroupsSeen
from .runs import Run

CLAIM = "views-agree"


class Differ(enum.IntFlag):
    """How views differ; the value of a finding."""

    MEMBERS = 1
    QUEUES = 2


@dataclass(frozen=True)
class View:
    """What one rebalance pass uses. The order in which a client got its lists does not matter (RB-6)."""

    members: tuple[str, ...]
    queues: tuple[str, ...]

    def differs(self, other: View) -> Differ:
        """How this view differs from another one."""
        members = Differ.MEMBERS if self.members != other.members else Differ(0)
        return members | (Differ.QUEUES if self.queues != other.queues else Differ(0))

    def of(self, what: Differ) -> View:
        """One part of it: each may differ for a time of its own."""
        return View(self.members, ()) if what is Differ.MEMBERS else View((), self.queues)


def view_of(run: Run, *, broadcasting: bool = False) -> View | None:
    """The view of a run of passes; None if it was not recorded. Broadcasting passes do not ask for members (RB-7)."""
    if run.queues is None or (run.members is None and not broadcasting):
        return None
    members = () if broadcasting else tuple(sorted(run.members or (), key=java_order))
    return View(members, tuple(sorted(run.queues)))


def judge_views(groups: GroupsSeen) -> None:
    """Report every time at which views of one topic differed for longer than two rounds.

    If one member saw several topics differently at overlapping times, this is one finding; it has the topic in its slot
    if there is only one.
    """
    told, memberships, notebook, settings = groups.told, groups.memberships, groups.notebook, groups.settings
    for group in memberships.groups():
        broadcasting = groups.names.is_broadcasting(group)
        by_topic: dict[str, list[tuple[Run, View]]] = {}
        for run in told.of(group, Kind.REBALANCE):
            view = view_of(run, broadcasting=broadcasting)
            if view is not None:
                by_topic.setdefault(run.topic, []).append((run, view))
        passes = told.of(group, Kind.REBALANCE)
        # RocketMQ logs only passes that change something: a recording with one that does not has all of them.
        has_all = any(run.count > 1 for run in passes)
        found: list[tuple[Difference, str, Differ]] = []
        for topic, seen in sorted(by_topic.items()):
            actors = {run.actor for run, _ in seen}
            alone = all(len(view.members) <= 1 for _, view in seen)
            if len(actors) > 1 or alone:
                notebook.judge(CLAIM, sum(run.count for run, _ in seen))
                for what in Differ:
                    part = [(run, view.of(what)) for run, view in seen]
                    said = _said(group, part, passes, groups)
                    for difference in disagreements(said, settings=settings, order=memberships.order):
                        if what is Differ.MEMBERS:
                            gone = _is_about_the_gone(group, difference, seen, groups)
                            lasts = not gone and not _is_unknown_yet(difference, groups.still, settings)
                        else:
                            lasts = _lasts(difference, seen, settings)
                        if lasts:
                            sure = _sure(difference, seen, has_all, groups.names.strategy(group))
                            if _may_be_due_to_others(difference, what, groups):
                                sure = replace(sure, doubt=sure.doubt | Doubt.EVIDENCE)
                            found.append((sure, topic, what))
        _note(group, found, notebook)


def _lasts(difference: Difference, seen: list[tuple[Run, View]], settings: Settings) -> bool:
    """EN-11: whether views of queues differed for longer than it takes until each member has polled the new route.

    If the queues changed again meanwhile, this may take as long once more.
    """
    first: dict[tuple[str, ...], int] = {}
    for run, view in seen:
        first.setdefault(view.queues, run.first)
    changes = 1 + sum(difference.since < time <= difference.until for time in first.values())
    return difference.until - difference.since > settings.new_topic * changes


def _may_be_due_to_others(difference: Difference, what: Differ, groups: GroupsSeen) -> bool:
    """Whether unrecorded brokers (RB-20), or the name server, may have given members other answers for so long.

    EN-2: nobody records a poll that fails, nor one that brings nothing new. If the name server answered one member
    meanwhile, all others had time to poll it as well.
    """
    settings = groups.settings
    if what is Differ.MEMBERS:
        # A broker that was back may not have known all members.
        has_brokers = groups.context.evidence & EVIDENCE_BIT[Kind.BROKER_START]
        return not has_brokers and difference.until - difference.since <= settings.heartbeat + settings.rounds
    if difference.until - difference.since > settings.silent_death + settings.new_topic:
        return False  # as long as a queue may be without an owner
    since, until = difference.since + settings.route_poll, difference.until - settings.route_poll
    learnt = [run.first for run in groups.common.runs if run.kind == Kind.ROUTE]
    return bool(learnt) and not any(since <= time <= until for time in learnt)


def _is_unknown_yet(difference: Difference, still: Standstills, settings: Settings) -> bool:
    """RB-20: whether a broker that stood still may not have known all members again, until their next heartbeats."""
    longest = settings.heartbeat + settings.rounds
    went_on = any(difference.since - longest <= until <= difference.until for _, _, until in still.of_brokers)
    return went_on and difference.until - difference.since <= longest


def _is_about_the_gone(group: str, difference: Difference, seen: list[tuple[Run, View]], groups: GroupsSeen) -> bool:
    """ST-6: whether they differ only about clients that have ended, which one broker may not have noticed yet.

    A heartbeat that a broker handles after the connection was closed makes a member that it keeps until the channel
    has been silent for too long.
    """
    settings = groups.settings
    members = {run.actor: set(view.members) for run, view in seen if run.first < difference.until}
    differ = members[difference.actor] ^ members[difference.other]
    ends: dict[str, int | None] = {}
    for membership in groups.memberships.of(group):
        ends[membership.actor.name] = membership.end
    since = difference.until - settings.silent_death - settings.rounds
    gone = {name for name, end in ends.items() if end is not None and since <= end <= difference.until}
    both = difference.actor, difference.other

    def began(name: str) -> int:
        """Since when one of the two has seen the client and the other one has not, ms."""
        return max(_saw_last(seen, actor, name, difference.until) for actor in both)

    if not differ or not differ <= gone:
        return False
    return all((ends[name] or 0) - began(name) <= settings.rounds for name in differ)


def _saw_last(seen: list[tuple[Run, View]], actor: Actor, name: str, until: int) -> int:
    """Since when a process has seen a client, or not seen it, as it did last before ``until``, ms."""
    since, had = until, None
    for run, view in seen:
        if run.actor == actor and run.first < until and (name in view.members) is not had:
            since, had = run.first, name in view.members
    return since


def _said(group: str, seen: list[tuple[Run, View]], passes: list[Run], groups: GroupsSeen) -> list[Statement]:
    """What each member saw, and until when it used that."""
    runs = {(run.actor, run.first): run for run, _ in seen}
    begins: dict[Actor, list[int]] = {}
    latest: dict[Actor, list[int]] = {}  # when the last of the passes that begin no later was repeated last
    for run in passes:
        begins.setdefault(run.actor, []).append(run.first)
        until = latest.setdefault(run.actor, [])
        until.append(max(run.last, until[-1]) if until else run.last)
    said = []
    for each in statements(group, [(run.first, run.actor, view) for run, view in seen], groups.memberships):
        # A client that balances other topics but not this one no longer says anything about it; that is another claim.
        # A client that stands still does not use what it saw either.
        limit = runs[each.actor, each.since].last + groups.settings.rounds
        is_still = any(begin < limit < end for begin, end in groups.still.of_client(each.actor))
        before = bisect_left(begins[each.actor], each.possibly)
        if is_still or (before and latest[each.actor][before - 1] > limit):
            each = replace(each, surely=min(each.surely, limit), possibly=min(each.possibly, limit))
        said.append(each)
    return said


def _sure(difference: Difference, seen: list[tuple[Run, View]], has_all: bool, strategy: str) -> Difference:
    """The difference, with a doubt if one of the two may have seen, unrecorded, what the other saw."""
    if has_all:
        return difference
    last: dict[Actor, Run] = {run.actor: run for run, _ in seen if run.first < difference.until}
    one, other = last[difference.actor], last[difference.other]
    for stale, fresh in ((one, other), (other, one)):
        if stale.first <= fresh.first and fresh.members and fresh.queues:
            if answers_otherwise(stale, strategy=strategy, members=fresh.members, queues=fresh.queues):
                return difference
            break
    return replace(difference, doubt=difference.doubt | Doubt.EVIDENCE)


def _note(group: str, found: list[tuple[Difference, str, Differ]], notebook: Notebook) -> None:
    found.sort(key=lambda each: (each[0].actor, each[0].since, each[0].until, each[1]))
    of_actors = (list(each) for _, each in groupby(found, key=lambda each: each[0].actor))
    spells = (overlapping(each, lambda one: (one[0].since, one[0].until)) for each in of_actors)
    for together in chain.from_iterable(spells):
        topics = sorted({topic for _, topic, _ in together})
        doubt, value = together[0][0].doubt, Differ(0)
        for difference, _, how in together:
            doubt &= difference.doubt
            value |= how
        notebook.violation(
            CLAIM,
            slot=whole(group, topics[0] if len(topics) == 1 else ""),
            since=together[0][0].since,
            time=max(difference.until for difference, _, _ in together),
            actor=together[0][0].actor,
            other=together[0][0].other,
            value=value,
            doubt=doubt,
        )
