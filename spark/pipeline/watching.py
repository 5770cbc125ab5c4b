"""Watching: what arrives is ingested, mined from where the run before was, and told, by Structured Streaming.

Spark says when something has arrived, and its checkpoint which batch of that is done. Everything a batch does follows
from what is published in the table: files are known by their content, a run by its input, what was told by the run. So
a batch that was killed anywhere is done again, and nothing of it is lost or there twice.
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
"""The folder of the table in which checkpoints of streams are, unless another one is named."""

KEPT_RUNS = 100
"""Runs that stay; each has the findings of all that was ingested up to it."""

_LOOK, _WAIT = 0.1, 1.0
"""How often to look whether the stream has ended, and whether the table is free, s."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What has come of a batch.

    Attributes:
        batch: its number in the stream.
        ingested: what was ingested.
        mining: the run; None where there are no events yet.
        told: what was published to tell; None where nothing was mined of the cluster.
        again: alerts that were published when the batch was done before, and the process was killed before that was
            noted: they may have been told.
    """

    batch: int
    ingested: Ingested
    mining: Mining | None = None
    told: Told | None = None
    again: Sequence[Mapping[str, Any]] = ()

    @property
    def alerts(self) -> Sequence[Mapping[str, Any]]:
        """All that is to be told, rows of ALERT."""
        return [*self.again, *(() if self.told is None else self.told.alerts)]


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is watched, and how.

    Attributes:
        source: of recordings.
        table: they go to.
        terms: of the checks.
        cluster: which was recorded.
        options: of importers.
        lateness: events may come so much later than others, ms: the watermark is so far behind the latest event.
        doubtful: tell findings that are in doubt, too.
        checkpoint: a folder, or an address of a store; empty: one in the table.
        kept_runs: runs that stay.
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
        """Where the checkpoint is."""
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
    """Ingest, mine and tell what arrives, until somebody says to stop.

    Args:
        spark: whose tasks work, and whose settings say how sources are reached.
        what: what is watched.
        tell: is given what has come of each batch, after it was published. Where it fails, or the process is killed
            before it returns, it is given the same alerts again after a restart.
        every: how often to look for what has arrived, ms; None: do what is there, and end.
        stop: when it is set, the batch that is under way is done, and this returns.
        waiting: is told whom a batch waits for, if somebody else is at work on the table.

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
    """What is done for each batch."""

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
        """Do a batch. Spark notes that it is done if nothing is raised."""
        if self.stop.is_set():
            raise _EndedError
        try:
            self._tell(self._when_free(arrived, number))
        except BaseException as error:
            self.error = error
            raise _EndedError from None

    def _when_free(self, arrived: DataFrame, number: int) -> Watched:
        """Do a batch when nobody else is at work on the table; what was done until somebody came stays."""
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
