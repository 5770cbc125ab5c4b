"""Outcomes: what a run of a scenario showed, in numbers, compared with what was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..properties.verdict import Verdict
from ..traces.conformance import conform
from ..traces.engine.local import check_locally
from ..traces.engine.measured import Measured, measure
from ..traces.io import Trace, open_trace
from ..traces.samples import settings_for
from .scenario import Expect, Range, Scenario

_NONE = Range(low=0, high=0)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run showed.

    Attributes:
        scenario: its name.
        release: release of RocketMQ.
        measured: the numbers of its trace.
        verdicts: verdict of each claim, by id.
        mismatches: events that no action of the model allows.
        left_out: what joining left out, in words, and how often.
        problems: problems in the recordings, in words.
        differences: what is not as expected, in words.
    """

    scenario: str
    release: str
    measured: Measured
    verdicts: Mapping[str, str]
    mismatches: int
    left_out: Mapping[str, int]
    problems: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether everything is as expected."""
        return not self.differences

    def as_json(self) -> dict[str, Any]:
        """The outcome as JSON."""
        return {**asdict(self), "met": self.met}

    def lines(self) -> Iterable[str]:
        """The outcome in words, a few lines."""
        found = self.measured
        yield f"{found.events:,} events, {found.deliveries:,} deliveries; messages: {_parts(found.statuses) or 'none'}"
        yield f"delivered again: {_parts(found.duplicates) or 'nothing'}; without a cause: {found.unexplained:,}"
        longest = f", the longest for {found.overlaps.longest:,} ms" if found.overlaps.count else ""
        yield f"losses: {found.losses:,}; two owners: {found.overlaps.count:,} times{longest}"
        yield f"violated: {', '.join(found.violated) or 'nothing'}; model mismatches: {self.mismatches:,}"
        for what, count in self.left_out.items():
            yield f"left out: {count:,} {what}"
        for problem in self.problems:
            yield f"problem: {problem}"
        for difference in self.differences:
            yield f"NOT AS EXPECTED: {difference}"


def judge(
    path: Path,
    raw: Trace,
    scenario: Scenario,
    release: str,
    *,
    left_out: Mapping[str, int],
    problems: Iterable[str] = (),
) -> Outcome:
    """Check the trace of a run, and compare the findings with what is expected; the verdicts about the raw recordings
    must be the same.

    Raises:
        TraceError: the trace cannot be read.
    """
    trace = open_trace([path])
    result = check_locally(trace, settings=settings_for(trace, scenario.check))
    outcome = Outcome(
        scenario=scenario.name,
        release=release,
        measured=measure(result),
        verdicts={answer.claim.id: str(answer.verdict) for answer in result.verdicts},
        mismatches=len(conform(open_trace([path])).mismatches),
        left_out=dict(left_out),
        problems=(*problems, *map(str, result.problems.kept)),
    )
    apart = _apart(outcome, raw, scenario)
    return replace(outcome, differences=(*differences(outcome, scenario.expected(release)), *apart))


def _apart(outcome: Outcome, raw: Trace, scenario: Scenario) -> Iterable[str]:
    """Claims for which the recordings themselves get another verdict than the joined trace."""
    result = check_locally(raw, settings=settings_for(raw, scenario.check))
    for answer in result.verdicts:
        if outcome.verdicts[answer.claim.id] != str(answer.verdict):
            joined = outcome.verdicts[answer.claim.id]
            yield f"{answer.claim.id} is {answer.verdict} of the recordings, {joined} of what was joined of them"
    found = len(conform(raw).mismatches)
    if found != outcome.mismatches:
        yield f"the model does not allow {found} events of the recordings, {outcome.mismatches} of what was joined"


def differences(outcome: Outcome, expect: Expect) -> Iterable[str]:
    """What is not as expected, in words."""
    found = outcome.measured
    for claim in expect.violated:
        if claim not in found.violated:
            yield f"{claim} is {outcome.verdicts[claim]}, VIOLATED expected"
    for claim in found.violated:
        if claim not in expect.violated:
            yield f"{claim} is VIOLATED"
    for claim in expect.holds:
        if outcome.verdicts[claim] not in (Verdict.HOLDS, Verdict.VIOLATED):
            yield f"{claim} is {outcome.verdicts[claim]}, HOLDS expected"
    yield from _often("deliveries", found.deliveries, expect.deliveries)
    yield from _often("repetitions without a cause", found.unexplained, expect.unexplained)
    yield from _often("losses", found.losses, expect.losses)
    yield from _often("overlaps", found.overlaps.count, expect.overlaps)
    yield from _counts("repetitions for", found.duplicates, expect.duplicates)
    if expect.statuses:
        yield from _counts("messages", found.statuses, expect.statuses)
    yield from _often("events that the model does not allow", outcome.mismatches, _NONE)
    yield from _often("problems in the recordings", len(outcome.problems), expect.problems)


def _often(what: str, found: int, expected: Range | None) -> Iterable[str]:
    if expected is not None and found not in expected:
        yield f"{found:,} {what}, {expected} expected"


def _counts(what: str, found: Mapping[str, int], expected: Mapping[str, Range]) -> Iterable[str]:
    for name in dict.fromkeys([*expected, *found]):
        yield from _often(f"{what} {name}", found.get(name, 0), expected.get(name, _NONE))


def _parts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.lower().replace('_', ' ')}" for name, count in Counter(counts).most_common())
