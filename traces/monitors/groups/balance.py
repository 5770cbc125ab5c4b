"""Balance: a client balances all its topics for as long as it lives, pass by pass (RB-1; A8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from operator import itemgetter

from ...claims.settings import Settings
from ...encoding.context_events import ContextEvents
from ...encoding.context_folds import Asked
from ...encoding.names import Actor, Names
from ...encoding.plain import Plain, plain, restored
from ...engine.context import actor_named, brokers_of
from ...engine.findings import Doubt
from ...format.kinds import Kind
from ..notebook import Notebook, whole
from ..standstills import Standstills
from ..standstills import within as covered
from .agreement import overlapping
from .allocations import answers_otherwise
from .runs import ENDS, Told
from .subscriptions import parse_subscription

CLAIM = "every-topic-is-balanced"


@dataclass(slots=True)
class _Client:
    """One client of a group while it lives.

    Attributes:
        actor: the client.
        group: its group.
        empty: topics of which it learnt last that they have no queue.
        said: its latest heartbeat, as in the event.
        consumed: topics that it says it consumes, and since when.
        passes: time of the latest pass over each topic.
        behind: topics that passes leave out: since when, and the latest pass over another topic.
        left_out: topics that were behind: topic, since, until.
        due: before this time, nothing more can be behind.
        paused: when it made the last pass before a long time without any; ``resumed``: when it made the next one.
        learnt: when it first learnt of queues of each topic.
        brokers: those of each topic, as it learnt last.
        beats: when each broker got its latest heartbeat; ``beat``: when any did.
        unreached: when a broker got none for long, although heartbeats go to all.
    """

    actor: Actor
    group: str
    empty: set[str] = field(default_factory=set)
    said: tuple[str, ...] | None = None
    consumed: dict[str, int] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)
    behind: dict[str, tuple[int, int]] = field(default_factory=dict)
    left_out: list[tuple[int, int, str]] = field(default_factory=list)
    due: int = 0
    paused: int = 0
    resumed: int = 0
    learnt: dict[str, int] = field(default_factory=dict)
    brokers: dict[str, frozenset[str]] = field(default_factory=dict)
    beats: dict[str, int] = field(default_factory=dict)
    beat: int = 0
    unreached: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def heartbeat(self, time: int, subscriptions: tuple[str, ...], ask: Asked) -> None:
        self.said = subscriptions
        topics = {
            topic: ask("known", self.group, topic)
            for topic in sorted({parse_subscription(one)[0] for one in subscriptions})
        }
        # RB-3: a topic without queues is skipped, be it for now or for ever (retryQueueNums = 0).
        self.consumed = {
            topic: self.consumed.get(topic, time if known is None else max(time, known))
            for topic, known in topics.items()
            if known is not None or not ask("without", self.group, topic)
        }
        self.due = 0

    def learns(self, time: int, topic: str, queues: Collection[str]) -> None:
        """It learns which queues a topic has: without any, it cannot balance it (RB-20)."""
        self.brokers[topic] = brokers_of(queues)
        if not queues:
            self.empty.add(topic)
            return
        self.learnt.setdefault(topic, time)
        if topic in self.empty:
            self.empty.discard(topic)
            if topic in self.consumed:
                self.consumed[topic] = time

    def keeps_running(self, time: int, broker: str, within: int, ask: Asked) -> None:
        """It sends a heartbeat: check whether it still balances anything, as it does every 20 s (RB-1)."""
        if self._is_unreached(broker, within):
            self.unreached.setdefault(broker, []).append((self.beats[broker], time))
        self.beat = self.beats[broker] = time
        for topic, consumed in self.consumed.items():
            # What makes no pass at all is judged by the topics whose queues it has learnt itself.
            last = max(self.passes.values(), default=self.learnt.get(topic, time))
            if topic not in self.empty and self._ran(max(last, consumed), time, within, ask) > within:
                self.behind[topic] = self.behind.get(topic, (last, time))[0], time

    def _ran(self, since: int, until: int, within: int, ask: Asked) -> int:
        """For how long within a period it could balance, ms; if it is no longer than ``within``, the whole period."""
        if until - since <= within:
            return until - since
        away, still = int(ask("away", since, until)), int(ask("still", *self.actor, since, until))
        return until - since - max(away, self._without_broker(since, until, within)) - still

    def _without_broker(self, since: int, until: int, within: int) -> int:
        """RB-4: for how long it did not reach some broker that a pass may ask, ms."""
        asked = set().union(*self.brokers.values())
        longest = 0
        for broker, beat in self.beats.items():
            spans = self.unreached.get(broker, [])
            if self._is_unreached(broker, within) and (broker in asked or not asked):
                spans = [*spans, (beat, until)]
            longest = max(longest, covered(spans, since, until))
        return longest

    def _is_unreached(self, broker: str, within: int) -> bool:
        """Whether a broker has got no heartbeat for long when another one did."""
        return broker in self.beats and self.beat - self.beats[broker] > within // 2

    def balances(self, time: int, topic: str, within: int, ask: Asked) -> None:
        last = max(self.passes.values(), default=time)
        if time - last > within:
            self.paused, self.resumed = last, time
        if topic in self.behind:
            since, until = self.behind.pop(topic)
            # RB-3: if its application had suspended it, all topics are balanced at once when that resumes it.
            if since < self.paused - within // 2 or time - self.resumed > within // 2:
                self.left_out.append((since, until, topic))
        self.passes[topic] = time
        if time <= self.due:
            return
        oldest = time
        for other, consumed in self.consumed.items():
            if other in self.empty:
                continue
            since = max(self.passes.get(other, consumed), consumed)
            if self._ran(since, time, within, ask) > within:
                self.behind[other] = since, time
            else:
                oldest = min(oldest, since)
        self.due = time if self.behind else oldest + within


@dataclass(slots=True)
class _Balanced:
    """What was seen until a moment.

    Attributes:
        clients: those that live, by group, client id and incarnation.
        judged: number of topics of those that have ended.
        left_out: what these have left out, see :class:`_Client`.
    """

    clients: dict[tuple[str | None, str | None, int | None], _Client] = field(default_factory=dict)
    judged: int = 0
    left_out: list[tuple[str, Actor, list[tuple[int, int, str]]]] = field(default_factory=list)


class Balance:
    """Goes through the passes of all clients: a fold over the events of the context."""

    name = "balance"

    def __init__(self, told: Told, *, common: Told, still: Standstills, names: Names, settings: Settings) -> None:
        self._told, self._common, self._names, self._within = told, common, names, settings.new_topic
        known: dict[tuple[str, str], int] = {}
        without: set[tuple[str, str]] = set()
        for run in (*common.of("", Kind.ROUTE, Kind.REBALANCE), *(run for run in told.runs if run.group)):
            if run.kind in (Kind.ROUTE, Kind.REBALANCE) and run.queues:
                known.setdefault((run.group, run.topic), run.first)
            elif run.kind == Kind.ROUTE and run.queues is not None:
                without.add((run.group, run.topic))
        outages = [(since, until) for _, since, until in still.away]
        self._asked = Asked(
            # since when a group has seen a queue of a topic, and whether it learnt that the topic has none
            known=lambda group, topic: known.get((group, topic)),
            without=lambda group, topic: (group, topic) in without,
            # how long no pass could be made, as a broker that is asked for the members was away (RB-4)
            away=lambda since, until: covered(outages, since, until),
            still=lambda name, run, since, until: covered(still.of_client(Actor(name, run)), since, until),
        )
        self._seen = _Balanced()

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        """Process events."""
        within, ask = self._within, self._asked
        columns = ("kind", "time", "group", "client", "incarnation", "broker", "topic", "subscriptions", "queues")
        kinds = (Kind.REBALANCE, Kind.HEARTBEAT, Kind.ROUTE, *ENDS)
        for kind, time, *who, topic, subscriptions, queues in events.rows(*columns, kinds=kinds, span=span):
            if kind == Kind.REBALANCE:
                self._client(*who).balances(time, topic or "", within, ask)
            elif kind == Kind.HEARTBEAT:
                client = self._client(*who)
                client.keeps_running(time, who[-1] or "", within, ask)
                if subscriptions is not None and subscriptions != client.said:
                    client.heartbeat(time, subscriptions, ask)
            elif kind in ENDS:
                self._end(*who[:3])
            elif who[1] and queues is not None:
                self._client(*who).learns(time, topic or "", queues)

    def carried(self) -> Plain:
        """The present state."""
        return {"asked": self._asked.carried(), "seen": plain(self._seen)}

    def carry_on(self, _events: ContextEvents, known: Plain) -> bool:
        """Take over a state, if what was asked about the whole recording is answered as it was."""
        if not self._asked.carry_on(known["asked"]):
            return False
        self._seen = restored(_Balanced, known["seen"])
        return True

    def finish(self, notebook: Notebook) -> None:
        """All events have been processed: record what was left out."""
        for who in list(self._seen.clients):
            self._close(who)
        notebook.judge(CLAIM, self._seen.judged)
        for group, actor, left_out in self._seen.left_out:
            self._note(group, actor, left_out, notebook)

    def _client(self, group: str | None, client: str | None, incarnation: int | None, broker: str | None) -> _Client:
        found = self._seen.clients.get((group, client, incarnation))
        if found is None:
            # Nobody knows yet what the name server has.
            found = _Client(actor_named(client, incarnation, broker), group or "")
            self._seen.clients[group, client, incarnation] = found
        return found

    def _end(self, ends_in: str | None, client: str | None, incarnation: int | None) -> None:
        for who in list(self._seen.clients):
            if who[1:] == (client, incarnation) and ends_in in (None, "", who[0]):
                self._close(who)

    def _close(self, who: tuple[str | None, str | None, int | None]) -> None:
        client = self._seen.clients.pop(who)
        if client.passes or client.behind:
            self._seen.judged += len(client.consumed)
        left_out = sorted([*client.left_out, *((*span, topic) for topic, span in client.behind.items())])
        # Topics that are left out at overlapping times are one finding.
        for together in overlapping(left_out, itemgetter(0, 1)):
            self._seen.left_out.append((client.group, client.actor, together))

    def _note(self, group: str, actor: Actor, left_out: list[tuple[int, int, str]], notebook: Notebook) -> None:
        topics = sorted({topic for _, _, topic in left_out})
        until = max(until for _, until, _ in left_out)
        recorded = any(self._would_be_recorded(group, actor, topic, until) for _, until, topic in left_out)
        notebook.violation(
            CLAIM,
            slot=whole(group, topics[0] if len(topics) == 1 else ""),
            since=min(since for since, _, _ in left_out),
            time=until,
            actor=actor,
            value=len(topics),
            doubt=Doubt.NONE if recorded else Doubt.EVIDENCE,
        )

    def _would_be_recorded(self, group: str, actor: Actor, topic: str, time: int) -> bool:
        """Whether a pass over the topic would be recorded: RocketMQ logs only passes that change something.

        A recording that has passes without a change, or the routes of a client that makes none, has all of them; and a
        pass that had to change something would be in any recording. A topic of which no client saw a queue is silently
        skipped (RB-3).
        """
        told = self._told if group else self._common
        passes = [run for run in told.of(group, Kind.REBALANCE) if run.first <= time]
        routes = self._common.of("", Kind.ROUTE) + self._told.of(group, Kind.ROUTE)
        routes = [run for run in routes if run.first <= time]
        queues = next((run.queues for run in reversed(passes + routes) if run.topic == topic and run.queues), None)
        if queues is None:
            return False
        mine = [run for run in passes if run.actor == actor]
        if not mine or any(run.count > 1 for run in passes):
            return True
        members = next((run.members for run in reversed(mine) if run.members), None)
        before = next((run for run in reversed(mine) if run.topic == topic), None)
        if members is None:
            return False
        last = before if before is not None else replace(mine[-1], topic=topic, assigned=[])
        return answers_otherwise(last, strategy=self._names.strategy(group), members=members, queues=queues)
