"""Alerts: findings of a run that were not reported before, and reported findings that have changed.

Alerts follow only from what is published: the run, and what was last reported for the same cluster. A process that was
killed therefore reports the rest after a restart, and nothing twice. A finding is identified by what it is about, where
and when (:data:`IDENTITY`), and held back until the *watermark* has passed it: the time of the latest event
(:mod:`.latest`), less the allowed lateness. Events that come even later are counted and located, and mined like all
others; if they change something that was reported, this is reported too.
"""

from __future__ import annotations

import enum
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...traces.claims.claims import CLAIMS
from ...traces.errors import TraceError
from ...traces.explain.report.tables import FINDINGS
from ...traces.io.parquet import beside_a_trace
from .late import Late, late_of
from .latest import dated_later, latest_of, possible
from .recording import live_of
from .table import RUN, Table, folder_of, read_piece, table_of, texts

ALERTS = "alerts"
"""The name under which alerts are published, see :class:`.table.Table`."""

KEPT = "_standing"
"""The folder of the findings that existed last, rows of STANDS."""

IDENTITY = ("claim", "group", "topic", "broker", "queue", "client", "origin", "offset", "since", "time", "actor",
            "other")  # fmt: skip
"""The columns that identify a finding across runs."""

IDENTITY_OF_LONG = tuple(name for name in IDENTITY if name != "time")
"""The same for a finding that was still going on when the recording ended: its time is only the end so far."""

_OF_FINDINGS = [one for one in FINDINGS if one.name not in ("note", "cause")]

ALERT = pa.schema(
    [
        *texts("change", "id", "cluster", "run", "why", "statement"),
        *_OF_FINDINGS,
        *texts("file"),
        pa.field("events", pa.int64()),
    ]
)
"""Columns of the table ``alerts``."""

STANDS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("told", pa.bool_()),
        pa.field("seen", pa.int64()),  # when it was first seen, ms: if it goes on, its time advances
        *_OF_FINDINGS,
    ]
)
"""Columns of the stored findings that existed last."""

_STATEMENTS = {claim.id: claim.statement for claim in CLAIMS}
_APART = "\x1f"
_TIME = FINDINGS.field("time").type


class Change(enum.StrEnum):
    """What an alert says about a finding, or about events."""

    RAISED = "raised"  # it was not reported before
    CONFIRMED = "confirmed"  # it was in doubt, and is a violation now
    DOUBTED = "doubted"  # it was a violation, and is in doubt now
    WITHDRAWN = "withdrawn"  # it was reported, and is no longer found
    LATE = "late"  # events came after the watermark had passed them


@dataclass(frozen=True, kw_only=True)
class Told:
    """What was published about a run.

    Attributes:
        name: the name under which it was published; empty if there was nothing to report.
        alerts: rows of ALERT.
        watermark: ms; findings up to it are reported.
        later: new recordings with events dated after their ingestion, each with the latest time, ms.
    """

    name: str
    alerts: Sequence[Mapping[str, Any]]
    watermark: int
    later: Sequence[tuple[str, int]] = ()


def publish_alerts(
    table: Table, cluster: str, run: str, *, lateness: int, doubtful: bool, mark: Mapping[str, Any]
) -> Told:
    """Publish what a run has to report about a cluster.

    ``lateness``: how much later than others events may come, ms; ``doubtful``: also report findings in doubt; ``mark``
    is further content of the manifest.

    Raises:
        TraceError: the run has nothing about the cluster, or the table cannot be read or written.
    """
    with table.alone(ALERTS):
        said = dict(table.published(RUN)).get(table.folder / run)
        if said is None or cluster not in said["clusters"]:
            raise TraceError(f"{table.folder / run}: has nothing about the cluster {cluster}.")
        before = next(told_of(table, cluster), None)
        live = live_of(table, until=said["last"])[cluster]
        watermark, last = latest_of(live) - lateness, ""
        late, passed = Late(), None
        if before is not None:
            folder, earlier = before
            passed = folder / KEPT / folder_of(cluster) / "standing.parquet"
            last = earlier["last"]
            if earlier["watermark"] <= max(map(possible, live.sources)):  # else an earlier kit believed a clock
                watermark = max(watermark, earlier["watermark"])
            if (earlier["run"], earlier["watermark"]) == (run, watermark):
                return Told(name="", alerts=(), watermark=watermark)
            late = late_of(table, live, since=last, watermark=earlier["watermark"])
        known_before = STANDS.empty_table() if passed is None else read_piece(passed)
        found = read_piece(table.folder / run / "findings" / folder_of(cluster) / "findings.parquet")
        changes, stands = changed(known_before, found, cluster=cluster, watermark=watermark, doubtful=doubtful)
        alerts = _alerts(changes, late, cluster=cluster, run=run)
        name = table.next_name(ALERTS)
        with table.publishing(name) as folder:
            for what, made in ((ALERTS, alerts), ("late", late.table(cluster))):
                _write(folder / what / folder_of(cluster) / f"{what}.parquet", made)
            _write(folder / KEPT / folder_of(cluster) / "standing.parquet", stands)
            table.write_manifest(
                folder,
                {"cluster": cluster, "run": run, "last": said["last"], "watermark": watermark, "mark": dict(mark)},
            )
        if passed is not None:
            shutil.rmtree(passed.parent, ignore_errors=True)
        later = tuple(dated_later(live, after=last, more=lateness))
        return Told(name=name, alerts=alerts.to_pylist(), watermark=watermark, later=later)


def told_of(table: Table, cluster: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """What was published about a cluster, the latest first, each with its manifest."""
    return ((path, said) for path, said in table.latest(ALERTS) if said["cluster"] == cluster)


def alerts_in(folder: Path) -> list[dict[str, Any]]:
    """The alerts that were published in a folder, rows of ALERT."""
    return [row for path in sorted((folder / ALERTS).rglob("*.parquet")) for row in read_piece(path).to_pylist()]


def changed(
    known_before: pa.Table, found: pa.Table, *, cluster: str, watermark: int, doubtful: bool
) -> tuple[list[tuple[Change, str, pa.Table]], pa.Table]:
    """What is to be reported about findings, and the state afterwards.

    Args:
        known_before: the state so far, rows of STANDS.
        found: the present table of findings.
        cluster: name of the cluster.
        watermark: ms; findings first seen at later times are held back.
        doubtful: also report findings in doubt.

    Returns:
        Changes, each with its reason and the findings concerned; and the state to pass in next time.
    """
    of_claims = pc.and_(pc.is_valid(found["claim"]), pc.is_null(found["note"]))
    explained = found.filter(pc.and_(of_claims, pc.is_valid(found["cause"])))
    now = _once(found.filter(pc.and_(of_claims, pc.is_null(found["cause"]))))
    before = _positions(now, known_before)
    is_known = before >= 0
    was_told, was_sure = np.zeros(len(now), np.bool_), np.zeros(len(now), np.bool_)
    was_told[is_known] = known_before["told"].to_numpy()[before[is_known]]
    was_sure[is_known] = pc.is_null(known_before["doubt"]).to_numpy()[before[is_known]]
    seen = pc.fill_null(now["time"].cast(pa.int64()), watermark).to_numpy().copy()
    seen[is_known] = known_before["seen"].to_numpy()[before[is_known]]
    is_sure = pc.is_null(now["doubt"]).to_numpy()
    raised = ~was_told & (seen <= watermark) & (is_sure | doubtful)
    ids, known = known_before["id"].to_pylist(), before.tolist()
    named = [ids[at] if at >= 0 else _id(cluster, key) for at, key in zip(known, _keys(now).to_pylist(), strict=True)]
    stands = pa.table(
        [
            pa.array(named, pa.string()),
            pa.array(was_told | raised),
            pa.array(seen),
            *(now[one.name] for one in _OF_FINDINGS),
        ],
        schema=STANDS,
    )
    is_gone = known_before["told"].to_numpy().copy()
    is_gone[before[is_known]] = False
    gone = known_before.filter(pa.array(is_gone))
    changes = [
        (Change.RAISED, "", stands.filter(pa.array(raised))),
        (Change.CONFIRMED, "", stands.filter(pa.array(was_told & is_sure & ~was_sure))),
        (Change.DOUBTED, "", stands.filter(pa.array(was_told & ~is_sure & was_sure))),
    ]
    causes = explained["cause"].take(pc.index_in(_keys(gone), _keys(explained).combine_chunks()))
    for cause in causes.unique().to_pylist():
        is_it = pc.is_null(causes) if cause is None else pc.fill_null(pc.equal(causes, cause), False)
        why = "nothing is wrong any more, with all that came since" if cause is None else f"explained: {cause}"
        changes.append((Change.WITHDRAWN, why, gone.filter(is_it)))
    return [one for one in changes if len(one[2])], stands


def _positions(now: pa.Table, known_before: pa.Table) -> Any:
    """The previous position of each finding, -1 if there was none; one that goes on is identified by place and
    beginning.
    """
    before = pc.fill_null(pc.index_in(_keys(now), _keys(known_before).combine_chunks()), -1).to_numpy().astype(np.int64)
    left_now = np.flatnonzero(before < 0)
    left = np.setdiff1d(np.arange(len(known_before)), before)
    keys, keys_before = (
        _keys(rows.take(pa.array(at)), IDENTITY_OF_LONG).combine_chunks()
        for rows, at in ((now, left_now), (known_before, left))
    )
    found = pc.fill_null(pc.index_in(keys, keys_before), -1).to_numpy()
    there = np.flatnonzero(found >= 0)
    _, first = np.unique(found[there], return_index=True)
    before[left_now[there[first]]] = left[found[there[first]]]
    return before


def as_json(alert: Mapping[str, Any]) -> dict[str, Any]:
    """An alert as a JSON object: times as ISO 8601, without fields that it does not have."""
    return {
        name: value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if isinstance(value, datetime)
        else value
        for name, value in alert.items()
        if value is not None
    }


def as_table(alerts: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Alerts in the form that sinks accept, including Kafka: ``key`` is the id, ``value`` the alert as JSON."""
    rows = [(alert["id"], json.dumps(as_json(alert))) for alert in alerts]
    return table_of(rows, pa.schema([("key", pa.string()), ("value", pa.string())]))


def _keys(found: pa.Table, by: Sequence[str] = IDENTITY) -> Any:
    """A text for each finding that is the same in every run."""
    columns = [found[name].cast(pa.int64()) if found[name].type == _TIME else found[name] for name in by]
    return pc.binary_join_element_wise(*(pc.fill_null(column.cast(pa.string()), "") for column in columns), _APART)


def _once(found: pa.Table) -> pa.Table:
    """One of several findings with the same identity: a violation rather than one in doubt."""
    found = found.take(np.argsort(pc.is_valid(found["doubt"]).to_numpy(), kind="stable"))
    codes = _keys(found).combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return found.take(np.sort(np.unique(codes, return_index=True)[1]))


def _alerts(changes: Sequence[tuple[Change, str, pa.Table]], late: Late, *, cluster: str, run: str) -> pa.Table:
    rows = [
        {**row, "change": str(change), "cluster": cluster, "run": run, "why": why or None,
         "statement": _STATEMENTS[row["claim"]]}
        for change, why, findings in changes for row in findings.sort_by("time").to_pylist()
    ]  # fmt: skip
    rows += [
        {"change": str(Change.LATE), "id": _id(cluster, f"{run}{_APART}{one.file}"), "cluster": cluster, "run": run,
         "why": "came when what is before the watermark was told; mined like all others, the table 'late' locates them",
         "file": one.file, "events": one.events, "time": pa.scalar(one.begin, _TIME).as_py()}
        for one in late.files
    ]  # fmt: skip
    return table_of([[row.get(name) for name in ALERT.names] for row in rows], ALERT)


def _id(cluster: str, key: str) -> str:
    return hashlib.sha256(f"{cluster}{_APART}{key}".encode()).hexdigest()[:16]


def _write(path: Path, made: pa.Table) -> None:
    path.parent.mkdir(parents=True)
    pq.write_table(beside_a_trace(made), path, compression="zstd")
