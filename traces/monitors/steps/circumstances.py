"""Circumstances of a misstep, which may explain it: what the context says about brokers, processes and passes.

A fold works on one queue; that its broker was restarted, or its process is about to leave, is recorded elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...claims.settings import Settings
from ...claims.steps import Misstep
from ...clocks.order import Order, gaps
from ...encoding.context_events import ContextEvents
from ...encoding.names import ORDERLY, Actor, Names
from ...engine.context import Context, actor_of, brokers_of
from ...format.kinds import BROKER_RUNS, CLIENT_ENDS, Kind, Path, codes
from ...format.schema import is_of_slave, master_of, may_change_master
from ..groups.subscriptions import parse_subscription
from ..standstills import Standstills
from ..terms import NEVER
from .pulls import HELD, PAUSED
from .state import APART, LATE, SILENCE
from .windows import STUCK, STUCK_ORDERLY, UNLOCKS

_SHUTDOWN = codes(Path)[Path.SHUTDOWN]
_MAY_LOSE = (Kind.BROKER_CRASH, Kind.ROLE_CHANGE)
_OF_BROKERS = (Kind.MEMBERS, Kind.FILE_PERSIST, Kind.FILE_LOAD, Kind.BROKER_STOP)
_ROUTES = (Kind.ROUTE, Kind.REBALANCE)
_LEAVES = CLIENT_ENDS | {Kind.UNREGISTER}

STOPPING = 30_000
"""A broker that stops closes its connections first, and ends at most this much later, ms.

``BrokerController#shutdown``.
"""


SOME = 3
"""So many heartbeats to another broker show that a client sends them."""


@dataclass
class _Said:
    """What a process has said in its passes and heartbeats.

    Attributes:
        passes: times of its passes, by group; ``beats``: of its heartbeats, ms.
        told: when each broker got a heartbeat of it; ``answered``: when each has answered it.
        shares: what it last gave itself, by group and topic.
        routes: the brokers of each topic as it knew them, with the times.
    """

    passes: dict[str, list[int]] = field(default_factory=dict)
    beats: list[int] = field(default_factory=list)
    told: dict[str, list[int]] = field(default_factory=dict)
    answered: dict[str, list[int]] = field(default_factory=dict)
    shares: dict[tuple[str, str], Collection[str]] = field(default_factory=dict)
    routes: dict[str, list[tuple[int, Collection[str]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, events: ContextEvents, actor: Actor) -> _Said:
        """What it has said in all events."""
        said = cls()
        names = ("kind", "time", "group", "topic", "broker", "members", "queues", "assigned")
        kinds = (Kind.HEARTBEAT, *_ROUTES)
        for kind, time, group, topic, broker, members, queues, assigned in events.rows(*names, kinds=kinds, of=actor):
            brokers = brokers_of(queues or ())
            if kind == Kind.REBALANCE:
                said.passes.setdefault(group or "", []).append(time)
                said.shares[group or "", topic or ""] = assigned or ()
                # RB-4: some broker of the topic has answered who is in the group.
                if len(brokers) == 1 and members:
                    said.answered.setdefault(min(brokers), []).append(time)
            elif kind == Kind.HEARTBEAT:
                said.beats.append(time)
                if broker:
                    said.told.setdefault(broker, []).append(time)
                    said.answered.setdefault(broker, []).append(time)
            if kind in _ROUTES and queues:
                said.routes.setdefault(topic or "", []).append((time, brokers))
        return said


class Circumstances:
    """What happened around the queues of a trace.

    Attributes:
        heard: until when a broker that never lost anything is heard of, by its name, ms.
    """

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self._names, self._context = names, context
        self._order = Order(context.clocks, settings.skew)
        self.heard: dict[str, int] = {}
        self._restarts: dict[str, list[int]] = {}
        self._starts: dict[str, set[int]] = {}
        self._stops: dict[str, list[int]] = {}
        self._elections: dict[str, list[int]] = {}
        self._gaps: dict[str, list[tuple[int, int]]] = {}
        self._ends: dict[tuple[Actor, str], list[int]] = {}
        self._left: dict[tuple[Actor, str], list[int]] = {}
        self._events, self._rounds = context.events, settings.rounds
        self._silent = settings.silent_death
        self._end = context.end
        named = (broker for (broker,) in context.events.different("broker"))
        self._with_slaves = {master_of(str(broker)) for broker in named if is_of_slave({"broker": broker})}
        beats = context.events.different("detail", "broker", kinds=(Kind.HEARTBEAT,))
        self._to_slaves = {bool(broker) for detail, broker in beats if (detail or "").startswith("to ")} == {
            True,
            False,
        }
        self._learnt = settings.route_poll + settings.persist + SILENCE
        for event in context.events.of_kinds(*BROKER_RUNS, Kind.GAP, *_LEAVES):
            name = event.get("broker") or ""
            if event["kind"] in BROKER_RUNS:
                self._restarts.setdefault(name, []).append(event["time"])
                if event["kind"] == Kind.BROKER_START:
                    self._starts.setdefault(name, set()).add(event["time"])
                if may_change_master(event):
                    self._elections.setdefault(master_of(name), []).append(event["time"])
                if event["kind"] == Kind.BROKER_STOP:
                    self._stops.setdefault(name, []).append(event["time"])
            elif event["kind"] == Kind.GAP and name:
                since = context.begin if event.get("due") is None else event["due"]
                self._gaps.setdefault(name, []).append((since, event["time"]))
            elif event["kind"] in _LEAVES:
                # ST-8: a consumer that leaves ends in its own group only; a process that dies, in all.
                group = "" if event["kind"] == Kind.CLIENT_CRASH else event.get("group") or ""
                self._ends.setdefault((actor_of(event), group), []).append(event["time"])
                if event["kind"] == Kind.UNREGISTER:
                    self._left.setdefault((actor_of(event), group), []).append(event["time"])
        heard = context.events.spans("client", "broker", kinds=_OF_BROKERS)
        for (client, broker), (_, last) in heard.items():
            if not client:
                self.heard[broker or ""] = max(self.heard.get(broker or "", last), last)
        unsure = {event.get("broker") or "" for event in context.events.of_kinds(*_MAY_LOSE)}
        for broker in unsure | self._gaps.keys() | {name for name in self._starts if self._has_died(name)}:
            self.heard.pop(broker, None)

    def _has_died(self, broker: str) -> bool:
        """Whether a broker was started again without an orderly stop, after which nothing is lost (OF-23)."""
        starts, stops = sorted(self._starts[broker]), self._stops.get(broker, ())
        return any(not any(before < stop <= start for stop in stops) for before, start in pairwise(starts))

    @cached_property
    def _still(self) -> Standstills:
        return self._events.once(Standstills.of, self._rounds)

    @cached_property
    def _expressions(self) -> dict[tuple[str, str], set[str]]:
        """The filters of each group's topics."""
        found: dict[tuple[str, str], set[str]] = {}
        for group, subscriptions in self._events.different("group", "subscriptions", kinds=(Kind.HEARTBEAT,)):
            for text in subscriptions or ():
                topic, expression, _ = parse_subscription(text)
                found.setdefault((group or "", topic), set()).add(expression or "*")
        return found

    def _of(self, line: Any) -> _Said:
        """What the process of a line has said."""
        return self._of_actor(int(line["actor"]))

    def _of_actor(self, code: int) -> _Said:
        return self._events.once(_Said.of, self._names.actors[code])

    def cover(self, line: Any, misstep: int, found: Any, lines: Any) -> bool:
        """Whether a restart of the broker, or the end of the process, excuses a misstep.

        Args:
            line: line of the process and queue, see :data:`.state.LINE`.
            misstep: its kind.
            found: what was recorded about it.
            lines: the lines of all processes and queues.
        """
        slot = self._names.slots[line["slot"]]
        broker = slot.broker
        times, gaps = self._restarts.get(broker, ()), self._gaps.get(broker, ())
        actor = self._names.actors[line["actor"]]
        ends = [time for group in ("", slot.group) for time in self._ends.get((actor, group), ())]
        since, until = int(found["since"]), int(found["time"])
        apart = int(self.apart(line))
        if misstep in (Misstep.LOCKED_TWICE, Misstep.REFUSED_FREE):
            apart = APART + self._order.widest  # another client is concerned, too
        if misstep == Misstep.OTHER_BATCH:
            return not self._context.complete and until <= self._context.begin  # it may begin in mid-batch
        if misstep == Misstep.NOT_PULLED_ON:
            if found["expected"] == PAUSED:
                away = [*((time, time) for time in times), *gaps]
                is_away = any(begin - LATE <= until and since - LATE <= end for begin, end in away)
                if is_away or self.answered_before(line, until - SILENCE) <= since + LATE:
                    return True
            return not self._is_idle(line, since, until, apart)
        if misstep == Misstep.LEFT_OUT:
            # Messages before the beginning of the queue may be removed while a pull reads them.
            return line["beginning"] > found["offset"] or self._expressions.get((slot.group, slot.topic)) != {"*"}
        if misstep in (Misstep.NOT_ANSWERED, Misstep.REFUSED_FREE):
            answered = self._of(line).answered.get(broker, ())
            # Unlocking is one-way: only other answers at that time show that the broker received it.
            waits = [(since + LATE, until)]
            if misstep == Misstep.REFUSED_FREE and found["expected"] == line["actor"]:
                waits = [(since, until + LATE)]  # it has the lock itself, and has unlocked nothing
            elif misstep == Misstep.REFUSED_FREE:
                given = self._of_actor(int(found["expected"])).answered.get(broker, ())
                if found["expected"] >= 0 and not any(since - LATE < time < since + apart for time in given):
                    return True
            if misstep == Misstep.NOT_ANSWERED:
                waits = [(begin, begin + HELD) for begin in (since, int(found["expected"]))]
            is_heard = all(any(begin < time < end for time in answered) for begin, end in waits)
            restarts = any(since - LATE <= time <= until + apart for time in times)
            restarts |= any(until <= time <= until + STOPPING for time in self._stops.get(broker, ()))
            lost = any(begin <= until and since - LATE <= end for begin, end in gaps)
            return not is_heard or restarts or lost
        if misstep == Misstep.OLD_OFFSET:
            # What is sent to a broker that stands still is stored, and recorded, when it goes on.
            still = [(begin, end) for name, begin, end in self._still.of_brokers if name == broker]
            return any(begin <= until <= end + LATE for begin, end in still)
        if misstep == Misstep.NOT_RENEWED:
            # OR-9: one thread renews the locks of all brokers, and requests missing ones, with 1 s for each if a broker
            # does not answer: this delays the others.
            away = [(time, time) for restarts in self._restarts.values() for time in restarts]
            away += [span for gaps in self._gaps.values() for span in gaps]
            away += [(begin, end) for _, begin, end in self._still.of_brokers]
            return any(begin - LATE <= until and since - LATE <= end for begin, end in away)
        if misstep in (Misstep.LEFT_UNSTORED, Misstep.NOT_WRITTEN):
            # ST-8: offsets are stored before the process leaves its group, while listeners still return.
            is_last = any(time - APART <= line["unstored_at"] and time <= since for time in ends)
            if is_last or misstep == Misstep.NOT_WRITTEN:
                return is_last
            # A process that ends with its broker, which no longer answers any pull, learns of no route without it. Its
            # own connections it closes only after it has left its group.
            stops = any(since <= time <= since + STOPPING for time in self._stops.get(broker, ()))
            closes = [*self._left.get((actor, slot.group), ())] or [time - APART for time in ends]
            closes = [time for time in closes if since - LATE <= time <= since + LATE]
            brokers, _ = self._of_brokers
            beside = (lines["actor"] == line["actor"]) & (brokers[lines["slot"]] == brokers[line["slot"]])
            failed = lines["vain_at"][beside & (lines["vain_at"] > since - STOPPING)]
            if stops and closes and any(failed < min(closes)):
                return True
            return self._is_unheard(line, since, since) or self._is_out_of_route(line, since)
        if misstep == Misstep.NOT_UNLOCKED:
            if found["expected"] == _SHUTDOWN:
                # OR-9: queues that its last pass had taken away before it ended were no longer its own.
                is_own = f"{broker}:{slot.queue}" in self._of(line).shares.get((slot.group, slot.topic), ())
                return not is_own or self._is_unheard(line, since, since)
            # Requests that wait when the process ends, or stands still, are not sent.
            until = since + UNLOCKS + SILENCE
            is_alive = any(until < time for time in self._of(line).passes.get(slot.group, ()))
            return not is_alive or self._is_unheard(line, since, until) or self._is_out_of_route(line, since)
        if misstep == Misstep.PULLED_UNLOCKED:
            # A request for a lock that nobody answers is no refusal; the first agents recorded both alike.
            return self._is_unheard(line, since, until)
        if misstep == Misstep.UNLOCKED_BUSY:
            # ST-8: a shutdown gives back all locks at once, whatever its listeners do.
            return any(until - LATE <= time <= until + LATE for time in ends)
        if misstep == Misstep.NOT_DISCARDED:
            return any(since <= time <= since + LATE for time in ends)
        if misstep == Misstep.LOCKED_TWICE:
            is_same = actor.name == self._names.actors[found["expected"]].name
            # Each master has its own locks, and clients learn one after the other which process is the master.
            # A slave that acts as master grants locks, too, until clients learn that it does not.
            elections = [*self._elections.get(broker, ()), *(times if broker in self._with_slaves else ())]
            is_same |= any(since - self._learnt <= time <= until + apart for time in elections)
            return is_same or any(since - apart <= time <= until + apart for time in times)
        if misstep == Misstep.NOT_PERSISTED:
            # The thread that stores offsets also sends heartbeats; after a pause, it sends all that is overdue at once.
            is_silent = not any(since + LATE < time <= until - LATE for time in self._of(line).beats)
            return is_silent or self._is_unheard(line, since, until)
        if misstep in (
            *(Misstep.END_BACK, Misstep.NOT_STORED, Misstep.STORED_TWICE),
            *(Misstep.LED_BEYOND, Misstep.NOT_SET, Misstep.OUT_OF_TURN, Misstep.TARDY),
        ):
            # PullAPIWrapper#recalculatePullFromWhichNode: a slave may answer instead of its master, and is behind it.
            # Heartbeats name the master that they reach, so those that name none reach slaves, recorded or not.
            may_be_behind = misstep in (Misstep.END_BACK, Misstep.LED_BEYOND)
            has_slave = may_be_behind and (self._to_slaves or broker in self._with_slaves)
            if misstep in (Misstep.OUT_OF_TURN, Misstep.TARDY):
                # EscapeBridge#putMessage: a slave that acts as master delivers here what waits at another broker.
                has_slave = any(
                    begin - STOPPING <= until and since <= end + STOPPING
                    for name, begin, end in self._still.away
                    if name in self._with_slaves
                )
            return has_slave or any(since - apart <= time <= until + apart for time in times)
        if misstep == Misstep.NO_SHUTDOWN:
            return self._end - until <= LATE or any(abs(time - until) <= LATE for time in ends)
        return False

    def apart(self, lines: Any) -> Any:
        """For each line, how far the records of its process and its broker may deviate from their order, ms."""
        brokers, order = self._of_brokers
        brokers = brokers[lines["slot"]]
        there, back = gaps(order, lines["actor"], brokers), gaps(order, brokers, lines["actor"])
        return APART + np.maximum(there, back)

    @cached_property
    def _of_brokers(self) -> tuple[Any, Any]:
        """The actor code of the broker of each slot, and the order of all actors."""
        brokers = [self._names.actor(Actor(slot.broker, -1)) for slot in self._names.slots]
        return np.array(brokers, np.int64), self._order.table(self._names.actors)

    def takes_all(self, line: Any) -> bool:
        """Whether a group takes all messages of a topic; a broker's line stands for any group."""
        slot = self._names.slots[line["slot"]]
        if self._names.actors[line["actor"]].incarnation < 0:
            return True
        return self._expressions.get((slot.group, slot.topic)) == {"*"}

    def answered_before(self, line: Any, time: int) -> Any:
        """When a broker last answered another request of a process before ``time``; NEVER if it did not."""
        broker = self._names.slots[line["slot"]].broker
        answered = self._of(line).answered.get(broker, ())
        return max((at for at in answered if at < time), default=NEVER)

    def is_reached(self, line: Any) -> bool:
        """RB-4: whether a broker answered a process who is in the group while its pulls there were refused.

        Otherwise the network may have been cut: nobody records why a request failed.
        """
        broker = self._names.slots[line["slot"]].broker
        answered = self._of(line).answered.get(broker, ())
        return any(line["vain_at"] + LATE < time < line["vain"] for time in answered)

    def unheard_since(self, line: Any) -> Any:
        """When a process last sent a heartbeat to the broker of a queue, if it pulled the queue long after that, and
        sent heartbeats to another broker meanwhile; otherwise NEVER.

        Heartbeats that name no broker reach slaves, which may also answer pulls.
        """
        broker = self._names.slots[line["slot"]].broker
        said = self._of(line)
        told, beats = said.told.get(broker, []), said.beats
        until = int(line["told_at"])
        since = told[place - 1] if (place := bisect_right(told, until)) else NEVER
        if since == NEVER or until - since <= self._silent or self._to_slaves or broker in self._with_slaves:
            return NEVER
        if line["vain"] > since or any(since <= time <= until for time in self._restarts.get(broker, ())):
            return NEVER  # neither reached the broker for a while
        return since if bisect_right(beats, until) - bisect_right(beats, since + LATE) >= SOME else NEVER

    def _is_idle(self, line: Any, since: int, until: int, apart: int) -> bool:
        """Whether a process pulled nothing for long although it was running and its broker answered all the time.

        A client suspended by its application makes no passes (RB-3), and makes one as soon as it is resumed. A stopping
        broker still serves as long as it answers who is in the group (RB-4).
        """
        slot = self._names.slots[line["slot"]]
        broker, group = slot.broker, slot.group
        answered = self._of(line).answered.get(broker, ())
        away = [
            (max([time - LATE, *(at for at in answered if at < time)]), time + LATE + apart)
            for time in self._restarts.get(broker, ())
        ]
        away += [(begin - LATE, end + LATE) for begin, end in self._gaps.get(broker, ())]
        starts = self._starts.get(broker, set())
        times = since, *self._restarts.get(broker, ())
        away += [(before, time) for before, time in pairwise(times) if time in starts]
        passes = self._of(line).passes.get(group, ())
        longest, begin = STUCK_ORDERLY if self._names.flags[line["slot"]] & ORDERLY else STUCK, since
        for left, right in sorted([*away, (until, until)]):
            end = min(left, until)
            is_awake = any(begin + APART < time < end - SILENCE for time in passes)
            if end - begin > longest and is_awake:
                return True
            begin = max(begin, right)
        return False

    def _is_out_of_route(self, line: Any, time: int) -> bool:
        """Whether a process no longer knows a queue of the broker, and therefore has no address to send to (ST-3).

        A broker that stops leaves the route and closes its connections first, and continues for a while. Clients that
        have not polled routes since learn of it later.
        """
        slot = self._names.slots[line["slot"]]
        routes = self._of(line).routes.get(slot.topic, ())
        known = [brokers for at, brokers in routes if at <= time + APART]
        if known and slot.broker not in known[-1]:
            return True
        stops = any(time <= stop <= time + STOPPING for stop in self._stops.get(slot.broker, ()))
        later = (brokers for at, brokers in routes if time + APART < at < time + STOPPING + self._learnt)
        return stops and any(slot.broker not in brokers for brokers in later)

    def _is_unheard(self, line: Any, since: int, until: int) -> bool:
        """Whether a process's requests to a broker may be lost: the broker is down, or about to end (OF-20).

        Until clients learn that it is back, they send to its slave, if there is one (OF-4).
        """
        broker = self._names.slots[line["slot"]].broker
        times, gaps = self._restarts.get(broker, ()), self._gaps.get(broker, ())
        if any(begin - SILENCE <= until and since <= end + SILENCE for begin, end in gaps):
            return True
        before = [time for time in times if time <= until + SILENCE]
        began = min((passes[0] for passes in self._of(line).passes.values()), default=NEVER)
        is_newer = before and began > before[-1]  # it has learnt of the broker since
        learnt = SILENCE if is_newer else self._learnt
        is_up = before and before[-1] < since - learnt and before[-1] in self._starts.get(broker, ())
        return bool(before) and not is_up
