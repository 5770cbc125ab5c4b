"""Which trace mutants are noticed: by the claims of a check, by the model that follows the trace, or by neither."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.conformance import conform
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import ParquetWriter

from .event_mutants import Change, trace_mutants


@enum.unique
class Noticed(enum.IntEnum):
    """The strongest that a check reports about a changed recording, and did not report about the original."""

    NOT = 0
    TOLD = 1  # no claim is affected, but the numbers of the summary differ
    UNKNOWN = 2  # a claim that held is now in doubt, or the reader complains
    VIOLATED = 3  # a claim is newly violated, or violated in more places


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A mutant and what was noticed about it."""

    kind: Kind  # kind of the changed event
    label: str  # the change in words
    row: int  # position of the event in the original recording
    check: Noticed  # what the check reports
    claims: tuple[str, ...]  # ids of the claims that report it
    conform: bool  # whether the model follows it less far than the original; False if the model was not run


class Recording:
    """An original recording that is to be changed; what a check and the model say about it is computed once.

    Attributes:
        name: for people.
        events: by time, as :func:`.event_mutants.by_time` returns them.
    """

    def __init__(
        self, name: str, header: Header, events: pa.Table, settings: Settings, folder: Path, *, follow: bool = True
    ) -> None:
        """Check the recording as it is.

        Each mutant overwrites the file in ``folder``. With ``follow``, the model also follows the mutants, which takes
        several times as long.

        Raises:
            TraceError: a claim is violated already.
        """
        self.name, self.events = name, events
        self._header, self._settings = header, settings
        self._follow = follow
        self._path = folder / f"{name}.parquet"
        self._result = self._check(events)
        self._conform = self._conformance()
        wrong = [answer.claim.id for answer in self._result.verdicts if answer.verdict is Verdict.VIOLATED]
        if wrong:
            raise TraceError(f"recording {name} is no right one: {', '.join(wrong)} violated already.")

    def judged(self, *, each: int, seed: int = 0, kinds: Iterable[Kind] = tuple(Kind)) -> Iterator[Judged]:
        """Mutants of this recording, judged; the arguments are those of :func:`.event_mutants.trace_mutants`."""
        for mutant in trace_mutants(self.events, each=each, seed=seed, kinds=kinds):
            result = self._check(mutant.events)
            noticed, claims = _compared(self._result, result)
            yield Judged(
                kind=mutant.kind,
                label=mutant.label,
                row=mutant.row,
                check=noticed,
                claims=claims,
                conform=self._conformance() > self._conform,
            )

    def _check(self, events: pa.Table) -> CheckResult:
        with ParquetWriter(self._path, self._header) as writer:
            for batch in events.to_batches():
                writer.write(batch)
        return check_locally(open_trace([self._path]), settings=self._settings)

    def _conformance(self) -> int:
        if not self._follow:
            return 0
        found = conform(open_trace([self._path]))
        return len(found.mismatches) + found.gaps


def _compared(right: CheckResult, changed: CheckResult) -> tuple[Noticed, tuple[str, ...]]:
    pairs = list(zip(right.verdicts, changed.verdicts, strict=True))
    violated = [new.claim.id for old, new in pairs if new.violated > old.violated]
    if violated:
        return Noticed.VIOLATED, tuple(violated)
    doubtful = [
        new.claim.id
        for old, new in pairs
        if new.doubtful > old.doubtful or (new.verdict is Verdict.UNKNOWN and old.verdict is Verdict.HOLDS)
    ]
    if doubtful or changed.problems.count > right.problems.count:
        return Noticed.UNKNOWN, tuple(doubtful)
    told = changed.messages, changed.repeats, dict(changed.passed_over)
    return (Noticed.TOLD if told != (right.messages, right.repeats, dict(right.passed_over)) else Noticed.NOT), ()


@dataclass(frozen=True, kw_only=True)
class Line:
    """How many mutants of one kind and change there were, and how many of them were noticed."""

    kind: Kind  # kind of the changed events
    label: str  # the change in words
    mutants: int  # number of mutants
    check: Counter[Noticed]  # number that a check noticed, by how
    conform: int  # number that the model did not follow
    either: int  # number noticed by a check (violated or unknown) or not followed by the model
    claims: Mapping[str, int]  # the claims that noticed most, with their counts

    @property
    def noticed(self) -> int:
        """Number of mutants that a claim of the check noticed."""
        return self.check[Noticed.VIOLATED] + self.check[Noticed.UNKNOWN]


def table_of(judged: Iterable[Judged]) -> list[Line]:
    """Judged mutants, counted by kind and change in the order of the kinds."""
    by_class: dict[tuple[Kind, str], list[Judged]] = defaultdict(list)
    for one in judged:
        by_class[one.kind, one.label].append(one)
    order = {kind: at for at, kind in enumerate(Kind)}
    return [
        Line(
            kind=kind,
            label=label,
            mutants=len(some),
            check=Counter(one.check for one in some),
            conform=sum(one.conform for one in some),
            either=sum(one.check >= Noticed.UNKNOWN or one.conform for one in some),
            claims=dict(Counter(claim for one in some for claim in one.claims).most_common(3)),
        )
        for (kind, label), some in sorted(by_class.items(), key=lambda item: order[item[0][0]])
    ]


def markdown(lines: Iterable[Line]) -> str:
    """The table as Markdown: for each kind, what a check noticed of each change, and what was never noticed."""
    rows = [f"| kind | {' | '.join(Change)} | check | check or conform | never noticed |", "|" + "---|" * 9]
    for kind, some in groupby(lines, key=lambda line: line.kind):
        of_kind = list(some)
        by_change = [[line for line in of_kind if line.label.split()[0] == change] for change in Change]
        either = f"{sum(line.either for line in of_kind)}/{sum(line.mutants for line in of_kind)}"
        never = [line.label for line in of_kind if not line.either]
        cells = [f"`{kind}`", *map(_noticed_of, by_change), _noticed_of(of_kind), either, ", ".join(never)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _noticed_of(lines: Sequence[Line]) -> str:
    mutants = sum(line.mutants for line in lines)
    return f"{sum(line.noticed for line in lines)}/{mutants}" if mutants else ""
