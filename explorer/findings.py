"""Findings of the engines as entries of a page: each opens as the run that was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..checkers.mutants import Answer, MachineMutant, Surprise
from ..checkers.result import Result
from ..checkers.run import told
from ..checkers.suite import Outcome
from ..model.kernel import ModelError
from ..model.kernel.lowered import Lowered
from ..model.kernel.plain import PlainMachine
from ..properties.claim import Claim
from ..properties.verdict import Verdict
from .model_data import Data
from .page import Entry
from .subjects import Constants, Subject, command_for, data_of, of_bug

UNEXPECTED, EXPECTED, POSSIBLE = range(3)
"""Order in which findings are kept if a page has no room for all; the last ones show what is possible."""


@dataclass
class Findings:
    """Entries that are collected one after the other; equal configurations are lowered once."""

    rules: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # as for model_data
    entries: list[Entry] = field(default_factory=list)  # the findings that have a run
    # findings whose configuration is not finite, or whose run does not begin in the initial state
    left_out: list[str] = field(default_factory=list)
    _lowered: dict[str, tuple[Lowered, Data]] = field(default_factory=dict)

    def add_outcomes(self, outcomes: Iterable[Outcome], changes: Constants | None = None) -> None:
        """Add what a suite has found, with constants that override those of its rows; without a run, one is skipped."""
        found = [outcome for outcome in outcomes if isinstance(outcome.row.subject, Claim) and outcome.result.run]
        together: dict[str, list[Claim]] = {}
        for outcome in found:
            claim = _with(outcome, changes)
            together.setdefault(_key(claim), []).append(claim)
        for outcome in found:
            claim = _with(outcome, changes)
            claims = list({each.property.id: each for each in together[_key(claim)]}.values())
            expected = outcome.as_expected and outcome.result.verdict is Verdict.VIOLATED
            given = Subject(
                id=f"{len(self.entries) + 1}-{outcome.row.id}",
                title=outcome.row.id,
                doc=outcome.row.statement,
                configuration=claim.machine.configure(**claim.constants),
                claims=tuple(claims),
                hunt=outcome.row.id,
                note=f"{outcome.result.verdict} (expected)" if expected else str(outcome.result.verdict),
            )
            rank = UNEXPECTED if not outcome.as_expected else EXPECTED if expected else POSSIBLE
            self._add(given, outcome.result, command_for(claim), rank)

    def add_answers(self, answers: Iterable[Answer]) -> None:
        """Add what became of known bugs; those without a run are skipped."""
        for answer in answers:
            entry, result = answer.entry, answer.mutated
            if isinstance(entry, MachineMutant | Surprise) and result is not None and result.run:
                given = replace(of_bug(entry), note=str(answer.status))
                self._add(given, result, f"rocketproof explore {entry.id}")

    def _add(self, given: Subject, result: Result, command: str, rank: int = UNEXPECTED) -> None:
        assert result.run is not None
        run = told(result.run)
        try:
            key = f"{given.configuration} {' '.join(claim.property.id for claim in given.claims)}"
            if key not in self._lowered:
                self._lowered[key] = data_of(given, rules=self.rules)
            lowered, data = self._lowered[key]
            _take(lowered, run.labels)
        except ModelError:
            self.left_out.append(given.title)
            return
        verdict = str(result.verdict)
        doc = f"{given.configuration.brief()}. {given.doc}"
        self.entries.append(
            Entry(
                id=given.id,
                title=given.title,
                doc=doc,
                data=data,
                steps=run.labels,
                loop=run.loop,
                hunt=given.hunt,
                verdict=verdict,
                note=given.note,
                rank=rank,
                command=command,
            )
        )


def _with(outcome: Outcome, changes: Constants | None) -> Claim:
    claim = outcome.row.subject
    assert isinstance(claim, Claim)
    return replace(claim, constants={**claim.constants, **outcome.row.constants, **(changes or {})})


def _key(claim: Claim) -> str:
    return f"{claim.machine.name} {sorted(claim.constants.items())}"


def _take(lowered: Lowered, labels: Iterable[str]) -> None:
    """Take the steps from the initial state.

    Raises:
        ModelError: a step does not exist, or is not enabled: the run begins elsewhere.
    """
    numbers = {instance.label: instance.number for instance in lowered.instances}
    machine = PlainMachine(lowered)
    state = machine.initial
    for label in labels:
        following = machine.step(state, numbers[label]) if label in numbers else None
        if following is None:
            raise ModelError(f"the run does not begin in the initial state: {label} cannot happen.")
        state = following
