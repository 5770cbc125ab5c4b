"""Everything that is checked about a deployment, each check with its answer.

A check is either a mistake to look for, or a property that is judged in the model. Both fail with the same words: what
is wrong, with the names and numbers of the file, its line, and what to do.
"""

from __future__ import annotations

import enum
import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..checkers.result import Result
from ..checkers.run import counted
from ..checkers.suite import Options, Outcome, Row, run_suite
from ..output.row import Severity
from ..properties.claim import Claim
from ..properties.property import Property
from ..properties.verdict import Verdict
from .description import Accepted
from .facts import GroupFacts, queues_of
from .finding import Finding, Rule
from .lines import Path
from .questions import QUESTIONS, SHARES, Question
from .reading import DeploymentFile
from .rules import OF_ANY_CLIENT, RULES
from .rules.members import outcome

CLUSTER = "cluster"
"""The subject of checks that are about topics and brokers, not about one group."""
ACCEPTED = "accepted-findings"


class Level(enum.IntEnum):
    """The answer of a check; from NOTE on, the same as the severities of findings."""

    OK = 0
    NOTE = 1
    WARNING = 2
    ERROR = 3
    UNKNOWN = 4

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that is checked."""

    subject: str  # name of the group, or CLUSTER
    id: str  # its name in tests and reports
    short_id: str  # another name, such as ``A1``
    statement: str  # what should be, in a sentence
    rules: tuple[str, ...]  # rules of RocketMQ on which it rests
    path: Path  # the part of the file that it is about
    about: Rule | Question | None = None  # its rule, its question to the model, or neither

    @property
    def names(self) -> tuple[str, str]:
        """The names by which users may select it."""
        return self.id, self.short_id

    @property
    def is_property(self) -> bool:
        """Whether the model, or the deployment's own allocation, is used; otherwise a mistake is looked for."""
        return not isinstance(self.about, Rule) and self.id != ACCEPTED


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a check is not fine: a finding with its line."""

    id: str
    line: int
    text: str
    fix: str
    severity: Severity


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a check."""

    check: Check
    level: Level  # how bad it is
    line: int  # the line of the file to which it refers
    reasons: tuple[Reason, ...] = ()  # findings, worst first
    outcome: Outcome | None = None  # what the model said, for a property
    summary: str = ""  # the bounds within which it is fine, or what is unknown
    accepted: str = ""  # the users' reason for accepting it
    seconds: float = 0.0  # how long it took

    def fails(self, fail_on: Severity) -> bool:
        """Whether the check fails a run; an unknown result always does."""
        return not self.accepted and (self.level is Level.UNKNOWN or self.level >= Level(fail_on))

    @functools.cached_property
    def story(self) -> str:
        """What refutes the property: a run of the model or a failing case."""
        if self.outcome is None or self.verdict is not Verdict.VIOLATED:
            return ""
        return self.outcome.result.story()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the model, for a property that was judged in it."""
        return self.outcome.result.verdict if self.outcome is not None else None


class Judge:
    """Answers the checks of one file; properties of one configuration share one search."""

    def __init__(self, file: DeploymentFile, options: Options | None = None) -> None:
        self.file = file
        self._options = options or Options()
        self._groups = {
            group.name: GroupFacts(file.description, number) for number, group in enumerate(file.description.groups)
        }
        self._found: dict[tuple[str, str], tuple[Reason, ...]] = {}
        self._outcomes: dict[tuple[str, str], Outcome] = {}

    @functools.cached_property
    def checks(self) -> tuple[Check, ...]:
        """All checks: those of topics and brokers first, then those of each group."""
        checks = [_check_of(rule, CLUSTER, ()) for rule in RULES if rule.look_around is not None]
        checks.append(
            Check(
                subject=CLUSTER,
                id=ACCEPTED,
                short_id=ACCEPTED,
                statement="What is accepted in the file is still found.",
                rules=(),
                path=("accepted",),
            )
        )
        for name, facts in self._groups.items():
            if facts.pops:
                checks += [_check_of(rule, name, facts.path) for rule in OF_ANY_CLIENT]
                continue
            checks += [_check_of(rule, name, facts.path) for rule in RULES if rule.look is not None]
            if facts.clustering:
                statement = "With the deployment's own ids, queues and strategies every queue has exactly one consumer."
                rules = ("RB-6", "RB-20", "RB-27", "G1")
                checks.append(
                    Check(subject=name, id=SHARES, short_id=SHARES, statement=statement, rules=rules, path=facts.path)
                )
            checks += [_check_of(question, name, facts.path) for question in QUESTIONS if question.asked(facts)]
        return tuple(checks)

    def answer(self, check: Check) -> Answer:
        """The answer of one check."""
        started = time.perf_counter()
        if isinstance(check.about, Rule):
            answer = self._look(check, check.about)
        elif isinstance(check.about, Question):
            answer = self._ask(check, check.about)
        else:
            answer = self._shares(check) if check.id == SHARES else self._accepted(check)
        accepted = self._accepting(check) if answer.level not in (Level.OK, Level.UNKNOWN) else None
        return replace(answer, accepted=accepted.because if accepted else "", seconds=time.perf_counter() - started)

    def facts(self, subject: str) -> GroupFacts:
        """A group of the deployment."""
        return self._groups[subject]

    def _look(self, check: Check, rule: Rule) -> Answer:
        reasons = self._reasons(check.subject, rule)
        if not reasons:
            return Answer(check=check, level=Level.OK, line=self._line(check.path))
        return Answer(check=check, level=_worst(reasons), line=reasons[0].line, reasons=reasons)

    def _reasons(self, subject: str, rule: Rule) -> tuple[Reason, ...]:
        key = subject, rule.id
        if key not in self._found:
            found: Iterator[Finding] = iter(())
            if rule.look is not None and subject != CLUSTER:
                found = rule.look(self._groups[subject])
            elif rule.look_around is not None:
                found = rule.look_around(self.file.description)
            reasons = [
                Reason(
                    id=rule.id,
                    line=self._line(finding.path),
                    text=finding.text,
                    fix=finding.fix,
                    severity=finding.severity or rule.severity,
                )
                for finding in found
            ]
            self._found[key] = tuple(sorted(reasons, key=lambda reason: -reason.severity))
        return self._found[key]

    def _ask(self, check: Check, question: Question) -> Answer:
        facts = self._groups[check.subject]
        if (check.subject, question.id) not in self._outcomes:
            self._search(facts, question)
        told = self._outcomes[check.subject, question.id]
        result = told.result
        reasons = self._breaking(check.subject, question.broken_by)
        line = reasons[0].line if reasons else self._line(check.path)
        match result.verdict:
            case Verdict.VIOLATED:
                level = _worst(reasons) if reasons else Level.ERROR
            case Verdict.HOLDS:
                level = _worst(reasons) if reasons else Level.OK
            case _:
                level = Level.UNKNOWN
        return Answer(
            check=check,
            level=level,
            line=line,
            reasons=reasons,
            outcome=told,
            summary=f"{result.engine}: {result.bounds}",
        )

    def _breaking(self, subject: str, ids: tuple[str, ...]) -> tuple[Reason, ...]:
        found = [reason for rule in RULES if rule.id in ids for reason in self._reasons(subject, rule)]
        return tuple(sorted(found, key=lambda reason: -reason.severity))

    def _search(self, facts: GroupFacts, wanted: Question) -> None:
        """Judge a question, together with all others that share its search."""
        constants = wanted.constants(facts)
        together = [
            question
            for question in QUESTIONS
            if question is wanted
            or (
                wanted.machine is not None
                and question.machine is wanted.machine
                and question.asked(facts)
                and question.constants(facts) == constants
            )
        ]
        for question, told in zip(together, _run([_row(q, facts) for q in together], self._options), strict=True):
            self._outcomes[facts.group.name, question.id] = told

    def _shares(self, check: Check) -> Answer:
        facts = self._groups[check.subject]
        wrong: list[str] = []
        asked = 0
        for topic in facts.topics:
            found = facts.topic(topic)
            now = facts.queues(topic)
            later = queues_of(found, facts.description, planned=True) if found is not None else now
            for queues in dict.fromkeys((now, later)):
                for away in (None, *facts.clients):
                    members = [client for client in facts.clients if client is not away]
                    if not members or not queues:
                        continue
                    asked += 1
                    said = outcome(topic, facts.division(topic, members, queues))
                    if said:
                        when = f" without {away.name}" if away is not None else ""
                        when += " as planned" if queues != now else ""
                        wrong.append(said + when)
        reasons = self._breaking(check.subject, ("A1", "A2", "RB-27", "RB-23", "RB-24", "RB-25", "RB-26", "EN-1"))
        sizes = " and ".join(dict.fromkeys(f"{len(facts.queues(topic))} queues of {topic}" for topic in facts.topics))
        bounds = f"{counted(len(facts.clients), 'member')} and {sizes}, and each member away once"
        if not wrong:
            return Answer(check=check, level=Level.OK, line=self._line(check.path), summary=f"allocation: {bounds}")
        own = Reason(
            id=SHARES,
            line=reasons[0].line if reasons else self._line(check.path),
            text=f"{wrong[0]}{f' (and {len(wrong) - 1} more of {asked} cases)' if len(wrong) > 1 else ''}.",
            fix=reasons[0].fix if reasons else "Look at the strategy of the group and its parameters.",
            severity=Severity.ERROR,
        )
        return Answer(
            check=check, level=Level.ERROR, line=own.line, reasons=(own, *reasons), summary=f"allocation: {bounds}"
        )

    def _accepted(self, check: Check) -> Answer:
        reasons = []
        for number, accepted in enumerate(self.file.description.accepted):
            if not any(
                self.answer(other).level not in (Level.OK, Level.UNKNOWN)
                for other in self.checks
                if not other.is_property and other is not check and _is_about(accepted, other)
            ) and not any(other.is_property for other in self.checks if _is_about(accepted, other)):
                reasons.append(
                    Reason(
                        id=ACCEPTED,
                        line=self._line(("accepted", number)),
                        text=f"{accepted.finding} is accepted, and it is not found.",
                        fix="Take it out of the file.",
                        severity=Severity.WARNING,
                    )
                )
        if not reasons:
            return Answer(check=check, level=Level.OK, line=self._line(check.path))
        return Answer(check=check, level=Level.WARNING, line=reasons[0].line, reasons=tuple(reasons))

    def _accepting(self, check: Check) -> Accepted | None:
        return next((accepted for accepted in self.file.description.accepted if _is_about(accepted, check)), None)

    def _line(self, path: Path) -> int:
        return self.file.lines.of(path)


def _check_of(about: Rule | Question, subject: str, path: Path) -> Check:
    if isinstance(about, Rule):
        return Check(
            subject=subject,
            id=about.key,
            short_id=about.id,
            statement=about.statement,
            rules=about.rules,
            path=path,
            about=about,
        )
    statement, rules = about.subject.statement, about.subject.rules
    return Check(
        subject=subject, id=about.id, short_id=about.id, statement=statement, rules=rules, path=path, about=about
    )


def _is_about(accepted: Accepted, check: Check) -> bool:
    return accepted.finding in check.names and accepted.group in (None, check.subject)


def _worst(reasons: Sequence[Reason]) -> Level:
    return Level(max(reason.severity for reason in reasons))


def _row(question: Question, facts: GroupFacts) -> Row:
    if not isinstance(question.subject, Property) or question.machine is None:
        assert not isinstance(question.subject, Property)
        return Row(subject=question.subject, machine="rules", expected=Verdict.HOLDS)
    constants = question.constants(facts)
    claim = Claim(property=question.subject, machine=question.machine, constants=constants)
    return Row(subject=claim, machine=question.machine.name, expected=Verdict.HOLDS, constants=constants)


def _run(rows: Sequence[Row], options: Options) -> list[Outcome]:
    """Answers in the order of ``rows``: the suite returns them grouped."""
    answers = {id(told.row): told for told in run_suite(rows, options)}
    by_name: dict[str, Result] = {told.result.property: told.result for told in answers.values()}
    return [Outcome(row=row, result=by_name[row.id]) for row in rows]
