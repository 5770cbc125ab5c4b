"""Mistakes in orderly consumption: locks, their lifetimes, retries without end."""

from __future__ import annotations

from collections.abc import Iterator

from ...output.row import Severity
from ..attempts import duration
from ..clients import version
from ..facts import GroupFacts
from ..finding import Finding, group_rule

FORCED_UNLOCK = (5, 2, 0)
WAITS_FOR_LISTENER = 500
SUSPEND = (10, 30000)


@group_rule("E8", "forced-unlock-while-listener-runs", Severity.ERROR, "RB-33", "OR-11")
def forced_unlock(facts: GroupFacts) -> Iterator[Finding]:
    """The listener returns before its queue is given away.

    RB-33: since 5.2.0 a queue that left the share is unlocked this long after its last renewal, even if a listener
    runs.
    """
    for client in facts.locking:
        settings = client.settings
        slowest = settings.slowest_listener_millis
        forces = settings.java is not None and settings.java >= FORCED_UNLOCK
        if slowest is None or not forces or slowest <= WAITS_FOR_LISTENER:
            continue
        delay = settings.unlock_delay_time_mills
        surely = slowest > delay
        yield Finding(
            facts.place(client, "slowest_listener_millis"),
            f"a call of the listener takes up to {duration(slowest)}. When a rebalance gives its queue to another "
            f"member, the lock is released by force {duration(delay)} after its last renewal"
            f"{'' if surely else f', which may be any time up to {duration(settings.lock_interval)} ago'}, and the "
            "other member consumes the queue while the call still runs: order is lost and the same messages run twice.",
            f"Keep calls shorter than {duration(WAITS_FOR_LISTENER)}, or raise "
            f"-Drocketmq.client.unlockDelayTimeMills above {duration(slowest + settings.lock_interval)}.",
            None if surely else Severity.WARNING,
        )
        return


@group_rule("OR-11", "listener-outlasts-lock", Severity.WARNING, "OR-1", "OR-11", "PQ-10")
def outlasts_lock(facts: GroupFacts) -> Iterator[Finding]:
    """The listener returns before its lock can expire.

    OR-11: a batch may start until the client distrusts its lock, and must end before the broker gives it away.
    """
    for client in facts.locking:
        slowest = client.settings.slowest_listener_millis
        life = min(broker.lock_max_live_time for broker in facts.brokers)
        left = life - client.settings.lock_max_live_time
        if slowest is not None and 0 < left <= slowest:
            yield Finding(
                facts.place(client, "slowest_listener_millis"),
                f"a call of the listener may begin {duration(client.settings.lock_max_live_time)} after the last "
                f"renewal of the lock and takes up to {duration(slowest)}; the broker gives the queue away after "
                f"{duration(life)}. When renewals fail or the process stands still, two members consume the queue at "
                "a time.",
                f"Keep calls shorter than {duration(left)}.",
            )
            return


@group_rule("E2", "lock-lifetimes", Severity.ERROR, "OR-1", "OR-9", "PQ-10")
def lock_lifetimes(facts: GroupFacts) -> Iterator[Finding]:
    """Locks are renewed before they expire, and the client distrusts a lock before the broker gives it away.

    OR-9: renewal every 20 s, 30 s of trust at the client, 60 s at the broker; each can be configured separately.
    """
    for client in facts.locking:
        settings = client.settings
        for broker in facts.brokers:
            if settings.lock_max_live_time >= broker.lock_max_live_time:
                yield Finding(
                    facts.place(client, "lock_max_live_time"),
                    f"{client.name} trusts a lock for {duration(settings.lock_max_live_time)} after its renewal, and "
                    f"{broker.name} gives it away after {duration(broker.lock_max_live_time)}: when a renewal fails, "
                    "two members consume one queue at a time.",
                    f"Set -Drocketmq.client.rebalance.lockMaxLiveTime below {broker.lock_max_live_time}, usually 30000 "
                    "against 60000.",
                )
                return
        if settings.lock_interval >= settings.lock_max_live_time:
            yield Finding(
                facts.place(client, "lock_interval"),
                f"{client.name} renews its locks every {duration(settings.lock_interval)} and trusts them for "
                f"{duration(settings.lock_max_live_time)}: in between it stops consuming queues that it owns.",
                f"Set -Drocketmq.client.rebalance.lockInterval below {settings.lock_max_live_time}.",
                Severity.WARNING,
            )
            return


@group_rule("OR-8", "orderly-retries", Severity.WARNING, "OR-8")
def orderly_retries(facts: GroupFacts) -> Iterator[Finding]:
    """A message that always fails does not block an ordered queue for ever, and other messages do not overtake it.

    OR-8: without a maximum the queue waits for ever; with one, later messages pass the dead letter.
    """
    for maximum in dict.fromkeys(client.settings.max_reconsume_times for client in facts.locking):
        at = facts.with_value("max_reconsume_times", maximum)
        suspend = facts.locking[0].settings.suspend_current_queue_time_millis
        if maximum == -1:
            yield Finding(
                at,
                "max_reconsume_times is -1, which is no maximum for an orderly listener: a message that always fails "
                f"is tried every {duration(suspend)} for ever, and nothing behind it in its queue is consumed.",
                "Set max_reconsume_times, or let the listener put aside what it cannot handle and answer SUCCESS.",
            )
        elif maximum < 0:
            yield Finding(
                at,
                f"max_reconsume_times is {maximum}: a message goes to the dead letters as soon as its listener "
                "suspends once.",
                "Set a maximum of 1 or more, or -1 for none.",
                Severity.ERROR,
            )
        else:
            waited = "at once" if maximum == 0 else f"after {duration(maximum * suspend)} in one place"
            yield Finding(
                at,
                f"a message that fails {maximum} times is dead-lettered {waited}, and the messages behind it go on "
                "without it; the count lives in the client, so a rebalance or restart begins it anew.",
                "Accept this if a gap in the order is better than a blocked queue.",
                Severity.NOTE,
            )


@group_rule("D3", "orderly-retries-forever-after-max", Severity.ERROR, "SB-15", "OR-8")
def orderly_dead_letter_missed(facts: GroupFacts) -> Iterator[Finding]:
    """An orderly message at its maximum becomes a dead letter.

    SB-15: brokers 5.0.0 to 5.1.0 dead-letter above the maximum, clients up to 5.1.0 send the maximum itself.
    """
    brokers = [broker for broker in facts.brokers if (5, 0, 0) <= version(broker.version) < (5, 1, 1)]
    for client in facts.locking:
        limited = client.settings.max_reconsume_times != -1
        if brokers and limited and client.settings.java_before(5, 1, 1):
            yield Finding(
                facts.place(client, "client_version"),
                f"{client.name} ({client.settings.client_version}) sends an exhausted message with "
                f"{client.settings.max_reconsume_times} attempts, and {brokers[0].name} ({brokers[0].version}) makes a "
                "dead letter only of more: it comes back through the retry topic, again and again.",
                "Upgrade brokers or clients to 5.1.1 or later.",
            )
            return


@group_rule("OR-7", "suspend-time-out-of-range", Severity.WARNING, "OR-7")
def suspend_clamped(facts: GroupFacts) -> Iterator[Finding]:
    """The pause after a failure of an orderly queue is the configured one.

    OR-7: the pause is clamped to 10 to 30000 ms.
    """
    low, high = SUSPEND
    for client in facts.locking:
        given = client.settings.suspend_current_queue_time_millis
        if not low <= given <= high:
            used = low if given < low else high
            yield Finding(
                facts.place(client, "suspend_current_queue_time_millis"),
                f"suspend_current_queue_time_millis is {given}; the client waits {duration(used)} instead.",
                f"Set a value from {low} to {high}.",
            )
            return
