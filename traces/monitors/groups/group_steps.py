"""The monitor that applies the table of :mod:`...claims.group_steps`: what each process does in each group, in order.

It goes through the few events of the context once, and keeps the last statement of each process. For each process and
group, the first misstep of each kind is reported. Threads of one process may be recorded in another order than they
acted: anything within :data:`APART` was in time. Statements of other processes count within :data:`WITHIN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

import numpy as np

from ....model.dead_letter import retry_topic
from ...claims.group_steps import GroupMisstep
from ...claims.settings import Settings
from ...encoding.context_events import ContextEvents
from ...encoding.context_folds import Asked
from ...encoding.names import Actor, Names
from ...encoding.plain import Plain, plain, restored
from ...engine.context import Context, actor_named, actor_of
from ...engine.findings import Doubt
from ...format.coverage import EVER
from ...format.kinds import BROKER_RUNS, Kind, Path, Result
from ..notebook import Notebook
from ..steps.state import APART
from .allocations import strategy_of
from .broker_steps import BrokerSteps, tables_in
from .group_records import (
    WITHIN,
    Acted,
    Event,
    GroupMissteps,
    Member,
    Pass,
    QueueHeld,
    Route,
    judged_in,
    queue_of,
    set_of,
)
from .shares import Shares
from .subscriptions import NUMBERED, asked_for, parse_subscription

SUBSCRIBED, _DAY = 6_000, 86_400_000
"""A subscription is reported once it is this old, ms, and at most a day: an older version is no time."""

_NO_TIME = 10**18
"""Versions from this one on are no times of any clock."""

LATE = 10_000
"""A process that changes its subscription informs the brokers at once, at most a round of heartbeats later; ms."""

SOME = 4
"""With so many recorded heartbeats, a process is recorded with all of them, not only with changes."""


class GroupSteps:
    """What each process has done in the events processed so far: a fold over the events of the context."""

    name = "steps of groups"

    def __init__(self, context: Context, names: Names, settings: Settings, *, judges_brokers: bool = True) -> None:
        self._context, self._names, self._settings = context, names, settings
        self._judges_brokers = judges_brokers
        starts = list(context.events.of_kinds(Kind.CLIENT_START))
        groups, started = {event.get("group") or "" for event in starts}, {actor_of(event) for event in starts}
        grouped = context.events.different("client", "incarnation", "broker", "group")
        logged = context.events.different("client", "incarnation", "broker", "queues", kinds=(Kind.REBALANCE,))
        groupers = {actor_named(*who) for *who, group in grouped if group}
        loggers = {actor_named(*who) for *who, queues in logged if queues is None}
        tables = tables_in(context)
        self._asked = Asked(
            judged=lambda: list(map(int, judged_in(context))),
            names_groups=lambda *actor: actor in groupers,
            logs=lambda *actor: actor in loggers,
            has_start=lambda *actor: actor in started,
            starts=lambda group: bool(groups & {group, ""}),
            tables=lambda broker: list(tables.get(broker, ())),
            corrected=lambda name, run, at: int(context.clocks.corrected(Actor(name, run), np.array([at]))[0]),
        )
        self._go_on(Acted())

    def _go_on(self, acted: Acted) -> None:
        self._acted, self._members = acted, acted.members
        self._missteps = GroupMissteps(
            acted.missteps, [GroupMisstep(one) for one in self._asked("judged")], of_brokers=self._judges_brokers
        )
        self._brokers = BrokerSteps(self._context, self._settings, self._asked, acted, self._missteps)
        self._shares = Shares(self._context, self._settings, self._brokers, self._missteps)

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        """Process events."""
        for event in events.of_kinds(*_TAKEN, *BROKER_RUNS, Kind.MEMBERS, span=span):
            self._take(event)

    def carried(self) -> Plain:
        """The present state."""
        return {"asked": self._asked.carried(), "acted": plain(self._acted)}

    def carry_on(self, _events: ContextEvents, known: Plain) -> bool:
        """Take over a state, if what was asked about the whole recording is answered as it was."""
        if not self._asked.carry_on(known["asked"]):
            return False
        self._go_on(restored(Acted, known["acted"]))
        return True

    def _take(self, event: Event) -> None:
        take = _TAKEN.get(event["kind"])
        if take is not None:
            if event["kind"] not in _IN_GROUPS or self._is_of_a_group(event):
                take(self, event)
        else:
            if event["kind"] in BROKER_RUNS:
                for member in self._members.values():
                    member.unlisted.clear()  # RB-20: it has to hear of each one again
            self._brokers.take(event)

    def _is_of_a_group(self, event: Event) -> bool:
        """If a process names its groups, an event without a group is a damaged line, not another group."""
        return bool(event.get("group")) or not self._asked("names_groups", *actor_of(event))

    # Of processes.

    def start(self, event: Event) -> None:
        """A process starts in a group or, if none is named, in all groups in which it is seen."""
        if not event.get("group"):
            self._acted.everywhere[event.get("client"), event.get("incarnation") or 0] = event["time"]
        for member in self._all_of(event):
            if member.started is not None and member.stopped is None:
                self._missteps.note(GroupMisstep.STARTED_TWICE, member, event, since=member.started)
            if member.first is not None and not member.known and event["time"] - member.first > APART:
                self._missteps.note(GroupMisstep.NOT_STARTED, member, event, since=member.first)
            self._kept_at_stop(member)
            member.started, member.stopped, member.unregistered, member.leaving = event["time"], None, None, None
            member.after.clear()
            member.known, member.beats, member.told = True, 0, None
            member.awaited.clear()
            member.unlisted.clear()
            member.untold.clear()
            member.ahead.clear()
            member.taken.clear()
            member.last = event["time"]

    def stop(self, event: Event) -> None:
        """A process has stopped."""
        for member in self._all_of(event):
            time = event["time"]
            if member.stopped is not None:
                self._missteps.note(GroupMisstep.STOPPED_TWICE, member, event, since=member.stopped)
                continue
            acted = member.first is not None and time - member.first > 2 * WITHIN
            if member.unregistered is None and member.passes and (member.started is not None or acted):
                self._missteps.note(GroupMisstep.NOT_UNREGISTERED, member, event, since=member.started or time)
            is_logged = self._asked("logs", *member.actor)  # RebalanceImpl#destroy logs nothing
            for had in member.queues.values():
                had.kept, had.has = time if had.has and not is_logged else None, None
            if member.leaving is not None and time - member.leaving > WITHIN:
                self._missteps.note(GroupMisstep.NOT_STOPPED, member, event, since=member.leaving)
            self._without_heartbeat(member, time)
            self._act(member, event)
            member.stopped, member.leaving, member.read = time, None, False

    def crash(self, event: Event) -> None:
        """A process has died."""
        if (event.get("client"), event.get("incarnation") or 0) in self._acted.everywhere:
            self._acted.everywhere[event.get("client"), event.get("incarnation") or 0] = None
        for member in self._all_of(event):
            member.started = member.stopped = member.unregistered = member.leaving = None
            member.queues.clear()
            member.awaited.clear()

    def heartbeat(self, event: Event) -> None:
        """A process announces to the brokers what it consumes."""
        member = self._act(self._member(event), event)
        member.beats += 1
        member.reached[event.get("broker") or ""] = event["time"]
        member.silent_since = event["time"]
        given = event.get("subscriptions")
        if given is None:
            return
        subscriptions = list(map(parse_subscription, given))
        told = {
            topic: EVER if version is None or version >= _NO_TIME else version for topic, _, version in subscriptions
        }
        member.repeats |= told == member.told and event["time"] - member.told_at > LATE
        for topic, expression, version in subscriptions:
            if version and member.expressions.get(topic, (0, ""))[0] == version:
                if member.expressions[topic][1] != asked_for(expression):
                    self._missteps.note(GroupMisstep.OTHER_EXPRESSION, member, event, topic=topic)
            elif version:
                member.expressions[topic] = version, asked_for(expression)
        if retry_topic(member.group) in told and self._names.is_broadcasting(member.group):
            self._missteps.note(GroupMisstep.RETRIES_TOLD, member, event, topic=retry_topic(member.group))
        for topic, version in told.items():
            before = member.before.get(topic, EVER)
            dropped = member.dropped.get(topic)
            if dropped is not None and version > before:
                del member.dropped[topic]  # it consumes it again
            elif dropped is not None and event["time"] - dropped > LATE:
                self._missteps.note(GroupMisstep.STILL_TOLD, member, event, topic=topic)
            self._tell_if_old(member, event, topic, version)
            again = member.told is not None and topic not in member.told and version <= before
            if version < before or again:
                self._missteps.note(GroupMisstep.OLD_SUBSCRIPTION, member, event, topic=topic)
            # A version is the time of the subscription.
            elif member.told is not None and topic not in member.told and SUBSCRIBED < member.told_at - version < _DAY:
                self._missteps.note(GroupMisstep.NOT_ALL_TOLD, member, event, since=member.told_at, topic=topic)
            member.before[topic] = max(before, version)
        # ``DefaultMQPushConsumerImpl#subscribe`` sends its heartbeat after the subscription counts, or leaves it to the
        # next round, if one is under way.
        for topic, since in list(member.ahead.items()):
            if topic not in told and event["time"] - since > LATE:
                self._missteps.note(GroupMisstep.NOT_TOLD, member, event, since=since, topic=topic)
            if topic in told or event["time"] - since > LATE:
                del member.ahead[topic]
        for topic in (member.told or {}).keys() - told.keys():
            member.untold[topic] = event["time"]
        for topic in told.keys() & member.untold.keys():
            del member.untold[topic]
        member.told, member.told_at = told, event["time"]

    def _tell_if_old(self, member: Member, event: Event, topic: str, version: int) -> None:
        """RB-37: whether a subscription is from before the process took queues; its version is a time.

        This time may be by another clock than that of the process's recorder.
        """
        first, last = member.taken.get(topic, (None, EVER))
        if first is None:
            return
        made_at = int(self._asked("corrected", *actor_of(event), version * 1000)) // 1000
        if made_at >= first - self._settings.skew or version > member.before.get(topic, EVER) > EVER:
            del member.taken[topic]
        elif event["time"] - last > LATE and version > NUMBERED:
            self._missteps.note(GroupMisstep.NOT_NEWER, member, event, since=last, topic=topic)

    def unregister(self, event: Event) -> None:
        """A process leaves its group at the brokers."""
        member = self._act(self._member(event), event, within=0)
        member.unregistered = event["time"]

    def _without_heartbeat(self, member: Member, until: int) -> None:
        started = member.started
        if started is not None and not member.beats and until - started > WITHIN and member.first is None:
            self._missteps.note(
                GroupMisstep.STARTED_IN_VAIN, member, {"time": until}, since=started, doubt=Doubt.EVIDENCE
            )

    # Of passes.

    def route(self, event: Event) -> None:
        """A process learns the queues of a topic."""
        if event.get("queues") is None or not event.get("topic"):
            return
        queues = set_of(event["queues"])
        if not event.get("client"):
            self._acted.routes.setdefault(event["topic"], set()).add(queues)
            return
        member = self._act(self._member(event), event)
        known = member.routes.get(event["topic"])
        if known is None or known.queues != queues:
            before = None if known is None else known.queues
            member.routes[event["topic"]] = Route(time=event["time"], queues=queues, before=before)

    def rebalance(self, event: Event) -> None:
        """A process divides a topic."""
        member, time = self._member(event), event["time"]
        self._act(member, event, within=WITHIN)
        topic, queues, members = event.get("topic") or "", event.get("queues"), event.get("members")
        # A log records a pass when it is over, and only its outcome.
        assigned = None if queues is None or event.get("assigned") is None else set_of(event["assigned"])
        if queues is not None:
            divided = set_of(queues)
            has_settings = strategy_of(event.get("detail") or self._names.strategy(member.group) or "AVG") is None
            is_other = assigned is not None and not assigned <= divided
            if has_settings and is_other:
                # CONFIG answers its configured queues whatever the topic, and a recording does not say of which topic.
                assigned = None
            # RB-23: a strategy with settings of the user may name a queue twice, which is taken once.
            elif is_other or (assigned is not None and len(assigned) < len(event["assigned"]) and not has_settings):
                self._missteps.note(GroupMisstep.UNKNOWN_GIVEN, member, event, topic=topic)
            known = member.routes.get(topic)
            is_old = known is not None and not known.may_be_divided(divided, time)
            unknown = known is None and self._context.complete and topic not in self._acted.routes and member.routes
            if (is_old or unknown) and divided not in self._acted.routes.get(topic, ()):
                self._missteps.note(GroupMisstep.OTHER_QUEUES, member, event, topic=topic)
        if member.told is not None and topic and topic not in member.told:
            member.ahead.setdefault(topic, time)
        for of, since in member.untold.items():
            held = any(one.has for (topic_of, _), one in member.queues.items() if topic_of == of)
            if held and time - since > self._settings.rounds:
                self._missteps.note(GroupMisstep.STILL_HAD, member, event, since=since, topic=of)
        # RB-7: a broadcasting client asks no broker for the members: it may balance while it can reach none.
        if (member.beats >= SOME or member.repeats) and not (
            members is None and self._names.is_broadcasting(member.group)
        ):
            member.silent_since = time if member.silent_since is None else member.silent_since
            if time - member.silent_since > self._settings.channel_expiry:
                self._missteps.note(GroupMisstep.SILENT, member, event, since=member.silent_since, topic=topic)
        if member.started is not None and not member.read and self._names.is_broadcasting(member.group):
            self._missteps.note(GroupMisstep.FILE_NOT_READ, member, event, since=member.started, topic=topic)
        before, strategy = member.passes.get(topic), event.get("detail") or ""
        self._shares.listed(member, event, topic, before)
        if before is not None and strategy and before.strategy and strategy != before.strategy:
            self._missteps.note(GroupMisstep.OTHER_STRATEGY, member, event, since=before.time, topic=topic)
        if assigned is not None:
            is_orderly = self._names.is_orderly(member.group)
            self._shares.given(member, event, topic, assigned, before, is_orderly=is_orderly)
        # A resumed consumer makes a pass concurrently with its client's thread, and each acts on its own.
        beside = before.assigned if before is not None and time - before.time <= APART else None
        member.passes[topic] = Pass(time, assigned, strategy or (before.strategy if before else ""), beside)
        for (of, queue), had in member.queues.items():
            if of != topic or assigned is None:
                continue
            if queue in assigned or not had.has:
                had.lost_at = None
            elif had.lost_at is None:
                had.lost_at = time
            elif not self._names.is_orderly(member.group) and time - had.lost_at > APART:
                self._missteps.note(GroupMisstep.KEPT, member, event, since=had.lost_at, topic=topic, queue=queue)

    def lock(self, event: Event) -> None:
        """A process requests the lock of a queue, and may not get it."""
        if event.get("result") != Result.OK:
            self._member(event).awaited.pop((event.get("topic") or "", queue_of(event)), None)

    def assign(self, event: Event) -> None:
        """A process takes a queue."""
        member = self._act(self._member(event), event, within=WITHIN)
        topic, queue = event.get("topic") or "", queue_of(event)
        member.awaited.pop((topic, queue), None)
        last = member.passes.get(topic)
        given = last is not None and (last.assigned is None or queue in last.assigned)
        given = given or self._asked("logs", *member.actor) or (last is not None and queue in (last.beside or ()))
        known = member.routes.get(topic)
        # Agents missed a pass that had begun just before its client learnt the route of the topic.
        is_new = last is None and known is not None and known.before is None and event["time"] - known.time <= WITHIN
        if not given and not is_new and (last is not None or (self._context.complete and self._is_recorded(member))):
            self._missteps.note(GroupMisstep.NOT_GIVEN, member, event, topic=topic, queue=queue)
        # A recorder reports queues that it finds already taken as taken when it starts, without a pass before.
        if last is not None and last.assigned is not None and queue in last.assigned:
            member.taken[topic] = member.taken.get(topic, (event["time"], 0))[0], event["time"]
        had = member.queues.setdefault((topic, queue), QueueHeld())
        had.has, had.lost_at, had.left_at = True, None, EVER

    def revoke(self, event: Event) -> None:
        """A process gives up a queue."""
        member, time = self._act(self._member(event), event, within=WITHIN), event["time"]
        topic, queue, path = event.get("topic") or "", queue_of(event), event.get("path") or ""
        had = member.queues.setdefault((topic, queue), QueueHeld())
        last = member.passes.get(topic)
        given = last is not None and last.assigned is not None and queue in last.assigned
        is_sure = last is not None and (last.beside is None or queue in last.beside)
        if path == Path.REMOVAL and last is not None and given and is_sure:
            self._missteps.note(GroupMisstep.STILL_GIVEN, member, event, since=last.time, topic=topic, queue=queue)
        if path == Path.SHUTDOWN:
            if member.unregistered is None and (member.started is not None):
                self._missteps.note(GroupMisstep.NOT_ENDING, member, event, topic=topic, queue=queue)
            elif member.leaving is None:
                member.leaving = time
        if path == Path.UNSUBSCRIBE:
            member.dropped[topic] = time
        if had.kept is not None and time - had.kept <= APART:
            had.kept = None
        had.has, had.lost_at, had.left_at = False, None, time
        member.awaited.pop((topic, queue), None)

    def file(self, event: Event) -> None:
        """A process, or a broker, reads or writes a file."""
        if not event.get("client") and event.get("broker"):
            self._brokers.file(event)
        elif event.get("client") and event.get("group"):
            member = self._act(self._member(event), event, within=WITHIN)
            member.read = member.read or event["kind"] == Kind.FILE_LOAD

    # At the end.

    def finish(self, events: ContextEvents, notebook: Notebook) -> None:
        """All events have been processed, which are given once more: record every misstep."""
        for member in self._members.values():
            end = self._context.end
            self._kept_at_stop(member)
            if member.leaving is not None and member.stopped is None and end - member.leaving > WITHIN:
                doubt = Doubt.NONE if member.last - member.leaving > WITHIN else Doubt.EVIDENCE
                self._missteps.note(GroupMisstep.NOT_STOPPED, member, {"time": end}, since=member.leaving, doubt=doubt)
            if member.stopped is None:
                self._without_heartbeat(member, end)
            if not member.known and member.first is not None and self._is_recorded(member):
                self._missteps.note(GroupMisstep.NOT_STARTED, member, {"time": member.last}, since=member.first)
        self._judge_answers(events)
        self._missteps.write(notebook, len(self._members))

    def _judge_answers(self, events: ContextEvents) -> None:
        """Check that brokers had the members that passes saw; of each process, the first that they had not counts."""
        wrong = []
        asked = ("client", "incarnation", "broker", "group", "topic", "queues", "members")
        for values, places in events.places(*asked, kinds=(Kind.REBALANCE,)).items():
            event = dict(zip(asked, values, strict=True))
            if event["members"] is not None and self._is_of_a_group(event):
                member, members = self._member(event), tuple(sorted(event["members"]))
                at = self._brokers.wrong_answer(member, event["queues"] or (), members, events.times[places])
                if at is not None:
                    wrong.append((int(places[at]), member, event["topic"] or ""))
        for place, member, topic in sorted(wrong, key=itemgetter(0)):
            time = int(events.times[place])
            self._missteps.note(GroupMisstep.OTHER_MEMBERS, member, {"time": time}, topic=topic)

    def _kept_at_stop(self, member: Member) -> None:
        """Queues that a process has not given up when it stopped, in none of its threads."""
        for (topic, queue), had in member.queues.items():
            if had.kept is not None:
                self._missteps.note(GroupMisstep.HAD_AT_STOP, member, {"time": had.kept}, topic=topic, queue=queue)
                had.kept = None

    def _is_recorded(self, member: Member) -> bool:
        """Whether a start of the process in the group would be in the recording."""
        is_started = self._asked("starts", member.group) or self._asked("has_start", *member.actor)
        return bool(member.passes) or is_started

    def _member(self, event: Event) -> Member:
        key = event.get("client"), event.get("incarnation") or 0, event.get("group") or ""
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = Member(actor_of(event), key[2])
            if key[:2] in self._acted.everywhere:
                found.known, found.started = True, self._acted.everywhere[key[:2]]
        return found

    def _all_of(self, event: Event) -> list[Member]:
        """The process in the group that an event names, or in all its groups."""
        if event.get("group"):
            return [self._member(event)]
        who = event.get("client"), event.get("incarnation") or 0
        return [member for key, member in self._members.items() if key[:2] == who]

    def _act(self, member: Member, event: Event, within: int = WITHIN) -> Member:
        """A process does something in a group."""
        time = event["time"]
        if member.first is None:
            member.first = time
        elif time - member.last > self._settings.rounds:
            member.silent_since = None  # it stood still, and now announces itself
        member.last = time
        if member.stopped is not None and time - member.stopped > within:
            self._missteps.note(GroupMisstep.ACTS_STOPPED, member, event, since=member.stopped)
        # ST-8: it leaves its groups first, and gives up its queues, and unlocks them, after that. A round of heartbeats
        # or passes that has begun before goes on to the next broker or topic, however long the one before took.
        if member.unregistered is not None and event["kind"] in (Kind.HEARTBEAT, Kind.REBALANCE):
            act = event["kind"], (event.get("broker") if event["kind"] == Kind.HEARTBEAT else event.get("topic")) or ""
            if act in member.after and time - member.unregistered > LATE:
                self._missteps.note(GroupMisstep.ACTS_STOPPED, member, event, since=member.unregistered)
            member.after.add(act)
        return member


_IN_GROUPS = (Kind.HEARTBEAT, Kind.UNREGISTER, Kind.REBALANCE, Kind.ASSIGN, Kind.REVOKE)

_TAKEN: Mapping[str, Callable[[GroupSteps, Event], None]] = {
    Kind.CLIENT_START: GroupSteps.start,
    Kind.CLIENT_STOP: GroupSteps.stop,
    Kind.CLIENT_CRASH: GroupSteps.crash,
    Kind.HEARTBEAT: GroupSteps.heartbeat,
    Kind.UNREGISTER: GroupSteps.unregister,
    Kind.ROUTE: GroupSteps.route,
    Kind.REBALANCE: GroupSteps.rebalance,
    Kind.LOCK: GroupSteps.lock,
    Kind.ASSIGN: GroupSteps.assign,
    Kind.REVOKE: GroupSteps.revoke,
    Kind.FILE_LOAD: GroupSteps.file,
    Kind.FILE_PERSIST: GroupSteps.file,
}
