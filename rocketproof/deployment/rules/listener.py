"""Mistakes in what the listener does, how long it takes, and how pulling waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from ...checkers.run import counted
from ...output.row import Severity
from ..attempts import duration
from ..facts import Client, GroupFacts
from ..finding import Finding, duplicates, group_rule

SLOW = 60_000
"""Duration of a single call, in ms, from which on the messages that wait behind it are worth a note."""


def _concurrent(facts: GroupFacts) -> list[Client]:
    return [client for client in facts.clients if client.settings.listener == "concurrently"]


@group_rule("A10", "pull-interval-above-idle-limit", Severity.ERROR, "PQ-11", "RB-30")
def pull_interval(facts: GroupFacts) -> Iterator[Finding]:
    """A queue is pulled before it counts as idle.

    PQ-11: a queue that was not pulled for this long is dropped by the next rebalance, and taken anew.
    """
    for client in facts.clients:
        settings = client.settings
        if settings.pull_interval >= settings.pull_max_idle_time:
            key = "pull_interval" if "pull_interval" in settings.model_fields_set else "pull_max_idle_time"
            yield Finding(
                facts.place(client, key),
                f"{client.name} pulls each queue every {duration(settings.pull_interval)}, and a queue not pulled for "
                f"{duration(settings.pull_max_idle_time)} is dropped and taken anew: again and again, and what was "
                "cached or running comes a second time.",
                f"Set pull_interval below {settings.pull_max_idle_time}, usually to 0.",
            )
            return


@group_rule("F3", "listener-exceeds-consume-timeout", Severity.WARNING, "PQ-9")
def exceeds_timeout(facts: GroupFacts) -> Iterator[Finding]:
    """The listener returns within the consume timeout.

    PQ-9: the message is sent back while the listener still runs.
    """
    for client in _concurrent(facts):
        settings = client.settings
        slowest, timeout = settings.slowest_listener_millis, settings.consume_timeout * 60_000
        if slowest is None or slowest < timeout:
            continue
        broadcasting = settings.broadcasts
        after = (
            "sent to a retry topic that no broadcasting consumer reads, and is taken from the cache"
            if broadcasting
            else "sent back and delivered again 10 s later, to any member, while the first call is still running"
        )
        yield Finding(
            facts.place(client, "slowest_listener_millis"),
            f"a call takes up to {duration(slowest)}, and after {duration(timeout)} (noticed within as long "
            f"again) its message is {after}.",
            f"Set consume_timeout to {slowest // 60_000 + 1} minutes or more, or do the work elsewhere and answer "
            "sooner.",
            max(Severity.WARNING, duplicates(facts)),
        )
        return


@group_rule("F4", "slow-listener-pins-offset", Severity.NOTE, "PQ-2", "PL-9")
def pins_offset(facts: GroupFacts) -> Iterator[Finding]:
    """One slow message does not hold up its queue.

    PQ-2: the committed offset is that of the oldest unfinished message.
    """
    for client in _concurrent(facts):
        settings = client.settings
        slowest = settings.slowest_listener_millis
        if slowest is None or slowest < SLOW:
            continue
        span = settings.consume_concurrently_max_span
        yield Finding(
            facts.place(client, "slowest_listener_millis"),
            f"while one call runs for {duration(slowest)} the progress of its queue stands still; {span:,} messages "
            f"further pulling stops, and after a restart or rebalance up to {span + settings.pull_batch_size:,} "
            "finished messages of the queue come again.",
            "Give slow work its own topic, or hand it over to something that stores it, and answer sooner.",
            duplicates(facts),
        )
        return


@group_rule("C1", "ack-index-ignored-on-failure", Severity.NOTE, "CC-10", "CC-12")
def ack_index(facts: GroupFacts) -> Iterator[Finding]:
    """Of a batch, only the messages that failed come again.

    CC-10: ackIndex counts only together with CONSUME_SUCCESS.
    """
    for client in _concurrent(facts):
        settings = client.settings
        size = min(settings.consume_message_batch_max_size, settings.pull_batch_size)
        if size == 1:
            continue
        at = facts.place(client, "consume_message_batch_max_size")
        if settings.listener_sets_ack_index:
            rest = "silently dropped" if settings.broadcasts else "sent back"
            yield Finding(
                at,
                f"the listener gets up to {size} messages at a time and sets ackIndex: it counts only with "
                f"CONSUME_SUCCESS, then the messages behind it are {rest}; with RECONSUME_LATER, null or an exception "
                f"all {size} come again.",
                "Answer CONSUME_SUCCESS with ackIndex set to the last finished message, even after a failure.",
                max(Severity.WARNING, duplicates(facts)),
            )
        else:
            yield Finding(
                at,
                f"the listener gets up to {size} messages at a time: when one of them fails, all {size} come again.",
                "Set ackIndex with CONSUME_SUCCESS, or consume_message_batch_max_size = 1.",
                duplicates(facts),
            )
        return


@group_rule("D10", "listener-returns-no-status", Severity.ERROR, "CC-7")
def no_status(facts: GroupFacts) -> Iterator[Finding]:
    """The listener answers CONSUME_SUCCESS when its work is done.

    CC-7: null and exceptions count as RECONSUME_LATER.
    """
    for client in facts.clients:
        if client.settings.listener_may_return_null:
            orderly = client.settings.listener == "orderly"
            again = (
                "the queue is suspended and the message comes again after a moment"
                if orderly
                else "the message is retried"
            )
            yield Finding(
                facts.place(client, "listener_may_return_null"),
                f"the listener of {client.name} may end without a status after its work is done; that counts as a "
                f"failure: {again}, though it was consumed.",
                "Return a status on every path, and catch everything that is thrown after the work is done.",
            )
            return


@group_rule("C4", "shutdown-commits-too-early", Severity.NOTE, "ST-8", "ST-9")
def early_commit(facts: GroupFacts) -> Iterator[Finding]:
    """A shutdown waits for running listeners.

    ST-8: progress is stored when the wait is over, finished or not; running listeners are interrupted.
    """
    for client in facts.clients:
        settings = client.settings
        wait, slowest = settings.await_termination_millis_when_shutdown, settings.slowest_listener_millis
        if wait and (slowest is None or wait >= slowest):
            continue
        waits = f"waits {duration(wait)}" if wait else "does not wait"
        takes = f", which take up to {duration(slowest)}" if slowest else ""
        if settings.listener == "orderly":
            takes += ", and unlocks its queues while they may still run"
        yield Finding(
            facts.place(client, "await_termination_millis_when_shutdown"),
            f"a shutdown of {client.name} {waits} for running listeners{takes}: it interrupts up to "
            f"{counted(settings.consume_thread_min, 'call')} and then stores the progress without them, so at every "
            "deployment these messages come again, and those whose listener fails on the interrupt as retries as well.",
            f"Set await_termination_millis_when_shutdown to {slowest or 'the longest time a call takes'}"
            f"{' or more' if slowest else ''}.",
            max(Severity.WARNING if settings.listener == "orderly" else Severity.NOTE, duplicates(facts)),
        )
        return


@group_rule("CC-1", "settings-without-effect", Severity.NOTE, "PQ-9", "CC-1")
def without_effect(facts: GroupFacts) -> Iterator[Finding]:
    """Settings that are given have an effect.

    Settings that another setting makes ineffective.
    """
    for client in facts.clients:
        settings = client.settings
        given = settings.model_fields_set
        if "consume_thread_max" in given and settings.consume_thread_max > settings.consume_thread_min:
            yield Finding(
                facts.place(client, "consume_thread_max"),
                f"consume_thread_max = {settings.consume_thread_max} has no effect: tasks wait in a queue without end, "
                f"so there are never more than consume_thread_min = {settings.consume_thread_min} threads.",
                "Set consume_thread_min.",
            )
        if "consume_timeout" in given and settings.listener == "orderly":
            yield Finding(
                facts.place(client, "consume_timeout"),
                "consume_timeout has no effect on an orderly listener: nothing ever ends a call.",
                "Bound the time in the listener itself.",
            )
        if settings.consume_message_batch_max_size > settings.pull_batch_size:
            yield Finding(
                facts.place(client, "consume_message_batch_max_size"),
                f"consume_message_batch_max_size = {settings.consume_message_batch_max_size} is more than a pull "
                f"brings (pull_batch_size = {settings.pull_batch_size}): no call gets more than "
                f"{settings.pull_batch_size} messages.",
                "Raise pull_batch_size as well; the broker hands out at most 32 unless it is configured for more.",
            )
        return
