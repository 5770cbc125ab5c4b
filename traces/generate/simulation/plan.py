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
    """A run of one consumer group, and where to write it. Times are in ms."""

    # folder of ``trace.parquet`` or ``trace.jsonl``, ``truth.json`` and ``truth.parquet``; made if missing
    out: FilePath
    messages: int = 100_000  # how many are produced, over all queues
    consumers: int = 4  # clients of the group at the beginning
    queues: int = 16  # readable queues of each topic, spread over the brokers
    topics: int = 1  # topics that the group consumes, besides its retry topic
    brokers: int = 2
    group_kind: str = CONCURRENTLY  # ``concurrently``, ``orderly`` or ``broadcasting``
    strategy: str = "AVG"  # how queues are shared
    failure_rate: float = 0.01  # share of first deliveries that fail
    retry_failure_rate: float = 0.4  # share of later deliveries that fail
    filtered_rate: float = 0.0  # share of messages that the subscription does not match
    max_attempts: int = 3  # ``maxReconsumeTimes``; -1 is the default of 16, for an orderly group without end
    refusal_rate: float = 0.05  # share of send-backs that the broker refuses; some of them it has stored nevertheless
    churn: int = 0  # how often a client leaves, dies or comes; what leaves comes back
    broker_restarts: int = 0  # how often a broker crashes and starts again
    resets: int = 0  # how often an operator sets an offset back
    corrections: int = 0  # how often a replica that lags behind makes a client go back to its end
    timeouts: int = 0  # how many listener calls outlast the consume timeout
    consume_timeout: int = 60_000  # the consume timeout, and the period in which it is looked for
    duration: int = 0  # how long messages are produced; 0: ten minutes, or as long as it takes at ``rate``
    rate: int = 5_000  # messages a second at most, where ``duration`` is not given
    mutant: str = ""  # id of a known bug that the cluster has; empty: it is correct
    mutant_places: int = 3  # at how many places it strikes, at most; one that lasts strikes less often in a short run
    seed: int = 0  # whatever is left to chance follows from it
    format: str = "parquet"  # ``parquet`` or ``jsonl``
    keys: bool = False  # write the unique key of each message besides its origin
    rows: int = 1 << 18  # rows that are written at a time; bounds the memory
    start: int = 1_767_225_600_000  # time of the first event
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
