"""Workers: parts of a trace are followed side by side, in processes of their own."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

import pyarrow as pa

from .part import Answer

_NOTICED_WITHIN = 5.0
"""Seconds to wait for a pool whose processes were stopped."""


def side_by_side(work: Callable[[pa.Table], Answer], tables: Iterable[pa.Table], *, jobs: int) -> Iterator[Answer]:
    """The answers about tables of events, in their order; only few tables wait at a time.

    ``work`` follows a table; it can be sent to other processes.

    Raises:
        concurrent.futures.process.BrokenProcessPool: a process was killed, for example by the system for its memory.
    """
    # Not forked: this process has threads of Arrow.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts)
    waiting: deque[Future[Answer]] = deque()
    try:
        for table in tables:
            waiting.append(executor.submit(work, table))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        workers = list((executor._processes or {}).values())
        manager: Any = executor._executor_manager_thread
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        if manager is not None:  # Python 3.11 may print a traceback where a process ends before this thread
            manager.join(_NOTICED_WITHIN)


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
