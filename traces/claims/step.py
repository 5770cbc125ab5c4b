"""What a step is: what must be true when an event happens, on what evidence, and what is reported otherwise."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Self

from ..format.kinds import Kind
from .evidence import RestsOn


@dataclass(frozen=True, kw_only=True)
class Step(RestsOn):
    """A row of a table of steps, and the evidence on which it rests.

    Attributes:
        statement: what must be true, in one sentence.
        told: what is reported about the acting process if it is not; names in braces are those of
            :mod:`..explain.titles`.
        claim: the claim that is then violated.
        of: kinds of events for which it is judged, if the table says so.
        needs: kinds that must be recorded; none if the event itself is impossible.
        beside: kinds of which there must be some event, of the queue or of the group: a recorder of these records all
            of them.
        in_part_without: kinds without which some violations are not seen.
        excused_by: kinds that may excuse a violation: it is in doubt if they are not recorded.
        complete: it is judged only in recordings that begin with the first event of their groups.
        rules: rules of RocketMQ on which it rests.
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
    """A table of steps, each named after the case in which it does not hold.

    The number of a step is its position; findings of its claim have it in ``value``.
    """

    step: Step

    def __new__(cls, step: Step) -> Self:
        """The next number."""
        number = len(cls.__members__)
        row = int.__new__(cls, number)
        row._value_, row.step = number, step
        return row
