"""Plan: what a simulated run is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath

from ....model.delay import DEFAULT_LEVELS
from ...errors import TraceError

CONCURRENTLY, ORDERLY, BROADCASTING = "concurrently", "orderly", "broadcasting"
GROUP_KINDS = (CONCURRENTLY, ORDERLY, BROADCASTING)
FORMATS = ("parquet", "jsonl")
STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run of one consumer group, and where to write it. Times are in ms.

    Attributes:
        out: folder of ``trace.parquet`` or ``trace.jsonl``, ``truth.json`` and ``truth.parquet``; made if missing.
        messages: how many are produced, over all queues.
        consumers: clients of the group at the beginning.
        queues: readable queues of each topic, spread over the brokers.
        topics: topics that the group consumes, besides its retry topic.
        brokers: brokers.
        group_kind: ``concurrently``, ``orderly`` or ``broadcasting``.
        strategy: how queues are shared.
        failure_rate: share of first deliveries that fail.
        retry_failure_rate: share of later deliveries that fail.
        filtered_rate: share of messages that the subscription does not match.
        max_attempts: ``maxReconsumeTimes``; -1 is the default of 16, for an orderly group without end.
        refusal_rate: share of send-backs that the broker refuses; some of them it has stored nevertheless.
        churn: how often a client leaves, dies or comes; what leaves comes back.
        broker_restarts: how often a broker crashes and starts again.
        resets: how often an operator sets an offset back.
        corrections: how often a replica that lags behind makes a client go back to its end.
        timeouts: how many listener calls outlast the consume timeout.
        consume_timeout: the consume timeout, and the period in which it is looked for.
        duration: how long messages are produced; 0: ten minutes, or as long as it takes at ``rate``.
        rate: messages a second at most, where ``duration`` is not given.
        mutant: id of a known bug that the cluster has; empty: it is correct.
        mutant_places: at how many places it strikes, at most; one that lasts strikes less often in a short run.
        seed: whatever is left to chance follows from it.
        format: ``parquet`` or ``jsonl``.
        keys: write the unique key of each message besides its origin.
        rows: rows that are written at a time; bounds the memory.
        start: time of the first event.
    """

    out: FilePath
    messages: int = 100_000
    consumers: int = 4
    queues: int = 16
    topics: int = 1
    brokers: int = 2
    group_kind: str = CONCURRENTLY
    strategy: str = "AVG"
    failure_rate: float = 0.01
    retry_failure_rate: float = 0.4
    filtered_rate: float = 0.0
    max_attempts: int = 3
    refusal_rate: float = 0.05
    churn: int = 0
    broker_restarts: int = 0
    resets: int = 0
    corrections: int = 0
    timeouts: int = 0
    consume_timeout: int = 60_000
    duration: int = 0
    rate: int = 5_000
    mutant: str = ""
    mutant_places: int = 3
    seed: int = 0
    format: str = "parquet"
    keys: bool = False
    rows: int = 1 << 18
    start: int = 1_767_225_600_000
    release: str = "5.3.3"
    delays: str = DEFAULT_LEVELS

    def __post_init__(self) -> None:
        for name in ("messages", "consumers", "queues", "topics", "brokers", "rows", "rate", "mutant_places"):
            if getattr(self, name) < 1:
                raise TraceError(f"{name} is {getattr(self, name)}; a simulated run needs at least 1.")
        for name in ("failure_rate", "retry_failure_rate", "filtered_rate", "refusal_rate"):
            if not 0 <= getattr(self, name) < 1:
                raise TraceError(f"{name} is {getattr(self, name)}; it is a share, from 0 to below 1.")
        for name in ("churn", "broker_restarts", "resets", "corrections", "timeouts", "duration"):
            if getattr(self, name) < 0:
                raise TraceError(f"{name} is {getattr(self, name)}; it cannot be below 0.")
        if self.max_attempts < -1:
            raise TraceError(f"max_attempts is {self.max_attempts}; possible: -1 (RocketMQ's default), 0 and more.")
        _one_of("group_kind", self.group_kind, GROUP_KINDS)
        _one_of("format", self.format, FORMATS)
        _one_of("strategy", self.strategy, STRATEGIES)
        if self.brokers > self.queues:
            raise TraceError(f"{self.queues} queues cannot be spread over {self.brokers} brokers; use fewer brokers.")

    @property
    def producing(self) -> int:
        """For how long messages are produced, ms."""
        return self.duration or max(600_000, self.messages * 1000 // self.messages_a_second)

    @property
    def messages_a_second(self) -> int:
        """The highest rate that the clients can follow."""
        return min(self.rate, 1_000 * self.consumers)


def _one_of(name: str, given: str, possible: tuple[str, ...]) -> None:
    if given not in possible:
        raise TraceError(f"{name} is {given!r}; possible: {', '.join(possible)}.")
