"""Judging: what the tasks do with packed events, and how their answers are combined."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..traces.claims.claims import CLAIMS
from ..traces.claims.settings import Settings
from ..traces.encoding.names import Actor, Names, Slot
from ..traces.encoding.store_counts import StoreCounts, Stored
from ..traces.engine.context import Context
from ..traces.engine.findings import ROW
from ..traces.engine.local import conclude
from ..traces.engine.reading import Recorded
from ..traces.engine.result import CheckResult, merge
from ..traces.engine.scan import Scan
from ..traces.format.message_status import MessageStatus
from ..traces.format.schema import Group
from ..traces.io import Problem, Problems, Trouble
from ..traces.monitors.fold import Fold, Outcome
from ..traces.monitors.groups import GroupMonitor
from ..traces.monitors.messages import MessageFold
from ..traces.monitors.queues import queue_folds
from ..traces.recorders.members import members_of
from .blocks import Block, tuple_of, unpacked
from .order import InOrder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ANSWER = "part int, piece int, summary string, rows binary"
"""Columns of a partition's answer: findings in pieces, each with the names and counts of the partition."""

PIECE_ROWS = 100_000
"""Maximum number of findings in a piece."""

EVENTS_OF_A_PART = 4_000_000
"""Average number of events that are judged in one partition; if all cores have more, there are more partitions."""

_COUNTS = ("judged", "violated", "doubtful")


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every task must know.

    Attributes:
        groups: what is known about groups.
        release: release of RocketMQ.
        settings: settings of the check.
        context: events that concern more than one queue or message.
        parts: number of partitions for either key: by queue below ``parts``, by message from there on.
    """

    groups: Mapping[str, Group]
    release: str
    settings: Settings
    context: Context
    parts: int


def judge(packed: DataFrame, task: Task) -> DataFrame:
    """The answers of all monitors about packed events (``blocks.SCHEMA``), columns :data:`ANSWER`."""
    from pyspark.sql import functions

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _answer(batches, task)

    placed = packed.repartitionById(2 * task.parts, functions.col("part"))
    return placed.sortWithinPartitions("first", "place").mapInArrow(answer, ANSWER)


def _answer(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    names = Names(task.groups, members_of(task.context.events))
    part = -1
    asides: list[dict[str, Any]] = []

    def blocks() -> Iterator[tuple[int, Block]]:
        nonlocal part
        for batch in batches:
            for row in range(len(batch)):
                part = batch.column("part")[row].as_py()
                block = batch.column("block")[row]
                if block.is_valid:
                    place = batch.column("place")[row].as_py()
                    yield batch.column("first")[row].as_py(), unpacked(place, block.as_buffer(), names)
                else:
                    asides.append(json.loads(batch.column("aside")[row].as_py()))

    folds: tuple[Fold, ...] = ()
    in_order = InOrder(blocks())
    for coded in in_order:
        folds = folds or _folds(part, names, task)
        for fold in folds:
            fold.feed(coded)
    if part >= 0:
        outcome = merge([fold.finish() for fold in folds or _folds(part, names, task)], len(names.slots))
        yield from _pieces(part, outcome, names, asides, held=in_order.most_held)


def _folds(part: int, names: Names, task: Task) -> tuple[Fold, ...]:
    terms: dict[str, Any] = {"names": names, "settings": task.settings, "context": task.context}
    return queue_folds(**terms) if part < task.parts else (MessageFold(**terms, release=task.release),)


def _pieces(
    part: int, outcome: Outcome, names: Names, asides: Sequence[Mapping[str, Any]], *, held: int
) -> Iterator[pa.RecordBatch]:
    summary = {
        "slots": [tuple_of(slot) for slot in names.slots],
        "actors": [tuple_of(actor) for actor in names.actors],
        **{name: getattr(outcome, name).tolist() for name in _COUNTS},
        "passed_over": dict(outcome.passed_over),
        "statuses": outcome.statuses[: len(names.slots)].tolist(),
        "asides": asides,
        "held": held,
    }
    for piece, start in enumerate(range(0, max(len(outcome.rows), 1), PIECE_ROWS)):
        yield pa.RecordBatch.from_pydict(
            {
                "part": pa.array([part], pa.int32()),
                "piece": pa.array([piece], pa.int32()),
                "summary": pa.array([json.dumps(summary)], pa.string()),
                "rows": pa.array([outcome.rows[start : start + PIECE_ROWS].tobytes()], pa.binary()),
            }
        )


def judged(
    spark: SparkSession,
    trace: Recorded,
    scanned: Scan,
    settings: Settings,
    packed: Callable[[Task], DataFrame],
    *,
    started: float,
) -> tuple[CheckResult, int]:
    """The answer of a check, and how many events the tasks have dropped as repetitions.

    ``packed`` provides the events as rows of ``blocks.SCHEMA``; ``started`` is ``time.perf_counter`` when the check
    began.
    """
    header = trace.header
    parts = max(spark.sparkContext.defaultParallelism, -(-scanned.events // EVENTS_OF_A_PART))
    task = Task(
        groups=dict(header.groups), release=header.release, settings=settings, context=scanned.context, parts=parts
    )
    found = gather(judge(packed(task), task).toArrow(), header.groups)
    trace.problems.join(found.problems)
    scanned = replace(scanned, events=scanned.events - found.repeated)
    groups = GroupMonitor(names=found.names, settings=settings, context=scanned.context)
    groups.stores(found.stores)
    result = conclude(
        trace,
        scanned,
        names=found.names,
        settings=settings,
        outcomes=[*found.outcomes, groups.finish()],
        stores=found.stores,
        engine=f"spark {spark.sparkContext.master}, {2 * parts} partitions",
        seconds=time.perf_counter() - started,
    )
    return result, found.repeated


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers of all partitions, in the codes of one set of names.

    Attributes:
        names: names of all queues and processes.
        outcomes: one for each partition and piece.
        stores: how many messages were stored in each queue, and where the last one was.
        problems: problems with events that were not reported before.
        repeated: number of events dropped as repetitions.
        most_held: maximum number of events that a partition held at a time.
    """

    names: Names
    outcomes: tuple[Outcome, ...]
    stores: StoreCounts
    problems: Problems
    repeated: int
    most_held: int


def gather(answers: pa.Table, groups: Mapping[str, Group]) -> Answers:
    """Answers of partitions, combined; codes of a partition are translated to common ones."""
    names = Names(groups)
    outcomes: list[Outcome] = []
    asides: list[dict[str, Any]] = []
    held = 0
    for answer in answers.sort_by([("part", "ascending"), ("piece", "ascending")]).to_pylist():
        summary = json.loads(answer["summary"])
        slots = np.array([*(names.slot(Slot(*slot)) for slot in summary["slots"]), -1], np.int32)
        actors = np.array([*(names.actor(Actor(*actor)) for actor in summary["actors"]), -1], np.int32)
        rows = np.frombuffer(answer["rows"], ROW).copy()
        rows["slot"] = slots[rows["slot"]]
        for column in ("actor", "other"):
            rows[column] = actors[rows[column]]
        # What the pieces of an answer have in common counts once.
        first = answer["piece"] == 0
        outcomes.append(_outcome(rows, summary, slots, names, first=first))
        if first:
            asides += summary["asides"]
            held = max(held, summary["held"])
    stores, problems, repeated = StoreCounts(), Problems(), 0
    for aside in asides:
        for said in aside["stores"]:
            stores.add(Slot(*said[: -len(Stored._fields)]), Stored(*said[-len(Stored._fields) :]))
        if "problems" in aside:
            problems.join(problems_of(aside["problems"]))
        repeated += aside.get("repeated", 0)
    return Answers(
        names=names,
        outcomes=tuple(outcomes),
        stores=stores,
        problems=problems,
        repeated=repeated,
        most_held=held,
    )


def _outcome(rows: Any, summary: Mapping[str, Any], slots: Any, names: Names, *, first: bool) -> Outcome:
    statuses = np.zeros((len(names.slots), len(MessageStatus)), np.int64)
    if first and summary["statuses"]:
        np.add.at(statuses, slots[: len(summary["statuses"])], np.array(summary["statuses"], np.int64))
    counts = {name: np.array(summary[name] if first else [0] * len(CLAIMS), np.int64) for name in _COUNTS}
    passed_over = summary["passed_over"] if first else {}
    return Outcome(rows=rows, statuses=statuses, passed_over=passed_over, **counts)


def told_as(problems: Problems) -> dict[str, Any]:
    """Problems in the form in which they are sent; empty without any."""
    if not problems.count:
        return {}
    return {"problems": {"by_kind": problems.by_kind, "kept": [_told(problem) for problem in problems.kept]}}


def _told(problem: Problem) -> list[Any]:
    return [problem.file, problem.line, problem.what, problem.kind]


def problems_of(sent: Mapping[str, Any]) -> Problems:
    """Problems restored from the form in which they are sent."""
    problems = Problems()
    problems.by_kind = Counter({Trouble(kind): count for kind, count in sent["by_kind"].items()})
    problems.count = problems.by_kind.total()
    problems.kept = [Problem(file=f, line=line, what=what, kind=Trouble(kind)) for f, line, what, kind in sent["kept"]]
    return problems
