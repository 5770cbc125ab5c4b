"""The embedded engine: all monitors in one process, without Java.

One pass reads the context, a second one everything: batches are coded as they come, and the folds by queue and by
message run beside each other, each in a thread of its own, in machine code. What they keep grows with the number of
messages, not of events; a trace whose state would not fit is checked in several passes, each over a share of the queues
and messages.
"""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .ahead import read_ahead
from .claims import Monitor
from .coding import COLUMNS, Coded, Coder
from .kinds import Kind, codes
from .monitors.first_starts import settle_first_starts
from .monitors.fold import Fold, Outcome
from .monitors.groups import GroupMonitor
from .monitors.messages import MessageFold
from .monitors.queues import QueueFold
from .names import Names, Slot
from .reading import Trace
from .result import CheckResult, merge, verdicts
from .scan import Scan, is_incomplete, scan
from .schema import ABSENT
from .settings import Settings

Progress = Callable[[str, int], None]
"""Called with what is being done, and how many more events of it are done."""

STATE_BYTES = 40
"""What the folds keep for an event, at most, on an average over a trace; measured, see benchmarks/traces.py."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # <malloc.h>

_AHEAD = 2
"""Batches that wait for each fold."""

_STORE = codes(Kind)[Kind.STORE]


def check_locally(
    trace: Trace,
    *,
    settings: Settings,
    memory: int = 4 << 30,
    progress: Progress | None = None,
) -> CheckResult:
    """Hold a trace against all claims.

    Args:
        trace: what to check.
        settings: the terms.
        memory: bytes that the state of the folds may take; a trace that needs more is read several times.
        progress: told how far it is.

    Raises:
        TraceError: there are no events.
    """
    started = time.perf_counter()
    _keep_freed_memory()
    scanned = scan(trace, progress)
    names = Names(trace.header.groups)
    passes = max(1, -(-scanned.events * STATE_BYTES // memory))
    outcomes: list[Outcome] = []
    stores = StoreCounts()
    for share in range(passes):
        folds: dict[Monitor, Fold] = {
            Monitor.QUEUES: QueueFold(names=names, settings=settings, context=scanned.context),
            Monitor.MESSAGES: MessageFold(
                names=names, settings=settings, context=scanned.context, release=trace.header.release
            ),
        }
        _run(trace, names, folds, share=share, passes=passes, stores=stores, progress=progress)
        outcomes += [fold.finish() for fold in folds.values()]
    groups = GroupMonitor(names=names, settings=settings, context=scanned.context)
    groups.stores(stores)
    return conclude(
        trace,
        scanned,
        names=names,
        settings=settings,
        outcomes=[*outcomes, groups.finish()],
        engine="local" if passes == 1 else f"local, in {passes} passes",
        seconds=time.perf_counter() - started,
    )


def _keep_freed_memory() -> None:
    """Let freed memory be used again instead of being given back: batches come and go, and new pages cost more than
    the work on them. Without the C library of GNU everything works as well, only slower.
    """
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for parameter in (_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD):
            library.mallopt(parameter, 1 << 30)


def conclude(
    trace: Trace,
    scanned: Scan,
    *,
    names: Names,
    settings: Settings,
    outcomes: Sequence[Outcome],
    engine: str,
    seconds: float,
) -> CheckResult:
    """The answer of a check, from what its monitors say."""
    outcome = settle_first_starts(merge(outcomes, len(names.slots)), names, settings)
    return CheckResult(
        header=trace.header,
        files=trace.files,
        events=scanned.events,
        begin=scanned.context.begin,
        end=scanned.context.end,
        seconds=seconds,
        engine=engine,
        problems=trace.problems,
        settings=settings,
        evidence=scanned.context.evidence,
        context=scanned.context,
        names=names,
        verdicts=verdicts(outcome, evidence=scanned.context.evidence, damaged=is_incomplete(trace.problems)),
        rows=outcome.rows,
        fates=outcome.fates,
        passed_over=outcome.passed_over,
        left_out=trace.left_out,
        skipped=dict(trace.skipped.most_common()),
    )


def _run(
    trace: Trace,
    names: Names,
    folds: Mapping[Monitor, Fold],
    *,
    share: int,
    passes: int,
    stores: StoreCounts,
    progress: Progress | None,
) -> None:
    """Feed the folds, each in a thread of its own, with the given share of the queues and messages."""
    coder = Coder(names)
    workers = {monitor: _Worker(fold) for monitor, fold in folds.items()}
    try:
        for batch in read_ahead(trace.sorted_batches(COLUMNS)):
            coded = coder.code(batch)
            if share == 0:
                note_stores(coded, names, stores)
            workers[Monitor.QUEUES].put(_share(coded, coded.slot, share, passes))
            workers[Monitor.MESSAGES].put(_share(coded, coded.origin, share, passes))
            if progress is not None:
                progress("checked" if passes == 1 else f"checked, pass {share + 1} of {passes}:", len(batch))
    finally:
        for worker in workers.values():
            worker.close()
    for worker in workers.values():
        worker.raise_failure()


def _share(coded: Coded, key: Any, share: int, passes: int) -> Coded:
    """The events whose key is of this pass."""
    return coded if passes == 1 else take(coded, key % passes == share)


class _Worker:
    """A thread that feeds a fold."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._waiting: queue.Queue[Coded | None] = queue.Queue(_AHEAD)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def put(self, coded: Coded) -> None:
        """Let the fold have further events; waits while enough others do. Raises what the fold has raised."""
        self.raise_failure()
        self._waiting.put(coded)

    def close(self) -> None:
        """There are no further events: wait for the fold to be through with those it has."""
        self._waiting.put(None)
        self._thread.join()

    def raise_failure(self) -> None:
        """Raise what the fold has raised, if it has."""
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (coded := self._waiting.get()) is not None:
            if self._failure is not None:
                continue
            try:
                self._fold.feed(coded)
            except BaseException as failure:
                # The reader goes on putting: what it puts is taken, and the failure is raised there.
                self._failure = failure


def take(coded: Coded, mask: Any) -> Coded:
    """The events where ``mask`` is true."""
    if mask.all():
        return coded
    return Coded(**{item.name: getattr(coded, item.name)[mask] for item in fields(coded)})


class StoreCounts(dict[Slot, tuple[int, int]]):
    """For each queue of a topic how many messages were stored in it, and the offset of the last one."""

    def add(self, slot: Slot, count: int, last: int) -> None:
        """``count`` more messages, the last of them at offset ``last``."""
        before, highest = self.get(slot, (0, ABSENT))
        self[slot] = (before + count, max(highest, last))


def note_stores(coded: Coded, names: Names, stores: StoreCounts) -> None:
    """Count the messages that are stored by these events."""
    at = (coded.kind == _STORE) & (coded.slot >= 0)
    if not at.any():
        return
    slots, offsets = coded.slot[at], coded.offset[at]
    counts = np.bincount(slots)
    last = np.full(len(counts), ABSENT, np.int64)
    np.maximum.at(last, slots, offsets)
    for slot in np.nonzero(counts)[0].tolist():
        if names.slots[slot].queue >= 0:
            stores.add(names.slots[slot], int(counts[slot]), int(last[slot]))
