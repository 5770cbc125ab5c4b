"""What a process must have recorded for a finding about it to count: who never recorded a kind may not record it.

Some recorders see only listeners, or only what brokers are asked; what others recorded says nothing of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..format.coverage import OF_CLIENTS, evidence_mask
from ..format.kinds import Kind
from .causes import Missing
from .claim import TraceClaim
from .claims import CLAIMS
from .group_steps import GroupMisstep
from .obligations import OBLIGATIONS, Obligation
from .step import Step
from .steps import Misstep
from .unexplained import Unexplained


@dataclass(frozen=True, kw_only=True)
class Presupposed:
    """Masks of kinds, see ``coverage.evidence_mask``.

    Attributes:
        seen: kinds that each process that is named has recorded.
        seen_or_told: kinds of which there may be none; that they are recorded may be said instead.
        of_others: the same of every client of the group.
        of_broker: the same of the broker of the queue.
        at_broker: kinds that somebody has recorded of the broker of the queue, or it is said that they are recorded.
        excuses: kinds that must be recorded at all.
    """

    seen: int = 0
    seen_or_told: int = 0
    of_others: int = 0
    of_broker: int = 0
    at_broker: int = 0
    excuses: int = 0

    def __or__(self, other: Presupposed) -> Presupposed:
        return Presupposed(
            seen=self.seen | other.seen,
            seen_or_told=self.seen_or_told | other.seen_or_told,
            of_others=self.of_others | other.of_others,
            of_broker=self.of_broker | other.of_broker,
            at_broker=self.at_broker | other.at_broker,
            excuses=self.excuses | other.excuses,
        )


def presupposed(claim: str, value: int) -> Presupposed:
    """What a finding rests on.

    Args:
        claim: id of the claim.
        value: of the finding, which tells the row of the table where the claim has several.
    """
    return _OF_CLAIMS[claim] | _OF_ROWS.get((claim, value), Presupposed())


_CLIENTS = evidence_mask(OF_CLIENTS)


def _step(one: Step) -> Presupposed:
    return Presupposed(
        seen=evidence_mask(one.seen),
        # What the row needs at all, each client must have recorded that it is asked of.
        seen_or_told=evidence_mask(one.seen_or_told) | (evidence_mask(one.needs) & _CLIENTS),
        of_broker=evidence_mask(one.of_broker),
        of_others=evidence_mask(one.of_others),
        excuses=evidence_mask(one.excused_by),
    )


def _duty(one: Obligation) -> Presupposed:
    return Presupposed(
        seen_or_told=evidence_mask(one.seen_or_told),
        of_others=evidence_mask(one.of_others),
        at_broker=evidence_mask(one.at_broker),
        excuses=evidence_mask(one.excused_by),
    )


def _claim(one: TraceClaim) -> Presupposed:
    return Presupposed(
        seen=evidence_mask(one.seen),
        seen_or_told=evidence_mask(one.seen_or_told),
        of_others=evidence_mask(one.of_others),
        of_broker=evidence_mask(one.of_broker),
    )


_OF_CLAIMS = {one.id: _claim(one) for one in CLAIMS}
_OF_ROWS = {(one.step.claim, one.value): _step(one.step) for steps in (Missing, Misstep, GroupMisstep) for one in steps}
for _one in OBLIGATIONS:  # several may have one reason
    _key = _one.claim, int(_one.reason)
    _OF_ROWS[_key] = _OF_ROWS.get(_key, Presupposed()) | _duty(_one)
_OF_ROWS["every-duplicate-has-a-cause", int(Unexplained.FAILED)] = Presupposed(
    seen_or_told=evidence_mask((Kind.SEND_BACK,))
)
