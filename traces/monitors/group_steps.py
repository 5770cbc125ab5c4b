"""The monitor that applies the table of :mod:`..claims.group_steps`: what each process does in each group, in order.

It goes through the few events of the context once, and keeps what each process said last. Of each process and group the
first misstep of each kind is told. Threads of one process may be recorded in another order than they acted in: what
comes within :data:`APART` was in time. What another process has told is asked for with :data:`WITHIN` about it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from ..claims.group_steps import GroupMisstep
from ..claims.settings import Settings
from ..clocks.order import Order
from ..encoding.names import Actor, Names, Slot
from ..engine.context import Context, actor_of
from ..engine.findings import Doubt
from ..format.coverage import EVER, evidence_mask
from ..format.kinds import Kind, Path, Result
from ..format.schema import slave_of
from .group_records import WITHIN, Broker, Event, Member, Pass, QueueHeld, broker_of, queue_of, version_of
from .notebook import Notebook, whole

APART = 1_000
"""Two threads of a process are recorded at most so much later than they acted, ms."""

_FILES = (Kind.FILE_LOAD, Kind.FILE_PERSIST)

SUBSCRIBED, _DAY = 6_000, 86_400_000
"""A subscription is told once it is this old, ms. What is older than a day is no time: simulated ones are numbered."""

SOME = 4
"""Who has told so many heartbeats is recorded with all of them, not only with those that change something."""


def judge_group_steps(*, context: Context, names: Names, settings: Settings, notebook: Notebook) -> None:
    """Note every misstep."""
    steps = _Steps(context, names, settings, notebook)
    for event in context.events:
        take = _TAKEN.get(event["kind"])
        if take is not None:
            take(steps, event)
    steps.end()


class _Steps:
    """What each process did, as far as it was gone through."""

    def __init__(self, context: Context, names: Names, settings: Settings, notebook: Notebook) -> None:
        self._context, self._names, self._settings, self._notebook = context, names, settings, notebook
        self._order = Order(context.clocks, settings.skew)
        occurring = {event["kind"] for event in context.events}
        self._judged = {
            one
            for one in GroupMisstep
            if context.evidence & (needs := evidence_mask(one.step.needs)) == needs
            and (context.complete or not one.step.complete)
            and occurring.issuperset(one.step.beside)
        }
        self._members: dict[tuple[Any, Any, str], Member] = {}
        self._everywhere: dict[tuple[Any, Any], int | None] = {}
        self._brokers: dict[str, Broker] = {}
        self._loads = False
        self._routes: dict[str, set[frozenset[str]]] = {}
        self._told: set[tuple[Any, ...]] = set()
        self._awaited: list[tuple[Member, str, tuple[str, ...], int, set[str]]] = []
        starts = [event for event in context.events if event["kind"] == Kind.CLIENT_START]
        self._starts = {event.get("group") or "" for event in starts}
        self._started = {actor_of(event) for event in starts}
        passes = [event for event in context.events if event["kind"] == Kind.REBALANCE]
        self._logged = {actor_of(event) for event in passes if event.get("queues") is None}
        files = [one for one in context.events if one["kind"] in _FILES and one.get("detail") and not one.get("client")]
        reading = {one.get("broker") for one in files if one["kind"] == Kind.FILE_LOAD}
        self._tables: dict[str, set[str]] = {}
        for event in files:
            if event.get("broker") in reading:
                self._tables.setdefault(event.get("broker") or "", set()).add(event["detail"])

    # Of processes.

    def start(self, event: Event) -> None:
        """A process starts in a group, or, where it names none, in all that it is seen in."""
        if not event.get("group"):
            self._everywhere[event.get("client"), event.get("incarnation") or 0] = event["time"]
        for member in self._all_of(event):
            if member.started is not None and member.stopped is None:
                self._miss(GroupMisstep.STARTED_TWICE, member, event, since=member.started)
            if member.first is not None and not member.known and event["time"] - member.first > APART:
                self._miss(GroupMisstep.NOT_STARTED, member, event, since=member.first)
            member.started, member.stopped, member.unregistered, member.leaving = event["time"], None, None, None
            member.known, member.beats, member.told = True, 0, None
            member.last = event["time"]

    def stop(self, event: Event) -> None:
        """A process has stopped."""
        for member in self._all_of(event):
            time = event["time"]
            if member.stopped is not None:
                self._miss(GroupMisstep.STOPPED_TWICE, member, event, since=member.stopped)
                continue
            acted = member.first is not None and time - member.first > 2 * WITHIN
            if member.unregistered is None and member.passes and (member.started is not None or acted):
                self._miss(GroupMisstep.NOT_UNREGISTERED, member, event, since=member.started or time)
            for (topic, queue), had in member.queues.items():
                if had.has:
                    self._miss(GroupMisstep.HAD_AT_STOP, member, event, topic=topic, queue=queue)
                had.has = None
            if member.leaving is not None and time - member.leaving > WITHIN:
                self._miss(GroupMisstep.NOT_STOPPED, member, event, since=member.leaving)
            self._without_heartbeat(member, time)
            self._act(member, event)
            member.stopped, member.leaving, member.read = time, None, False

    def crash(self, event: Event) -> None:
        """A process has died."""
        if (event.get("client"), event.get("incarnation") or 0) in self._everywhere:
            self._everywhere[event.get("client"), event.get("incarnation") or 0] = None
        for member in self._all_of(event):
            member.started = member.stopped = member.unregistered = member.leaving = None
            member.queues.clear()

    def heartbeat(self, event: Event) -> None:
        """A process tells the brokers what it consumes."""
        member = self._act(self._member(event), event)
        member.beats += 1
        member.silent_since = None
        given = event.get("subscriptions")
        if given is None:
            return
        told = dict(map(version_of, given))
        for topic, version in told.items():
            before = member.before.get(topic, EVER)
            again = member.told is not None and topic not in member.told and version <= before
            if version < before or again:
                self._miss(GroupMisstep.OLD_SUBSCRIPTION, member, event, topic=topic)
            # A version is the time of the subscription.
            elif member.told is not None and topic not in member.told and SUBSCRIBED < member.told_at - version < _DAY:
                self._miss(GroupMisstep.NOT_ALL_TOLD, member, event, since=member.told_at, topic=topic)
            member.before[topic] = max(before, version)
        member.told, member.told_at = told, event["time"]

    def unregister(self, event: Event) -> None:
        """A process leaves its group at the brokers."""
        member = self._act(self._member(event), event, within=0)
        member.unregistered = event["time"]

    def _without_heartbeat(self, member: Member, until: int) -> None:
        started = member.started
        if started is not None and not member.beats and until - started > WITHIN and member.first is None:
            self._miss(GroupMisstep.STARTED_IN_VAIN, member, {"time": until}, since=started, doubt=Doubt.EVIDENCE)

    # Of passes.

    def route(self, event: Event) -> None:
        """A process is told the queues of a topic."""
        if event.get("queues") is None or not event.get("topic"):
            return
        queues = frozenset(event["queues"])
        if not event.get("client"):
            self._routes.setdefault(event["topic"], set()).add(queues)
            return
        member = self._act(self._member(event), event)
        member.routes[event["topic"]] = queues

    def rebalance(self, event: Event) -> None:
        """A process divides a topic."""
        member, time = self._act(self._member(event), event, within=WITHIN), event["time"]
        topic, queues, members = event.get("topic") or "", event.get("queues"), event.get("members")
        # A log tells of a pass when it is over, and of its outcome only.
        assigned = None if queues is None or event.get("assigned") is None else frozenset(event["assigned"])
        if queues is not None:
            if assigned is not None and not assigned <= set(queues):
                self._miss(GroupMisstep.UNKNOWN_GIVEN, member, event, topic=topic)
            known = member.routes.get(topic)
            is_other = known is not None and known != frozenset(queues)
            unknown = known is None and self._context.complete and topic not in self._routes and member.routes
            if (is_other or unknown) and frozenset(queues) not in self._routes.get(topic, ()):
                self._miss(GroupMisstep.OTHER_QUEUES, member, event, topic=topic)
        if member.told is not None and topic and topic not in member.told:
            self._miss(GroupMisstep.NOT_TOLD, member, event, topic=topic)
        if member.beats >= SOME:
            member.silent_since = time if member.silent_since is None else member.silent_since
            if time - member.silent_since > self._settings.silent_death:
                self._miss(GroupMisstep.SILENT, member, event, since=member.silent_since, topic=topic)
        if member.started is not None and not member.read and self._is_broadcasting(member.group):
            self._miss(GroupMisstep.FILE_NOT_READ, member, event, since=member.started, topic=topic)
        if members is not None:
            self._awaited.append((member, topic, tuple(sorted(members)), time, {broker_of(q) for q in queues or ()}))
        before, strategy = member.passes.get(topic), event.get("detail") or ""
        if before is not None and strategy and before.strategy and strategy != before.strategy:
            self._miss(GroupMisstep.OTHER_STRATEGY, member, event, since=before.time, topic=topic)
        member.passes[topic] = Pass(time, assigned, strategy or (before.strategy if before else ""))
        for (of, queue), had in member.queues.items():
            if of != topic or assigned is None:
                continue
            if queue in assigned or not had.has:
                had.lost_at = None
            elif had.lost_at is None:
                had.lost_at = time
            elif not self._is_orderly(member.group) and time - had.lost_at > APART:
                self._miss(GroupMisstep.KEPT, member, event, since=had.lost_at, topic=topic, queue=queue)

    def assign(self, event: Event) -> None:
        """A process takes a queue."""
        member = self._act(self._member(event), event, within=WITHIN)
        topic, queue = event.get("topic") or "", queue_of(event)
        last = member.passes.get(topic)
        given = last is not None and (last.assigned is None or queue in last.assigned)
        given = given or member.actor in self._logged
        if not given and (last is not None or (self._context.complete and self._is_recorded(member))):
            self._miss(GroupMisstep.NOT_GIVEN, member, event, topic=topic, queue=queue)
        had = member.queues.setdefault((topic, queue), QueueHeld())
        had.has, had.lost_at, had.left_at = True, None, EVER

    def revoke(self, event: Event) -> None:
        """A process gives a queue up."""
        member, time = self._act(self._member(event), event, within=WITHIN), event["time"]
        topic, queue, path = event.get("topic") or "", queue_of(event), event.get("path") or ""
        had = member.queues.setdefault((topic, queue), QueueHeld())
        last = member.passes.get(topic)
        if path == Path.REMOVAL and last is not None and last.assigned is not None and queue in last.assigned:
            self._miss(GroupMisstep.STILL_GIVEN, member, event, since=last.time, topic=topic, queue=queue)
        if path == Path.SHUTDOWN:
            if member.unregistered is None and (member.started is not None):
                self._miss(GroupMisstep.NOT_ENDING, member, event, topic=topic, queue=queue)
            elif member.leaving is None:
                member.leaving = time
        had.has, had.lost_at, had.left_at = False, None, time

    # Of brokers.

    def broker_start(self, event: Event) -> None:
        """A broker starts."""
        broker = self._broker(event)
        if broker.runs:
            self._miss(GroupMisstep.BROKER_TWICE, broker, event, since=broker.since)
        if broker.loaded is False:
            self._miss(GroupMisstep.NOT_LOADED, broker, event)
        elif not self._tables.get(event.get("broker") or "", set()) <= broker.read:
            self._miss(GroupMisstep.NOT_READ, broker, event)
        broker.runs, broker.since, broker.loaded = True, event["time"], None
        broker.read.clear()
        broker.starts.append(event["time"])
        for lists in broker.lists.values():
            lists.append((event["time"], ()))

    def broker_end(self, event: Event) -> None:
        """A broker stops, or has died."""
        is_new = self._loads and self._context.complete and event.get("broker") not in self._brokers
        broker = self._broker(event)
        if event["kind"] == Kind.BROKER_STOP and (broker.runs is False or is_new):
            self._miss(GroupMisstep.BROKER_TWICE, broker, event, since=broker.since)
        broker.runs, broker.since, broker.loaded = False, event["time"], None
        broker.read.clear()
        broker.ends.append(event["time"])

    def file(self, event: Event) -> None:
        """A table is read or written."""
        if event.get("client") or not event.get("broker"):
            if event.get("client") and event.get("group"):
                member = self._act(self._member(event), event, within=WITHIN)
                member.read = member.read or event["kind"] == Kind.FILE_LOAD
            return
        broker = self._broker(event)
        if event["kind"] == Kind.FILE_LOAD:
            self._loads = True
            broker.read.add(event.get("detail") or "")
            broker.loaded = event.get("result") in (None, "", Result.OK)
        else:
            self._runs(broker, event)

    def members(self, event: Event) -> None:
        """A broker tells who is in a group."""
        if event.get("client") or event.get("members") is None:
            return
        broker = self._broker(event)
        self._runs(broker, event)
        told = tuple(sorted(event["members"]))
        broker.lists.setdefault(event.get("group") or "", [(EVER, ())]).append((event["time"], told))

    def _runs(self, broker: Broker, event: Event) -> None:
        stopped = broker.runs is False and event["time"] - broker.since > WITHIN
        is_early = event["kind"] == Kind.MEMBERS or broker.loaded is None
        not_yet = broker.runs is None and self._loads and self._context.complete and is_early
        if stopped or not_yet:
            self._miss(GroupMisstep.BROKER_NOT_RUNNING, broker, event, since=broker.since)

    # In the end.

    def end(self) -> None:
        """All was gone through."""
        for member in self._members.values():
            end = self._context.end
            if member.leaving is not None and member.stopped is None and end - member.leaving > WITHIN:
                doubt = Doubt.NONE if member.last - member.leaving > WITHIN else Doubt.EVIDENCE
                self._miss(GroupMisstep.NOT_STOPPED, member, {"time": end}, since=member.leaving, doubt=doubt)
            if member.stopped is None:
                self._without_heartbeat(member, end)
            if not member.known and member.first is not None and self._is_recorded(member):
                self._miss(GroupMisstep.NOT_STARTED, member, {"time": member.last}, since=member.first)
        for awaited in self._awaited:
            self._among(*awaited)
        for claim in {one.step.claim for one in self._judged}:
            self._notebook.judge(claim, len(self._members))

    def _among(self, member: Member, topic: str, members: tuple[str, ...], time: int, brokers: set[str]) -> None:
        """Whether some broker had that list of members when a process asked for it."""
        known = [self._brokers[name] for name in brokers if name in self._brokers]
        learnt = self._settings.route_poll + self._settings.rebalance
        if not known or len(known) < len(brokers) or any(broker.is_away(time, learnt) for broker in known):
            return
        known += [self._brokers[name] for name in map(slave_of, brokers) if name in self._brokers]
        lists = [broker.lists.get(member.group) for broker in known]
        if not all(lists):
            return
        if not all(map(self._is_bounded, (member.actor, *(broker.actor for broker in known)))):
            return
        had: set[tuple[str, ...]] = set()
        for broker, one in zip(known, lists, strict=True):
            assert one is not None
            slack = WITHIN + self._apart(member.actor, broker.actor)
            if not self._context.complete and time < one[1][0] + slack:
                return
            begun = max(bisect_right(one, time - slack, key=itemgetter(0)) - 1, 0)
            had |= {told for _, told in one[begun : bisect_right(one, time + slack, key=itemgetter(0))]}
        if members not in had:
            self._miss(GroupMisstep.OTHER_MEMBERS, member, {"time": time}, topic=topic)

    def _is_bounded(self, actor: Actor) -> bool:
        """Whether it is known how far its clock is from the others, where some of them were seen to be off."""
        clock = self._context.clocks.clocks.get(actor)
        return not self._context.clocks.corrects or (clock is not None and clock.uncertainty is not None)

    def _apart(self, one: Actor, other: Actor) -> int:
        """How far two clocks may be apart to either side, ms: as far as what bounds them leaves open, if it does."""
        bounds = (self._context.clocks.clocks.get(actor) for actor in (one, other))
        known = [side for clock in bounds if clock is not None for side in (clock.slow, clock.fast) if side is not None]
        return max(self._order.apart(one, other), self._order.apart(other, one), sum(known))

    def _is_recorded(self, member: Member) -> bool:
        """Whether a start of the process in the group would be in the recording."""
        return bool(member.passes) or bool(self._starts & {member.group, ""}) or member.actor in self._started

    def _is_broadcasting(self, group: str) -> bool:
        known = self._names.of_groups.get(group)
        return known is not None and known.mode == "broadcasting"

    def _is_orderly(self, group: str) -> bool:
        known = self._names.of_groups.get(group)
        return known is not None and known.listener == "orderly"

    def _member(self, event: Event) -> Member:
        key = event.get("client"), event.get("incarnation") or 0, event.get("group") or ""
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = Member(actor_of(event), key[2])
            if key[:2] in self._everywhere:
                found.known, found.started = True, self._everywhere[key[:2]]
        return found

    def _all_of(self, event: Event) -> list[Member]:
        """The process in the group that an event names, or in all that it is in."""
        if event.get("group"):
            return [self._member(event)]
        who = event.get("client"), event.get("incarnation") or 0
        return [member for key, member in self._members.items() if key[:2] == who]

    def _broker(self, event: Event) -> Broker:
        name = event.get("broker") or ""
        return self._brokers.setdefault(name, Broker(Actor(name, -1)))

    def _act(self, member: Member, event: Event, within: int = WITHIN) -> Member:
        """A process does something in a group."""
        time = event["time"]
        if member.first is None:
            member.first = time
        member.last = time
        if member.stopped is not None and time - member.stopped > within:
            self._miss(GroupMisstep.ACTS_STOPPED, member, event, since=member.stopped)
        return member

    def _miss(
        self,
        misstep: GroupMisstep,
        who: Member | Broker,
        event: Event,
        *,
        since: int | None = None,
        topic: str = "",
        queue: str = "",
        doubt: Doubt = Doubt.NONE,
    ) -> None:
        group = who.group if isinstance(who, Member) else event.get("group") or ""
        key = misstep, who.actor, group
        if misstep not in self._judged or key in self._told:
            return
        self._told.add(key)
        broker, _, number = queue.rpartition(":")
        slot = Slot(group, topic, broker, int(number)) if queue else whole(group, topic)
        self._notebook.violation(
            misstep.step.claim,
            slot=slot,
            since=event["time"] if since is None or since == EVER else since,
            time=event["time"],
            actor=who.actor,
            value=int(misstep),
            doubt=doubt,
        )


_TAKEN: Mapping[str, Callable[[_Steps, Event], None]] = {
    Kind.CLIENT_START: _Steps.start,
    Kind.CLIENT_STOP: _Steps.stop,
    Kind.CLIENT_CRASH: _Steps.crash,
    Kind.HEARTBEAT: _Steps.heartbeat,
    Kind.UNREGISTER: _Steps.unregister,
    Kind.ROUTE: _Steps.route,
    Kind.REBALANCE: _Steps.rebalance,
    Kind.ASSIGN: _Steps.assign,
    Kind.REVOKE: _Steps.revoke,
    Kind.BROKER_START: _Steps.broker_start,
    Kind.BROKER_STOP: _Steps.broker_end,
    Kind.BROKER_CRASH: _Steps.broker_end,
    Kind.FILE_LOAD: _Steps.file,
    Kind.FILE_PERSIST: _Steps.file,
    Kind.MEMBERS: _Steps.members,
}
