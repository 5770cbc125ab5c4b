"""Looking at a recording: it is opened, checked, and followed through the model, to find out what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..commands.check import CheckRequest, run, settings_of
from ..traces.engine.result import CheckResult
from ..traces.explain.by_model import weighed
from ..traces.io import Trace, open_trace
from .signs import Signs, signs_of


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A recording after the first look."""

    trace: Trace  # what was recorded
    result: CheckResult  # the result of a check
    signs: Signs  # what is wrong with it


def looked_at(paths: Sequence[str], *, config: str = "", slack: int = 50, strict: bool = False) -> Looked:
    """Look at a recording.

    Args:
        paths: files and folders of one trace.
        config: the deployment file with timers, delay levels and maxima; empty for RocketMQ's defaults.
        slack: how far records of different processes may be apart from what they record, ms.
        strict: stop at the first problem in reading.

    Raises:
        TraceError: the trace cannot be read.
        InputError: the deployment file cannot be read.
    """
    request = CheckRequest(paths=paths, config=config, skew=slack, strict=strict)
    trace = open_trace(paths, strict=strict)
    result, witnesses = weighed(trace, run(trace, request, settings_of(trace, request)), most=request.stories)
    return Looked(trace=trace, result=result, signs=signs_of(trace, result, witnesses, slack=slack))
