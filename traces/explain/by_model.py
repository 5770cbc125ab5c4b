"""By the model: the queues of findings from ``check`` are followed through the model, which confirms or excuses each
finding.

A claim about a queue that is a theorem of the model cannot be violated in a run that is a behaviour of the model. A
finding about it is therefore in doubt if the model can follow the whole queue without assumptions. If the model does
not allow an event of the queue, the story says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...properties.verdict import Verdict
from ..claims.claims import CLAIMS, CODE
from ..encoding.names import Names, Slot
from ..engine.findings import Doubt, Note
from ..engine.result import CheckResult, ClaimVerdict
from ..io import Trace
from .sentences import clock

if TYPE_CHECKING:  # at run time it is imported only if there are findings: the import takes longer than a small check
    from ..conformance.streams import Place
    from ..conformance.witness import Witness

DECIDED = frozenset(
    {
        "every-duplicate-has-a-cause",
        "offset-never-past-unfinished",
        "nothing-skipped",
        "orderly-one-listener",
        "orderly-in-order",
    }
)
"""Claims about a single queue that hold in every state of the model, whatever time passes."""

MOST_QUEUES = 20
"""Maximum number of queues to follow: those with the first findings of each claim."""

MOST_EVENTS = 5_000_000
"""Largest number of events of a trace in which queues are searched."""


def weighed(trace: Trace, result: CheckResult, *, most: int) -> tuple[CheckResult, Mapping[Place, Witness]]:
    """The result of a check, completed by what the model says about its findings, and its answer for each queue.

    The queues of ``most`` findings of each claim are followed; 0 changes nothing.
    """
    rows = result.rows
    sure = (rows["claim"] >= 0) & (rows["note"] == Note.NONE) & (rows["cause"] == 0) & (rows["doubt"] == 0)
    queues: dict[tuple[str, str, int], None] = {}
    for code in np.unique(rows["claim"][sure]):
        of_claim = rows[sure & (rows["claim"] == code) & (rows["slot"] >= 0)]
        for number in dict.fromkeys(of_claim[np.argsort(of_claim["time"], kind="stable")]["slot"].tolist()[:most]):
            slot = result.names.slots[number]
            if slot.queue >= 0 and slot.group:
                queues[slot.topic, slot.broker, slot.queue] = None
    if not queues or result.events > MOST_EVENTS:
        return result, {}
    from ..conformance.witness import witnesses

    told = witnesses(trace, list(queues)[:MOST_QUEUES])
    excused = np.zeros(len(rows), np.bool_)
    for at in np.flatnonzero(sure & np.isin(rows["claim"], [CODE[claim] for claim in DECIDED])):
        place = place_of(int(rows["slot"][at]), result.names)
        excused[at] = place is not None and place in told and told[place].allows_all
    if not excused.any():
        return result, told
    rows = rows.copy()
    rows["doubt"][excused] |= np.uint8(Doubt.MODEL)
    counts = np.bincount(rows["claim"][excused], minlength=len(CLAIMS))
    verdicts = tuple(_less(one, int(count)) for one, count in zip(result.verdicts, counts, strict=True))
    return replace(result, rows=rows, verdicts=verdicts), told


def place_of(slot: int, names: Names) -> Place | None:
    """The queue of a finding, in the form in which it is followed; None if the finding is about no queue of a group."""
    found: Slot | None = names.slots[slot] if slot >= 0 else None
    if found is None or found.queue < 0 or not found.group:
        return None
    from ..conformance.streams import Place

    return Place(group=found.group, topic=found.topic, broker=found.broker, queue=found.queue)


def told_by_model(row: Mapping[str, Any], names: Names, witnesses: Mapping[Place, Witness]) -> str:
    """What the model says about a finding; empty if its queue was not followed."""
    place = place_of(row["slot"], names)
    if place is None or place not in witnesses:
        return ""
    witness = witnesses[place]
    mismatch = witness.mismatch_at(row["since"], row["time"])
    if mismatch is not None:
        return f"no behaviour of the model explains it: {clock(mismatch.time)} {mismatch.event}: {mismatch.why}"
    if witness.assumed:
        return f"the model neither confirms nor excuses it: {witness.assumed}"
    if CLAIMS[row["claim"]].id in DECIDED:
        return "the model allows all that was recorded of the queue"
    return "the model allows each step that was recorded of the queue; it does not say when one must come"


def _less(answer: ClaimVerdict, excused: int) -> ClaimVerdict:
    if not excused:
        return answer
    left = replace(answer, violated=answer.violated - excused, doubtful=answer.doubtful + excused)
    if left.violated:
        return left
    return replace(left, verdict=Verdict.UNKNOWN, why="the model allows all that was recorded of these queues")
