"""The answer of a check: a verdict for every claim, what was found, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...model.history import Cause
from ...properties.verdict import Verdict
from ..claims.claim import TraceClaim
from ..claims.claims import CLAIMS, CODE
from ..claims.evidence import would_settle
from ..claims.presupposed import presupposed, shown_by
from ..claims.settings import Settings
from ..encoding.names import Names
from ..format.coverage import EVIDENCE_BIT, Coverage, evidence_mask, missing
from ..format.kinds import Kind
from ..format.message_status import MessageStatus
from ..format.schema import Header
from ..io import Problems
from ..monitors.fold import Outcome
from .context import Context
from .doubts import hole_of, unrecorded
from .findings import Doubt, Note, sort_rows

MOST_NAMED = 3
"""Maximum number of missing kinds that are named."""

REPEATS = (CODE["every-duplicate-has-a-cause"], CODE["every-copy-has-a-cause"])
"""Codes of the claims whose rows are repeated deliveries."""

_NAMED = 3
"""Maximum number of groups named in a reason."""

LEVELS_UNTOLD = (
    "it goes by the delay levels, and recordings of brokers tell none, or different ones",
    "--delays, or message_delay_level in the file of --config, would settle it",
)


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict:
    """The answer about one claim.

    Attributes:
        claim: what is claimed.
        verdict: the answer.
        judged: number of judged instances.
        violated: number of violations without doubt.
        doubtful: number of violations in doubt.
        why: why it is unknown or not observable, and what would settle it; otherwise empty.
        holds_for: if it is unknown, the groups for which it holds, as nothing about them is lost or in doubt.
        settling: what would settle it, as at the end of ``why``; empty if nothing is known to.
    """

    claim: TraceClaim
    verdict: Verdict
    judged: int
    violated: int
    doubtful: int
    why: str = ""
    holds_for: tuple[str, ...] = ()
    settling: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The answer of a check.

    Attributes:
        header: header of the trace, merged over its files.
        files: what was read.
        events: number of events.
        begin: time of the first, ms since 1970; ``end``: of the last.
        seconds: how long the check took.
        engine: the engine, in words.
        problems: what could not be read.
        settings: settings of the check.
        coverage: what was recorded, and where the recording has holes.
        context: events that concern more than one queue or message.
        names: names of queues and processes.
        verdicts: one for each claim, in their order.
        rows: findings, explanations and notes, sorted.
        statuses: number of messages of each slot with each status; slots × statuses.
        passed_over: what no monitor could judge, in words, and how often.
        left_out: files of the given folders that are not traces, each with the reason.
        skipped: how much of imported files is neither an event nor damage, by what it is.
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
    coverage: Coverage
    context: Context
    names: Names
    verdicts: tuple[ClaimVerdict, ...]
    rows: Any
    statuses: Any
    passed_over: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def verdict(self, claim: str) -> ClaimVerdict:
        """The answer about the claim with an id; KeyError if there is none."""
        return self.verdicts[CODE[claim]]

    @property
    def violations(self) -> Any:
        """Rows that violate a claim, in doubt or not."""
        return self.rows[(self.rows["claim"] >= 0) & (self.rows["note"] == Note.NONE) & (self.rows["cause"] == 0)]

    @property
    def repeats(self) -> Counter[Cause]:
        """Number of repeated deliveries, by cause; NONE if none was found."""
        again = self.rows[np.isin(self.rows["claim"], REPEATS) & (self.rows["note"] == Note.NONE)]
        return Counter(Cause(int(cause)) for cause in again["cause"])

    @property
    def messages(self) -> Counter[MessageStatus]:
        """Number of messages with each status, over all groups."""
        return Counter(
            {status: int(self.statuses[:, status].sum()) for status in MessageStatus if self.statuses[:, status].any()}
        )


def merge(outcomes: Sequence[Outcome], slots: int) -> Outcome:
    """The combined outcome of all monitors."""
    statuses = np.zeros((slots, len(MessageStatus)), np.int64)
    passed_over: Counter[str] = Counter()
    for outcome in outcomes:
        known = min(slots, len(outcome.statuses))  # folds reserve space for slots that may come
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


def verdicts(outcome: Outcome, names: Names, coverage: Coverage, settings: Settings) -> tuple[ClaimVerdict, ...]:
    """The answer about every claim.

    A violation counts if its possible excuses were covered, see :mod:`.doubts`; one that counts settles the claim. A
    claim holds if its possible violations were covered. All other claims are UNKNOWN if something that was recorded may
    be lost, and NOT OBSERVABLE if it was never recorded, or did not happen.

    Args:
        outcome: outcome of all monitors, with its doubts.
        names: names of the queues and processes in rows.
        coverage: coverage of the recording.
        settings: settings of the check.
    """
    return tuple(_verdict(code, claim, outcome, names, coverage, settings) for code, claim in enumerate(CLAIMS))


def _verdict(
    code: int, claim: TraceClaim, outcome: Outcome, names: Names, coverage: Coverage, settings: Settings
) -> ClaimVerdict:
    violated, doubtful = int(outcome.violated[code]), int(outcome.doubtful[code])
    judged = int(outcome.judged[code])
    explained = outcome.rows["cause"][(outcome.rows["claim"] == code) & (outcome.rows["note"] == Note.NONE)]
    shown = shown_by(claim, np.unique(explained).tolist())
    never, unseen = coverage.lacks(claim.needs), coverage.lacks(shown)
    mask = evidence_mask(kind for kinds in (*claim.needs, *shown) for kind in kinds)
    hole, settling = coverage.undecided(mask), ""
    if coverage.not_judged and not coverage.groups:
        group, reason = next(iter(coverage.not_judged.items()))
        verdict, why = Verdict.NOT_OBSERVABLE, f"no group can be judged; {group}: {reason}"
    elif never:
        verdict, why = Verdict.NOT_OBSERVABLE, f"no {_listed(never)} events"
        settling = would_settle(claim.settled_by, never)
        doubtful = doubtful if coverage.occur(never) else 0  # what folds find without these events means nothing
    elif violated:
        verdict, why = Verdict.VIOLATED, ""
    elif doubtful:
        verdict, why, settling = _doubt(code, claim, outcome, names, coverage, settings)
    elif not judged:
        verdict, why = Verdict.NOT_OBSERVABLE, "nothing of that kind happened"
    elif unseen:
        lacks = _listed(unseen[:MOST_NAMED])
        verdict, why = Verdict.NOT_OBSERVABLE, f"no {lacks} events, by which a violation would show itself"
    elif hole is not None:
        verdict, why = Verdict.UNKNOWN, f"what might violate this may be lost: {hole}"
    else:
        verdict, why = Verdict.HOLDS, ""
    held: tuple[str, ...] = ()
    if verdict is Verdict.UNKNOWN and not unseen:
        held = _held(code, mask, outcome, names, coverage)
        why = f"{_other_groups(held, coverage)}{why}"
    return ClaimVerdict(
        claim=claim,
        verdict=verdict,
        judged=judged,
        violated=violated,
        doubtful=doubtful,
        why="; ".join(filter(None, [why, settling])),
        holds_for=held,
        settling=settling,
    )


def _held(code: int, mask: int, outcome: Outcome, names: Names, coverage: Coverage) -> tuple[str, ...]:
    """The groups for which nothing in ``mask`` is lost, and no finding is in doubt."""
    rows = outcome.rows[(outcome.rows["claim"] == code) & (outcome.rows["doubt"] != 0)]
    doubted = {names.slots[slot].group if slot >= 0 else "" for slot in np.unique(rows["slot"])}
    if len(rows) < outcome.doubtful[code] or "" in doubted:
        return ()
    return tuple(
        group
        for group in coverage.groups
        if group not in doubted
        and coverage.recorded & mask & ~coverage.recorded_of(group) == 0
        and coverage.undecided(mask, group) is None
    )


def _other_groups(held: Sequence[str], coverage: Coverage) -> str:
    """The beginning of a sentence about the groups for which a claim is unknown, if it holds for others."""
    if not held:
        return ""
    left = [group for group in coverage.groups if group not in held]
    named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    others = f"the other {len(held)} groups" if len(held) > 1 else f"group {held[0]}"
    return f"it HOLDS for {others}; for {named}: "


def _doubt(
    code: int, claim: TraceClaim, outcome: Outcome, names: Names, coverage: Coverage, settings: Settings
) -> tuple[Verdict, str, str]:
    """The verdict of a claim all of whose findings are in doubt, why, and what would settle it."""
    rows = outcome.rows[(outcome.rows["claim"] == code) & (outcome.rows["doubt"] != 0)]
    doubts = Doubt(int(np.bitwise_or.reduce(rows["doubt"], initial=0)))
    if doubts & Doubt.SKEW:
        return (
            Verdict.UNKNOWN,
            "events of different clocks are closer than the allowed skew, or nothing says how far the clocks are apart",
            "",
        )
    if doubts & Doubt.LEVELS:
        return Verdict.UNKNOWN, *LEVELS_UNTOLD
    if doubts & Doubt.GAP and not coverage.lacks(claim.counts_with):
        first = rows[(rows["doubt"] & Doubt.GAP) != 0][0]
        hole = hole_of(claim, first, names, coverage, settings)
        before = hole is not None and hole.until < coverage.begin
        # What was never recorded is not missing from the time before only.
        if not (before and (rows["doubt"] & Doubt.EVIDENCE).all()):
            return Verdict.UNKNOWN, f"what would excuse it may be lost{f': {hole}' if hole else ''}", ""
    evident = rows[(rows["doubt"] & Doubt.EVIDENCE) != 0] if coverage.processes else []
    who, kinds = next(filter(None, (unrecorded(claim, row, names, coverage) for row in evident)), ("", []))
    if who:
        lacks = _listed([(kind,) for kind in kinds])
        return Verdict.NOT_OBSERVABLE, f"{who} recorded no {lacks} events, without which it cannot be told", ""
    asked = [presupposed(claim.id, value).excuses for value in np.unique(rows["value"]).tolist()]
    excuses = [kind for kind in Kind if any(EVIDENCE_BIT[kind] & mask for mask in asked)]
    excuses += [kind for kind in claim.excused_by if kind is not Kind.ROLE_CHANGE and kind not in excuses]
    lacking = missing((*claim.counts_with, *((kind,) for kind in excuses)), coverage.recorded)[:MOST_NAMED]
    lacks = f"no {_listed(lacking)} events, which may explain it" if lacking else "what may explain it was not recorded"
    return Verdict.NOT_OBSERVABLE, lacks, would_settle(claim.settled_by, lacking)


def _listed(missing: list[tuple[Kind, ...]]) -> str:
    return " and no ".join(" or ".join(kinds) for kinds in missing)
