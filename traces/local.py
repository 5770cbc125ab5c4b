"""The embedded engine: all monitors in one process, without Java.

The trace is read once, see :mod:`.gathering`; then the folds by queue and by message go through its events beside each
other, each in a thread of its own, in machine code. What they keep grows with the number of messages, not of events; a
trace whose state would not fit is checked in several passes, each over a share of the queues and messages.
"""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from .claims import Monitor
from .coding import UNKNOWN_KIND, Coded
from .gathering import Gathered, Progress, gather
from .monitors.first_starts import settle_first_starts
from .monitors.fold import Fold, Outcome
from .monitors.groups import GroupMonitor
from .monitors.messages import MessageFold
from .monitors.queues import QueueFold
from .names import Names
from .reading import Trace
from .result import CheckResult, merge, verdicts
from .scan import Scan, is_incomplete
from .settings import Settings

STATE_BYTES = 40
"""What the folds keep for an event, at most, on an average over a trace; measured, see benchmarks/traces.py."""

_KEPT = ((-3, 16 << 20), (-1, 512 << 20))  # M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of <malloc.h>, bytes

_AHEAD = 8
"""Batches that wait for each fold."""


@contextlib.contextmanager
def _shared_memory() -> Iterator[None]:
    """Let Arrow have its memory where numpy has it, from the C library, and let that keep what is freed.

    So what decoding gives back serves the folds: new pages cost more than the work on them. Without the C library of
    GNU everything works as well, only slower.
    """
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for parameter, value in _KEPT:
            library.mallopt(parameter, value)
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


@_shared_memory()
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
        memory: bytes that the events and the state of the folds may take, half of it each. Further events wait in a
            temporary file; where the state needs more, the events are gone through several times.
        progress: told how far it is.

    Raises:
        TraceError: there are no events.
    """
    started = time.perf_counter()
    half = max(1, memory // 2)
    gathered = gather(trace, memory=half, progress=progress)
    scanned, names = gathered.scan, Names(trace.header.groups)
    passes = max(1, -(-scanned.events * STATE_BYTES // half))
    outcomes: list[Outcome] = []
    for share in range(passes):
        folds: dict[Monitor, Fold] = {
            Monitor.QUEUES: QueueFold(names=names, settings=settings, context=scanned.context),
            Monitor.MESSAGES: MessageFold(
                names=names,
                settings=settings,
                context=scanned.context,
                release=trace.header.release,
                messages=gathered.deliveries // passes,
            ),
        }
        outcomes += _run(gathered, names, folds, share=share, passes=passes, progress=progress)
    groups = GroupMonitor(names=names, settings=settings, context=scanned.context)
    groups.stores(gathered.stores())
    gathered.shelf.close()
    return conclude(
        trace,
        scanned,
        names=names,
        settings=settings,
        outcomes=[*outcomes, groups.finish()],
        engine="local" if passes == 1 else f"local, in {passes} passes",
        seconds=time.perf_counter() - started,
    )


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
    gathered: Gathered,
    names: Names,
    folds: Mapping[Monitor, Fold],
    *,
    share: int,
    passes: int,
    progress: Progress | None,
) -> list[Outcome]:
    """Feed the folds, each in a thread of its own, with the given share of the queues and messages."""
    workers = {monitor: _Worker(fold) for monitor, fold in folds.items()}
    try:
        for coded in gathered.events(names, last=share == passes - 1):
            workers[Monitor.QUEUES].put(_of_queues(coded, share, passes))
            workers[Monitor.MESSAGES].put(_of_messages(coded, share, passes))
            if progress is not None:
                progress("checked" if passes == 1 else f"checked, pass {share + 1} of {passes}:", len(coded))
    finally:
        for worker in workers.values():
            worker.end()
    return [worker.outcome() for worker in workers.values()]


def _of_queues(coded: Coded, share: int, passes: int) -> Coded:
    """The events as the monitor by queue gets them in a pass: those of other queues have none."""
    if passes == 1:
        return coded
    return replace(coded, slot=np.where(coded.slot % passes == share, coded.slot, np.int32(-1)))


def _of_messages(coded: Coded, share: int, passes: int) -> Coded:
    """The events as the monitor by message gets them in a pass: those of other messages are of no kind."""
    if passes == 1:
        return coded
    return replace(coded, kind=np.where(coded.origin % passes == share, coded.kind, np.uint8(UNKNOWN_KIND)))


class _Worker:
    """A thread that feeds a fold, and lets it finish."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._waiting: queue.Queue[Coded | None] = queue.Queue(_AHEAD)
        self._outcome: Outcome | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def put(self, coded: Coded) -> None:
        """Let the fold have further events; waits while enough others do. Raises what the fold has raised."""
        self._raise_failure()
        self._waiting.put(coded)

    def end(self) -> None:
        """There are no further events."""
        self._waiting.put(None)

    def outcome(self) -> Outcome:
        """What has come out, after :meth:`end`. Raises what the fold has raised."""
        self._thread.join()
        self._raise_failure()
        assert self._outcome is not None
        return self._outcome

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (coded := self._waiting.get()) is not None:
            if self._failure is None:
                self._try(partial(self._fold.feed, coded))
        if self._failure is None:
            self._try(self._finish)

    def _finish(self) -> None:
        self._outcome = self._fold.finish()

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as failure:
            # The reader goes on putting: what it puts is taken, and the failure is raised there.
            self._failure = failure
