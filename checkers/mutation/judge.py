"""The judge: what became of each generated mutant, judged by every row of the suite where it makes a difference."""

from __future__ import annotations

import functools
import multiprocessing
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from ...model.kernel import ModelError
from ...model.kernel.native import CodeCache
from ...model.kernel.plain import PlainMachine
from ...properties.claim import Claim
from ...properties.verdict import Verdict
from ..engines import OF_RUNS
from ..liveness.graph import reachable_graph
from ..run import counted, replay, story
from ..suite import Row
from . import hunt as hunting
from .changes import Change, Sort
from .ground import Ground, Setting, texts_of
from .journal import THEOREMS, Finding, Journal
from .theorems import Theorems, same_rule
from .walk import Apart, apart

T = TypeVar("T")

FEW = 6
"""Number of unjudged configurations of a mutant up to which a second round with higher limits pays."""


class Fate(StrEnum):
    """What became of a mutant.

    KILLED: a row of the suite gives another answer. EQUIVALENT: in every configuration that uses its text, the same
        labelled runs are possible, or Z3 proves a rule equal. SURVIVED: it differs somewhere, and no row notices.
        UNKNOWN: a limit was reached before a row changed. NO_MACHINE: wherever its text is used it refers to something
        that does not exist there, or its text is not used at all.
    """

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    UNKNOWN = "unknown"
    NO_MACHINE = "no machine"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one mutant.

    Attributes:
        change: the mutant, without its code.
        fate: what became of it.
        row: id of the first row that changes; ``how`` and ``where``: in which way, and in which configuration.
        kills: ids of the rows known to change.
        asked: ids of the rows that were asked where it makes a difference.
        used, differs: number of configurations that use its text, and in which it makes a difference.
        compared: number of states in which its steps were compared with the original ones.
        run: if it survived, the shortest run that distinguishes it from the original machine in the smallest
            configuration in which it differs, and what differs after it.
        reason: why the fate is UNKNOWN or NO_MACHINE.
        seconds: processor time.
    """

    change: Change
    fate: Fate
    row: str = ""
    how: str = ""
    where: str = ""
    kills: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    used: int = 0
    differs: int = 0
    compared: int = 0
    run: str = ""
    steps: int | None = None
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How far the judge goes."""

    # distinct states of each search; a configuration whose original machine has more is not judged
    states: int = 2_000_000
    # the same for a second round: mutants with at most ``FEW`` unjudged configurations are judged in these; 0 for no
    # second round
    far: int = 0
    jobs: int = 1  # number of processes


def judge(
    changes: Sequence[Change],
    suite: Sequence[Setting],
    theorems: Theorems,
    effort: Effort | None = None,
    *,
    journal: Path | None = None,
    cache: CodeCache | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Outcome]:
    """Judge mutants of machines, in their order.

    With a ``journal`` (a file), what it contains is not judged again, and new findings are written to it at once: a
    judgement that was interrupted continues where it stopped.
    """
    chosen = effort or Effort()
    known = Journal(journal)
    jobs = max(1, min(chosen.jobs, len(changes)))

    def judged(number: int) -> list[Outcome]:
        told = progress if number == 0 else None
        outcomes = _Judge(changes[number::jobs], suite, theorems, chosen, known, cache, told).run()
        return [_sendable(item) for item in outcomes]

    found = {item.change.id: item for outcomes in in_processes(judged, jobs) for item in outcomes}
    return [found[change.id] for change in changes]


def in_processes(work: Callable[[int], T], jobs: int) -> list[T]:
    """What ``work`` returns for each number below ``jobs``, computed in as many processes, which know what this one
    knows.
    """
    if jobs == 1:
        return [work(0)]
    global _work
    _work = work
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as executor:
        return list(executor.map(_run_share, range(jobs)))


_work: Callable[[int], Any] | None = None


def _run_share(number: int) -> Any:
    assert _work is not None
    return _work(number)


def _sendable(outcome: Outcome) -> Outcome:
    return replace(outcome, change=replace(outcome.change, function=None, code=None, rule=None))


@dataclass
class _Case:
    """What is known about one mutant so far: a finding for each configuration in which it was judged."""

    change: Change
    findings: dict[str, Finding] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)

    @property
    def kills(self) -> list[tuple[str, str, str]]:
        """Rows that change: id, how, and in which machine and configuration."""
        return [(row, how, self.homes.get(row, at)) for at, one in self.findings.items() for row, how in one.kills]

    @property
    def limits(self) -> list[str]:
        """Configurations in which a limit was reached before a row changed."""
        return [where for where, found in self.findings.items() if found.limit]

    @property
    def proved(self) -> bool:
        """Whether Z3 proves a rule equal."""
        return any(found.proved for found in self.findings.values())

    @property
    def parted(self) -> tuple[int, str] | None:
        """The first run found that distinguishes the two machines, and its length."""
        return next(((found.steps, found.run) for found in self.findings.values() if found.steps is not None), None)

    def total(self, name: str) -> Any:
        """Sum of a number over all findings."""
        return sum(getattr(found, name) for found in self.findings.values())


class _Judge:
    def __init__(
        self,
        changes: Sequence[Change],
        suite: Sequence[Setting],
        theorems: Theorems,
        effort: Effort,
        journal: Journal,
        cache: CodeCache | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._cases = [_Case(change) for change in changes]
        self._suite = suite
        self._rows = {setting.title: setting.rows for setting in suite}
        self._theorems = theorems
        self._effort = effort
        self._journal = journal
        self._cache = cache
        self._progress = progress or (lambda _: None)
        self._there: Counter[str] = Counter()

    def run(self) -> list[Outcome]:
        for case in self._cases:
            self._note(case, THEOREMS, 0, self._ask_theorems)
        alive = [case for case in self._cases if not case.proved and not case.kills]
        asked = [
            (setting, texts_of(setting), setting.machine.configure(**setting.constants).actions())
            for setting in (self._suite if alive else ())
        ]
        for _, _, actions in asked:
            self._there.update(actions)
        for number, (setting, texts, actions) in enumerate(asked, start=1):
            here = [case for case in alive if may_matter(case.change, actions, texts)]
            self._progress(f"{number} of {len(self._suite)} configurations, {len(alive)} mutants left")
            self._round(setting, here, self._effort.states)
            alive = [case for case in alive if not case.kills]
            if not alive:
                break
        few = [case for case in alive if case.limits and len(case.limits) <= FEW and not case.kills]
        for setting, _, _ in asked if self._effort.far > self._effort.states else ():
            here = [case for case in few if setting.title in case.limits and not case.kills]
            self._progress(f"once more {setting.title}, {len(here)} mutants left")
            self._round(setting, here, self._effort.far)
        return [self._outcome(case) for case in self._cases]

    def _round(self, setting: Setting, cases: Sequence[_Case], states: int) -> None:
        """Judge some mutants in one configuration."""
        ground: Ground | None = None
        for case in cases:
            if self._journal.known(case.change.id, setting.title, states) is None:
                ground = ground or Ground(setting, max_states=states, cache=self._cache)
            self._note(case, setting.title, states, functools.partial(self._ask, ground, states))

    def _note(self, case: _Case, where: str, states: int, ask: Callable[[_Case], Finding]) -> None:
        """Use what is known already, or judge."""
        found = self._journal.known(case.change.id, where, states)
        if found is None:
            started = time.process_time()
            found = ask(case)
            seconds = round(time.process_time() - started, 3)
            found = replace(found, states=states, seconds=seconds)
            self._journal.add(case.change.id, where, found)
        if where == THEOREMS:
            case.homes.update((row.id, row.machine) for row in self._theorems.rows)
        case.findings[where] = found

    def _ask_theorems(self, case: _Case) -> Finding:
        rows = self._theorems.using(case.change)
        if rows and same_rule(case.change):
            return Finding(proved=True)
        answers = ((row.id, self._theorems.kill(case.change, row)) for row in rows)
        kill = next(((row, how) for row, how in answers if how), None)
        return Finding(used=len(rows), differs=len(rows), kills=(kill,) if kill else ())

    def _ask(self, ground: Ground | None, states: int, case: _Case) -> Finding:
        assert ground is not None
        change = case.change
        if change.sort is Sort.UNFAIR:
            return self._ask_unfair(change, ground)
        assert change.function is not None
        if change.function.__code__ not in ground.uses:
            return Finding()
        title = ground.setting.title
        try:
            wrong = ground.wrong(change)
        except ModelError as error:
            return Finding(refused=f"{title}: {error}")
        if wrong is None:
            return Finding(used=1)
        difference = ground.difference(wrong)
        found = Finding(used=1, compared=ground.graph.states)
        limit = f"{title}: {ground.graph.limit}" if ground.graph.limit else ""
        if difference is None:
            return replace(found, limit="" if limit and ground.proved_equal(wrong) else limit)
        native, code = ground.wrong_native(wrong)
        hunted = hunting.hunt(
            native,
            ground.questions,
            max_states=4 * states,
            near=difference,
        )
        if hunted.kills:
            return replace(found, differs=1, kills=tuple((item.row, item.how) for item in hunted.kills))
        if not hunted.complete:
            return replace(found, limit=f"{title}: more than {4 * states:,} states")
        if limit:
            return replace(found, limit=limit)
        never = tuple(sorted(ground.taken() - hunted.taken))
        if case.parted is not None:
            return replace(found, differs=1, never=never)
        parted = apart(ground.graph, reachable_graph(native))
        del code
        if parted is None:
            return found
        return replace(found, differs=1, never=never, steps=len(parted.steps), run=_told(ground, parted))

    def _ask_unfair(self, change: Change, ground: Ground) -> Finding:
        questions = [item for item in ground.questions if item.property.kind in OF_RUNS]
        if not any(item.action.name == change.action and item.action.fair for item in ground.lowered.instances):
            return Finding()
        if not questions:
            return Finding(used=1)
        ground.prepare()
        if ground.graph.limit:
            return Finding(used=1, limit=f"{ground.setting.title}: {ground.graph.limit}")
        for item in questions:
            if item.row.expected is Verdict.HOLDS and hunting.violates(ground.graph, item, change.action):
                return Finding(used=1, differs=1, kills=((item.row.id, hunting.How.VIOLATED),))
        return Finding(used=1, differs=1)

    def _asked(self, case: _Case) -> Iterator[str]:
        """Ids of the rows that were judged: the first that changes, or all where a difference changes none."""
        yield from (row for row, _, _ in case.kills)
        for where, found in case.findings.items():
            if found.differs and not found.kills and not found.limit:
                rows = self._theorems.using(case.change) if where == THEOREMS else self._rows[where]
                all_kinds = case.change.sort is not Sort.UNFAIR
                yield from (row.id for row in rows if all_kinds or _is_of_runs(row))

    def _outcome(self, case: _Case) -> Outcome:
        kills, limits = case.kills, case.limits
        never = Counter(name for found in case.findings.values() for name in found.never)
        gone = [name for name, count in never.items() if count == self._there[name]]
        if gone and not kills and not limits:
            kills.append(("every-action-happens", hunting.How.NEVER, gone[0]))
        used, differs = case.total("used"), case.total("differs")
        reason, run, steps = "", "", None
        if kills:
            fate = Fate.KILLED
        elif case.proved:
            fate, reason = Fate.EQUIVALENT, "Z3 proves the rule equal"
        elif limits:
            fate, reason = Fate.UNKNOWN, case.findings[limits[0]].limit
        elif not used:
            fate = Fate.NO_MACHINE
            refused = (found.refused for found in case.findings.values() if found.refused)
            reason = next(refused, "no action of the suite uses its text: it says what is seen")
        elif differs or case.change.sort is Sort.UNFAIR:
            fate = Fate.SURVIVED
            steps, run = case.parted or (None, "")
        else:
            fate = Fate.EQUIVALENT
        row, how, where = kills[0] if kills else ("", "", "")
        return Outcome(
            change=case.change,
            fate=fate,
            row=row,
            how=str(how),
            where=where,
            kills=tuple(dict.fromkeys(row for row, _, _ in kills)),
            asked=tuple(dict.fromkeys(self._asked(case))),
            used=used,
            differs=differs,
            compared=case.total("compared"),
            run=run,
            steps=steps,
            reason=reason,
            seconds=case.total("seconds"),
        )


def _is_of_runs(row: Row) -> bool:
    return isinstance(row.subject, Claim) and row.subject.property.kind in OF_RUNS


def may_matter(change: Change, actions: Set[str], texts: Set[types.CodeType]) -> bool:
    """Whether a change can affect a setting, judged by names."""
    return change.action in actions if change.function is None else change.function.__code__ in texts


def _told(ground: Ground, parted: Apart) -> str:
    """The shortest run after which the two machines can do different things, and what each can do then."""
    numbers = {item.label: item.number for item in ground.lowered.instances}
    run = replay(PlainMachine(ground.lowered), [numbers[label] for label in parted.steps])
    lines = [ground.setting.title, story(run)]
    for name, possible in (("right", parted.only_right), ("wrong", parted.only_wrong)):
        if possible:
            lines.append(f"then only the {name} machine can: {', '.join(possible)}")
    return "\n".join(lines)


def in_words(outcome: Outcome) -> str:
    """One line on what became of a mutant."""
    match outcome.fate:
        case Fate.KILLED:
            return f"{outcome.row} {outcome.how} ({outcome.where})"
        case Fate.EQUIVALENT:
            if outcome.reason:
                return outcome.reason
            return f"the same steps in {counted(outcome.compared, 'state')} of {counted(outcome.used, 'configuration')}"
        case Fate.SURVIVED if outcome.change.sort is Sort.UNFAIR:
            return (
                f"no claim about whole runs needs it, in {counted(outcome.differs, 'configuration')} with such claims"
            )
        case Fate.SURVIVED:
            return (
                f"a step differs in {outcome.differs} of {counted(outcome.used, 'configuration')}, and no row notices"
            )
        case _:
            return outcome.reason
