"""Logs of clients: ``rocketmq_client.log`` of 4.9 and 5.x, or the application's log if the client is configured to use
it.

They show when queues were taken and given up, offsets stored, locks won and lost, and what went wrong; they do not show
successful deliveries, send-backs that were stored, or offsets that travelled with a pull. Most messages do not name the
client: it is the one that the nearest message of the same process and group names (see :meth:`_Names.client_of`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...format.kinds import Kind, Result
from ...format.kinds import Path as Way
from ...format.problems import Problems
from ...format.schema import Header
from .client_messages import CLIENT_EVIDENCE, CLIENT_TABLE, EXPIRES, MODE, RESUMES
from .log_line import CLIENT_4, CLIENT_5, PLAIN, LogLine, layout_of
from .log_table import Groups, Told, told_again, told_lines
from .protocol import Event, Imported, Importer

RESET_PAUSE = 10_000
"""Pause of ``MQClientInstance#resetOffset`` before it sets offsets; ms."""

RESET_WORK = 10_000
"""A commit within this time after the pause, made because its queue is given up, counts as a part of the reset; ms.

Several brokers pass on one reset, and the client works through them one after the other, each with a pause of its own.
"""

STAMP = 1_000
"""Resolution of the logs of 4.7, which repeat the seconds where the milliseconds should be; ms."""

STATUS = 1_000
"""The status of a call that threw an exception is logged at once, ms."""

# The message that names the client of a rebalance round comes after those of the round.
_TOLD_BEFORE = frozenset({Kind.ASSIGN, Kind.REVOKE, Kind.LOCK, Kind.PULL})


@dataclass(frozen=True, kw_only=True)
class ClientLog(Importer):
    """Reads logs of clients."""

    name: str = "client-log"
    zone: str | None = None  # time zone; None: GMT+8 for the layout of 5.x, whose configuration sets it, UTC for others
    client: str | None = None  # client id of messages that do not name one; from other messages if None

    def detects(self, head: str, name: str) -> bool:
        """Whether one of the first lines has the layout of a client's log, or a client's message in another layout."""
        # With rocketmq-tools on its class path, a client writes to tools_default.log, as brokers do.
        return any(
            layout is CLIENT_5
            or (layout is CLIENT_4 and parts["logger"] == "RocketmqClient")
            or (layout is not PLAIN and _fits(parts["message"]))
            for layout, parts in filter(None, map(layout_of, head.split("\n")))
        )

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file twice: for the names that events need, and for the events."""
        names = _Names()
        skipped: Counter[str] = Counter()
        numbers = told_lines(path, CLIENT_TABLE, problems, skipped, zone=self.zone, note=names.note)
        return Imported(
            header=Header(
                source=f"client log ({path.name}), times as {self.zone or ' and '.join(sorted(names.zones)) or 'UTC'}",
                evidence=frozenset(names.kinds & CLIENT_EVIDENCE),
                release="4.9.8" if names.old else "5.3.3",
                groups=names.groups.known(),
            ),
            events=self._events(path, numbers, names, skipped),
            skipped=skipped,
        )

    def _events(self, path: Path, numbers: Sequence[int], names: _Names, skipped: Counter[str]) -> Iterator[Event]:
        course, incarnations = _Course(), _Incarnations()
        for line, told in told_again(path, CLIENT_TABLE, numbers, zone=self.zone):
            course.note(told)
            if course.tells_again(told):
                skipped["told by other messages"] += 1
                continue
            if names.is_of_producer(told.events):
                skipped["start or end of a client that consumes in no group"] += 1
                continue
            for event in (each for single in told.events for each in course.settle(single)):
                if event["kind"] == Kind.ROUTE:
                    yield event
                    continue
                if not event.get("group"):
                    event["group"] = names.group_of(event)
                unknown = "group" if not event.get("group") and event["kind"] not in _OF_PROCESSES else ""
                if not event.get("client"):
                    unknown = unknown or ("client" if names.has_several(event, line) else "")
                    event["client"] = self.client or names.client_of(event, line) or line.process or path.name
                if unknown:
                    skipped[f"events of no known {unknown}, each a gap"] += 1
                yield from [_gap(event, unknown)] if unknown else incarnations.of(event)
            if not told.events:
                skipped["told by other messages"] += 1


_OF_PROCESSES = frozenset({Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.FILE_LOAD, Kind.FILE_PERSIST})


def _gap(event: Event, unknown: str) -> Event:
    """What is known about an event whose group, or client, the log does not state."""
    names = ("time", "group", "client", "topic") if unknown == "group" else ("time", "group", "topic")
    told = {name: event[name] for name in names if event.get(name) is not None}
    return {**told, "kind": Kind.GAP, "due": event["time"], "detail": f"{event['kind']} of no known {unknown}"}


def _fits(message: str) -> bool:
    rows = CLIENT_TABLE.rows
    return any(row.fixed and row.contains in message and row.pattern.search(message) for row in rows)


@dataclass
class _Names:
    """What the messages of a file say about clients and groups."""

    named: dict[tuple[str, str], list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    spans: dict[tuple[str, str], dict[str, tuple[int, int]]] = field(default_factory=lambda: defaultdict(dict))
    starts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    groups_of: dict[tuple[str, int | None], set[str]] = field(default_factory=lambda: defaultdict(set))
    groups: Groups = field(default_factory=Groups)
    members: set[str] = field(default_factory=set)
    kinds: set[Kind] = field(default_factory=set)
    zones: set[str] = field(default_factory=set)
    old: bool = False

    def note(self, line: LogLine, told: Told | None) -> None:
        """Process one message."""
        self.zones.add(line.layout.zone)
        self.old = self.old or line.layout is CLIENT_4
        if told is None:
            return
        if told.row.says == MODE:
            self.groups.modes[told.fields["group"]] = told.fields["detail"].lower()
        for event in told.events:
            kind, group = event["kind"], event.get("group")
            self.kinds.add(kind)
            if kind == Kind.CLIENT_START:
                self.starts[line.process].append(line.number)
            if group is None:
                continue
            if event.get("client"):
                self.named[line.process, group].append((line.number, event["client"]))
                of_group = self.spans[line.process, group]
                first, _ = of_group.get(event["client"], (line.number, 0))
                of_group[event["client"]] = first, line.number
                self.members.add(event["client"])
            if event.get("topic") and kind != Kind.ROUTE:
                self.groups_of[event["topic"], event.get("queue")].add(group)
                self.groups_of[event["topic"], None].add(group)
            self.groups.see(event, line)

    def is_of_producer(self, events: list[Event]) -> bool:
        """Whether it is the start or end of a client that no message names in a group.

        Producers log these, too, as do those that send message traces for each consumer that has them enabled.
        """
        ids = {event["client"] for event in events if event["kind"] in (Kind.CLIENT_START, Kind.CLIENT_STOP)}
        return bool(ids) and ids.isdisjoint(self.members)

    def group_of(self, event: Event) -> str | None:
        """The group that consumes the topic of an event, if there is only one."""
        topic = event.get("topic")
        if topic is None:
            return None
        for groups in (self.groups_of.get((topic, event.get("queue"))), self.groups_of.get((topic, None))):
            if groups is not None and len(groups) == 1:
                return next(iter(groups))
        return None

    def has_several(self, event: Event, line: LogLine) -> bool:
        """Whether the process then has several clients of the group, so that it is not known which one acts."""
        spans = self.spans.get((line.process, event.get("group") or ""), {})
        return sum(first < line.number < last for first, last in spans.values()) > 1

    def client_of(self, event: Event, line: LogLine) -> str | None:
        """The client that the nearest naming message of the same process and group names.

        For a rebalance round this is the next such message, unless a client starts in between; otherwise the last one
        before.
        """
        named = self.named.get((line.process, event.get("group") or ""))
        if not named:
            return None
        at = bisect_left(named, (line.number, ""))
        after = named[at] if at < len(named) else None
        before = named[at - 1] if at else None
        if after is None or before is None:
            return (after or before or (0, None))[1]
        starts = self.starts.get(line.process, [])
        between = bisect_left(starts, after[0]) > bisect_left(starts, line.number)
        return after[1] if event["kind"] in _TOLD_BEFORE and not between else before[1]


class _Course:
    """What earlier messages say about later ones: why an offset is stored, or a queue dropped."""

    def __init__(self) -> None:
        self._illegal: set[tuple[object, ...]] = set()
        self._expired: set[tuple[object, ...]] = set()
        self._resets: dict[tuple[object, ...], list[tuple[int, int]]] = {}  # when asked for, and until when it ends
        self._left: set[tuple[object, ...]] = set()
        self._thrown: dict[tuple[object, ...], int] = {}

    def note(self, told: Told) -> None:
        """5.x announces that it will drop a queue that was not pulled for too long; a reset ends with a resumption."""
        if told.row.says == EXPIRES:
            self._expired.add(_place(told.fields))
        elif told.row.says == RESUMES:
            pending = [begun for place, begun in self._resets.items() if begun and place[0] == told.fields["group"]]
            if pending:
                min(pending).pop(0)

    def tells_again(self, told: Told) -> bool:
        """Whether a message is about calls whose exceptions were already logged: their status is therefore null, or set
        to a failure.

        ``ConsumeMessageConcurrentlyService.ConsumeRequest#run`` and its orderly counterpart log the exception, and then
        the status that they assume for it.
        """
        calls = [(event, (*_place(event), event.get("offset"), event.get("attempt"))) for event in told.events]
        results = {event.get("result") for event, _ in calls if event["kind"] == Kind.RESULT}
        if results == {Result.EXCEPTION}:
            self._thrown |= {call: event["time"] for event, call in calls}
        if results not in ({Result.NULL}, {Result.SUSPEND}):
            return False
        thrown = [self._thrown.pop(call, None) for _, call in calls]
        return all(time is not None and told.events[0]["time"] - time <= STATUS for time in thrown)

    def settle(self, event: Event) -> list[Event]:
        """The event with the path that follows from earlier messages, and what happens with it but is not logged."""
        place, kind = _place(event), event["kind"]
        if event.get("result") == Result.OFFSET_ILLEGAL:
            self._illegal.add(place)
        elif kind == Kind.CORRECT:
            self._illegal.discard(place)
        elif kind == Kind.RESET:
            before = self._resets.get(place[:2])
            begins = max(event["time"], before[-1][1]) if before else event["time"]
            under_way = [one for one in before or () if one[1] >= event["time"]]
            self._resets[place[:2]] = [*under_way, (event["time"], begins + RESET_PAUSE + RESET_WORK)]
        elif kind == Kind.ASSIGN:
            self._left.discard(place)
        elif kind == Kind.REVOKE and place in self._expired:
            self._expired.discard(place)
            event["path"] = Way.EXPIRED
        elif kind == Kind.COMMIT and event["path"] == Way.REMOVAL and place in self._illegal:
            event["path"] = Way.CORRECTION
        elif kind == Kind.COMMIT and event["path"] == Way.REMOVAL and self._in_reset(place, event["time"]):
            # The queue is given up without a message of its own, and only its commit tells to which offset it is reset.
            event["path"] = Way.RESET
            if place in self._left:
                return [event]  # for an orderly listener, the offset is stored twice
            self._left.add(place)
            left = {name: value for name, value in event.items() if name != "offset"} | {"kind": Kind.REVOKE}
            return [event | {"kind": Kind.RESET}, event, left]
        return [event]

    def _in_reset(self, place: tuple[object, ...], time: int) -> bool:
        begun = self._resets.get(place[:2])
        return begun is not None and len(begun) > 0 and begun[0][0] + RESET_PAUSE - STAMP <= time <= begun[-1][1]


class _Incarnations:
    """Which process of its client id acts: one that starts again without having stopped was killed meanwhile."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._alive: set[str] = set()

    def of(self, event: Event) -> list[Event]:
        """The event with the number of its process, after the end of the previous process if that was killed."""
        client, kind = event["client"], event["kind"]
        number = self._number.setdefault(client, 0)
        ended = []
        if kind == Kind.CLIENT_START:
            if client in self._alive:
                ended = [{"time": event["time"], "kind": Kind.CLIENT_CRASH, "client": client, "incarnation": number}]
                self._number[client] = number = number + 1
            self._alive.add(client)
        elif kind == Kind.CLIENT_STOP:
            self._alive.discard(client)
        return [*ended, {**event, "incarnation": number} if number else event]


def _place(event: Event) -> tuple[object, ...]:
    return tuple(event.get(name) for name in ("group", "topic", "broker", "queue"))
