"""Summary: outcomes counted by part and by kind of change, and what each property notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..suite import Row
from .judge import Fate, Outcome


@dataclass(frozen=True, kw_only=True)
class Score:
    """Mutants of one part, or of one kind, counted."""

    name: str  # the part or kind; ``all`` for everything
    fates: Counter[Fate]  # fate → number of mutants

    @property
    def total(self) -> int:
        """How many there are."""
        return self.fates.total()

    @property
    def share(self) -> float | None:
        """Share of killed mutants among those not known to be equivalent; None if there are none."""
        known = self.fates[Fate.KILLED] + self.fates[Fate.SURVIVED]
        return self.fates[Fate.KILLED] / known if known else None


def by_part(outcomes: Iterable[Outcome]) -> list[Score]:
    """One score for each part, in the order of their names."""
    return _scores((item.change.part, item.fate) for item in outcomes)


def by_kind(outcomes: Iterable[Outcome]) -> list[Score]:
    """One score for each kind of change."""
    return _scores((str(item.change.sort), item.fate) for item in outcomes)


def whole(outcomes: Iterable[Outcome]) -> Score:
    """The score of all."""
    return Score(name="all", fates=Counter(item.fate for item in outcomes))


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What a property of the suite notices, in all configurations in which it is claimed.

    Attributes:
        id, machine, statement: the property, and the machines of which it is claimed.
        asked: number of mutants that make a difference in one of these configurations.
        mutants: ids of those that it is known to notice; there may be more.
    """

    id: str
    machine: str
    statement: str
    asked: int
    mutants: tuple[str, ...]


def notices(outcomes: Sequence[Outcome], rows: Sequence[Row]) -> list[Notice]:
    """What each property notices, in the order of the suite."""
    asked = Counter(name for item in outcomes for name in item.asked)
    noticed: dict[str, list[str]] = {}
    for item in outcomes:
        for name in item.kills:
            noticed.setdefault(name, []).append(item.change.id)
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.id, []).append(row)
    return [
        Notice(
            id=name,
            machine=", ".join(dict.fromkeys(row.machine for row in group)),
            statement=group[0].statement,
            asked=asked[name],
            mutants=tuple(noticed.get(name, ())),
        )
        for name, group in grouped.items()
    ]


def only_one(found: Sequence[Notice]) -> list[Notice]:
    """The properties that notice only one mutant."""
    return [item for item in found if len(item.mutants) == 1]


def idle(found: Sequence[Notice]) -> list[Notice]:
    """The properties that notice none, although some make a difference where they are claimed: are they needed?"""
    return [item for item in found if item.asked and not item.mutants]


def not_asked(found: Sequence[Notice]) -> list[Notice]:
    """The properties about which nothing is known: no mutant makes a difference where they are claimed."""
    return [item for item in found if not item.asked and not item.mutants]


def _scores(pairs: Iterable[tuple[str, Fate]]) -> list[Score]:
    found: dict[str, Counter[Fate]] = {}
    for name, fate in pairs:
        found.setdefault(name, Counter())[fate] += 1
    return [Score(name=name, fates=fates) for name, fates in sorted(found.items())]
