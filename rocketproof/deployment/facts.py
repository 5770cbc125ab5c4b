"""What follows from a description: individual clients with their ids, queues, and who gets which of them.

Shares are computed by the strategies of ``model/allocation``, called as real clients do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..model.allocation import (
    AllocationError,
    Averagely,
    AveragelyByCircle,
    ByConfig,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
    sorted_ids,
)
from .clients import version
from .cluster import Broker, Topic
from .consumers import Consumer, Group, Member
from .description import DEAD_LETTERS, RETRIES, Description
from .lines import Path


@dataclass(frozen=True)
class Client:
    """One client process of a group.

    Attributes:
        name: its name in findings.
        path: where its member is described.
        settings: its settings.
        id: its client id; parts that the file does not state are made up, different for every client.
        machine_room: for MACHINE_ROOM_NEARBY.
    """

    name: str
    path: Path
    settings: Consumer
    id: str

    def subscribes(self, topic: str) -> bool:
        """Whether it consumes a topic."""
        return topic in self.settings.subscriptions or topic in self.settings.sql_subscriptions


@dataclass(frozen=True)
class Division:
    """Who gets which queue of a topic if all clients see the same."""

    queues: tuple[MessageQueue, ...]  # all readable queues, sorted
    # what each client's strategy gives it, clients by name; for a client that does not consume the topic, the queues
    # reserved for it
    takes: dict[str, tuple[MessageQueue, ...]]
    idle: frozenset[str]  # names of the clients that do not consume the topic
    refused: dict[str, str]  # the strategy's error instead of an answer, by name of the client

    def owners(self, queue: MessageQueue) -> list[str]:
        """Clients that consume a queue."""
        return [name for name, taken in self.takes.items() if queue in taken and name not in self.idle]

    @cached_property
    def orphans(self) -> list[MessageQueue]:
        """Queues that nobody consumes."""
        return [queue for queue in self.queues if not self.owners(queue)]

    @cached_property
    def shared(self) -> dict[tuple[str, ...], list[MessageQueue]]:
        """Queues that several clients consume, by these clients."""
        found: dict[tuple[str, ...], list[MessageQueue]] = {}
        for queue in self.queues:
            owners = tuple(self.owners(queue))
            if len(owners) > 1:
                found.setdefault(owners, []).append(queue)
        return found

    @property
    def partition(self) -> bool:
        """Whether every queue has exactly one consumer."""
        return not self.orphans and not self.shared


class GroupFacts:
    """A group of a description, with everything that follows from it."""

    def __init__(self, description: Description, number: int) -> None:
        self.description = description
        self.group: Group = description.groups[number]
        self.path: Path = ("groups", number)

    @cached_property
    def clients(self) -> tuple[Client, ...]:
        """All client processes."""
        clients: list[Client] = []
        for place, member in enumerate(self.group.members):
            settings = self.group.settings_of(member)
            for instance in range(1, member.instances + 1):
                name = member.name if member.instances == 1 else f"{member.name}-{instance}"
                clients.append(
                    Client(name, (*self.path, "members", place), settings, _client_id(member, settings, name))
                )
        return tuple(clients)

    @cached_property
    def brokers(self) -> tuple[Broker, ...]:
        """Brokers that have a topic of the group."""
        names = {queue.broker_name for topic in self.topics for queue in self.queues(topic)}
        found = tuple(broker for broker in self.description.brokers if broker.name in names)
        return found or tuple(self.description.brokers)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Topics that some member consumes, in the order in which the file names them."""
        named = [
            topic
            for client in self.clients
            for topic in (*client.settings.subscriptions, *client.settings.sql_subscriptions)
        ]
        return tuple(dict.fromkeys(named))

    @property
    def pops(self) -> bool:
        """Whether some member takes messages by pop, which neither the rules nor the model cover."""
        return any(client.settings.language.pops for client in self.clients)

    @property
    def clustering(self) -> bool:
        """Whether all members divide the messages."""
        return not self.broadcasting

    @cached_property
    def retrying(self) -> list[Client]:
        """Clients whose failed messages go to the retry topic."""
        return [client for client in self.clients if client.settings.retries]

    @cached_property
    def locking(self) -> list[Client]:
        """Clients that lock the queues that they divide."""
        return [client for client in self.clients if client.settings.locks]

    @cached_property
    def broadcasting(self) -> list[Client]:
        """Clients that get all messages."""
        return [client for client in self.clients if client.settings.broadcasts]

    def every(self, key: str) -> list[object]:
        """The distinct values of a setting among the members."""
        values: list[object] = []
        for client in self.clients:
            value = getattr(client.settings, key)
            if value not in values:
                values.append(value)
        return values

    def any(self, key: str, value: object) -> bool:
        """Whether some member has this value of a setting."""
        return value in self.every(key)

    def with_value(self, key: str, value: object) -> Path:
        """Where a member, or the group, sets this value."""
        for client in self.clients:
            if getattr(client.settings, key) == value:
                return self.place(client, key)
        return self.path

    def place(self, client: Client, key: str) -> Path:
        """Where the value of a setting of a client comes from: its member's table or the group's."""
        place = client.path[-1]
        assert isinstance(place, int)
        return (*(client.path if key in self.group.members[place].model_fields_set else self.path), key)

    def topic(self, name: str) -> Topic | None:
        """A topic of the file; None for the dead letters of a group."""
        return next((topic for topic in self.description.topics if topic.name == name), None)

    def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """The readable queues of a topic (EN-5), sorted (EN-3)."""
        found = self.topic(topic)
        if found is not None:
            return queues_of(found, self.description)
        count = 1 if topic.startswith(DEAD_LETTERS) else max(0, self.group.retry_queue_nums)
        names = [
            broker.name for broker in (self.description.brokers if topic.startswith(DEAD_LETTERS) else self.brokers)
        ]
        return tuple(sorted(MessageQueue(topic, name, number) for name in names for number in range(count)))

    @property
    def retry_topic(self) -> str:
        """The topic of the group's retries (EN-15)."""
        return RETRIES + self.group.name

    def division(
        self,
        topic: str,
        clients: Sequence[Client] | None = None,
        queues: Sequence[MessageQueue] | None = None,
        *,
        all_subscribe: bool = False,
    ) -> Division:
        """The share of every client in a topic, once all see the same queues and members: all of the group and all
        readable queues, unless others are given. All consume a retry topic; with ``all_subscribe``, also any other.
        """
        members = self.clients if clients is None else tuple(clients)
        offered = self.queues(topic) if queues is None else tuple(queues)
        ids = sorted_ids(client.id for client in members)
        takes: dict[str, tuple[MessageQueue, ...]] = {}
        refused: dict[str, str] = {}
        for client in members:
            try:
                answer = self.strategy(client).allocate(client.id, offered, ids)
            except AllocationError as error:
                refused[client.name] = str(error)
                answer = []
            takes[client.name] = tuple(queue for queue in offered if queue in answer)
        everyone = all_subscribe or topic == self.retry_topic
        away = frozenset(client.name for client in members if not everyone and not client.subscribes(topic))
        return Division(offered, takes, away, refused)

    def strategy(self, client: Client) -> Strategy:
        """The allocation strategy that a client runs."""
        settings = client.settings
        match settings.allocate_message_queue_strategy:
            case "CONFIG":
                listed = settings.message_queues
                return ByConfig(None if listed is None else tuple(queue for text in listed for queue in _listed(text)))
            case "MACHINE_ROOM":
                rooms = settings.consumeridcs
                return ByMachineRoom(None if rooms is None else frozenset(rooms))
            case "MACHINE_ROOM_NEARBY":
                return MachineRoomNearby(_plain(settings.nearby_strategy, settings), self._rooms())
            case name:
                return _plain(name, settings)

    def _rooms(self) -> MachineRooms:
        brokers = {broker.name: broker.machine_room for broker in self.description.brokers}
        clients = {client.id: client.settings.machine_room for client in self.clients}
        return MachineRooms(of_queue=lambda queue: brokers.get(queue.broker_name), of_client=clients.get)


def queues_of(topic: Topic, description: Description, *, planned: bool = False) -> tuple[MessageQueue, ...]:
    """The readable queues of a topic, at present or as planned, sorted."""
    names = [broker.name for broker in description.brokers] if topic.brokers is None else topic.brokers
    count = topic.read_queue_nums
    if planned:
        names = list(dict.fromkeys([*names, *topic.planned_brokers]))
        count = count if topic.planned_read_queue_nums is None else topic.planned_read_queue_nums
    return tuple(sorted(MessageQueue(topic.name, name, number) for name in names for number in range(count)))


def told(queues: Iterable[MessageQueue]) -> str:
    """Queues in short notation: ``broker-a/0-3, broker-b/0``."""
    numbers: dict[str, list[int]] = {}
    for queue in queues:
        numbers.setdefault(queue.broker_name, []).append(queue.queue_id)
    return ", ".join(f"{broker}/{runs(found)}" for broker, found in numbers.items())


def runs(numbers: Sequence[int]) -> str:
    """Ascending numbers in short notation: ``0-3 5``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _plain(name: str, settings: Consumer) -> Strategy:
    match name:
        case "CONSISTENT_HASH":
            return ConsistentHash(settings.virtual_node_cnt)
        case "AVG_BY_CIRCLE":
            return AveragelyByCircle()
        case _:
            return Averagely()


def _listed(text: str) -> list[MessageQueue]:
    topic, broker, numbers = text.split("/")
    first, _, last = numbers.partition("-")
    return [MessageQueue(topic, broker, number) for number in range(int(first), int(last or first) + 1)]


def _client_id(member: Member, settings: Consumer, name: str) -> str:
    """EN-6 and EN-7: address, instance name, unit name; unknown parts count as different from any other client's."""
    address = member.client_ip or name
    pid = f"pid-of-{name}" if member.pid is None else str(member.pid)
    instance = settings.instance_name
    default = instance == "DEFAULT"
    match settings.client_language:
        case "cpp" | "python":  # DefaultMQClient#getMQClientId
            return f"{address}@{pid}#{instance}"
        case "go" if default:  # ClientOptions#ChangeInstanceNameToPID, whatever the message model
            instance = pid if version(settings.client_version) < (2, 1, 1) else f"{pid}#start-of-{name}"
        case "java" | "spring" if default and settings.message_model == "CLUSTERING":
            instance = pid if settings.java_before(4, 9, 0) else f"{pid}#start-of-{name}"
    return "@".join(filter(None, [address, instance, settings.unit_name]))
