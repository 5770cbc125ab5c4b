"""A deployment as its file describes it, and which parts of it must be consistent."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.kernel import nearest
from .cluster import Broker, Topic
from .consumers import OFF, Consumer, Group
from .fields import Table, setting
from .lines import Path

DEAD_LETTERS = "%DLQ%"
RETRIES = "%RETRY%"
TABLES = ("brokers", "topics", "groups", "accepted")
"""The tables of a file that describe a deployment; it may contain ``[verify]`` as well."""


class Accepted(Table):
    """A finding that the users know and accept."""

    finding: str = setting(..., "Id of the finding, such as `C4`.", min_length=1)
    group: str | None = setting(None, "Name of the group it is about; any if not given.")
    because: str = setting(..., "The reason.", min_length=1)


class Description(Table):
    """The tables of the file that describe the deployment."""

    brokers: list[Broker] = setting([Broker(name="broker-a")], "Broker names; one 5.3.3 broker `broker-a` if none.")
    topics: list[Topic] = setting([], "Topics that groups of the file consume.")
    groups: list[Group] = setting(..., "Consumer groups.", min_length=1)
    accepted: list[Accepted] = setting([], "Findings that do not fail the check.")


def contradictions(description: Description) -> Iterator[tuple[Path, str]]:
    """Parts of a description that do not fit together, as the place and what is wrong there."""
    brokers = [broker.name for broker in description.brokers]
    topics = [topic.name for topic in description.topics]
    groups = [group.name for group in description.groups]
    for table, names in (("brokers", brokers), ("topics", topics), ("groups", groups)):
        for place, name in enumerate(names):
            if name in names[:place]:
                yield (table, place, "name"), f"{name!r} is described twice; put it into one table."
    for number, topic in enumerate(description.topics):
        for key, listed in (("brokers", topic.brokers or ()), ("planned_brokers", topic.planned_brokers)):
            for place, broker in enumerate(listed):
                if broker not in brokers:
                    yield ("topics", number, key, place), f"there is no broker {broker!r}.{nearest(broker, brokers)}"
        if topic.brokers == []:
            yield ("topics", number, "brokers"), "a topic is on one broker or more; leave the list out for all of them."
    for number, group in enumerate(description.groups):
        here: Path = ("groups", number)
        if group.name == "DEFAULT_CONSUMER":
            yield (*here, "name"), "a consumer of group DEFAULT_CONSUMER does not start (ST-2); give it another name."
        yield from _contradictions_of_group(group, here, [*topics, *(DEAD_LETTERS + name for name in groups)])
    for number, accepted in enumerate(description.accepted):
        if accepted.group is not None and accepted.group not in groups:
            yield (
                ("accepted", number, "group"),
                f"there is no group {accepted.group!r}.{nearest(accepted.group, groups)}",
            )


def _contradictions_of_group(group: Group, here: Path, topics: list[str]) -> Iterator[tuple[Path, str]]:
    names = [member.name for member in group.members]
    for place, name in enumerate(names):
        if name in names[:place]:
            yield (
                (*here, "members", place, "name"),
                f"{name!r} is described twice; `instances` says how many there are.",
            )
    yield from _undescribed(group, here, topics)
    for place, member in enumerate(group.members):
        path: Path = (*here, "members", place)
        yield from _undescribed(member, path, topics)
        settings = group.settings_of(member)
        for text, *keys in (*_refused(settings), *_impossible(settings)):
            at = next((key for key in keys if key in member.model_fields_set), None)
            yield (*path, at) if at else (*here, keys[0]), text
        for topic in sorted(settings.subscriptions.keys() & settings.sql_subscriptions.keys()):
            yield path, f"{member.name!r} subscribes topic {topic!r} by tags and by SQL92; choose one."
        if not settings.subscriptions and not settings.sql_subscriptions:
            yield path, f"member {member.name!r} subscribes nothing; give it or its group `subscriptions`."


def _undescribed(consumer: Consumer, here: Path, topics: list[str]) -> Iterator[tuple[Path, str]]:
    for key in ("subscriptions", "sql_subscriptions"):
        for topic in getattr(consumer, key):
            if topic not in topics:
                yield (*here, key, topic), f"there is no topic {topic!r} in [[topics]].{nearest(topic, topics)}"


def _refused(settings: Consumer) -> Iterator[tuple[str, str, str]]:
    """What ``DefaultMQPushConsumerImpl#checkConfig`` refuses beyond single ranges, with the keys concerned."""
    low, high = settings.consume_thread_min, settings.consume_thread_max
    if low > high:
        text = f"consume_thread_min is {low} and consume_thread_max is {high}; a consumer with a larger minimum "
        yield text + "does not start (ST-2).", "consume_thread_min", "consume_thread_max"
    for key in ("pull_threshold_for_topic", "pull_threshold_size_for_topic"):
        if getattr(settings, key) == OFF + 1:
            yield f"{key} is 0; it is {OFF} (off), or 1 and more (ST-2).", key, key


def _impossible(settings: Consumer) -> Iterator[tuple[str, str]]:
    """What does not exist in the client of a language."""
    language = settings.language
    if not language.fits(settings.client_version):
        yield (
            f"{settings.client_version!r} is no release of the {language.title} client, which begins with "
            f"{' or '.join(_majors(language.releases))}, such as {language.newest}.",
            "client_version",
        )
    strategy = settings.allocate_message_queue_strategy
    if strategy not in language.strategies:
        yield (
            f"the {language.title} client has no strategy {strategy}; it has {', '.join(language.strategies)}.",
            "allocate_message_queue_strategy",
        )


def _majors(releases: str) -> list[str]:
    """The major versions that a pattern of releases allows."""
    return list(releases[1 : releases.index("]")] if releases.startswith("[") else releases[0])
