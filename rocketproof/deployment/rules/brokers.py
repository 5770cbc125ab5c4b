"""What brokers with a certain configuration or release do."""

from __future__ import annotations

from collections.abc import Iterator

from ...output.row import Severity
from ..clients import version
from ..facts import GroupFacts
from ..finding import Finding, group_rule
from .members import listing


@group_rule("FI-2", "sql92-not-enabled", Severity.ERROR, "FI-2", "ST-1")
def sql_not_enabled(facts: GroupFacts) -> Iterator[Finding]:
    """Brokers evaluate the SQL92 expressions that are subscribed.

    FI-2: enablePropertyFilter is false by default.
    """
    for client in facts.clients:
        for topic in client.settings.sql_subscriptions:
            names = {queue.broker_name for queue in facts.queues(topic)}
            off = [
                broker.name for broker in facts.brokers if broker.name in names and not broker.enable_property_filter
            ]
            if off:
                yield Finding(
                    (*facts.place(client, "sql_subscriptions"), topic),
                    f"{client.name} subscribes {topic} by SQL92, and {listing(off)} "
                    f"{'does' if len(off) == 1 else 'do'} not evaluate it (enablePropertyFilter is false): the "
                    "consumer does not start.",
                    "Set enablePropertyFilter=true at the brokers, or subscribe by tags.",
                )
                return


@group_rule("EN-12", "group-not-created", Severity.ERROR, "EN-12", "ST-4")
def group_not_created(facts: GroupFacts) -> Iterator[Finding]:
    """The brokers know the group.

    ST-4: heartbeats of an unknown group are silently ignored.
    """
    closed = [broker.name for broker in facts.brokers if not broker.auto_create_subscription_group]
    if closed and not facts.group.created:
        yield Finding(
            facts.path,
            f"{listing(closed)} {'does' if len(closed) == 1 else 'do'} not create groups by themselves and "
            f"{facts.group.name} is not said to be created: heartbeats are passed over in silence and every pull is "
            "refused (code 26).",
            "Create the group (mqadmin updateSubGroup) and set created = true here.",
        )


@group_rule("RB-42", "old-client-jumps-on-error", Severity.WARNING, "RB-42")
def jumps_on_error(facts: GroupFacts) -> Iterator[Finding]:
    """An error of the broker is not mistaken for 'no progress stored'.

    RB-42: up to 4.9 any error answer to an offset query means 'none'.
    """
    for client in facts.clients:
        settings = client.settings
        where = settings.consume_from_where
        if settings.message_model == "CLUSTERING" and settings.java_before(5, 0, 0):
            lost = where != "CONSUME_FROM_FIRST_OFFSET"
            yield Finding(
                facts.place(client, "client_version"),
                f"{client.name} ({settings.client_version}) takes any error answer of a broker to its query for "
                "progress as 'none': with "
                + (
                    f"{where} it then skips everything up to {'the end' if 'LAST' in where else 'that time'}."
                    if lost
                    else "CONSUME_FROM_FIRST_OFFSET it then consumes the whole queue again."
                ),
                "Upgrade the clients to 5.x; until then CONSUME_FROM_FIRST_OFFSET repeats instead of losing.",
                None if lost else Severity.NOTE,
            )
            return


@group_rule("DL-6", "old-broker-delay-delivery", Severity.WARNING, "DL-6")
def delay_delivery(facts: GroupFacts) -> Iterator[Finding]:
    """A retry that cannot be delivered at its time is delivered later.

    DL-6: the effect of an exception in the delivery of a delayed message, by release.
    """
    retrying = facts.clustering and facts.retrying
    for broker in facts.brokers:
        release = version(broker.version)
        if not retrying or release >= (5, 0, 0):
            continue
        at = ("brokers", facts.description.brokers.index(broker), "version")
        if release < (4, 9, 3):
            yield Finding(
                at,
                f"{broker.name} ({broker.version}) drops a retry when its delivery throws an exception.",
                "Upgrade the broker to 4.9.3 or later.",
            )
        else:
            yield Finding(
                at,
                f"on {broker.name} ({broker.version}) a retry whose delivery throws an exception blocks all others of "
                "its delay level, until someone acts.",
                "Watch the schedule topic's lag, or upgrade the broker to 5.x.",
                Severity.NOTE,
            )
        return


@group_rule("SB-15", "old-broker-one-retry-less", Severity.NOTE, "SB-15")
def one_retry_less(facts: GroupFacts) -> Iterator[Finding]:
    """A message has as many retries as configured.

    SB-15: 4.x brokers compare differently on the fallback path.
    """
    old = [broker for broker in facts.brokers if version(broker.version) < (5, 0, 0)]
    if old and facts.clustering and facts.retrying:
        yield Finding(
            ("brokers", facts.description.brokers.index(old[0]), "version"),
            f"when a send-back to {old[0].name} ({old[0].version}) fails and the client falls back to an ordinary "
            "send, the message is a dead letter one retry early, and waits one more delay level before it arrives "
            "there.",
            "Nothing, or upgrade the broker to 5.x.",
        )


@group_rule("RB-34", "old-client-unlocks-late", Severity.WARNING, "RB-34", "OR-11")
def unlocks_late(facts: GroupFacts) -> Iterator[Finding]:
    """A queue that was given back is locked by its owner.

    RB-34: up to 5.1 the unlock of a dropped queue with cached messages comes 20 s later, whatever happened since.
    """
    for client in facts.locking:
        settings = client.settings
        if settings.java_before(5, 2, 0):
            yield Finding(
                facts.place(client, "client_version"),
                f"{client.name} ({settings.client_version}) unlocks a queue that left its share 20 s later when "
                "messages are cached: until then the new owner waits, and if the queue comes back meanwhile, the late "
                "unlock takes the new lock away and another member may consume beside it.",
                "Keep members from coming and going within 20 s, or upgrade the clients to 5.2 or later.",
            )
            return
