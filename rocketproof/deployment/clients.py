"""Clients of RocketMQ by language: which releases there are, and their default settings.

For all languages but Java, the sources were read: Go ``apache/rocketmq-client-go`` at 2173d07, C++
``apache/rocketmq-client-cpp`` at 7c8b7f8, which the Python client wraps, Spring ``apache/rocketmq-spring`` at ce5f729,
which contains a Java client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


def version(text: str) -> tuple[int, ...]:
    """A release such as ``4.9.8`` in a sortable form."""
    return tuple(int(part) for part in text.split("."))


STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONSISTENT_HASH")


@dataclass(frozen=True, kw_only=True)
class Language:
    """A client."""

    title: str  # its name in findings
    releases: str  # pattern of its releases
    newest: str  # the release that is assumed if none is given
    # settings whose defaults differ from those of the Java client
    defaults: Mapping[str, object] = field(default_factory=dict)
    strategies: tuple[str, ...] = STRATEGIES  # those that it has
    lacks: frozenset[str] = frozenset()  # settings that it does not know, beyond those that all non-Java clients lack
    # for a wrapper, the release of the Java client in each of its releases; releases in between have that of the older
    # one
    java: Mapping[str, str] = field(default_factory=dict)
    pops: bool = False  # whether it takes messages by pop, so that it manages neither queues nor offsets

    def fits(self, release: str) -> bool:
        """Whether such a release may exist."""
        return re.fullmatch(self.releases, release) is not None

    def java_of(self, release: str) -> tuple[int, ...] | None:
        """The release of the Java client that runs, if one does."""
        if self is LANGUAGES["java"]:
            return version(release)
        known = [given for given in self.java if version(given) <= version(release)]
        return version(self.java[known[-1]]) if known else None


_JAVA_ONLY = frozenset(
    {
        "consume_thread_max",
        "pop_invisible_time",
        "pop_batch_nums",
        "await_termination_millis_when_shutdown",
        "pull_max_idle_time",
        "lock_max_live_time",
        "unlock_delay_time_mills",
        "rebalance_wait_interval",
        "poll_name_server_interval",
        "heartbeat_broker_interval",
        "persist_consumer_offset_interval",
        "listener_sets_ack_index",
    }
)
_CPP = Language(
    title="C++",
    releases=r"[12]\.\d+\.\d+",
    newest="2.2.0",
    strategies=("AVG",),
    lacks=_JAVA_ONLY
    | {
        "sql_subscriptions",
        "consume_timestamp",
        "consume_concurrently_max_span",
        "pull_threshold_for_topic",
        "pull_threshold_size_for_topic",
        "pull_interval",
        "suspend_current_queue_time_millis",
        "consume_timeout",
        "lock_interval",
    },
)

LANGUAGES: Mapping[str, Language] = {
    "java": Language(title="Java", releases=r"[45]\.\d+\.\d+", newest="5.3.3"),
    "spring": Language(
        title="Spring",
        releases=r"2\.\d+\.\d+",
        newest="2.3.5",
        defaults={"consume_thread_max": 64, "await_termination_millis_when_shutdown": 1000},
        lacks=frozenset({"listener_sets_ack_index", "listener_may_return_null"}),
        java={
            "2.0.1": "4.3.2",
            "2.0.2": "4.4.0",
            "2.0.3": "4.5.1",
            "2.0.4": "4.5.2",
            "2.1.0": "4.6.0",
            "2.1.1": "4.7.1",
            "2.2.0": "4.8.0",
            "2.2.1": "4.9.1",
            "2.2.2": "4.9.3",
            "2.2.3": "5.0.0",
            "2.3.0": "5.2.0",
            "2.3.1": "5.3.0",
            "2.3.2": "5.3.1",
            "2.3.4": "5.3.2",
        },
    ),
    "go": Language(
        title="Go",
        releases=r"2\.\d+\.\d+",
        newest="2.1.2",
        defaults={
            "consume_concurrently_max_span": 1000,
            "pull_threshold_for_queue": 1024,
            "pull_threshold_for_topic": 102400,
            "pull_threshold_size_for_queue": 512,
            "pull_threshold_size_for_topic": 51200,
        },
        strategies=tuple(name for name in STRATEGIES if name != "MACHINE_ROOM_NEARBY"),
        lacks=_JAVA_ONLY,
    ),
    "cpp": _CPP,
    "python": Language(
        title="Python",
        releases=r"[02]\.\d+\.\d+",
        newest="2.0.0",
        strategies=_CPP.strategies,
        lacks=_CPP.lacks | {"consume_from_where", "max_reconsume_times", "unit_name"},
    ),
    "grpc": Language(title="gRPC", releases=r"5\.\d+\.\d+", newest="5.0.7", pops=True),
}
"""The clients, by the value of ``client_language``."""
