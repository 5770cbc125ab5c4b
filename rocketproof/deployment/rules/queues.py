"""Mistakes in numbers of queues, in planned changes of them, and in where consumption starts."""

from __future__ import annotations

from collections.abc import Iterator

from ...checkers.run import counted
from ...output.row import Severity
from ..cluster import Topic
from ..description import Description
from ..facts import GroupFacts, queues_of, runs, told
from ..finding import Finding, cluster_rule, duplicates, group_rule

_ORDER = "To shrink: lower write_queue_nums, wait until the queues are drained, then lower read_queue_nums."


@cluster_rule("A13", "read-queues-fewer-than-write-queues", Severity.ERROR, "EN-5", "PL-16")
def unread_queues(description: Description) -> Iterator[Finding]:
    """Every queue that producers write to is read.

    EN-5: consumers use the read count, producers the write count.
    """
    for number, topic in enumerate(description.topics):
        here = ("topics", number)
        read, write = topic.read_queue_nums, topic.write_queue_nums
        if read < write:
            yield Finding(
                (*here, "read_queue_nums"),
                f"producers write to queues {runs(range(write))} of {topic.name} on each broker, and consumers read "
                f"{f'only {runs(range(read))}' if read else 'none of them'}: {write - read} of {write} messages are "
                f"consumed by nobody (queues {runs(range(read, write))}).",
                f"Set read_queue_nums to {write} or more. {_ORDER}",
            )
        yield from _planned(topic, here)


def _planned(topic: Topic, here: tuple[str, int]) -> Iterator[Finding]:
    read, write = topic.planned_read_queue_nums, topic.planned_write_queue_nums
    if read is not None and read < topic.read_queue_nums and read < topic.write_queue_nums:
        first = write is not None and write <= read
        yield Finding(
            (*here, "planned_read_queue_nums"),
            f"when read_queue_nums of {topic.name} goes from {topic.read_queue_nums} to {read}, what is left in queues "
            f"{runs(range(read, topic.read_queue_nums))} of each broker is consumed by nobody"
            f"{', unless they are drained first' if first else ''}.",
            _ORDER,
            Severity.WARNING,
        )


@group_rule("G1", "last-offset-skips-new-queues", Severity.WARNING, "RB-40", "RB-41", "OF-21")
def new_queues_skipped(facts: GroupFacts) -> Iterator[Finding]:
    """New queues are consumed from their first message.

    RB-40: where to start is decided for each queue, not for the group; a new queue has no progress.
    """
    wheres = [where for where in facts.every("consume_from_where") if where != "CONSUME_FROM_FIRST_OFFSET"]
    if not wheres:
        return
    for number, topic in enumerate(facts.description.topics):
        if topic.name not in facts.topics:
            continue
        new = [
            queue
            for queue in queues_of(topic, facts.description, planned=True)
            if queue not in facts.queues(topic.name)
        ]
        if not new:
            continue
        key = "planned_read_queue_nums" if topic.planned_read_queue_nums is not None else "planned_brokers"
        yield Finding(
            ("topics", number, key),
            f"{facts.group.name} has {wheres[0]}, so it starts the planned queues {told(new)} of {topic.name} "
            f"{'at their end' if wheres[0] == 'CONSUME_FROM_LAST_OFFSET' else 'at the configured time'}: what "
            "producers write into them before a member takes them (up to 30 s for the route and 20 s for the "
            "rebalance) is skipped, unless the broker still has a queue's first message in memory.",
            "Create the queues for reading first and raise write_queue_nums when every member has them, or set "
            "CONSUME_FROM_FIRST_OFFSET, which changes nothing for queues with progress.",
        )


@group_rule("G2", "last-offset-replays-history", Severity.NOTE, "RB-40", "RB-41", "OF-21")
def history_replayed(facts: GroupFacts) -> Iterator[Finding]:
    """A new group starts where consume_from_where says.

    OF-21: while the first message of a queue is still in memory, a group without progress gets the answer 0.
    """
    if not facts.group.first_start or not facts.clustering:
        return
    for where in facts.every("consume_from_where"):
        if where == "CONSUME_FROM_FIRST_OFFSET":
            continue
        skipped = "the end" if where == "CONSUME_FROM_LAST_OFFSET" else "the configured time"
        yield Finding(
            facts.with_value("consume_from_where", where),
            f"{facts.group.name} starts for the first time with {where}: a queue whose first message is still in the "
            f"broker's memory is consumed from its beginning all the same, every other one from {skipped}, and what "
            "came before is skipped.",
            (
                "If nothing may be skipped, use CONSUME_FROM_FIRST_OFFSET. If no old message may be delivered, let "
                "the listener drop messages by their time, or set the progress with an administrator's tool before "
                "the start."
            ),
            duplicates(facts),
        )


@group_rule("RB-40", "timestamp-skips-retries", Severity.WARNING, "RB-40", "OF-21", "SB-12")
def retries_skipped(facts: GroupFacts) -> Iterator[Finding]:
    """Messages that were sent back into a new retry queue are consumed.

    RB-40: with CONSUME_FROM_TIMESTAMP, a retry queue without stored progress is started at its end.
    """
    if not facts.clustering or not facts.any("consume_from_where", "CONSUME_FROM_TIMESTAMP"):
        return
    consumed = [topic for topic in facts.description.topics if topic.name in facts.topics]
    new = sorted({broker for topic in consumed for broker in topic.planned_brokers})
    if not facts.group.first_start and not new:
        return
    where = f"on {', '.join(new)}" if not facts.group.first_start else "of a group that starts for the first time"
    yield Finding(
        facts.with_value("consume_from_where", "CONSUME_FROM_TIMESTAMP"),
        f"with CONSUME_FROM_TIMESTAMP the retry queues {where} are begun at their end, not at the time: a failed "
        "message that is sent back before a member has taken its retry queue is never tried again, unless the queue's "
        "first message is still in the broker's memory.",
        "Start with CONSUME_FROM_FIRST_OFFSET or CONSUME_FROM_LAST_OFFSET, which begin a retry queue at 0, and set the "
        "progress of the topic with an administrator's tool.",
    )


@group_rule("CC-2", "order-needs-an-orderly-listener", Severity.ERROR, "CC-2", "SB-19")
def order_needs_orderly(facts: GroupFacts) -> Iterator[Finding]:
    """Topics whose order matters are consumed by orderly listeners.

    CC-2: a concurrent consumer runs messages of one queue side by side, and a retry comes minutes later.
    """
    ordered = [topic for topic in facts.topics if _is_ordered(facts, topic)]
    if ordered and facts.any("listener", "concurrently"):
        threads = max(client.settings.consume_thread_min for client in facts.clients)
        yield Finding(
            facts.with_value("listener", "concurrently"),
            f"{', '.join(ordered)} is ordered, and {facts.group.name} consumes concurrently: up to "
            f"{counted(threads, 'message')} of one queue run at a time, and one that fails comes again behind all "
            "others.",
            'Use a MessageListenerOrderly (listener = "orderly").',
        )


@group_rule("EN-5", "order-lost-when-queues-change", Severity.WARNING, "EN-5", "EN-3")
def order_lost(facts: GroupFacts) -> Iterator[Finding]:
    """The number of queues of an ordered topic does not change.

    A producer that picks the queue by a key picks another one when the number of queues changes.
    """
    for number, topic in enumerate(facts.description.topics):
        if topic.name not in facts.topics or not topic.ordered:
            continue
        planned = topic.planned_write_queue_nums not in (None, topic.write_queue_nums)
        if planned or topic.planned_brokers:
            yield Finding(
                ("topics", number, "planned_write_queue_nums" if planned else "planned_brokers"),
                f"when the number of queues of {topic.name} changes, producers send a key to another queue than "
                "before: messages of one key lie in two queues, and their order among each other is lost.",
                "Stop the producers, drain the topic, change the number, and start the producers again.",
            )


def _is_ordered(facts: GroupFacts, name: str) -> bool:
    topic = facts.topic(name)
    return topic is not None and topic.ordered
