"""The kinds of events by which violations of a claim show: a claim holds only if all of them are recorded."""

from __future__ import annotations

from ..format.kinds import Kind
from .causes import Missing
from .claim import TraceClaim
from .claims import CLAIMS
from .group_steps import GroupMisstep
from .obligations import OBLIGATIONS
from .steps import Misstep

Kinds = tuple[Kind, ...]


def shown_by(claim: TraceClaim) -> tuple[Kinds, ...]:
    """What each row of a claim needs in order to be judged; one kind of each tuple is enough."""
    return _SHOWN_BY[claim.id]


def _of(claim: TraceClaim) -> tuple[Kinds, ...]:
    steps = [row.step for row in (*Missing, *Misstep, *GroupMisstep) if row.step.claim == claim.id]
    rows: list[Kinds] = [(kind,) for step in steps for kind in (*step.of, *step.needs, *step.in_part_without)]
    rows += [kinds for duty in OBLIGATIONS if duty.claim == claim.id for kinds in duty.needs]
    return (*claim.violated_by, *rows) or claim.needs


_SHOWN_BY = {claim.id: tuple(dict.fromkeys(_of(claim))) for claim in CLAIMS}
