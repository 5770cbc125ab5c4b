"""What the commands do, as functions for programs: they return answers and print nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from .checkers.catalogue import default_rows
from .checkers.suite import Options, Outcome, claim_rows, run_suite
from .commands.check import CheckRequest, run, settings_of
from .machine_code.code_cache import user_cache
from .properties.claim import Claim
from .traces.conformance import SLACK, Conformance
from .traces.conformance import conform as follow
from .traces.engine.result import CheckResult
from .traces.explain.by_model import weighed
from .traces.io import Trace, open_trace

Source = Trace | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""An open trace, or the files and folders of one."""


def verify(claims: Iterable[Claim] | None = None, *, jobs: int = 1, states: int | None = None) -> list[Outcome]:
    """Check claims about machines, as ``rocketproof verify`` does.

    Args:
        claims: for example about machines of your own; without any, the default suite about RocketMQ's consumption.
        jobs: number of searches and proofs at a time, each in a process of its own if more than one.
        states: limit of each search; beyond it the verdict is UNKNOWN.

    Returns:
        An outcome for each claim, in their order; after those of a suite, also one for each machine: that each of its
        actions happens somewhere. ``outcome.as_expected`` says whether it is as it should be.

    Raises:
        ModelError: a machine is written wrongly, or no engine is able to judge a claim.
    """
    rows = default_rows() if claims is None else claim_rows(claims)
    place = {id(row): number for number, row in enumerate(rows)}
    outcomes = run_suite(rows, Options(jobs=jobs, states=states, cache=user_cache()))
    return sorted(outcomes, key=lambda outcome: place[id(outcome.row)])


def check(source: Source, *, config: str = "", skew: int = 50, memory: int = 4 << 30) -> CheckResult:
    """Check a recorded run against all claims about traces, as ``rocketproof check`` does.

    Args:
        source: a trace, or files and folders of one; raw captures are joined.
        config: the deployment file with timers, delay levels and maxima; empty for RocketMQ's defaults.
        skew: how far clocks of different processes may be apart if nothing bounds them, ms.
        memory: bytes that events and the state of the monitors may use.

    Returns:
        ``result.verdict("nothing-skipped").verdict`` is the answer about one claim.

    Raises:
        TraceError: the trace cannot be read.
        InputError: the deployment file cannot be read.
    """
    trace = _opened(source)
    request = CheckRequest(paths=trace.files, config=config, skew=skew, memory=memory)
    result, _ = weighed(trace, run(trace, request, settings_of(trace, request)), most=request.stories)
    return result


def conform(source: Source, *, slack: int = SLACK, jobs: int = 1) -> Conformance:
    """Follow a recorded run through the model, event by event, as ``rocketproof conform`` does.

    Args:
        source: a trace, or files and folders of one; raw captures are joined.
        slack: how far records of different threads and processes may be apart from what they record, ms.
        jobs: number of processes that follow queues side by side.

    Raises:
        TraceError: the trace cannot be read.
    """
    return follow(_opened(source), slack=slack, jobs=jobs)


def _opened(source: Source) -> Trace:
    if isinstance(source, Trace):
        return source
    paths = [source] if isinstance(source, str | os.PathLike) else source
    return open_trace([os.fspath(path) for path in paths])
