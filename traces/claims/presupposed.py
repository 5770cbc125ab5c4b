"""The evidence on which a finding rests, by its claim and its row, as masks of :class:`.evidence.RestsOn`; and that by
which violations of a claim show: it holds only if all of that is recorded.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

from ...model.history import Cause, Regression
from ..format.coverage import OF_CLIENTS, evidence_mask
from ..format.kinds import Kind
from .causes import Missing
from .claim import TraceClaim
from .claims import CLAIMS
from .evidence import RestsOn
from .group_steps import GroupMisstep
from .obligations import OBLIGATIONS, Obligation
from .step import Step
from .steps import Misstep

Kinds = tuple[Kind, ...]


@enum.unique
class Unexplained(enum.IntEnum):
    """The delivery before an unexplained one, whose process must have recorded what would explain it; in ``value``."""

    OTHER = 0  # it succeeded, or another process was given the message
    FAILED = 1  # it failed in the same process, which retries if the message could not be sent back (SB-5)
    TOLD = 2  # it is at or above the offset at which the process was told to begin, which somebody may have reset


@dataclass(frozen=True, kw_only=True)
class Presupposed:
    """The content of :class:`.evidence.RestsOn`, with masks of kinds (see ``coverage.evidence_mask``), and one more.

    Attributes:
        excuses: kinds that must be recorded at all.
    """

    seen: int = 0
    seen_or_told: int = 0
    of_others: int = 0
    of_broker: int = 0
    at_broker: int = 0
    of_itself: bool = False
    excuses: int = 0

    def __or__(self, other: Presupposed) -> Presupposed:
        names = [field.name for field in fields(Presupposed)]
        return Presupposed(**{name: getattr(self, name) | getattr(other, name) for name in names})


def presupposed(claim: str, value: int) -> Presupposed:
    """The evidence on which a finding rests.

    Args:
        claim: id of the claim.
        value: ``value`` of the finding, which selects the row of the table if the claim has several.
    """
    return _OF_CLAIMS[claim] | _OF_ROWS.get((claim, value), Presupposed())


def _of(one: RestsOn) -> Presupposed:
    masks = {
        field.name: evidence_mask(getattr(one, field.name)) for field in fields(RestsOn) if field.name != "of_itself"
    }
    return Presupposed(of_itself=one.of_itself, **masks)


def _of_row(one: Step | Obligation) -> Presupposed:
    return _of(one) | Presupposed(excuses=evidence_mask(one.excused_by))


def _of_step(one: Step) -> Presupposed:
    """Every client for which the row is judged must have recorded what the row needs."""
    return _of_row(one) | Presupposed(seen_or_told=evidence_mask(set(one.needs) & set(OF_CLIENTS)))


_OF_CLAIMS = {one.id: _of(one) for one in CLAIMS}
_OF_ROWS = {
    (one.step.claim, one.value): _of_step(one.step) for steps in (Missing, Misstep, GroupMisstep) for one in steps
}
for _one in OBLIGATIONS:  # several may have one reason
    _key = _one.claim, int(_one.reason)
    _OF_ROWS[_key] = _OF_ROWS.get(_key, Presupposed()) | _of_row(_one)
_OF_ROWS["every-duplicate-has-a-cause", int(Unexplained.FAILED)] = _RETRIED = Presupposed(
    seen_or_told=evidence_mask((Kind.SEND_BACK,))
)
_OF_ROWS["every-duplicate-has-a-cause", int(Unexplained.TOLD)] = _RETRIED | Presupposed(
    excuses=evidence_mask((Kind.RESET,)), of_broker=evidence_mask((Kind.RESET,))
)


def shown_by(claim: TraceClaim, causes: Collection[int] = ()) -> tuple[Kinds, ...]:
    """What each row of a claim needs in order to be judged, and what would refute the causes that were accepted for it;
    one kind of each tuple is enough.
    """
    refuting = (kind for cause in causes for kind in _REFUTED_BY.get((claim.id, cause), ()))
    return tuple(dict.fromkeys((*_SHOWN_BY[claim.id], *((kind,) for kind in refuting))))


_TAKEN_ANEW = (Kind.ASSIGN, Kind.COMMIT)
"""A new window begins at what is stored, so it explains no message below that (B1)."""

_REFUTED_BY: Mapping[tuple[str, int], Kinds] = {
    **{
        ("every-duplicate-has-a-cause", int(cause)): _TAKEN_ANEW
        for cause in (Cause.REBALANCE, Cause.OVERLAP, Cause.CRASH, Cause.SHUTDOWN)
    },
    # OF-23, DL-7: a broker that was stopped in order goes on with what it had.
    ("every-duplicate-has-a-cause", int(Cause.BROKER_RESTART)): (Kind.BROKER_STOP,),
    ("offset-never-back-without-cause", int(Regression.BROKER_RESTART)): (Kind.BROKER_STOP,),
    ("every-copy-has-a-cause", int(Cause.SCHEDULE_REPLAY)): (Kind.BROKER_STOP,),
    # PL-14: no client sends less than what it knew to be stored at its last pull.
    ("offset-never-back-without-cause", int(Regression.LATE_COMMIT)): (Kind.PULL_RESULT,),
}
"""Kinds that would refute a cause of a claim. Other causes are events of their own, or none of another kind says
more.
"""


def _needed_by(claim: TraceClaim) -> tuple[Kinds, ...]:
    steps = [row.step for row in (*Missing, *Misstep, *GroupMisstep) if row.step.claim == claim.id]
    rows: list[Kinds] = [(kind,) for step in steps for kind in (*step.of, *step.needs, *step.in_part_without)]
    rows += [kinds for duty in OBLIGATIONS if duty.claim == claim.id for kinds in duty.needs]
    return (*claim.violated_by, *rows) or claim.needs


_SHOWN_BY = {claim.id: tuple(dict.fromkeys(_needed_by(claim))) for claim in CLAIMS}
