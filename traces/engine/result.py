"""The answer of a check: a verdict for every claim, what was found, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...model.history import Cause
from ...properties.verdict import Verdict
from ..claims.claims import CLAIMS, CODE, Ground, TraceClaim
from ..claims.settings import Settings
from ..encoding.names import Names
from ..format.kinds import Kind
from ..format.message_status import MessageStatus
from ..format.schema import Header
from ..io import Problems
from ..monitors.fold import Outcome
from .context import Context
from .findings import Doubt, Note, evidence_mask, sort_rows

REPEATS = (CODE["every-duplicate-has-a-cause"], CODE["every-copy-has-a-cause"])
"""Codes of the claims whose rows are deliveries that came again."""


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict:
    """The answer about one claim.

    Attributes:
        claim: what is claimed.
        verdict: the answer.
        judged: how many instances of it were looked at.
        violated: violations without doubt.
        doubtful: violations that may be none.
        why: why it is unknown or not observable, and what would settle it; empty else.
    """

    claim: TraceClaim
    verdict: Verdict
    judged: int
    violated: int
    doubtful: int
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The answer of a check.

    Attributes:
        header: of the trace, merged over its files.
        files: what was read.
        events: how many events there were.
        begin: time of the first, ms since 1970; ``end``: of the last.
        seconds: how long the check took.
        engine: which engine it was, in words.
        problems: what could not be read.
        settings: the terms of the check.
        evidence: mask of the kinds that were recorded.
        context: events that concern more than one queue or message.
        names: names of queues and processes.
        verdicts: one for each claim, in their order.
        rows: findings, explanations and notes, sorted.
        statuses: how many messages of a slot had which fate; slots × statuses.
        passed_over: what no monitor could judge, in words, and how many there were.
        left_out: files of the given folders that are no traces, each with why.
        skipped: how much of imported files is no event and no damage, by what it is.
    """

    header: Header
    files: tuple[str, ...]
    events: int
    begin: int
    end: int
    seconds: float
    engine: str
    problems: Problems
    settings: Settings
    evidence: int
    context: Context
    names: Names
    verdicts: tuple[ClaimVerdict, ...]
    rows: Any
    statuses: Any
    passed_over: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def verdict(self, claim: str) -> ClaimVerdict:
        """The answer about the claim of an id; KeyError without one."""
        return self.verdicts[CODE[claim]]

    @property
    def violations(self) -> Any:
        """Rows that violate a claim, in doubt or not."""
        return self.rows[(self.rows["claim"] >= 0) & (self.rows["note"] == Note.NONE) & (self.rows["cause"] == 0)]

    @property
    def repeats(self) -> Counter[Cause]:
        """How many deliveries came again, by cause; NONE where none was found."""
        again = self.rows[np.isin(self.rows["claim"], REPEATS) & (self.rows["note"] == Note.NONE)]
        return Counter(Cause(int(cause)) for cause in again["cause"])

    @property
    def messages(self) -> Counter[MessageStatus]:
        """How many messages had which fate, over all groups."""
        return Counter(
            {fate: int(self.statuses[:, fate].sum()) for fate in MessageStatus if self.statuses[:, fate].any()}
        )


def merge(outcomes: Sequence[Outcome], slots: int) -> Outcome:
    """The outcome of all monitors together."""
    statuses = np.zeros((slots, len(MessageStatus)), np.int64)
    passed_over: Counter[str] = Counter()
    for outcome in outcomes:
        known = min(slots, len(outcome.statuses))  # folds make room for slots that may come
        statuses[:known] += outcome.statuses[:known]
        passed_over.update(outcome.passed_over)
    return Outcome(
        rows=sort_rows(np.concatenate([outcome.rows for outcome in outcomes])),
        judged=np.sum([outcome.judged for outcome in outcomes], axis=0),
        violated=np.sum([outcome.violated for outcome in outcomes], axis=0),
        doubtful=np.sum([outcome.doubtful for outcome in outcomes], axis=0),
        statuses=statuses,
        passed_over=dict(passed_over),
    )


def verdicts(outcome: Outcome, *, evidence: int, damaged: bool) -> tuple[ClaimVerdict, ...]:
    """The answer about every claim.

    A violation without doubt settles it. Else doubt that better clocks or a whole recording would remove is UNKNOWN,
    and evidence that was not recorded is NOT OBSERVABLE; so is a claim of which there was no instance to look at.

    Args:
        outcome: of all monitors.
        evidence: mask of the kinds that were recorded.
        damaged: parts of the trace could not be read: claims that rest on something not being there are UNKNOWN.
    """
    return tuple(_verdict(code, claim, outcome, evidence, damaged) for code, claim in enumerate(CLAIMS))


def _verdict(code: int, claim: TraceClaim, outcome: Outcome, evidence: int, damaged: bool) -> ClaimVerdict:
    violated, doubtful = int(outcome.violated[code]), int(outcome.doubtful[code])
    judged = int(outcome.judged[code])
    missing = [kinds for kinds in claim.needs if not evidence & evidence_mask(frozenset(kinds))]
    if violated:
        verdict, why = Verdict.VIOLATED, ""
    elif missing:
        verdict, why = Verdict.NOT_OBSERVABLE, f"no {_listed(missing)} events; {claim.settled_by} would settle it"
    elif doubtful:
        verdict, why = _doubt(code, claim, outcome)
    elif not judged:
        verdict, why = Verdict.NOT_OBSERVABLE, "nothing of that kind happened"
    elif damaged and claim.ground is Ground.ABSENCE:
        verdict, why = Verdict.UNKNOWN, "a part of the recording is missing, and with it what might violate this"
    else:
        verdict, why = Verdict.HOLDS, ""
    return ClaimVerdict(claim=claim, verdict=verdict, judged=judged, violated=violated, doubtful=doubtful, why=why)


def _doubt(code: int, claim: TraceClaim, outcome: Outcome) -> tuple[Verdict, str]:
    rows = outcome.rows[(outcome.rows["claim"] == code) & (outcome.rows["doubt"] != 0)]
    doubts = Doubt(int(np.bitwise_or.reduce(rows["doubt"], initial=0)))
    if doubts & Doubt.SKEW:
        return Verdict.UNKNOWN, "events of different clocks are closer than the allowed skew"
    if doubts & Doubt.GAP:
        return Verdict.UNKNOWN, "the recording has a gap where an explanation may be"
    return Verdict.NOT_OBSERVABLE, f"what may explain it was not recorded; {claim.settled_by} would settle it"


def _listed(missing: list[tuple[Kind, ...]]) -> str:
    return " and no ".join(" or ".join(kinds) for kinds in missing)
