"""What BROADCASTING does not do, and how it goes wrong."""

from __future__ import annotations

from collections.abc import Iterator

from ...output.row import Severity
from ..facts import GroupFacts
from ..finding import Finding, group_rule
from .members import listing, same_ids

MODEL_RETRIES = ("max_reconsume_times", "delay_level_when_next_consume")


@group_rule("G5", "broadcast-failure-dropped", Severity.NOTE, "CC-11", "EN-10", "PQ-9")
def failure_dropped(facts: GroupFacts) -> Iterator[Finding]:
    """Nothing is expected of BROADCASTING that it does not provide.

    CC-11: a failed message is logged and skipped.
    """
    clients = facts.broadcasting
    if not clients:
        return
    client = clients[0]
    expected = [key for key in MODEL_RETRIES if key in client.settings.model_fields_set]
    if "retry_queue_nums" in facts.group.model_fields_set:
        expected.append("retry_queue_nums")
    if client.settings.listener == "orderly":
        yield Finding(
            facts.place(client, "message_model"),
            f"{facts.group.name} is BROADCASTING and orderly: every member gets each queue in order, and one that "
            "fails is tried again in place; members do not wait for each other.",
            "Use CLUSTERING if one member at a time should get a message.",
        )
        return
    at = facts.place(client, expected[0]) if expected else facts.place(client, "message_model")
    said = f" {listing(expected)} {'has' if len(expected) == 1 else 'have'} no effect." if expected else ""
    yield Finding(
        at,
        f"{facts.group.name} is BROADCASTING: a message whose listener fails is logged and dropped for that member, "
        f"there are no retries and no dead letters.{said}",
        "Retry within the listener, or give each member a group of its own with CLUSTERING.",
        Severity.WARNING if expected else None,
    )


@group_rule("OF-11", "broadcast-members-share-offsets", Severity.ERROR, "OF-10", "OF-11", "EN-7")
def shared_file(facts: GroupFacts) -> Iterator[Finding]:
    """Every BROADCASTING member has its own offset file.

    EN-7: in BROADCASTING the instance name stays DEFAULT, so processes on one host share ip@DEFAULT.
    """
    if not facts.broadcasting:
        return
    for id_, clients in same_ids(facts).items():
        yield Finding(
            clients[1].path,
            f"{listing([client.name for client in clients])} all have the client id {id_} and keep their progress in "
            f"one file ~/.rocketmq_offsets/{id_}/{facts.group.name}/offsets.json: each overwrites the other's, and "
            "after a restart messages are skipped or come again.",
            "Give each process of a host an instance_name of its own that stays the same when it restarts.",
        )


@group_rule("OF-10", "broadcast-progress-left-behind", Severity.ERROR, "OF-10", "EN-7")
def name_changes(facts: GroupFacts) -> Iterator[Finding]:
    """A BROADCASTING member finds its offset file again when it restarts.

    OF-10: the file is in a folder that is named after the client id.
    """
    for client in facts.broadcasting:
        settings = client.settings
        go = settings.client_language == "go" and settings.instance_name == "DEFAULT"
        pid = settings.client_language in ("cpp", "python")
        if settings.keeps_name and not go and not pid:
            continue
        first = settings.consume_from_where == "CONSUME_FROM_FIRST_OFFSET"
        cause = (
            "has its process id in its client id"
            if pid
            else "puts process id and time in the place of instance_name DEFAULT, in BROADCASTING too"
            if go
            else f"has another instance name at each start ({settings.instance_name})"
        )
        yield Finding(
            facts.place(client, "client_language" if go or pid else "instance_name"),
            f"{client.name} {cause}, so it never finds the file with its progress again: after every restart it "
            + (
                "consumes every queue from its first message."
                if first
                else "starts as a new one, and what was sent while it was away is skipped."
            ),
            "Use CLUSTERING with a group for each member."
            if pid
            else "Give each process of a host an instance_name of its own that stays the same when it restarts.",
        )
        return


@group_rule("RB-31", "orderly-broadcast-locks-others-out", Severity.ERROR, "RB-31", "OR-1")
def locked_out(facts: GroupFacts) -> Iterator[Finding]:
    """Every BROADCASTING member gets every message.

    RB-31: up to 5.3.1 an orderly consumer requests the broker's lock in BROADCASTING too.
    """
    for client in facts.broadcasting:
        old = client.settings.java_before(5, 3, 2)
        if old and client.settings.listener == "orderly" and len(facts.clients) > 1:
            yield Finding(
                facts.place(client, "client_version"),
                f"orderly consumers {client.settings.client_version} ask for a queue's lock even in BROADCASTING: only "
                f"the first of the {len(facts.clients)} members consumes a queue, the others get nothing of it.",
                "Upgrade the clients to 5.3.2 or later, or use concurrent listeners.",
            )
            return


@group_rule("PL-16", "broadcast-forbidden", Severity.ERROR, "PL-16")
def forbidden(facts: GroupFacts) -> Iterator[Finding]:
    """The brokers let the group consume as it is configured.

    PL-16: consumeBroadcastEnable of the group is checked at every pull.
    """
    if facts.broadcasting and not facts.group.consume_broadcast_enable:
        yield Finding(
            (*facts.path, "consume_broadcast_enable"),
            f"{facts.group.name} is BROADCASTING and consume_broadcast_enable is false: every pull is refused (code "
            "16).",
            "Set consumeBroadcastEnable of the group to true (mqadmin updateSubGroup -d true).",
        )
