"""Mining: every cluster of the table is checked against all claims, and the result is published as a run.

A run holds the answers for one input: the recordings that count, the settings, and the version of the kit. The same
input is not mined twice; and only those clusters of a run are mined whose input differs from that of an earlier run.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...traces.claims.settings import Settings
from ...traces.clocks.clocks import Clocks
from ...traces.engine.carrying import Carried, StartOverError
from ...traces.engine.local import check_locally
from ...traces.engine.result import CheckResult
from ...traces.errors import TraceError
from ...traces.explain.by_model import weighed
from ...traces.explain.report.tables import TABLES, words_of
from ...traces.format.header import header_json
from ...traces.format.message_status import MessageStatus
from ...traces.io import Trace
from ...traces.io.parquet import beside_a_trace
from ...traces.recorders.repeated import REPEATED
from ..blocks import tuple_of
from ..check import check_with_spark
from .carried import CARRIED, LATENESS, Since, fitting, forget, mine_on
from .recording import Recorded, live_of
from .table import BATCH, MANIFEST, RUN, Table, digest_of, folder_of, table_of, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_EVENTS = 50_000_000
"""A cluster with fewer events is checked by the driver itself, which carries its state to the next run; for that many
events, the state takes 2 GB at most. Tasks carry no state.
"""

ANSWER = "_answer"
"""The folder of a run in which the answers are stored as a check returns them."""

Terms = Callable[[Trace], Settings]
"""The settings with which a recording is checked; may complete its header."""


@dataclass(frozen=True, kw_only=True)
class Mining:
    """The result of mining.

    Attributes:
        run: name of the run.
        is_new: whether it was made now.
        mined: clusters that were mined for it; ``taken``: those whose answers were taken from an earlier run.
        empty: clusters without events in the requested days.
        since: for each mined cluster, from where it was mined.
    """

    run: str
    is_new: bool
    mined: tuple[str, ...]
    taken: tuple[str, ...]
    empty: tuple[str, ...] = ()
    since: Mapping[str, Since] = field(default_factory=dict)


def mine_table(
    spark: Callable[[], SparkSession],
    table: Table,
    *,
    terms: Terms,
    days: tuple[str, str] = ("", ""),
    lateness: int = LATENESS,
    local_events: int = LOCAL_EVENTS,
) -> Mining:
    """Check every cluster of a table against all claims.

    Args:
        spark: opens a session if one is needed.
        table: the table to mine.
        terms: settings of the checks.
        days: the first and the last day whose events count, as 2026-11-23; empty: no bound.
        lateness: how much later than others events may come without anything being mined again, ms.
        local_events: clusters with fewer events to read are checked by the driver.

    Raises:
        TraceError: there is nothing to mine, or another process is writing to the table.
    """
    table.need()
    with table.alone(RUN):
        traces: dict[str, Recorded] = {}
        keys: dict[str, str] = {}
        settings: dict[str, Settings] = {}
        empty: list[str] = []
        last = table.folders(BATCH)[-1].name
        for name, live in sorted(live_of(table).items()):
            try:
                trace = Recorded(live, days)
            except TraceError:
                empty.append(name)
                continue
            traces[name], settings[name] = trace, terms(trace)
            keys[name] = digest_of(live.version, days, repr(settings[name]), header_json(trace.header), _kit())
        if not traces:
            raise TraceError(f"{table.folder}: there are no events to mine in {', '.join(empty)}.")
        key = digest_of(sorted(keys.items()))
        earlier: dict[tuple[str, str], Path] = {}
        for path, said in table.published(RUN):
            if said["key"] == key:
                return Mining(run=path.name, is_new=False, mined=(), taken=tuple(traces), empty=tuple(empty))
            earlier |= dict.fromkeys(said["clusters"].items(), path)
        run = table.next_name(RUN)
        since: dict[str, Since] = {}
        with table.publishing(run) as folder:
            for name, trace in traces.items():
                known = earlier.get((name, keys[name]))
                if known is not None:
                    _take_over(known, folder, name)
                    continue
                if (trace.rows or 0) >= local_events:
                    since[name] = Since(why=f"it has {local_events:,} events or more, and tasks carry nothing")
                    result = check_with_spark(trace, settings=settings[name], session=spark())
                else:
                    state = folder / CARRIED / folder_of(name)
                    before, why = fitting(table, name, trace, days)
                    result, since[name] = _from(trace, settings[name], before, why, lateness, state)
                _write(folder, name, trace, result, key=keys[name])
            said = {"key": key, "clusters": keys, "days": list(days), "last": last}
            table.write_manifest(folder, said)
        for name in since:
            forget(table, name)
        taken = tuple(name for name in traces if name not in since)
        return Mining(run=run, is_new=True, mined=tuple(since), taken=taken, empty=tuple(empty), since=since)


def _from(
    trace: Recorded, settings: Settings, before: Carried | None, why: str, lateness: int, state: Path
) -> tuple[CheckResult, Since]:
    """Check a cluster from a state if it fits, otherwise from its beginning, and store a state if one can be
    carried.
    """
    try:
        since = Since(time=None if before is None else before.cut, why=why)
        return mine_on(trace, settings, before=before, lateness=lateness, folder=state), since
    except StartOverError as error:
        why = str(error)
    if before is not None:
        try:
            return mine_on(trace, settings, before=None, lateness=lateness, folder=state), Since(why=why)
        except StartOverError as error:
            why = str(error)
    return check_locally(trace, settings=settings), Since(why=why)


def _kit() -> str:
    try:
        return importlib.metadata.version("rocketproof")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _take_over(run: Path, folder: Path, cluster: str) -> None:
    """The answers about a cluster as they are in an earlier run: files are never changed, so both runs can share
    them.
    """
    for path in run.glob(f"*/{folder_of(cluster)}/*"):
        if path.parts[-3] == CARRIED:
            continue
        target = folder / path.relative_to(run)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copy2(path, target)


def _write(folder: Path, cluster: str, trace: Trace, result: CheckResult, *, key: str) -> None:
    told, _ = weighed(trace, result, most=3)
    for name, table in _tables(told):
        target = folder / name / folder_of(cluster)
        target.mkdir(parents=True)
        versioned = table.append_column("version", pa.array([key] * len(table), pa.string()))
        pq.write_table(beside_a_trace(versioned), target / f"{name}.parquet", compression="zstd")
    target = folder / ANSWER / folder_of(cluster)
    target.mkdir(parents=True)
    np.save(target / "rows.npy", result.rows, allow_pickle=False)
    np.save(target / "statuses.npy", result.statuses, allow_pickle=False)
    (target / MANIFEST).write_text(json.dumps(_answer(trace, result)), encoding="utf-8")


def _answer(trace: Trace, result: CheckResult) -> Mapping[str, Any]:
    settings = {one.name: getattr(result.settings, one.name) for one in fields(Settings) if one.name != "delays"}
    return {
        "header": header_json(result.header),
        "settings": settings,
        "delays": list(result.settings.delays.delays),
        "events": result.events,
        "repeated": trace.repeated[REPEATED],
        "seconds": result.seconds,
        "engine": result.engine,
        "verdicts": [
            [one.claim.id, str(one.verdict), one.judged, one.violated, one.doubtful, one.why] for one in result.verdicts
        ],
        "slots": [tuple_of(slot) for slot in result.names.slots],
        "actors": [tuple_of(actor) for actor in result.names.actors],
        "passed_over": dict(result.passed_over),
    }


def _tables(result: CheckResult) -> Iterator[tuple[str, pa.Table]]:
    for name, table in TABLES.items():
        yield name, table(result)
    yield "statuses", statuses(result)
    yield "clocks", clocks_table(result.context.clocks)


STATUSES = pa.schema(
    [
        *texts("group", "topic", "broker"),
        pa.field("queue", pa.int32()),
        *texts("client", "status"),
        pa.field("messages", pa.int64()),
    ]
)
"""Columns of :func:`statuses`."""


def statuses(result: CheckResult) -> pa.Table:
    """Number of messages with each status, for each queue."""
    words = words_of(MessageStatus)
    rows = [
        (slot.group or None, slot.topic or None, slot.broker or None, slot.queue if slot.queue >= 0 else None,
         slot.who or None, words[status], int(result.statuses[code, status]))
        for code, slot in enumerate(result.names.slots) for status in MessageStatus if result.statuses[code, status]
    ]  # fmt: skip
    return table_of(sorted(rows, key=str), STATUSES)


CLOCKS = pa.schema(
    [
        *texts("recorder", "reference"),
        *(pa.field(name, pa.int64()) for name in ("pairs", "ahead_least_us", "ahead_most_us", "low_us", "high_us")),
        *(pa.field(name, pa.int64()) for name in ("slow_ms", "fast_ms")),
        pa.field("drift_ppm", pa.float64()),
    ]
)
"""Columns of :func:`clocks_table`."""


def clocks_table(clocks: Clocks) -> pa.Table:
    """How far the clock of each recorder is ahead of the others, which is corrected, and what this leaves open."""
    rows = [
        (str(one.recorder), None if one.reference is None else str(one.reference), one.pairs, *one.correction,
         one.low, one.high, one.slow, one.fast, float(one.drift))
        for one in clocks.clocks.values()
    ]  # fmt: skip
    return table_of(sorted(rows, key=lambda row: str(row[0])), CLOCKS)
