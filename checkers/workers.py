"""Workers: the searches of a suite side by side, in processes of their own.

A run that a worker finds goes back as the numbers of its steps, and is replayed here: terms of Z3 cannot leave their
process.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ..model.kernel import Machine, trace
from ..model.kernel.plain import PlainMachine
from .result import Result
from .run import Run, replay


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one search, or one proof, answers.

    Attributes:
        results: one for each row that shares the work.
        taken: names of the actions that happened in it, if it was a search.
    """

    results: tuple[Result, ...]
    taken: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class _Packed:
    """A run without terms: the constants of its configuration and its steps."""

    constants: Mapping[str, Any]
    steps: tuple[int, ...]
    loop: int | None


_Sent = tuple[Answer, tuple[_Packed | None, ...]]
_Work = Callable[[int], Answer]
_work: _Work | None = None


def side_by_side(work: _Work, machines: Sequence[Machine | None], *, jobs: int) -> Iterator[Answer]:
    """The answers of ``work(0)``, ``work(1)`` … in this order, ``jobs`` of them under way at a time.

    Args:
        work: does one piece of work; it and what it refers to are inherited by the workers.
        machines: for each piece of work the machine it is about, if any.
        jobs: how many workers.

    Raises:
        concurrent.futures.process.BrokenProcessPool: a worker was killed, for example by the system for its memory.
    """
    # Forked workers inherit `work`, whose properties are functions that cannot be sent. The first submit starts them
    # all, so this is done at once, while the process may still have no other threads.
    executor = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("fork"), initializer=_begin, initargs=(work,)
    )
    futures = [executor.submit(_do, number) for number in range(len(machines))]
    return _collected(executor, futures, machines)


def _collected(
    executor: ProcessPoolExecutor, futures: Sequence[Future[_Sent]], machines: Sequence[Machine | None]
) -> Iterator[Answer]:
    try:
        for machine, future in zip(machines, futures, strict=True):
            answer, runs = future.result()
            told = zip(answer.results, _unpack(machine, runs), strict=True)
            yield replace(answer, results=tuple(replace(result, run=run) for result, run in told))
    finally:
        workers = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()


def _begin(work: _Work) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    _work = work


def _do(number: int) -> _Sent:
    assert _work is not None
    answer = _work(number)
    runs = tuple(_pack(result.run) for result in answer.results)
    return replace(answer, results=tuple(replace(result, run=None) for result in answer.results)), runs


def _pack(run: Run | None) -> _Packed | None:
    if run is None:
        return None
    return _Packed(constants=dict(run.traced.configuration.constants), steps=run.steps, loop=run.loop)


def _unpack(machine: Machine | None, runs: Sequence[_Packed | None]) -> Iterator[Run | None]:
    plain: PlainMachine | None = None
    constants: Mapping[str, Any] = {}
    for run in runs:
        if run is None or machine is None:
            yield None
            continue
        if plain is None or constants != run.constants:
            plain, constants = PlainMachine(trace(machine.configure(**run.constants))), run.constants
        yield replay(plain, run.steps, loop=run.loop)
