"""Watching: arriving recordings are ingested, mined from where the previous run ended, and reported, by Structured
Streaming.

Spark signals that something has arrived, and its checkpoint records which batch of it is done. Everything that a batch
does follows from what is published in the table: files are identified by their content, a run by its input, and what
was reported by the run. A batch that was killed anywhere is therefore done again, and nothing of it is lost or
duplicated.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ...traces.io.addresses import is_address, local_path
from ...traces.io.open import NothingToReadError
from ..session import failures
from .alerts import Told, alerts_in, publish_alerts, told_of
from .arriving import Arriving
from .carried import LATENESS, STATES
from .ingest import Ingested, ingest
from .mining import Mining, Terms, mine_table
from .recording import live_of
from .table import RUN, AtWorkError, Table, folder_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHECKPOINT = "_checkpoint"
"""The default folder, in the table, for checkpoints of streams."""

KEPT_RUNS = 100
"""Number of runs that are kept; each has the findings of everything that was ingested up to it."""

_LOOK, _WAIT = 0.1, 1.0
"""How often to check whether the stream has ended, and whether the table is free, s."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The result of a batch.

    Attributes:
        batch: its number in the stream.
        ingested: what was ingested.
        mining: the run; None if there are no events yet.
        told: what was published as alerts; None if nothing was mined for the cluster.
        again: alerts that were published when the batch was done before, if the process was killed before that was
            noted: they may have been reported.
    """

    batch: int
    ingested: Ingested
    mining: Mining | None = None
    told: Told | None = None
    again: Sequence[Mapping[str, Any]] = ()

    @property
    def alerts(self) -> Sequence[Mapping[str, Any]]:
        """Everything that is to be reported, rows of ALERT."""
        return [*self.again, *(() if self.told is None else self.told.alerts)]


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is watched, and how.

    Attributes:
        source: source of recordings.
        table: the table into which they are ingested.
        terms: settings of the checks.
        cluster: the recorded cluster.
        options: options of importers.
        lateness: how much later than others events may come, ms: the watermark is that far behind the latest event.
        doubtful: also report findings in doubt.
        checkpoint: a folder, or an address of a store; empty: one in the table.
        kept_runs: number of runs that are kept.
    """

    source: Arriving
    table: Table
    terms: Terms
    cluster: str = "default"
    options: Mapping[str, str] = field(default_factory=dict)
    lateness: int = LATENESS
    doubtful: bool = False
    checkpoint: str = ""
    kept_runs: int = KEPT_RUNS

    def place(self) -> str:
        """The place of the checkpoint."""
        if is_address(self.checkpoint):
            return self.checkpoint
        own = self.table.folder / CHECKPOINT / folder_of(self.cluster)
        return str(local_path(self.checkpoint).absolute() if self.checkpoint else own)


def watch(
    spark: SparkSession,
    what: Watch,
    *,
    tell: Callable[[Watched], None],
    every: int | None = None,
    stop: threading.Event | None = None,
    waiting: Callable[[str], None] = lambda _: None,
) -> None:
    """Ingest, mine and report what arrives, until it is stopped.

    Args:
        spark: the session whose tasks work, and whose settings say how sources are reached.
        what: what is watched.
        tell: called with the result of each batch, after it was published. If it fails, or the process is killed before
            it returns, it is called with the same alerts again after a restart.
        every: how often to look for arriving data, ms; None: process what is there, and end.
        stop: when it is set, the batch under way is finished, and this returns.
        waiting: called with the process for which a batch waits, if another one is using the table.

    Raises:
        TraceError: something cannot be read or written, or Spark fails.
    """
    steps = _Steps(spark, what, tell, stop or threading.Event(), waiting)
    with failures():
        writer = what.source.stream(spark).writeStream.foreachBatch(steps.step)
        writer = writer.option("checkpointLocation", what.place()).queryName(f"rocketproof {what.cluster}")
        writer = (
            writer.trigger(availableNow=True)
            if every is None
            else writer.trigger(processingTime=f"{every} milliseconds")
        )
        query = writer.start()
        try:
            while query.isActive and not steps.stop.wait(_LOOK):
                pass
            failed = None if steps.stop.is_set() else query.exception()
        finally:
            steps.stop.set()  # no other batch begins
        while query.isActive and query.status["isTriggerActive"]:
            time.sleep(_LOOK)  # until Spark has noted that the batch is done
        query.stop()
        if steps.error is not None:
            raise steps.error
        if failed is not None:
            raise failed


class _EndedError(Exception):
    """A batch is not done: it failed, or the stream has ended."""


class _Steps:
    """The processing of each batch."""

    def __init__(
        self,
        spark: SparkSession,
        what: Watch,
        tell: Callable[[Watched], None],
        stop: threading.Event,
        waiting: Callable[[str], None],
    ) -> None:
        self._spark, self._what, self._tell, self._waiting = spark, what, tell, waiting
        self.stop = stop
        self.error: BaseException | None = None

    def step(self, arrived: DataFrame, number: int) -> None:
        """Process a batch. Spark notes that it is done if nothing is raised."""
        if self.stop.is_set():
            raise _EndedError
        try:
            self._tell(self._when_free(arrived, number))
        except BaseException as error:
            self.error = error
            raise _EndedError from None

    def _when_free(self, arrived: DataFrame, number: int) -> Watched:
        """Process a batch when no other process is using the table; what was done before an interruption stays."""
        while True:
            try:
                return self._done(arrived, number)
            except AtWorkError as error:
                self._waiting(str(error))
                if self.stop.wait(_WAIT):
                    raise

    def _done(self, arrived: DataFrame, number: int) -> Watched:
        what, table = self._what, self._what.table
        mark = {"checkpoint": what.place(), "batch": number}
        same = takewhile(lambda one: one[1]["mark"] == mark, told_of(table, what.cluster))
        again = [alert for folder, _ in reversed(list(same)) for alert in alerts_in(folder)]
        with what.source.files(arrived, number, table, what.cluster) as paths:
            ingested = self._ingested(paths)
        if not any(one.rows for live in live_of(table).values() for one in live.sources):
            return Watched(batch=number, ingested=ingested, again=again)
        mining = mine_table(lambda: self._spark, table, terms=what.terms, lateness=what.lateness)
        if what.cluster in mining.empty:
            return Watched(batch=number, ingested=ingested, mining=mining, again=again)
        told = publish_alerts(
            table, what.cluster, mining.run, lateness=what.lateness, doubtful=what.doubtful, mark=mark
        )
        for old in table.folders(RUN)[: -max(what.kept_runs, STATES)]:
            shutil.rmtree(old, ignore_errors=True)
        return Watched(batch=number, ingested=ingested, mining=mining, told=told, again=again)

    def _ingested(self, paths: Sequence[str]) -> Ingested:
        if not paths:
            return Ingested()
        what = self._what
        try:
            return ingest(self._spark, paths, what.table, cluster=what.cluster, options=what.options)
        except NothingToReadError as error:  # there may be recordings later
            return Ingested(problems=error.wrong, left_out=error.left_out)
