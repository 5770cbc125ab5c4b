"""Mistakes in the parameters of allocation strategies."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.allocation import machine_room_of
from ...output.row import Severity
from ..facts import Client, GroupFacts, told
from ..finding import Finding, group_rule
from .members import listing, outcome


def _running(facts: GroupFacts, name: str) -> list[Client]:
    if not facts.clustering:
        return []
    return [client for client in facts.clients if client.settings.allocate_message_queue_strategy == name]


@group_rule("RB-23", "config-lists", Severity.ERROR, "RB-23")
def config_lists(facts: GroupFacts) -> Iterator[Finding]:
    """With CONFIG, the lists of the members hold every queue once, including those of the retry topic.

    RB-23: a client takes its list for every topic, whatever the group looks like.
    """
    clients = _running(facts, "CONFIG")
    if not clients:
        return
    for client in clients:
        if client.settings.message_queues is None:
            yield Finding(
                client.path,
                f"{client.name} has strategy CONFIG and no message_queues: it drops every queue it has.",
                "List its queues in message_queues.",
            )
    at = facts.place(clients[0], "message_queues")
    for topic in facts.topics:
        wrong = outcome(topic, facts.division(topic))
        if wrong:
            yield Finding(
                at, f"the configured lists do not divide the queues: {wrong}.", "List every queue exactly once."
            )
    unread = facts.division(facts.retry_topic).orphans
    if unread and facts.any("listener", "concurrently"):
        again = ""
        if clients[0].settings.java is not None and not clients[0].settings.java_before(5, 2, 0):
            again = " Since the list never fits the topic at hand, the client also rebalances every second."
        yield Finding(
            at,
            f"no list holds the queues {told(unread)} of {facts.retry_topic}, so messages that failed are never "
            f"consumed again.{again}",
            f"Add {', '.join(f'{queue.topic}/{queue.broker_name}/{queue.queue_id}' for queue in unread)} to a member's "
            "list.",
        )


@group_rule("RB-24", "machine-room-queues-left-out", Severity.ERROR, "RB-24")
def machine_room(facts: GroupFacts) -> Iterator[Finding]:
    """With MACHINE_ROOM, every queue is on a broker named room@name in one of the rooms.

    RB-24: queues of other brokers go to nobody.
    """
    clients = _running(facts, "MACHINE_ROOM")
    for client in clients:
        if client.settings.consumeridcs is None:
            yield Finding(
                client.path,
                f"{client.name} has strategy MACHINE_ROOM and no consumeridcs: every rebalance fails with an "
                "exception.",
                "Set consumeridcs to the rooms whose brokers the group consumes.",
            )
    if not clients or not all(client.settings.consumeridcs is not None for client in clients):
        return
    for topic in facts.topics:
        left = facts.division(topic).orphans
        if not left:
            continue
        names = list(dict.fromkeys(queue.broker_name for queue in left))
        roomless = [name for name in names if machine_room_of(name) is None]
        why = (
            f"{listing(roomless)} {'has' if len(roomless) == 1 else 'have'} no room in the name (room@name)"
            if roomless
            else f"no consumer is configured for {listing([name.split('@')[0] for name in names])}"
        )
        yield Finding(
            facts.place(clients[0], "consumeridcs"),
            f"nobody consumes {told(left)} of {topic}: {why}.",
            "Add the rooms to consumeridcs, or use MACHINE_ROOM_NEARBY, which gives a room without consumers to "
            "everybody.",
        )


@group_rule("RB-25", "machine-room-nearby-unknown-room", Severity.ERROR, "RB-25")
def machine_room_nearby(facts: GroupFacts) -> Iterator[Finding]:
    """With MACHINE_ROOM_NEARBY, the room of every broker and client is known.

    RB-25: the resolver must name a room; queues of a room without consumers are divided among all.
    """
    clients = _running(facts, "MACHINE_ROOM_NEARBY")
    if not clients:
        return
    fix = "Give every broker and every member its machine_room, as the resolver does."
    for broker in facts.brokers:
        if not broker.machine_room:
            place = facts.description.brokers.index(broker)
            yield Finding(
                ("brokers", place),
                f"the room of {broker.name} is unknown, so every rebalance of {facts.group.name} fails with an "
                "exception and the members keep what they have.",
                fix,
            )
    for client in facts.clients:
        if not client.settings.machine_room:
            yield Finding(
                client.path,
                f"the room of {client.name} is unknown, so every rebalance of the whole group fails with an exception.",
                fix,
            )
    rooms = {client.settings.machine_room for client in facts.clients}
    for broker in facts.brokers:
        if broker.machine_room and broker.machine_room not in rooms and None not in rooms:
            yield Finding(
                facts.place(clients[0], "allocate_message_queue_strategy"),
                f"no member is in room {broker.machine_room}: the queues of {broker.name} are divided among all "
                "members, across rooms.",
                f"Run a member in {broker.machine_room}, if its messages should stay there.",
                Severity.NOTE,
            )


@group_rule("RB-26", "empty-hash-ring", Severity.ERROR, "RB-26")
def empty_ring(facts: GroupFacts) -> Iterator[Finding]:
    """With CONSISTENT_HASH, every client has a place on the ring.

    RB-26: without virtual nodes the ring is empty.
    """
    for client in _running(facts, "CONSISTENT_HASH"):
        if client.settings.virtual_node_cnt == 0:
            lost = "; ".join(f"{told(facts.division(topic).orphans)} of {topic}" for topic in facts.topics)
            yield Finding(
                facts.place(client, "virtual_node_cnt"),
                f"with virtual_node_cnt = 0 nobody is on the ring that {client.name} divides by; nobody consumes "
                f"{lost}.",
                "Set virtual_node_cnt to 10, RocketMQ's default, in all members.",
            )
            return
