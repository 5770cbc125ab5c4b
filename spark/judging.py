"""Judging: what the tasks do with packed events, and how their answers are combined."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..traces.claims.settings import Settings
from ..traces.encoding.coding import Coded, renaming
from ..traces.encoding.names import Actor, Names, Slot
from ..traces.encoding.packing import opened, sealed
from ..traces.encoding.store_counts import StoreCounts
from ..traces.engine.context import Context
from ..traces.engine.local import conclude
from ..traces.engine.reading import Recorded
from ..traces.engine.result import CheckResult, merge
from ..traces.engine.scan import Scan
from ..traces.format.schema import Group
from ..traces.monitors.fold import Fold, Outcome, nothing
from ..traces.monitors.groups.group_shares import GroupShare
from ..traces.monitors.groups.groups import GroupMonitor
from ..traces.monitors.messages.messages import MessageFold
from ..traces.monitors.queues.queues import queue_folds
from ..traces.recorders.members import members_of
from .blocks import Block, Packer, Row, unpacked
from .order import InOrder, by_key

if TYPE_CHECKING:
    from pyspark import RDD, Broadcast
    from pyspark.sql import SparkSession

EVENTS_OF_A_PART = 4_000_000
"""Average number of events that are judged in one partition; if all cores have more, there are more partitions."""

TOLD_TOGETHER = 16
"""So many tasks tell the driver in one partition what they have seen."""

_NEW = -2
"""In place of a code: no code was assigned yet."""


@dataclass(kw_only=True)
class Told:
    """What a task tells the driver about the events that it has packed.

    Attributes:
        number: number of the task.
        slots: what its codes of queues stand for; ``actors``: its codes of processes.
        stores: how many messages were stored in each queue, and where the last one was.
        more: what else it has seen.
    """

    number: int
    slots: Sequence[Slot]
    actors: Sequence[Actor]
    stores: StoreCounts
    more: Any = None

    @classmethod
    def row(cls, packer: Packer, more: Any = None) -> Row:
        """What it tells, as a row."""
        number, names = packer.number, packer.names
        told = cls(number=number, slots=names.slots, actors=names.actors, stores=packer.stores, more=more)
        return (2 * packer.parts + number // TOLD_TOGETHER, number, 0), sealed(told)


class Shuffled:
    """Packed events in partitions: by queue below ``parts``, by message in as many from there on, and after these what
    was told about them. They are read and packed when something is asked for the first time, and not again.

    Args:
        rows: what packers make, each in a partition of its own.
        parts: number of partitions for either key.
        groups: what is known about groups.

    Attributes:
        parts: number of partitions for either key.
        names: all names, and ``stores``: what was stored, once it was told.
        renamed: see :class:`Task`.
    """

    def __init__(self, rows: RDD[Row], *, parts: int, groups: Mapping[str, Group]) -> None:
        self.parts = parts
        self.names, self.stores = Names(groups), StoreCounts()
        self.renamed: dict[int, tuple[Any, Any]] = {}
        self._all = 2 * parts - (-rows.getNumPartitions() // TOLD_TOGETHER)
        self._rows = rows.partitionBy(self._all, itemgetter(0))

    def told(self) -> Iterator[Any]:
        """What was told besides names and stores, in the order of the tasks. It must be taken before anything is
        judged.
        """
        for part in range(2 * self.parts, self._all):
            rows = sorted(self._rows.context.runJob(self._rows, list, [part]), reverse=True)
            while rows:
                told: Told = opened(rows.pop()[1])
                slots, actors = map(self.names.slot, told.slots), map(self.names.actor, told.actors)
                self.renamed[told.number] = renaming(slots), renaming(actors)
                self.stores.join(told.stores)
                yield told.more

    def judged(self, task: Task) -> Iterator[Answer]:
        """The answers of all monitors, each opened when it is asked for."""
        context = self._rows.context
        shared = context.broadcast(task)
        answers = context.runJob(self._rows, partial(answer, shared=shared), range(2 * self.parts))
        shared.destroy()
        return map(opened, answers)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every task must know.

    Attributes:
        groups: what is known about groups.
        release: release of RocketMQ.
        settings: settings of the check.
        context: events that concern more than one queue or message.
        stores: what was stored in each queue.
        parts: number of partitions for either key.
        slots: all queues, in the order of their codes; ``actors``: all processes.
        renamed: for each task, the codes of these by its own codes, as :func:`renaming` returns them.
    """

    groups: Mapping[str, Group]
    release: str
    settings: Settings
    context: Context
    stores: StoreCounts
    parts: int
    slots: Sequence[Slot]
    actors: Sequence[Actor]
    renamed: Mapping[int, tuple[Any, Any]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer about a partition.

    Attributes:
        outcome: what was found.
        slots: what the codes of queues stand for in it; ``actors``: those of processes.
    """

    outcome: Outcome
    slots: Sequence[Slot]
    actors: Sequence[Actor]


class _Naming:
    """The names of one partition: a fold has state for each name, so only those that occur get a code there."""

    def __init__(self, task: Task) -> None:
        events = task.context.events
        self.names = Names(task.groups, events.once(members_of))
        self._task = task
        self._known: dict[int, tuple[Any, Any]] = {}  # for each task, these codes by its own

    def code(self, coded: Coded, number: int) -> Coded:
        """Events in these codes, from those of the task that has read them."""
        slots, actors = self._task.renamed[number]
        known = self._known.setdefault(
            number, (renaming([_NEW] * (len(slots) - 1)), renaming([_NEW] * (len(actors) - 1)))
        )
        slot = _coded(coded.slot, known[0], lambda at: self.names.slot(self._task.slots[slots[at]]))
        actor = _coded(coded.actor, known[1], lambda at: self.names.actor(self._task.actors[actors[at]]))
        return replace(coded, slot=slot, actor=actor)


def _coded(given: Any, known: Any, code: Callable[[int], int]) -> Any:
    """Codes by ``known``, where those that occur for the first time are entered."""
    found = known.take(given)
    new = np.unique(given[found == _NEW]).tolist()
    for at in new:
        known[at] = code(at)
    return known.take(given) if new else found


def answer(rows: Iterable[Row], shared: Broadcast[Task]) -> Iterator[bytes]:
    """The :class:`Answer` about the rows of a partition, sealed. With messages, a share of the groups is judged.

    What is learnt of the context is kept by the process for its next partition.
    """
    from pyspark import TaskContext

    task, running = shared.value, TaskContext.get()
    naming, part = _Naming(task), 0 if running is None else running.partitionId()
    names = naming.names

    def blocks() -> Iterator[tuple[int, Block]]:
        for key, seal in by_key(rows):
            yield key[1], unpacked(key[2], seal, naming.code)

    folds: tuple[Fold, ...] = ()
    for coded in InOrder(blocks()):
        folds = folds or _folds(part, names, task)
        for fold in folds:
            fold.feed(coded)
    outcomes = [fold.finish() for fold in folds]
    if part >= task.parts:
        share = GroupShare(part - task.parts, task.parts)
        groups = GroupMonitor(names=names, settings=task.settings, context=task.context, share=share)
        groups.stores(task.stores)
        outcomes.append(groups.finish())
    if outcomes:
        yield sealed(Answer(outcome=merge(outcomes, len(names.slots)), slots=names.slots, actors=names.actors))


def _folds(part: int, names: Names, task: Task) -> tuple[Fold, ...]:
    terms: dict[str, Any] = {"names": names, "settings": task.settings, "context": task.context}
    return queue_folds(**terms) if part < task.parts else (MessageFold(**terms, release=task.release),)


def parts_of(spark: SparkSession, events: int) -> int:
    """Into how many partitions so many events are divided, by queue and by message."""
    return max(spark.sparkContext.defaultParallelism, -(-events // EVENTS_OF_A_PART))


def judged(
    spark: SparkSession, trace: Recorded, scanned: Scan, settings: Settings, packed: Shuffled, *, started: float
) -> CheckResult:
    """The answer of a check; ``started``: ``time.perf_counter`` when it began."""
    names = packed.names
    task = Task(
        groups=dict(trace.header.groups),
        release=trace.header.release,
        settings=settings,
        context=scanned.context,
        stores=packed.stores,
        parts=packed.parts,
        slots=list(names.slots),
        actors=list(names.actors),
        renamed=packed.renamed,
    )
    return conclude(
        trace,
        scanned,
        names=names,
        settings=settings,
        outcomes=list(_in_codes_of(names, packed.judged(task))),
        stores=packed.stores,
        engine=f"spark {spark.sparkContext.master}, {2 * packed.parts} partitions",
        seconds=time.perf_counter() - started,
    )


def _in_codes_of(names: Names, answers: Iterable[Answer]) -> Iterator[Outcome]:
    """The outcomes with codes of the trace; the last one has the statuses of all."""
    of_slots: list[tuple[Any, Any]] = []
    for one in answers:
        slots, actors = renaming(map(names.slot, one.slots)), renaming(map(names.actor, one.actors))
        rows, statuses = one.outcome.rows, one.outcome.statuses
        rows["slot"] = slots[rows["slot"]]
        for column in ("actor", "other"):
            rows[column] = actors[rows[column]]
        of_slots.append((slots[: len(statuses)], statuses))
        yield replace(one.outcome, statuses=statuses[:0])
    none = nothing(len(names.slots))
    for slots, statuses in of_slots:
        np.add.at(none.statuses, slots, statuses)
    yield none
