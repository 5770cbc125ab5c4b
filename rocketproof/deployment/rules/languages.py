"""Clients in languages other than Java: how they differ, according to their sources, and what cannot be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...output.row import Severity
from ..clients import version
from ..consumers import Consumer
from ..facts import Client, GroupFacts
from ..finding import Finding, group_rule
from .members import listing


@dataclass(frozen=True, kw_only=True)
class _Difference:
    """Something that a client does differently."""

    languages: tuple[str, ...]  # the clients that do
    text: str  # what it does and what follows; continues after the client's name
    fix: str  # what to do
    severity: Severity  # how bad it is
    before: tuple[int, ...] | None = None  # the release that ends it; none does if it is not given
    matters: Callable[[Consumer], bool] = lambda settings: True  # whether it affects a consumer with these settings
    key: str = "client_language"  # the setting concerned


def _from_time(settings: Consumer) -> bool:
    return settings.consume_from_where == "CONSUME_FROM_TIMESTAMP"


_DIFFERENCES = (
    _Difference(
        languages=("cpp", "python"),
        text="does not know CONSUME_FROM_TIMESTAMP: a queue without stored progress is never consumed "
        "(RebalancePush#computePullFromWhere answers -1, each time)",
        fix="Set CONSUME_FROM_FIRST_OFFSET or CONSUME_FROM_LAST_OFFSET.",
        severity=Severity.ERROR,
        matters=_from_time,
        key="consume_from_where",
    ),
    _Difference(
        languages=("go",),
        text="reads consume_timestamp as UTC and writes its own default in local time "
        "(computePullFromWhereWithException): east of Greenwich consumption starts that many hours too late, and what "
        "lies between is skipped",
        fix="Give consume_timestamp in UTC.",
        severity=Severity.WARNING,
        matters=_from_time,
        key="consume_from_where",
    ),
    _Difference(
        languages=("go",),
        text=(
            "counts a message as done even when it could not be sent back: if the broker is away at that "
            "moment, the message is lost (rocketmq-client-go #860)"
        ),
        fix="Upgrade to 2.1.1 or later.",
        severity=Severity.ERROR,
        before=(2, 1, 1),
        matters=lambda settings: settings.retries,
    ),
    _Difference(
        languages=("cpp", "python"),
        text=(
            "counts a message as done even when it could not be sent back: if the broker is away at that "
            "moment, the message is lost (rocketmq-client-cpp #208)"
        ),
        fix="Upgrade to 1.2.5 or later.",
        severity=Severity.ERROR,
        before=(1, 2, 5),
        matters=lambda settings: settings.client_language == "cpp" and settings.retries,
    ),
    _Difference(
        languages=("go",),
        text="announces every subscription with version 0, so the broker keeps the first expression it was told "
        "until it restarts (rocketmq-client-go #720)",
        fix="Upgrade to 2.1.1 or later.",
        severity=Severity.WARNING,
        before=(2, 1, 1),
        matters=lambda settings: set(settings.subscriptions.values()) != {"*"},
        key="subscriptions",
    ),
    _Difference(
        languages=("go",),
        text=(
            "updates the time of consumption instead of that of the lock, so a lock is not renewed in time "
            "(rocketmq-client-go #1214, not fixed in any release up to 2.1.2)"
        ),
        fix="Build the client from its master branch, or do not rely on order.",
        severity=Severity.WARNING,
        before=(2, 1, 3),
        matters=lambda settings: settings.locks,
        key="listener",
    ),
    _Difference(
        languages=("cpp", "python"),
        text="has no consume timeout: a listener that hangs holds its message, and the progress of its queue, for ever",
        fix="Bound the time in the listener itself.",
        severity=Severity.NOTE,
        matters=lambda settings: settings.retries,
    ),
    _Difference(
        languages=("cpp", "python"),
        text=(
            "never makes an orderly message a dead letter: it is tried again every second, and from the 16th "
            "time on every 5 s, without end (ConsumeMessageOrderlyService#ConsumeRequest)"
        ),
        fix="Let the listener give up the message by itself.",
        severity=Severity.WARNING,
        matters=lambda settings: settings.locks,
        key="listener",
    ),
    _Difference(
        languages=("spring",),
        text="takes its consumeTimeout of 30000 to be minutes: a hung listener is not noticed for 20 days",
        fix="Set consumeTimeout = 15, or upgrade to 2.1.1 or later.",
        severity=Severity.WARNING,
        before=(2, 1, 1),
        matters=lambda settings: settings.retries and "consume_timeout" not in settings.model_fields_set,
    ),
    _Difference(
        languages=("spring",),
        text="gives the listener the messages of a batch one after the other, and returns RECONSUME_LATER for all of "
        "them when one throws: those that were handled before it come again",
        fix="Leave consume_message_batch_max_size at 1, or make the listener idempotent.",
        severity=Severity.NOTE,
        matters=lambda settings: settings.retries and settings.consume_message_batch_max_size > 1,
        key="consume_message_batch_max_size",
    ),
)


@group_rule("CL-1", "client-differs", Severity.NOTE, "EN-7")
def differs(facts: GroupFacts) -> Iterator[Finding]:
    """Every client behaves like the Java client.

    What is known about other clients; each difference once for a group.
    """
    for difference in _DIFFERENCES:
        for client in facts.clients:
            settings = client.settings
            if settings.client_language not in difference.languages or not difference.matters(settings):
                continue
            if difference.before is not None and version(settings.client_version) >= difference.before:
                continue
            yield Finding(
                facts.place(client, difference.key),
                f"{client.name}, a {_name(client)}, {difference.text}.",
                difference.fix,
                difference.severity,
            )
            break
    for client in facts.clients:
        settings = client.settings
        for key in sorted(settings.model_fields_set & settings.language.lacks):
            yield Finding(
                facts.place(client, key),
                f"{client.name}, a {_name(client)}, has no {key}: what is given here has no effect.",
                f"Take {key} out.",
            )
        if settings.model_fields_set & settings.language.lacks:
            return


@group_rule("CL-2", "pop-client-not-judged", Severity.WARNING)
def not_judged(facts: GroupFacts) -> Iterator[Finding]:
    """Every member takes messages by pull, as in the rules and the model.

    GRPC clients take messages by pop: the broker keeps their progress, and hides messages that it has given out.
    """
    pop = [client for client in facts.clients if client.settings.language.pops]
    if not pop:
        return
    names = listing([client.name for client in pop])
    rest = [client.name for client in facts.clients if client not in pop]
    mixed = ""
    if rest:
        consume = "consumes" if len(rest) == 1 else "consume"
        mixed = f" What pop has given is hidden from other pops only, so {listing(rest)} {consume} it too."
    are, take = ("is a gRPC client", "takes") if len(pop) == 1 else ("are gRPC clients", "take")
    yield Finding(
        facts.place(pop[0], "client_language"),
        f"{names} {are} that {take} messages by pop through a proxy, which the model is not about: of "
        f"{facts.group.name} only expressions of tags are judged.{mixed}",
        "Use one kind of client in a group; look at a group of gRPC clients with RocketMQ's own tools."
        if rest
        else f"Accept CL-2 for {facts.group.name}, with who looks after it.",
        Severity.ERROR if rest else None,
    )


def _name(client: Client) -> str:
    return f"{client.settings.language.title} client {client.settings.client_version}"
