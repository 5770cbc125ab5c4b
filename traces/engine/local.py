"""The embedded engine: all monitors in one process, without Java.

The trace is read once, see :mod:`.gathering`; then the folds by queue, of steps and by message process its events side
by side, each in a thread of its own, in machine code. Their state grows with the number of messages, not of events; a
trace whose state would not fit is checked in several passes, each over a share of the queues and messages.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ..claims.settings import Settings
from ..encoding.coding import Coded
from ..encoding.names import Names
from ..encoding.shares import Share
from ..encoding.store_counts import StoreCounts
from ..io import Trace
from ..monitors.fold import Fold, Outcome
from ..monitors.groups.groups import GroupMonitor
from ..monitors.messages.messages import MessageFold
from ..monitors.queues.queue_ends import settle_ends, settle_first_starts, settle_unpulled
from ..monitors.queues.queues import queue_folds
from ..recorders.members import members_of
from .clock_doubts import order_doubted
from .doubts import doubted
from .gathering import Progress, gather
from .pools import settle_waiting
from .reading import Recorded
from .recorded import coverage_in
from .result import CheckResult, merge, verdicts
from .rounds import settle_rounds
from .scan import Scan
from .stored_elsewhere import settle_stored_elsewhere

STATE_BYTES = 40
"""Upper bound of the average state of the folds per event, in bytes; measured, see benchmarks/traces.py."""

_AHEAD = 8
"""Number of batches that wait for each fold."""


def check_locally(
    trace: Trace,
    *,
    settings: Settings,
    memory: int = 4 << 30,
    progress: Progress | None = None,
) -> CheckResult:
    """Check a trace against all claims.

    Args:
        trace: what to check.
        settings: settings of the check.
        memory: bytes that the events and the state of the folds may use, half of it each. Further events are stored in
            a temporary file; if the state needs more, the events are processed several times.
        progress: called with the progress.

    Raises:
        TraceError: there are no events.
    """
    started = time.perf_counter()
    half = max(1, memory // 2)
    gathered = gather(trace, memory=half, progress=progress)
    scanned, names = gathered.scan, Names(trace.header.groups, members_of(gathered.scan.context.events))
    passes = max(1, -(-scanned.events * STATE_BYTES // half))
    outcomes: list[Outcome] = []
    for number in range(passes):
        share = Share(number, passes)
        deliveries = gathered.deliveries // passes
        folds = folds_for(trace, scanned, names=names, settings=settings, messages=deliveries)
        workers = [_Worker(fold, chosen) for fold, chosen in zip(folds, _chosen(share), strict=True)]
        what = "checked" if passes == 1 else f"checked, pass {number + 1} of {passes}:"
        _feed(workers, gathered.events(names, last=number == passes - 1), what, progress)
        outcomes += [worker.outcome() for worker in workers]
    groups = GroupMonitor(names=names, settings=settings, context=scanned.context)
    stores = gathered.stores()
    groups.stores(stores)
    gathered.shelf.close()
    return conclude(
        trace,
        scanned,
        names=names,
        settings=settings,
        outcomes=[*outcomes, groups.finish()],
        stores=stores,
        engine="local" if passes == 1 else f"local, in {passes} passes",
        seconds=time.perf_counter() - started,
    )


def conclude(
    trace: Recorded,
    scanned: Scan,
    *,
    names: Names,
    settings: Settings,
    outcomes: Sequence[Outcome],
    stores: StoreCounts,
    engine: str,
    seconds: float,
) -> CheckResult:
    """The answer of a check, from the outcomes of its monitors."""
    coverage = coverage_in(trace, scanned, names.slots)
    outcome = settle_first_starts(merge(outcomes, len(names.slots)), names, settings)
    outcome = settle_ends(settle_unpulled(outcome, names, stores, settings), names)
    outcome = settle_stored_elsewhere(settle_waiting(outcome, trace, names, settings), trace, names)
    outcome = settle_rounds(outcome, trace, names, settings, scanned.context)
    outcome = order_doubted(outcome, names, scanned.context, coverage, settings.skew)
    outcome = doubted(outcome, names, coverage, settings)
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
        coverage=coverage,
        context=scanned.context,
        names=names,
        verdicts=verdicts(outcome, names, coverage, settings),
        rows=outcome.rows,
        statuses=outcome.statuses,
        passed_over=outcome.passed_over,
        left_out=trace.left_out,
        skipped=dict(trace.skipped.most_common()),
    )


def folds_for(
    trace: Recorded, scanned: Scan, *, names: Names, settings: Settings, messages: int = 0
) -> tuple[Fold, ...]:
    """The monitors by queue, and last the one by message; ``messages``: the approximate number of messages, if it is
    known.
    """
    context, release = scanned.context, trace.header.release
    by_message = MessageFold(names=names, settings=settings, context=context, release=release, messages=messages)
    return *queue_folds(names=names, settings=settings, context=context, messages=messages), by_message


def _chosen(share: Share) -> tuple[Callable[[Coded], Coded], ...]:
    """What each of these monitors is fed for a share of the queues and of the messages."""
    return share.of_queues, share.of_queues, share.of_messages


def feed(folds: Sequence[Fold], events: Iterable[Coded], *, finish: bool) -> list[Outcome]:
    """Feed all events to folds, each in a thread of its own; returns the outcomes if they are to finish."""
    workers = [_Worker(fold, _all, finish=finish) for fold in folds]
    _feed(workers, events, "", None)
    for worker in workers:
        worker.wait()
    return [worker.outcome() for worker in workers] if finish else []


def _all(coded: Coded) -> Coded:
    return coded


def _feed(workers: Sequence[_Worker], events: Iterable[Coded], what: str, progress: Progress | None) -> None:
    try:
        for coded in events:
            for worker in workers:
                worker.put(coded)
            if progress is not None:
                progress(what, len(coded))
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A thread that feeds a fold with the result of ``chosen`` for events, and lets it finish."""

    def __init__(self, fold: Fold, chosen: Callable[[Coded], Coded], *, finish: bool = True) -> None:
        self._fold = fold
        self._is_to_finish = finish
        self._chosen = chosen
        self._waiting: queue.Queue[Coded | None] = queue.Queue(_AHEAD)
        self._outcome: Outcome | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def put(self, coded: Coded) -> None:
        """Pass further events to the fold; waits while enough others are queued. Raises what the fold has raised."""
        self._raise_failure()
        self._waiting.put(coded)

    def end(self) -> None:
        """There are no further events."""
        self._waiting.put(None)

    def wait(self) -> None:
        """Wait until all is done, after :meth:`end`. Raises what the fold has raised."""
        self._thread.join()
        self._raise_failure()

    def outcome(self) -> Outcome:
        """The outcome, after :meth:`end`. Raises what the fold has raised."""
        self.wait()
        assert self._outcome is not None
        return self._outcome

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while (coded := self._waiting.get()) is not None:
            if self._failure is None:
                self._try(partial(self._take, coded))
        if self._failure is None and self._is_to_finish:
            self._try(self._finish)

    def _take(self, coded: Coded) -> None:
        self._fold.feed(self._chosen(coded))

    def _finish(self) -> None:
        self._outcome = self._fold.finish()

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as failure:
            # The reader continues to put: its items are discarded, and the failure is raised there.
            self._failure = failure
