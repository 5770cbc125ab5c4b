"""Changed rows: which answers of the whole suite a known bug changes, not only those in its own configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.kernel import ModelError
from ..properties.claim import Claim
from .mutants import MachineMutant, Trials
from .mutation.ground import settings
from .suite import Row


def changed_rows(entry: MachineMutant, rows: Sequence[Row], trials: Trials) -> Iterator[tuple[Row, str]]:
    """Each row about a finite configuration of a machine that can have the bug, if its answer is another one with it.

    The second item is that answer: a verdict, or why there is none (a step leaves a domain, or the bug is about
    something that does not exist there).
    """
    for setting in settings(row for row in rows if _may_have(entry, row)):
        asked = [row for row in setting.rows if isinstance(row.subject, Claim)]
        claims = [row.subject.property for row in asked if isinstance(row.subject, Claim)]
        try:
            wrong = setting.machine.mutated(entry.id)
            results = trials.check(wrong, {**setting.constants, **entry.mutant.sets}, claims)
        except ModelError as error:
            yield from ((row, str(error)) for row in asked)
            continue
        for row, result in zip(asked, results, strict=True):
            if result.verdict is not row.expected:
                yield row, result.verdict


def _may_have(entry: MachineMutant, row: Row) -> bool:
    return isinstance(row.subject, Claim) and entry.id in row.subject.machine.mutants
