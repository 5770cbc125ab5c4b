"""The order of what brokers do, for the monitor of groups' steps: starts and ends, tables, and lists of members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from ...claims.group_steps import GroupMisstep
from ...claims.settings import Settings
from ...clocks.order import Order
from ...encoding.context_folds import Asked
from ...encoding.names import Actor
from ...engine.context import Context, brokers_of
from ...format.coverage import EVER
from ...format.kinds import Kind, Result
from ...format.schema import is_of_slave, master_of, may_change_master, slave_of
from .group_records import WITHIN, Acted, Broker, Event, GroupMissteps, Member

_FILES = (Kind.FILE_LOAD, Kind.FILE_PERSIST)
_WELL = (None, "", Result.OK)

UNWRITTEN, SOME, LATE = 60_000, 2, 10_000
"""OF-23, DL-4: a table is written every 5 or 10 s; after so many times, it is not delayed for this long, ms."""


_Answers = tuple[Any, list[tuple[str, ...]], int]
"""Of a broker: the times of its lists of members, ms, the lists, and how far its clock may be from that of who asks."""


class BrokerSteps:
    """What each broker has done in the events processed so far."""

    def __init__(
        self, context: Context, settings: Settings, asked: Asked, acted: Acted, missteps: GroupMissteps
    ) -> None:
        self._context, self._settings, self._missteps = context, settings, missteps
        self._ask, self._acted, self._brokers = asked, acted, acted.brokers
        self._order = Order(context.clocks, settings.skew)
        self._distances: dict[tuple[Actor, Actor], int] = {}
        self._asked: dict[tuple[Actor, str, frozenset[str]], list[_Answers]] = {}

    def take(self, event: Event) -> None:
        """Process an event, if it is one of a broker.

        Several slaves of a broker have the same name, and one that becomes the master gives it up: of slaves, only what
        they report about members counts, and that they were there to be asked.
        """
        take = _TAKEN.get(event["kind"])
        if may_change_master(event):
            name = master_of(event.get("broker") or "")
            self._brokers.setdefault(name, Broker(Actor(name, -1))).elections.append(event["time"])
        if take is not None and (take is BrokerSteps.members or not is_of_slave(event)):
            take(self, event)

    def start(self, event: Event) -> None:
        """A broker starts."""
        broker = self._broker(event)
        if broker.runs:
            self._missteps.note(GroupMisstep.BROKER_TWICE, broker, event, since=broker.since)
        if broker.loaded is False:
            self._missteps.note(GroupMisstep.NOT_LOADED, broker, event)
        # The first start may be with an empty store, which has no files yet.
        elif (broker.read or broker.starts) and not broker.read.issuperset(
            self._ask("tables", event.get("broker") or "")
        ):
            self._missteps.note(GroupMisstep.NOT_READ, broker, event)
        self._begin(broker, event["time"])

    def change(self, event: Event) -> None:
        """Another process with that name is the master from now on, with tables that it has read long ago."""
        broker = self._broker(event)
        self._begin(broker, event["time"])
        broker.heard = EVER

    @staticmethod
    def _begin(broker: Broker, time: int) -> None:
        broker.runs, broker.since, broker.loaded = True, time, None
        broker.read.clear()
        broker.written.clear()
        broker.starts.append(time)
        for lists in broker.lists.values():
            lists.append((time, ()))

    def end(self, event: Event) -> None:
        """A broker stops, or has died."""
        is_new = self._acted.loads and self._context.complete and event.get("broker") not in self._brokers
        broker = self._broker(event)
        # ProxyStartup and BrokerStartup each shut down the broker of a local proxy.
        is_again = broker.runs is False and event["time"] - broker.since > WITHIN
        if event["kind"] == Kind.BROKER_STOP and (is_again or is_new):
            self._missteps.note(GroupMisstep.BROKER_TWICE, broker, event, since=broker.since)
        if event["kind"] == Kind.BROKER_STOP:
            self._hear(broker, event)
        broker.runs, broker.since, broker.loaded = False, event["time"], None
        broker.read.clear()
        broker.written.clear()
        broker.ends.append(event["time"])

    def file(self, event: Event) -> None:
        """A broker reads or writes a table."""
        if is_of_slave(event):
            return
        broker = self._broker(event)
        if event["kind"] == Kind.FILE_LOAD:
            self._acted.loads = True
            broker.read.add(event.get("detail") or "")
            broker.loaded = event.get("result") in _WELL
        elif event.get("result") in _WELL:
            self._runs(broker, event)
            last, longest, count = broker.written.get(event.get("detail") or "", (event["time"], 0, 0))
            self._hear(broker, event)
            longest = max(longest, event["time"] - last)
            broker.written[event.get("detail") or ""] = event["time"], longest, count + 1

    def members(self, event: Event) -> None:
        """A broker reports the members of a group."""
        if event.get("client") or event.get("members") is None:
            return
        broker = self._broker(event)
        if not is_of_slave(event):
            self._runs(broker, event)
            self._hear(broker, event)
        told = tuple(sorted(event["members"]))
        broker.lists.setdefault(event.get("group") or "", [(EVER, ())]).append((event["time"], told))

    def _hear(self, broker: Broker, event: Event) -> None:
        """Check whether a broker that is heard of, not only since it stood still, has written its tables."""
        time, is_stop = event["time"], event["kind"] == Kind.BROKER_STOP
        for last, longest, count in broker.written.values():
            limit = max(UNWRITTEN, SOME * longest)
            goes_on = is_stop or last + limit < broker.heard < time - LATE
            if count >= SOME and time - last > limit and goes_on:
                self._missteps.note(GroupMisstep.UNWRITTEN, broker, event, since=last)
        if not broker.heard > time - LATE or broker.heard == EVER:
            broker.heard = time

    def _runs(self, broker: Broker, event: Event) -> None:
        stopped = broker.runs is False and event["time"] - broker.since > WITHIN
        not_yet = broker.runs is None and self._acted.loads and self._context.complete
        # It writes what it has loaded every few seconds, even if its start takes longer.
        is_early = event["kind"] == Kind.MEMBERS or broker.loaded is None
        if (stopped or not_yet) and is_early:
            self._missteps.note(GroupMisstep.BROKER_NOT_RUNNING, broker, event, since=broker.since)

    def is_away(self, name: str, time: int) -> bool:
        """Whether a broker is known to be gone, or clients may believe so."""
        learnt = self._settings.route_poll + self._settings.rebalance
        return name in self._brokers and self._brokers[name].is_away(time, learnt)

    def wrong_answer(self, member: Member, queues: Sequence[str], members: tuple[str, ...], times: Any) -> int | None:
        """Which of a process's passes over these queues is the first for which no broker had that list of members when
        it was asked; None if there is none. To be called when all events were processed.

        Args:
            member: the process.
            queues: what was divided.
            members: the list, sorted.
            times: times of the passes, ms, an array.
        """
        brokers = brokers_of(queues)
        asked = member.actor, member.group, brokers
        if asked not in self._asked:
            self._asked[asked] = self._may_answer(member, brokers)
        answers = self._asked[asked]
        is_right = np.full(len(times), not answers)
        for at, lists, slack in answers:
            if not self._context.complete:
                is_right |= times < at[1] + slack  # nobody knows what it had before its first list
            same = np.cumsum([0, *(told == members for told in lists)])
            begun = np.maximum(np.searchsorted(at, times - slack, "right") - 1, 0)
            is_right |= same[np.searchsorted(at, times + slack, "right")] > same[begun]
        for number in np.flatnonzero(~is_right).tolist():
            if not any(self.is_away(name, int(times[number])) for name in brokers):
                return int(number)
        return None

    def _may_answer(self, member: Member, brokers: Set[str]) -> list[_Answers]:
        """What the brokers that a process may ask had as members of its group; empty if this is not known."""
        known = [self._brokers[name] for name in brokers if name in self._brokers]
        if not known or len(known) < len(brokers):
            return []
        known += [self._brokers[name] for name in map(slave_of, brokers) if name in self._brokers]
        lists = [broker.lists.get(member.group) for broker in known]
        if not all(lists) or not all(map(self._is_bounded, (member.actor, *(broker.actor for broker in known)))):
            return []
        return [
            (
                np.array([at for at, _ in one]),
                [told for _, told in one],
                WITHIN + self._apart(member.actor, broker.actor),
            )
            for broker, one in zip(known, lists, strict=True)
            if one
        ]

    def _is_bounded(self, actor: Actor) -> bool:
        """Whether the distance of its clock from the others is known, if some of them were seen to be off."""
        clock = self._context.clocks.clocks.get(actor)
        return not self._context.clocks.corrects or (clock is not None and clock.uncertainty is not None)

    def _apart(self, one: Actor, other: Actor) -> int:
        """How far two clocks may be apart to either side, ms: the bounds of their clocks, if there are any."""
        found = self._distances.get((one, other))
        if found is None:
            clocks = filter(None, map(self._context.clocks.clocks.get, (one, other)))
            known = [side for clock in clocks for side in (clock.slow, clock.fast) if side is not None]
            found = max(self._order.apart(one, other), self._order.apart(other, one), sum(known))
            self._distances[one, other] = found
        return found

    def _broker(self, event: Event) -> Broker:
        name = event.get("broker") or ""
        return self._brokers.setdefault(name, Broker(Actor(name, -1)))


def tables_in(context: Context) -> Mapping[str, Sequence[str]]:
    """The tables of each broker that is recorded as reading any: those that it reads or writes."""
    files = context.events.different("client", "kind", "broker", "detail", kinds=_FILES)
    files = [file for file in files if not file[0] and file[3]]
    reading = {broker for _, kind, broker, _ in files if kind == Kind.FILE_LOAD}
    tables: dict[str, set[str]] = {}
    for _, _, broker, table in files:
        if broker in reading:
            tables.setdefault(broker or "", set()).add(table)
    return {broker: sorted(of_broker) for broker, of_broker in tables.items()}


_TAKEN: Mapping[str, Callable[[BrokerSteps, Event], None]] = {
    Kind.BROKER_START: BrokerSteps.start,
    Kind.BROKER_STOP: BrokerSteps.end,
    Kind.BROKER_CRASH: BrokerSteps.end,
    Kind.ROLE_CHANGE: BrokerSteps.change,
    Kind.MEMBERS: BrokerSteps.members,
}
