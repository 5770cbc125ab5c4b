"""Workers: the searches of a suite side by side, in processes of their own.

A run that a worker finds is replayed and put into words there, because Z3 terms cannot leave their process.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .result import Result
from .run import told

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one search, or one proof, answers."""

    results: tuple[Result, ...]  # one for each row that shares the work
    taken: frozenset[str] = frozenset()  # names of the actions that happened in it, if it was a search


_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_NOTICED_WITHIN = 5.0
"""Seconds to wait for a pool whose processes were stopped."""

_Work = Callable[[int], Answer]
_work: _Work | None = None


def side_by_side(work: _Work, pieces: int, *, jobs: int) -> Iterator[Answer]:
    """The answers of ``work(0)``, ``work(1)`` … in this order, ``jobs`` of them under way at a time.

    Args:
        work: does one piece of work; workers inherit it and everything that it refers to.
        pieces: number of pieces of work.
        jobs: number of workers.

    Raises:
        concurrent.futures.process.BrokenProcessPool: a worker was killed, for example by the system for its memory.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Forked workers inherit `work`, whose properties are functions that cannot be sent. The first submit starts them
    # all, so this is done at once, while the process may still have no other threads.
    executor = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("fork"), initializer=_begin, initargs=(work,)
    )
    futures = [executor.submit(_do, number) for number in range(pieces)]
    return _collected(executor, futures)


def _collected(executor: ProcessPoolExecutor, futures: Sequence[Future[Answer]]) -> Iterator[Answer]:
    try:
        for future in futures:
            yield future.result()
    finally:
        _end_workers(executor)


def _end_workers(executor: ProcessPoolExecutor) -> None:
    """Stop the processes of a pool at once, whatever they are doing, and wait until the pool has noticed.

    Python 3.11 may print a traceback when a process ends while the thread of a pool still closes what it has open.
    """
    workers = list((executor._processes or {}).values())
    manager: Any = executor._executor_manager_thread
    executor.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    if manager is not None:
        manager.join(_NOTICED_WITHIN)


def _begin(work: _Work) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)  # which may be killed, and then cleans up nothing
    _work = work


def _do(number: int) -> Answer:
    assert _work is not None
    answer = _work(number)
    results = (result if result.run is None else replace(result, run=told(result.run)) for result in answer.results)
    return replace(answer, results=tuple(results))
