"""What a step is: what must be so when an event happens, on what evidence, and what is told where it is not."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Self

from ..format.kinds import Kind
from .rests_on import RestsOn


@dataclass(frozen=True, kw_only=True)
class Step(RestsOn):
    """A row of a table of steps, and what it rests on.

    Attributes:
        statement: what must be so, in one sentence.
        told: what is told of who acted where it is not so; names in braces are those of :mod:`..explain.titles`.
        claim: the claim that it violates then.
        of: kinds of events that it is asked of, where the table tells them.
        needs: kinds that must be recorded; none where the event itself is impossible.
        beside: kinds of which there must be some event, of the queue or of the group: who records them at all records
            them of each.
        in_part_without: kinds without which not all that is wrong is seen.
        excused_by: kinds that make right what it tells: it is in doubt where they are not recorded.
        complete: it is asked only of recordings that begin with the first event of their groups.
        rules: rules of RocketMQ it rests on.
    """

    statement: str
    told: str
    claim: str = "steps-follow-each-other"
    of: tuple[Kind, ...] = ()
    needs: tuple[Kind, ...] = ()
    beside: tuple[Kind, ...] = ()
    in_part_without: tuple[Kind, ...] = ()
    excused_by: tuple[Kind, ...] = ()
    complete: bool = False
    rules: tuple[str, ...]


class Steps(enum.IntEnum):
    """A table of steps, each called by what is the case where it does not hold.

    The number of a step is its place; findings of its claim have it in ``value``.
    """

    step: Step

    def __new__(cls, step: Step) -> Self:
        """The next number."""
        number = len(cls.__members__)
        row = int.__new__(cls, number)
        row._value_, row.step = number, step
        return row
