"""Mistakes in how the members of a group differ: ids, subscriptions, strategies, numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ...checkers.run import counted
from ...output.row import Severity
from ..consumers import Consumer
from ..facts import Client, Division, GroupFacts, told
from ..finding import Finding, group_rule


def listing(names: list[str]) -> str:
    """Names in a sentence: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def outcome(topic: str, division: Division) -> str:
    """What is wrong with the division of queues; empty if nothing is."""
    parts = [f"{listing(list(owners))} all consume {told(queues)}" for owners, queues in division.shared.items()]
    if division.orphans:
        parts.append(f"nobody consumes {told(division.orphans)}")
    return f"of the {counted(len(division.queues), 'queue')} of {topic}, {'; '.join(parts)}" if parts else ""


def outcomes(facts: GroupFacts) -> str:
    """What is wrong with the division of queues, in all topics of a group but those to which some do not subscribe."""
    found = [outcome(topic, facts.division(topic, all_subscribe=True)) for topic in facts.topics]
    return "; ".join(filter(None, found))


def same_ids(facts: GroupFacts) -> dict[str, list[Client]]:
    """Client ids that several clients have."""
    found: dict[str, list[Client]] = {}
    for client in facts.clients:
        found.setdefault(client.id, []).append(client)
    return {id_: clients for id_, clients in found.items() if len(clients) > 1}


@group_rule("A1", "clientid-clash", Severity.ERROR, "EN-2", "EN-6", "EN-7", "RB-20")
def clientid_clash(facts: GroupFacts) -> Iterator[Finding]:
    """Every client of a group has a client id of its own.

    EN-2: the broker lists the id twice, and each client takes the share of its first occurrence.
    """
    if not facts.clustering:
        return
    for id_, clients in same_ids(facts).items():
        first = clients[1]
        divided = outcomes(facts) or "the group has too few queues for that to show"
        default = first.settings.instance_name == "DEFAULT"
        fix = (
            "Upgrade the client to 4.9.0 or later, whose ids hold the start time, or set a different instance_name for "
            "each process."
            if default and first.settings.java_before(4, 9, 0)
            else "Leave instance_name at DEFAULT (client 4.9.0 and later), or set a different one for each process."
        )
        yield Finding(
            first.path,
            f"{listing([client.name for client in clients])} all have the client id {id_}. Each takes the share of the "
            f"first of them, and the other shares go to nobody, for good: {divided}.",
            fix,
        )


@group_rule("A2", "group-subscribes-different-topics", Severity.ERROR, "EN-2", "ST-5")
def different_topics(facts: GroupFacts) -> Iterator[Finding]:
    """All members of a group subscribe to the same topics.

    EN-2: members count for a group, not for a topic; ST-5: the broker keeps one subscription table for a group.
    """
    for topic in facts.topics:
        away = [client for client in facts.clients if not client.subscribes(topic)]
        if not away:
            continue
        names = listing([client.name for client in away])
        do, are = ("does", "is") if len(away) == 1 else ("do", "are")
        kept = sorted({queue for client in away for queue in facts.division(topic).takes[client.name]})
        share = f" but {are} counted when its queues are divided: nobody consumes {told(kept)}" if kept else ""
        yield Finding(
            away[0].path,
            f"{names} {do} not subscribe {topic}{share if facts.clustering else ''}. The heartbeats of the members "
            "replace each other's topics at the broker, so pulls are refused with 'subscription not exist' again and "
            "again.",
            f"Let every member of {facts.group.name} subscribe the same topics, or make one group for each set of "
            "topics.",
        )


def expression(settings: Consumer, topic: str) -> str:
    """What a consumer wants from a topic, in a form in which equal wishes are equal."""
    if topic in settings.sql_subscriptions:
        return f"SQL92 {settings.sql_subscriptions[topic].strip()}"
    return " || ".join(sorted(wanted_tags(settings.subscriptions[topic]))) or "*"


def wanted_tags(text: str) -> frozenset[str]:
    """The tags of an expression; none for all (EN-9: ``FilterAPI#buildSubscriptionData``)."""
    return frozenset() if text == "*" else frozenset(filter(None, (tag.strip() for tag in text.split("||"))))


@group_rule("A3", "group-subscribes-different-tags", Severity.ERROR, "PL-17", "ST-5", "FI-4")
def different_tags(facts: GroupFacts) -> Iterator[Finding]:
    """All members of a group want the same messages of a topic.

    PL-17: the broker filters for all members with the expression of the latest heartbeat.
    """
    for topic in facts.topics:
        wishes: dict[str, list[Client]] = {}
        for client in facts.clients:
            if client.subscribes(topic):
                wishes.setdefault(expression(client.settings, topic), []).append(client)
        if len(wishes) < 2:
            continue
        said = "; ".join(f"{listing([client.name for client in who])}: {wish}" for wish, who in wishes.items())
        _, second = list(wishes.values())[:2]
        key = "sql_subscriptions" if topic in second[0].settings.sql_subscriptions else "subscriptions"
        lost = _contested(facts, topic, wishes)
        yield Finding(
            (*facts.place(second[0], key), topic),
            f"members want different messages of {topic} ({said}). The broker keeps one expression for the group, that "
            "of the newest subscription, and filters everybody's pulls with it: what only another member wants is "
            f"passed over, and no member ever gets it{lost}.",
            f"Give every member of {facts.group.name} the same expression for {topic} and let the listener choose, or "
            "make one group for each expression.",
        )


def _contested(facts: GroupFacts, topic: str, wishes: dict[str, list[Client]]) -> str:
    found = facts.topic(topic)
    if found is None or not found.tags or any(wish.startswith("SQL92") for wish in wishes):
        return ""
    sets = [wanted_tags(wish) for wish in wishes]
    wanted = [[tag for tag in found.tags if not tags or tag in tags] for tags in sets]
    contested = [tag for tag in found.tags if 0 < sum(tag in tags for tags in wanted) < len(wanted)]
    return f" (messages tagged {listing(contested)})" if contested else ""


@group_rule("A7", "unsubscribe-leaves-orphan-queues", Severity.WARNING, "EN-2", "RB-36")
def unsubscribes(facts: GroupFacts) -> Iterator[Finding]:
    """No member unsubscribes from a topic while it runs.

    RB-36: the queues are dropped without storing their progress, and stay reserved for the member.
    """
    for client in facts.clients:
        for topic in client.settings.unsubscribes_at_runtime:
            if topic not in facts.topics or not facts.clustering:
                continue
            share = facts.division(topic).takes[client.name]
            yield Finding(
                facts.place(client, "unsubscribes_at_runtime"),
                f"after {client.name} has unsubscribed {topic} it still counts as a member, so "
                f"{told(share) or 'its share'} of {topic} is consumed by nobody, and what it had consumed since the "
                "last commit comes again when it subscribes anew.",
                "Shut the consumer down instead of unsubscribing, or use a group of its own for each topic that comes "
                "and goes.",
            )
            break


@group_rule("RB-27", "mixed-strategies", Severity.ERROR, "RB-27")
def mixed_strategies(facts: GroupFacts) -> Iterator[Finding]:
    """All members of a group run the same allocation strategy with the same parameters.

    RB-27: every client runs its own strategy, and the answers only fit together if it is the same.
    """
    if not facts.clustering:
        return
    used: dict[str, list[Client]] = {}
    for client in facts.clients:
        used.setdefault(_strategy(client.settings), []).append(client)
    if len(used) < 2:
        return
    said = "; ".join(f"{listing([client.name for client in who])}: {name}" for name, who in used.items())
    odd = list(used.values())[1][0]
    divided = outcomes(facts)
    yield Finding(
        facts.place(odd, "allocate_message_queue_strategy"),
        f"members run different strategies ({said}); {divided or 'with this number of queues that does not show yet'}.",
        f"Configure one strategy for all members of {facts.group.name}; to change it, stop all members first.",
        None if divided else Severity.WARNING,
    )


def _strategy(settings: Consumer) -> str:
    name = settings.allocate_message_queue_strategy
    match name:
        case "CONSISTENT_HASH":
            return f"{name} with {counted(settings.virtual_node_cnt, 'virtual node')}"
        case "MACHINE_ROOM":
            return f"{name} of {listing(sorted(settings.consumeridcs)) if settings.consumeridcs else 'no rooms'}"
        case "MACHINE_ROOM_NEARBY":
            return f"{name}-{settings.nearby_strategy}"
        case _:
            return name


@group_rule("EN-1", "mixed-message-models", Severity.ERROR, "EN-1", "RB-7", "OR-1", "SB-15")
def mixed_models(facts: GroupFacts) -> Iterator[Finding]:
    """All members of a group have the same message model and kind of listener.

    EN-1: the group is one entry at the broker, whatever its members do.
    """
    if len(facts.every("message_model")) > 1:
        odd = facts.broadcasting[0]
        yield Finding(
            facts.place(odd, "message_model"),
            f"{odd.name} is BROADCASTING and others are CLUSTERING: it gets all messages, and is counted all the same "
            "when the others divide the queues, so its share is consumed for the group by nobody.",
            "Use one group for broadcasting and another for clustering.",
        )
    if len(facts.every("listener")) > 1:
        odd = next(client for client in facts.clients if client.settings.listener == "orderly")
        yield Finding(
            facts.place(odd, "listener"),
            f"{odd.name} is orderly and others are concurrent: the others take queues without asking for the lock that "
            f"{odd.name} holds, so a queue may be consumed by both; and while the group has a lock, a failed message "
            "that is sent back by way of the retry topic becomes a dead letter at once (5.1.1 and later).",
            "Use the same kind of listener in all members.",
        )


@group_rule("RB-21", "idle-members", Severity.WARNING, "RB-21", "RB-26")
def idle_members(facts: GroupFacts) -> Iterator[Finding]:
    """Every member gets a queue.

    With fewer queues than members, some have nothing to do.
    """
    if not facts.clustering or same_ids(facts):
        return
    shares = {topic: facts.division(topic) for topic in facts.topics}
    idle = [
        client
        for client in facts.clients
        if any(client.subscribes(topic) for topic in shares)
        and not any(division.takes[client.name] for division in shares.values())
    ]
    most = max((len(division.queues) for division in shares.values()), default=0)
    if idle:
        yield Finding(
            idle[0].path,
            f"{listing([client.name for client in idle])} {'gets' if len(idle) == 1 else 'get'} no queue: "
            f"{counted(len(facts.clients), 'member')} divide at most {counted(most, 'queue')} of a topic.",
            "Add queues (write queues last if progress starts at the end, see G1) or run fewer members.",
        )
    elif facts.group.planned_members is not None and facts.group.planned_members > most:
        yield Finding(
            (*facts.path, "planned_members"),
            f"of the {facts.group.planned_members} planned members at most {most} can get a queue: no topic has more.",
            "Add queues before adding members.",
        )
