"""Mistakes in retries, delay levels and dead letters."""

from __future__ import annotations

from collections.abc import Iterator

from ...checkers.run import counted
from ...model.dead_letter import given_up_at_once
from ...model.delay import DelayTable
from ...output.row import Severity
from ..attempts import duration, maximum_of, retries, waited
from ..clients import version
from ..description import DEAD_LETTERS, Description
from ..facts import GroupFacts
from ..finding import Finding, cluster_rule, group_rule
from .members import listing

READABLE_DEAD_LETTERS = (4, 9, 2)


@group_rule("SB-12", "no-retry-queues", Severity.ERROR, "SB-12")
def no_retry_queues(facts: GroupFacts) -> Iterator[Finding]:
    """There is a retry queue for failed messages.

    SB-12: the broker answers SUCCESS and stores nothing.
    """
    number = facts.group.retry_queue_nums
    if number <= 0 and facts.clustering:
        yield Finding(
            (*facts.path, "retry_queue_nums"),
            f"retry_queue_nums of {facts.group.name} is {number}: the broker answers 'success' when a message is sent "
            "back, and stores nothing, so every message whose listener fails is lost.",
            "Set retryQueueNums of the group to 1 or more (mqadmin updateSubGroup -q 1).",
        )


@cluster_rule("DL-1", "delay-table-not-ascending", Severity.WARNING, "DL-1", "SB-9")
def not_ascending(description: Description) -> Iterator[Finding]:
    """Each delay level waits longer than the one before.

    DL-1: the level grows with the number of the retry; the delay is whatever the table says.
    """
    for number, broker in enumerate(description.brokers):
        table = broker.message_delay_level.split(" ")
        delays = DelayTable.parse(broker.message_delay_level).delays
        for place in range(1, len(delays)):
            if delays[place] < delays[place - 1]:
                yield Finding(
                    ("brokers", number, "message_delay_level"),
                    f"level {place + 1} of {broker.name} ({table[place]}) is shorter than level {place} "
                    f"({table[place - 1]}): a later retry waits less than an earlier one.",
                    "Sort the delays, shortest first.",
                )
                break


@group_rule("DL-2", "retries-beyond-the-delay-table", Severity.WARNING, "DL-2", "SB-9", "SB-20")
def beyond_the_table(facts: GroupFacts) -> Iterator[Finding]:
    """Every retry has a delay level of its own.

    DL-2: a level beyond the table means the last one; retry r requests level 3 + r.
    """
    for client in facts.retrying[:1]:
        maximum = client.settings.max_reconsume_times
        if client.settings.delay_level_when_next_consume:
            continue
        told: set[str] = set()
        for broker in facts.brokers:
            chain = retries(maximum, broker.message_delay_level)
            clamped = [retry for retry in chain if retry.asked > retry.level]
            if not clamped or broker.message_delay_level in told:
                continue
            told.add(broker.message_delay_level)
            levels = DelayTable.parse(broker.message_delay_level)
            number = maximum_of(maximum)
            own = levels.distinct_retries()
            yield Finding(
                ("brokers", facts.description.brokers.index(broker), "message_delay_level"),
                f"{broker.name} has {counted(levels.levels, 'delay level')}, and {facts.group.name} retries up to "
                f"{number:,} times, beginning with level 3: {_which(own, number)} {duration(clamped[-1].wait)}, the "
                f"last level. A message that always fails is delivered {number + 1:,} times and is a dead letter after "
                f"{waited(chain, number)}.",
                f"Give message_delay_level {number + 2} levels"
                + (f", or set max_reconsume_times to {own}." if own else "."),
            )


def _which(own: int, maximum: int) -> str:
    if own == 0:
        return "all retries wait"
    if own + 1 == maximum:
        return f"retry {maximum} waits"
    return f"retries {own + 1} to {maximum:,} all wait"


@group_rule("DL-3", "brokers-delay-differently", Severity.WARNING, "DL-3", "SB-2")
def different_tables(facts: GroupFacts) -> Iterator[Finding]:
    """All brokers of a group delay retries alike.

    SB-2: a message is sent back to the broker from which it came, and that broker's table counts.
    """
    if not facts.retrying:
        return
    first = facts.brokers[0]
    for broker in facts.brokers[1:]:
        if broker.message_delay_level != first.message_delay_level:
            maximum = facts.retrying[0].settings.max_reconsume_times
            times = [waited(retries(maximum, one.message_delay_level), maximum_of(maximum)) for one in (first, broker)]
            yield Finding(
                ("brokers", facts.description.brokers.index(broker), "message_delay_level"),
                f"{first.name} and {broker.name} have different delay tables, so a message of {facts.group.name} that "
                f"always fails is a dead letter after {times[0]} or after {times[1]}, by the broker it lies on.",
                "Set the same messageDelayLevel at all brokers.",
            )


@group_rule("SB-20", "max-reconsume-times", Severity.WARNING, "SB-9", "SB-20")
def attempts(facts: GroupFacts) -> Iterator[Finding]:
    """A failing message is retried as often as intended.

    SB-9: the broker does not check the number, and uses that of the client whose listener failed.
    """
    clients = facts.retrying
    if not clients:
        return
    numbers = dict.fromkeys(client.settings.max_reconsume_times for client in clients)
    for number in numbers:
        at = facts.with_value("max_reconsume_times", number)
        if number == 0 or number < -1:
            yield Finding(
                at,
                f"max_reconsume_times is {number}: a message is a dead letter as soon as its listener fails once.",
                (
                    "Set -1 for the usual 16 retries, or the number that is intended; if immediate dead letters are "
                    "intended, accept this finding."
                ),
                Severity.ERROR if number < -1 else Severity.WARNING,
            )
        elif number > 16:
            chain = retries(number, facts.brokers[0].message_delay_level)
            yield Finding(
                at,
                f"max_reconsume_times is {number}: a message that always fails is delivered {number + 1:,} times in "
                f"{waited(chain, number)}; the last retries come every {duration(chain[-1].wait)}.",
                "Set -1 for the usual 16 retries, and look into dead letters instead.",
            )
    if len(numbers) > 1:
        different = next(client for client in clients if client.settings.max_reconsume_times != next(iter(numbers)))
        yield Finding(
            facts.place(different, "max_reconsume_times"),
            f"members of {facts.group.name} have different maxima ({listing([str(number) for number in numbers])}): "
            "the one that fails last decides, so a message may be a dead letter after any of these numbers of retries.",
            "Configure the same max_reconsume_times in all members.",
        )
    if "retry_max_times" in facts.group.model_fields_set and facts.group.retry_max_times != maximum_of(
        next(iter(numbers))
    ):
        yield Finding(
            (*facts.path, "retry_max_times"),
            f"retry_max_times = {facts.group.retry_max_times} has no effect: the clients send their own maximum, "
            f"{maximum_of(next(iter(numbers)))}, and it wins.",
            "Set max_reconsume_times in the clients.",
            Severity.NOTE,
        )


@group_rule("CC-14", "fixed-delay-level", Severity.WARNING, "CC-14", "SB-4", "DL-2")
def fixed_level(facts: GroupFacts) -> Iterator[Finding]:
    """The delay of a retry grows with its number.

    CC-14: the listener's own level is used every time; the fallback path does not know it.
    """
    for client in facts.retrying:
        level = client.settings.delay_level_when_next_consume
        if level == 0:
            continue
        at = facts.place(client, "delay_level_when_next_consume")
        table = facts.brokers[0].message_delay_level
        maximum = client.settings.max_reconsume_times
        chain = retries(maximum, table, chosen_level=level)
        setting = f"with delay_level_when_next_consume = {level}"
        if not chain:
            text = f"{setting} a message is a dead letter as soon as its listener fails once"
        else:
            clamped = f" (the table ends with level {chain[0].level})" if chain[0].asked > chain[0].level else ""
            text = (
                f"{setting} every retry waits {duration(chain[0].wait)}{clamped}, and a message that always fails is a "
                f"dead letter after {waited(chain, maximum_of(maximum))}"
            )
        yield Finding(
            at,
            f"{text}. When the send-back fails and the client falls back to an ordinary send, this level is ignored.",
            "Leave it at 0, unless that is intended.",
            Severity.NOTE,
        )
        return


@group_rule("DQ-1", "dead-letters-not-readable", Severity.NOTE, "DQ-1")
def dead_letters_not_readable(facts: GroupFacts) -> Iterator[Finding]:
    """Dead letters can be read.

    DQ-1: up to 4.9.1 the dead-letter topic is created without read permission.
    """
    old = [broker for broker in facts.brokers if version(broker.version) < READABLE_DEAD_LETTERS]
    if not old:
        return
    topic = next((name for name in facts.topics if name.startswith(DEAD_LETTERS)), None)
    names = listing([f"{broker.name} ({broker.version})" for broker in old])
    if topic is not None:
        client = next(client for client in facts.clients if client.subscribes(topic))
        yield Finding(
            (*facts.place(client, "subscriptions"), topic),
            f"{names} created {topic} without read permission: {facts.group.name} gets 'no permission' and no message.",
            f"Give the topic permission 6 (mqadmin updateTopicPerm -t {topic} -p 6), or upgrade to 4.9.2 or later and "
            "do the same for the topic that exists.",
            Severity.ERROR,
        )
    elif facts.retrying:
        yield Finding(
            ("brokers", facts.description.brokers.index(old[0])),
            f"{names} creates {DEAD_LETTERS}{facts.group.name} without read permission: nobody can look at the dead "
            "letters.",
            f"Give the topic permission 6 (mqadmin updateTopicPerm -t {DEAD_LETTERS}{facts.group.name} -p 6).",
        )


@group_rule("DQ-4", "dead-letters-consumed", Severity.ERROR, "DQ-4", "EN-14")
def dead_letters_consumed(facts: GroupFacts) -> Iterator[Finding]:
    """Dead letters are not consumed by a group that would make them dead letters again.

    EN-14: a dead letter keeps its number of attempts.
    """
    for client in facts.clients:
        for topic in (*client.settings.subscriptions, *client.settings.sql_subscriptions):
            if not topic.startswith(DEAD_LETTERS):
                continue
            at = (*facts.place(client, "subscriptions"), topic)
            if topic == DEAD_LETTERS + facts.group.name:
                yield Finding(
                    at,
                    f"{facts.group.name} consumes its own dead letters: one that fails again goes back to {topic} at "
                    "once, without delay and without end.",
                    "Consume them with another group, or send them to their topic again.",
                )
            elif client in facts.retrying:
                maximum = maximum_of(client.settings.max_reconsume_times)
                carried = _carried(facts.description, topic.removeprefix(DEAD_LETTERS))
                if not given_up_at_once(carried, maximum):
                    continue
                yield Finding(
                    at,
                    f"a message of {topic} keeps its number of attempts, {carried}, "
                    f"and {facts.group.name} retries up to {maximum}: one that fails is a dead letter of "
                    f"{facts.group.name} at once, without a retry.",
                    "Set max_reconsume_times of this group to the attempts of the first group plus those that are "
                    "wanted.",
                    Severity.WARNING,
                )
        return


def _carried(description: Description, group: str) -> int:
    """The highest number of attempts with which dead letters of a group arrive (EN-14)."""
    (owner,) = [found for found in description.groups if found.name == group]
    return max(maximum_of(owner.settings_of(member).max_reconsume_times) for member in owner.members) + 1
