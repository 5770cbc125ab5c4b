"""Further questions: which properties notice one mutant only, or none.

The judge stops at the first row that changes, so it does not know what other properties would have noticed. Here each
property that is not known to notice two mutants is asked about others, one by one: first those of actions that write
what it reads, in small configurations first, until it has noticed two or enough were asked.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...model.kernel import ModelError
from ...model.kernel.native import CodeCache
from ...model.kernel.plain import program_of
from ...properties.verdict import Verdict
from ..engines import OF_RUNS
from ..suite import Row
from . import hunt as hunting
from .changes import Change, Sort, chance
from .ground import Ground, Question, Setting, Wrong, texts_of
from .journal import THEOREMS, Finding, Journal
from .judge import Effort, Fate, Outcome, in_processes, may_matter
from .reading import cells_of
from .theorems import Theorems

ENOUGH = 2
"""Number of mutants after which a property is not asked any more."""
TRIES = 60
"""Number of mutants that make a difference, but are not noticed, after which it is not asked any more."""
HOMES = 3
"""Number of configurations in which a property is asked."""
STATES = 100_000
"""Number of states of a configuration beyond which it is not asked there."""


def ask_further(
    outcomes: Sequence[Outcome],
    changes: Sequence[Change],
    suite: Sequence[Setting],
    theorems: Theorems,
    effort: Effort,
    *,
    journal: Path | None = None,
    cache: CodeCache | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Outcome]:
    """The outcomes, with what the properties that are not known to notice two mutants say of others.

    The arguments are those of :func:`.judge.judge`, and what it returned.
    """
    known = Journal(journal)
    noticed = Counter(name for item in outcomes for name in item.kills)
    names = dict.fromkeys(row.id for rows in (theorems.rows, *(item.rows for item in suite)) for row in rows)
    few = [name for name in names if noticed[name] < ENOUGH]
    different = [
        change
        for change, outcome in zip(changes, outcomes, strict=True)
        if outcome.fate not in (Fate.EQUIVALENT, Fate.NO_MACHINE)
    ]
    kills = {name: {item.change.id for item in outcomes if name in item.kills} for name in few}
    jobs = max(1, min(effort.jobs, len(few)))

    def answers(number: int) -> list[Answer]:
        mine = {name: kills[name] for name in few[number::jobs]}
        asking = _Asking(different, suite, theorems, min(effort.states, STATES), known, cache, mine)
        return list(asking.answers(progress if number == 0 and progress else lambda _: None))

    found = [answer for share in in_processes(answers, jobs) for answer in share]
    found.sort(key=lambda answer: few.index(answer.row))
    asked, seen = defaultdict(list), defaultdict(list)
    for answer in found:
        asked[answer.mutant].append(answer.row)
        if answer.noticed:
            seen[answer.mutant].append(answer.row)
    return [
        replace(
            item,
            kills=tuple(dict.fromkeys([*item.kills, *seen[item.change.id]])),
            asked=tuple(dict.fromkeys([*item.asked, *asked[item.change.id]])),
        )
        for item in outcomes
    ]


Difference = tuple[Wrong, Any]
"""A wrong machine, and states in which its steps differ."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a property says of a mutant that makes a difference where it is claimed.

    Attributes:
        row, mutant: their ids.
        noticed: whether it gives another answer.
    """

    row: str
    mutant: str
    noticed: bool


class _Asking:
    """Asks some properties, each until it has noticed enough mutants.

    Attributes:
        kills: id of each property → ids of the mutants that it is known to notice.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        suite: Sequence[Setting],
        theorems: Theorems,
        states: int,
        journal: Journal,
        cache: CodeCache | None,
        kills: dict[str, set[str]],
    ) -> None:
        self.kills = kills
        self._changes = sorted(changes, key=lambda change: (chance(change.id), change.id))
        self._suite = suite
        self._theorems = theorems
        self._states = states
        self._journal = journal
        self._cache = cache
        self._missed: Counter[str] = Counter()
        self._homes: Counter[str] = Counter()

    def answers(self, progress: Callable[[str], None]) -> Iterator[Answer]:
        """What the properties say, in the order in which they are asked."""
        for change in self._changes:
            for row in self._theorems.using(change):
                if self._open(row.id):
                    ask = functools.partial(_of_rule, self._theorems, row, change)
                    yield from self._noted(row.id, change, THEOREMS, ask)
        for setting in self._suite:
            rows = {row.id for row in setting.rows if self._open(row.id) and self._homes[row.id] < HOMES}
            if rows:
                progress(f"{setting.title}: {', '.join(sorted(rows))}")
                yield from self._in(setting, rows)

    def _open(self, name: str) -> bool:
        return name in self.kills and len(self.kills[name]) < ENOUGH and self._missed[name] < TRIES

    def _in(self, setting: Setting, rows: Set[str]) -> Iterator[Answer]:
        texts, actions = texts_of(setting), setting.machine.configure(**setting.constants).actions()
        here = [change for change in self._changes if may_matter(change, actions, texts)]
        if not here:
            return
        ground = Ground(setting, max_states=self._states, cache=self._cache)
        compared: dict[str, Difference | None] = {}
        for question in ground.questions:
            name = question.row.id
            if name not in rows:
                continue
            before = len(self.kills[name]), self._missed[name]
            near = writers(ground, question)
            for change in sorted(here, key=lambda change: not (near & named(ground, change))):
                if self._open(name):
                    ask = functools.partial(answer, ground, question, change, self._states, compared)
                    yield from self._noted(name, change, setting.title, ask)
            self._homes[name] += before != (len(self.kills[name]), self._missed[name])

    def _noted(self, name: str, change: Change, where: str, ask: Callable[[], Finding]) -> Iterator[Answer]:
        """Use what the journal knows, or ask."""
        if change.id in self.kills[name]:
            return
        found = self._journal.known(change.id, f"{where}: {name}", self._states)
        if found is None:
            found = replace(ask(), states=self._states)
            self._journal.add(change.id, f"{where}: {name}", found)
        if not found.differs or found.limit:
            return
        if found.kills:
            self.kills[name].add(change.id)
        else:
            self._missed[name] += 1
        yield Answer(row=name, mutant=change.id, noticed=bool(found.kills))


def writers(ground: Ground, question: Question) -> set[str]:
    """Names of the actions that write a cell which a property reads."""
    predicates = ground.lowered.predicates
    terms = [predicates[name].term for name in (question.goal, question.after) if name in predicates]
    read = cells_of(program_of(ground.lowered), terms)
    return {item.action.name for item in ground.lowered.instances if read & item.updates.keys()}


def named(ground: Ground, change: Change) -> set[str]:
    """Names of the actions that a change concerns."""
    return {change.action} if change.function is None else {action.name for action in ground.affected(change)}


def answer(
    ground: Ground, question: Question, change: Change, states: int, compared: dict[str, Difference | None]
) -> Finding:
    """What one property says of one mutant in one configuration; ``compared`` keeps where mutants differ there."""
    if change.sort is Sort.UNFAIR:
        return _of_unfair(ground, question, change)
    if change.id not in compared:
        compared[change.id] = _difference(ground, change)
    found = compared[change.id]
    if found is None:
        return Finding()
    wrong, near = found
    native, code = ground.wrong_native(wrong)
    hunted = hunting.hunt(native, [question], max_states=4 * states, near=near)
    del code
    # A machine that leaves a domain is noticed by the engine, and not by the property.
    kills = tuple((item.row, str(item.how)) for item in hunted.kills if item.row == question.row.id)
    limit = "" if kills or hunted.complete else f"more than {4 * states:,} states, or outside of a domain"
    return Finding(differs=1, kills=kills, limit=limit)


def _difference(ground: Ground, change: Change) -> Difference | None:
    try:
        wrong = ground.wrong(change)
    except ModelError:
        return None
    near = None if wrong is None else ground.difference(wrong)
    return None if wrong is None or near is None else (wrong, near)


def _of_rule(theorems: Theorems, row: Row, change: Change) -> Finding:
    how = theorems.kill(change, row)
    return Finding(differs=1, kills=((row.id, how),) if how else ())


def _of_unfair(ground: Ground, question: Question, change: Change) -> Finding:
    if question.property.kind not in OF_RUNS or question.row.expected is not Verdict.HOLDS:
        return Finding()
    ground.prepare()
    noticed = not ground.graph.limit and hunting.violates(ground.graph, question, change.action)
    kills = ((question.row.id, str(hunting.How.VIOLATED)),) if noticed else ()
    return Finding(differs=1, kills=kills, limit=ground.graph.limit or "")
