"""Answers: from the tables of a run back to the answer of a check, so that every report works for both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ...model.delay import DelayTable
from ...properties.verdict import Verdict
from ...traces.claims.claims import CLAIMS, CODE
from ...traces.claims.settings import Settings
from ...traces.encoding.names import Actor, Names, Slot
from ...traces.engine.findings import ROW
from ...traces.engine.recorded import coverage_in
from ...traces.engine.result import CheckResult, ClaimVerdict
from ...traces.engine.scan import scan
from ...traces.errors import TraceError
from ...traces.format.header import read_header
from ...traces.format.problems import Problems
from ...traces.recorders.repeated import REPEATED
from .mining import ANSWER
from .recording import Live, Recorded, live_of
from .table import MANIFEST, RUN, Table, folder_of, read_piece


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The answer of a run about a cluster, without the parts that need the events.

    Attributes:
        run: name of the run.
        cluster: name of the cluster.
        verdicts: one for each claim, in their order, before the model was asked.
        events: number of events.
    """

    run: str
    cluster: str
    verdicts: tuple[ClaimVerdict, ...]
    events: int
    folder: Path
    said: Mapping[str, Any]
    live: Live
    days: tuple[str, str]

    def violations(self) -> Counter[tuple[str, str, str]]:
        """Number of violations for each group, day and claim, from the table of findings."""
        path = self.folder.parents[1] / "findings" / self.folder.name / "findings.parquet"
        found = read_piece(path, columns=["group", "time", "claim", "note", "cause", "doubt"])
        sure = pc.and_(pc.is_valid(found["claim"]), pc.is_null(found["note"]))
        for name in ("cause", "doubt"):
            sure = pc.and_(sure, pc.is_null(found[name]))
        kept = found.filter(sure)
        days = pc.strftime(kept["time"], format="%Y-%m-%d").to_pylist()
        groups = [group or "" for group in kept["group"].to_pylist()]
        return Counter(zip(groups, days, kept["claim"].to_pylist(), strict=True))

    def result(self) -> tuple[Recorded, CheckResult]:
        """The recording and the whole answer about it. Reads the events once, for the context.

        Raises:
            TraceError: the events, or the answer, cannot be read.
        """
        trace, said = Recorded(self.live, self.days), self.said
        trace.header = read_header(said["header"], file="", line=0, problems=Problems()).header
        trace.repeated[REPEATED] = said["repeated"]
        scanned = scan(trace)
        if scanned.is_to_correct(trace):
            scanned = scan(trace)
        scanned = replace(scanned, events=self.events)
        names = Names(trace.header.groups)
        for slot in said["slots"]:
            names.slot(Slot(*slot))
        for actor in said["actors"]:
            names.actor(Actor(*actor))
        settings = Settings(**said["settings"], delays=DelayTable(tuple(said["delays"])))
        return trace, CheckResult(
            header=trace.header,
            files=trace.files,
            events=self.events,
            begin=scanned.context.begin,
            end=scanned.context.end,
            seconds=said["seconds"],
            engine=said["engine"],
            problems=trace.problems,
            settings=settings,
            coverage=coverage_in(trace, scanned, names.slots),
            context=scanned.context,
            names=names,
            verdicts=self.verdicts,
            rows=_loaded(self.folder / "rows.npy").astype(ROW, copy=False),
            statuses=_loaded(self.folder / "statuses.npy"),
            passed_over=said["passed_over"],
            left_out=trace.left_out,
            skipped=dict(trace.skipped.most_common()),
        )


def answers_of(table: Table, *, run: str = "", cluster: str = "") -> list[Answered]:
    """The answers of a run, by cluster.

    Without the name of a ``run`` the last one is used, without a ``cluster`` all of them.

    Raises:
        TraceError: there is no such run or cluster, or it cannot be read.
    """
    table.need()
    runs = dict(table.published(RUN))
    if not runs:
        raise TraceError(f"{table.folder}: nothing was mined yet; 'rocketproof pipeline mine' does.")
    by_name = {path.name: path for path in runs}
    if run and run not in by_name:
        raise TraceError(f"{table.folder}: there is no run {run}; there are {', '.join(by_name)}.")
    folder = by_name[run or list(by_name)[-1]]
    said = runs[folder]
    clusters = sorted(said["clusters"])
    if cluster and cluster not in clusters:
        raise TraceError(f"{folder}: there is no cluster {cluster}; there are {', '.join(clusters)}.")
    live = live_of(table, until=said["last"])
    days = (said["days"][0], said["days"][1])
    return [_answered(folder, name, live[name], days) for name in clusters if cluster in ("", name)]


def _answered(run: Path, cluster: str, live: Live, days: tuple[str, str]) -> Answered:
    folder = run / ANSWER / folder_of(cluster)
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TraceError(f"{folder}: cannot be read: {error}; move {run} away, and mine again.") from None
    by_id = {one[0]: one for one in said["verdicts"]}
    if by_id.keys() != CODE.keys():
        raise TraceError(f"{run}: another version of the kit has made it, with other claims; mine again.")
    verdicts = tuple(
        ClaimVerdict(
            claim=claim,
            verdict=Verdict(by_id[claim.id][1]),
            judged=by_id[claim.id][2],
            violated=by_id[claim.id][3],
            doubtful=by_id[claim.id][4],
            why=by_id[claim.id][5],
        )
        for claim in CLAIMS
    )
    return Answered(
        run=run.name, cluster=cluster, verdicts=verdicts, events=said["events"], folder=folder, said=said, live=live,
        days=days,
    )  # fmt: skip


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise TraceError(f"{path}: cannot be read: {error}; move its run away, and mine again.") from None
