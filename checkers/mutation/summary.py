"""Summary: outcomes counted by part and by kind of change, and what each property notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..suite import Row
from .judge import Fate, Outcome


@dataclass(frozen=True, kw_only=True)
class Score:
    """Mutants of one part, or of one kind, counted.

    Attributes:
        name: the part or kind; ``all`` for everything.
        fates: fate → how many.
    """

    name: str
    fates: Counter[Fate]

    @property
    def total(self) -> int:
        """How many there are."""
        return self.fates.total()

    @property
    def share(self) -> float | None:
        """Killed among those that are no equivalents, where that is known; None if there are none."""
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


def notices(outcomes: Sequence[Outcome], rows: Sequence[Row]) -> dict[str, int]:
    """Id of each row of the suite → how many mutants it is known to notice: at least so many."""
    kills = Counter(row for item in outcomes for row in item.kills)
    return {row.id: kills[row.id] for row in rows}


def _scores(pairs: Iterable[tuple[str, Fate]]) -> list[Score]:
    found: dict[str, Counter[Fate]] = {}
    for name, fate in pairs:
        found.setdefault(name, Counter())[fate] += 1
    return [Score(name=name, fates=fates) for name, fates in sorted(found.items())]
