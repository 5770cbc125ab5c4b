"""The numbers of a checked trace: how much there was, what was repeated and why, what was lost, who overlapped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from ...model.history import Cause
from ...properties.verdict import Verdict
from ..claims.claims import CODE
from ..explain.timelines import Ownership, ownerships
from ..format.message_status import MessageStatus
from .result import CheckResult


@dataclass(frozen=True, kw_only=True)
class Overlaps:
    """Times when several clients had one queue.

    Attributes:
        count: number of overlaps.
        longest: the longest of them, ms.
        total: their sum, ms.
    """

    count: int
    longest: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The numbers of a trace.

    Attributes:
        events: number of events of all kinds.
        deliveries: how often a listener was given a message.
        duplicates: repeated deliveries, by the name of their cause; without those that have none.
        unexplained: repeated deliveries without a cause.
        losses: messages that the stored offset passed although nobody consumed them, or whose retry never came.
        overlaps: overlaps of ownership.
        statuses: messages by what became of them, by the name of the status.
        violated: ids of the claims that are violated.
        unknown: ids of the claims that are unknown.
        holds: ids of the claims that hold.
        problems: number of things that could not be read.
    """

    events: int
    deliveries: int
    duplicates: Mapping[str, int]
    unexplained: int
    losses: int
    overlaps: Overlaps
    statuses: Mapping[str, int]
    violated: tuple[str, ...]
    unknown: tuple[str, ...]
    holds: tuple[str, ...]
    problems: int

    def as_json(self) -> dict[str, Any]:
        """The numbers as a JSON object."""
        return asdict(self)


def measure(result: CheckResult) -> Measured:
    """The numbers of a trace that was checked."""
    repeats, messages = result.repeats, result.messages
    return Measured(
        events=result.events,
        deliveries=result.verdicts[CODE["every-duplicate-has-a-cause"]].judged,
        duplicates={cause.name: count for cause, count in sorted(repeats.items()) if cause is not Cause.NONE},
        unexplained=repeats[Cause.NONE],
        losses=messages[MessageStatus.LOST],
        overlaps=overlaps(ownerships(result.rows, result.names)),
        statuses={status.name: count for status, count in sorted(messages.items())},
        violated=_claims(result, Verdict.VIOLATED),
        unknown=_claims(result, Verdict.UNKNOWN),
        holds=_claims(result, Verdict.HOLDS),
        problems=result.problems.count,
    )


def overlaps(owned: Iterable[Ownership]) -> Overlaps:
    """When two or more clients had one queue; one overlap lasts from the arrival of the second owner to the end of
    double ownership.
    """
    lengths = []
    for _, items in groupby(sorted(owned, key=lambda item: item.slot), key=lambda item: item.slot):
        changes = sorted(change for item in items for change in ((item.since, 1), (item.until, -1)))
        owners = since = 0
        for time, change in changes:
            if owners == 1 and change == 1:
                since = time
            elif owners == 2 and change == -1 and time > since:
                lengths.append(time - since)
            owners += change
    return Overlaps(count=len(lengths), longest=max(lengths, default=0), total=sum(lengths))


def _claims(result: CheckResult, verdict: Verdict) -> tuple[str, ...]:
    return tuple(answer.claim.id for answer in result.verdicts if answer.verdict is verdict)
