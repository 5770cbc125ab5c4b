"""Logs of brokers of 4.9 and 5.x: ``broker.log``, ``lock.log`` and ``broker_default.log``.

They show who joined and left a group and with which subscriptions, commits below the stored offset, the table of locks,
dead letters (5.x), resets, and starts of the broker. All times are by the broker's clock, in whole seconds, even for
events that name a client.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...format.kinds import Kind, Result
from ...format.kinds import Path as Way
from ...format.problems import Problems
from ...format.schema import Header
from .log_line import BROKER, PLAIN, LogLine, layout_of
from .log_table import Groups, Table, Told, consumers, row, told_again, told_lines
from .message_text import fields_in
from .protocol import Event, Imported, Importer

_CHANNEL = r"ClientChannelInfo \[channel=(?P<detail>.*?), clientId=<client>, language="
_REMOTE = re.compile(r"R:/?(?P<address>[^]\s]+)")

_SETTING = re.compile("broker(IP1|Name|ClusterName|ConfigPath)=")
"""A setting that a broker logs when it starts."""

SECOND = 1_000
"""Brokers log whole seconds; ms."""

STORED_BEFORE = 60_000
"""A dead letter is logged when it was stored, or up to this much later if the broker is busy; ms."""

_JOINED, _FILTERED = "joined", "expression changed"


def _went_back(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    """The stored offset as the broker found it, and the lower one that it stored."""
    fields = fields_in(found)
    before, after = fields.pop("max"), fields["offset"]
    yield fields | {"offset": before, "detail": "what was stored so far"}
    yield fields | {"offset": after, "detail": f"from {fields['detail']}"}


def _dead_letter(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    """The line has whole seconds, and states in ms when the message was stored."""
    fields = fields_in(found)
    stored = fields.pop("due", -1)
    yield fields | ({"time": stored} if -STORED_BEFORE <= stored - line.time < SECOND else {})


def _lock_of(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    fields = fields_in(found)
    if fields.get("detail"):
        fields["detail"] = f"instead of {fields['detail']}"
    yield fields


BROKER_TABLE = Table(
    # ConsumerGroupInfo, ClientManageProcessor. Every new member and every changed subscription is followed by the
    # message with all subscriptions, which names only the address.
    row("new consumer connected", f"^new consumer connected, group: <group> .*{_CHANNEL}", says=_JOINED),
    row("registerConsumer info changed", "SDK address=<detail>, consumerData=", Kind.HEARTBEAT, more=consumers),
    row("registerConsumer info changed", r"ConsumerData \[.* (?P<detail>\S+:\d+)$", Kind.HEARTBEAT, more=consumers),
    # ConsumerGroupInfo#updateSubscription does not say which member it is, and only other topics are logged with it.
    row(
        "subscription changed, group",
        "^subscription changed, group: <group> OLD: .*?, subString=(?P<detail>.*?), tagsSet="
        ".* NEW: .*?, subString=(?!(?P=detail), tagsSet=)",
        says=_FILTERED,
    ),
    row("subscription changed", "^subscription changed, "),
    row("unregister a consumer[", rf"^unregister a consumer\[<group>\] .*{_CHANNEL}", Kind.UNREGISTER),
    row(
        "remove not active channel",
        f"{_CHANNEL}.* from ConsumerGroupInfo groupChannelTable, consumer group: <group>",
        Kind.UNREGISTER,
        Way.EXPIRED,
    ),
    row("SCAN: remove expired channel", "channel=<detail>, consumerGroup=<group>", Kind.UNREGISTER, Way.EXPIRED),
    # ConsumerOffsetManager
    row(
        "offset less than store",
        "clientHost=(?P<detail>[^,]*), key=<topic>@<group>, queueId=<queue>, requestOffset=<offset>, storeOffset=<max>",
        Kind.COMMIT,
        more=_went_back,
    ),
    # PullMessageProcessor, DefaultPullMessageResultHandler
    row(
        "PULL_OFFSET_MOVED:correction offset",
        "topic=<topic>, groupId=<group>, requestOffset=<offset>, newOffset=<next>",
        Kind.PULL_RESULT,
        Result.OFFSET_ILLEGAL,
    ),
    row(
        "subscription is not latest",
        "^The broker's subscription is not latest, group: <group>",
        Kind.PULL_RESULT,
        Result.SUBSCRIPTION_NOT_LATEST,
    ),
    row(
        "subscription not exist",
        "^the consumer's subscription not exist, group: <group>, topic:<topic>",
        Kind.PULL_RESULT,
        Result.SUBSCRIPTION_NOT_EXIST,
    ),
    # AbstractSendMessageProcessor [5.x]
    row(
        "send msg to DLQ",
        "^send msg to DLQ <topic>, owner=.*?, originalTopic=<detail>, consumerId=<group>, "
        "msgUniqKey=<key>,(?: storeTimestamp=<due>)?",
        Kind.DEAD_LETTER,
        more=_dead_letter,
    ),
    # RebalanceLockManager, 5.x and then 4.9
    row("which has not been locked yet", "group=<group>, clientId=<client>, mq=<mq>", Kind.LOCK, Result.OK),
    row(
        "lock a expired message queue",
        "group=<group>, mq=<mq>, old client id=<detail>, new client id=<client>",
        Kind.LOCK,
        Result.OK,
        more=_lock_of,
    ),
    row(
        "has been locked by other client",
        "group=<group>, mq=<mq>, locked client id=<detail>, current client id=<client>",
        Kind.LOCK,
        Result.FAILED,
        more=_lock_of,
    ),
    row("unlockBatch: unlock mq", "group=<group>, clientId=<client>, mqs=<mq>", Kind.UNLOCK),
    row("message queue not locked, I got it", "Group: <group> NewClientId: <client> <mq>", Kind.LOCK, Result.OK),
    row(
        "message queue lock expired, I got it",
        "Group: <group> OldClientId: <detail> NewClientId: <client> <mq>",
        Kind.LOCK,
        Result.OK,
        more=_lock_of,
    ),
    row(
        "message queue locked by other client",
        "Group: <group> OtherClientId: <detail> NewClientId: <client> <mq>",
        Kind.LOCK,
        Result.FAILED,
        more=_lock_of,
    ),
    row("unlockBatch, Group: ", "^unlockBatch, Group: <group> <mq> <client>", Kind.UNLOCK),
    # AdminBrokerProcessor
    row("reset offset started by", r"topic=<topic>, group=<group>, timestamp=(?P<detail>-?\d+)", Kind.RESET, Way.RESET),
    # ConfigManager
    row("Offset.json", r"^load (?P<detail>\S+Offset\.json) OK", Kind.FILE_LOAD, Result.OK),
    row("Offset.json", r"^load (?P<detail>\S+Offset\.json) [Ff]ailed", Kind.FILE_LOAD, Result.ERROR),
    row("Offset.json", r"^persist file (?P<detail>\S+Offset\.json) exception", Kind.FILE_PERSIST, Result.ERROR),
    # BrokerStartup, BrokerController, DLedgerRoleChangeHandler
    row("boot success", r"^The broker\[<broker>, <detail>\] boot success", Kind.BROKER_START),
    row("Shutdown hook over", "^Shutdown hook over", Kind.BROKER_STOP),
    row("Finish to change to", "to change to master brokerName=<broker>", Kind.ROLE_CHANGE, Result.MASTER),
    row("Finish to change to", "to change to slave brokerName=<broker>", Kind.ROLE_CHANGE, Result.SLAVE),
)
"""Which messages of a broker mean what."""

BROKER_EVIDENCE = frozenset(
    {
        Kind.HEARTBEAT,
        Kind.UNREGISTER,
        Kind.LOCK,
        Kind.UNLOCK,
        Kind.DEAD_LETTER,
        Kind.RESET,
        Kind.ROLE_CHANGE,
    }
)
"""Kinds that a broker always logs, in different files: taken from a file only if they occur in it.

Heartbeats are those that change something, and one for each member that is still there at the end. Not included:
commits, of which only those that go back are logged, pull results, and starts of the broker, whose absence is not
logged.
"""


AGREED = 31_000
"""``ConsumerGroupInfo#updateSubscription``: a heartbeat with other topics than the one before is logged. Each member
sends one every 30 s. If none is logged for this long, all members consume the same topics; ms.
"""

DROPPED_AFTER = 130_000
"""ST-6: a member without heartbeats is dropped after 120 s, found by a check every 10 s; ms."""


@dataclass(frozen=True, kw_only=True)
class BrokerLog(Importer):
    """Reads logs of brokers."""

    name: str = "broker-log"
    zone: str | None = None  # time zone; None: GMT+8, as brokers' logging is configured, and UTC for other layouts
    broker: str | None = None  # name of the broker; from its start message if None

    def detects(self, head: str, name: str) -> bool:
        """Whether one of the first lines has the layout of a broker's log, or states a setting of brokers."""
        found = filter(None, map(layout_of, head.split("\n")))
        return any(one is BROKER or (one is PLAIN and _SETTING.match(parts["message"])) for one, parts in found)

    def read(self, path: Path, problems: Problems) -> Imported:
        """Read a file twice: for the names that events need, and for the events."""
        names = _Names()
        skipped: Counter[str] = Counter()
        numbers = told_lines(path, BROKER_TABLE, problems, skipped, zone=self.zone, note=names.note)
        return Imported(
            header=Header(
                source=f"broker log ({path.name}), times as {self.zone or names.zone}",
                evidence=frozenset(names.kinds & BROKER_EVIDENCE),
                groups=names.groups.known(),
                lacking={member: frozenset({Kind.HEARTBEAT}) for member in names.joined if member[1] in names.filtered},
            ),
            events=self._events(path, numbers, names, skipped),
            skipped=skipped,
        )

    def _events(self, path: Path, numbers: Sequence[int], names: _Names, skipped: Counter[str]) -> Iterator[Event]:
        members = _Members(names.silent)
        broker = self.broker or (next(iter(names.brokers)) if len(names.brokers) == 1 else None)
        for _, told in told_again(path, BROKER_TABLE, numbers, zone=self.zone):
            members.note(told)
            for event in told.events:
                unsaid = members.settle(event) if event["kind"] in (Kind.HEARTBEAT, Kind.UNREGISTER) else ""
                if unsaid:
                    skipped[unsaid] += 1
                    continue
                if broker and not event.get("broker"):
                    event["broker"] = broker
                yield event
                if event["kind"] == Kind.HEARTBEAT and names.is_last(event):
                    yield from members.agreeing(event)
            if not told.events:
                skipped["told by other messages"] += 1
        yield from members.left(names.end)


@dataclass
class _Names:
    """What the messages of a file say about brokers and groups."""

    zone: str = ""
    end: int = 0
    brokers: dict[str, None] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    kinds: set[Kind] = field(default_factory=set)
    beats: dict[str, list[int]] = field(default_factory=dict)
    silent: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    joined: set[tuple[str, str]] = field(default_factory=set)  # clients with their groups
    filtered: set[str] = field(default_factory=set)  # groups of which some member has changed an expression

    def note(self, line: LogLine, told: Told | None) -> None:
        """Process one message."""
        self.zone, self.end = self.zone or line.layout.zone, line.time
        if told is None:
            return
        if told.row.says == _JOINED:
            self.joined.add((told.fields["client"], told.fields["group"]))
        elif told.row.says == _FILTERED:
            self.filtered.add(told.fields["group"])
        for event in told.events:
            self.kinds.add(event["kind"])
            self.groups.see(event, line)
            if event["kind"] == Kind.HEARTBEAT:
                self.beats.setdefault(event["group"], []).append(line.time)
            if event["kind"] == Kind.UNREGISTER and event.get("path") == Way.EXPIRED:
                self.silent.setdefault((event["group"], _address(event["detail"])), []).append(line.time)
            if event.get("broker"):
                self.brokers[event["broker"]] = None

    def is_last(self, beat: Event) -> bool:
        """Whether no heartbeat of the group is logged in the next :data:`AGREED` ms."""
        times, time = self.beats[beat["group"]], int(beat["time"])
        later = bisect_right(times, time)
        return (times[later] if later < len(times) else self.end) - time > AGREED


class _Members:
    """Clients by their addresses, and which process of a client id is on which host.

    Two hosts with one client id are two processes (A1). Two ports of one host are not distinguished: a client that
    reconnects has another port, and its old connection is dropped later.
    """

    def __init__(self, silent: Mapping[tuple[str, str], Sequence[int]]) -> None:
        self._silent = silent  # when connections, by group and address, were found to be dead
        self._clients: dict[tuple[str, str], str] = {}
        self._hosts: dict[str, list[str]] = {}
        self._connections: dict[_Member, set[str]] = {}
        self._beats: dict[str, dict[_Member, Event]] = {}  # the latest of each member, by group

    def note(self, told: Told) -> None:
        """A member joined: remember its address."""
        if told.row.says == _JOINED:
            address = _address(told.fields["detail"])
            group, client = told.fields["group"], told.fields["client"]
            self._clients[group, address] = client
            self._connections.setdefault((group, client, _host(address)), set()).add(address)

    def settle(self, event: Event) -> str:
        """Set client and incarnation from the address; otherwise, how the message is counted."""
        address, group = _address(event["detail"]), event["group"]
        client = event.get("client") or self._clients.get((group, address))
        if client is None:
            return "message about a client that joined before the log begins"
        host = _host(address)
        member = group, client, host
        connections = self._connections.setdefault(member, set())
        if event["kind"] == Kind.UNREGISTER:
            connections.discard(address)
            if connections:
                return "end of a connection of a client that has a later one"
            self._beats.get(group, {}).pop(member, None)
        hosts = self._hosts.setdefault(client, [])
        if host not in hosts:
            hosts.append(host)
        event |= {"client": client, "incarnation": hosts.index(host), "detail": address}
        if event["kind"] == Kind.HEARTBEAT:
            self._beats.setdefault(group, {})[member] = event
        return ""

    def agreeing(self, last: Event) -> Iterator[Event]:
        """The heartbeats after the last logged one of a group, which are not logged as they name the same topics."""
        beats = self._beats.get(last["group"], {})
        for member, beat in beats.items():
            found_dead = self._silent.get((last["group"], beat["detail"]), ())
            if any(0 < end - last["time"] < AGREED + DROPPED_AFTER for end in found_dead):
                continue
            own, topics = (dict(text.split("=", 1) for text in one["subscriptions"]) for one in (beat, last))
            if own.keys() != topics.keys():
                told = [f"{topic}={own.get(topic, words)}" for topic, words in topics.items()]
                beats[member] = beat | {"time": last["time"], "subscriptions": told}
                yield beats[member]

    def left(self, end: int) -> Iterator[Event]:
        """A heartbeat of everyone who has not left when the log ends: otherwise they would have been dropped before."""
        for beat in chain.from_iterable(beats.values() for beats in self._beats.values()):
            if beat["time"] < end - DROPPED_AFTER:
                yield beat | {"time": end - DROPPED_AFTER}


_Member = tuple[str, str, str]
"""Group, client id and host."""


def _address(text: str) -> str:
    """The remote address in a printed channel, or the address that is the whole text."""
    remote = _REMOTE.search(text)
    return remote["address"] if remote else text.lstrip("/")


def _host(address: str) -> str:
    return address.rpartition(":")[0]
