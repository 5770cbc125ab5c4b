"""Suites: rows of things to check, judged by suitable engines, with answers compared to what was expected."""

from __future__ import annotations

import functools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..model.kernel import UNBOUNDED, Configuration, Machine, ModelError, lower
from ..properties.claim import Claim, Coverage, coverage
from ..properties.property import Kind, Property
from ..properties.refinements import RefinementClaim
from ..properties.theorem import Theorem
from ..properties.unequal_views import GroupClaim
from ..properties.verdict import Verdict
from .engines import EXPLORE, GROUPS, LIVENESS, PROVE, REFINE, SIMULATE, SPARK, STATEFUL, STRATEGIES
from .exploration import Exploration, Limits, Progress
from .explore import explore
from .prove.solving import WORK
from .reduction import Reduction
from .result import Result
from .run import counted
from .search.machine_limits import half_of_memory
from .strategies import Law
from .workers import Answer, side_by_side

if TYPE_CHECKING:
    from ..model.kernel.native import CodeCache

_ENGINES_OF: Mapping[Kind, tuple[str, ...]] = {
    Kind.ALWAYS: (EXPLORE, PROVE, SIMULATE, STATEFUL, SPARK),
    Kind.SOMETIMES: (EXPLORE, PROVE, SIMULATE, SPARK),
    Kind.EVENTUALLY: (LIVENESS,),
    Kind.SETTLES: (LIVENESS,),
    Kind.THEOREM: (PROVE,),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a suite."""

    subject: Claim | Coverage | Theorem | GroupClaim | RefinementClaim | Law  # what is checked
    machine: str  # name of the machine, or of the group of rules, to which it belongs
    expected: Verdict  # the verdict it must have; VIOLATED marks an expected finding
    lesson: str = ""  # what a user learns from it
    # how the configuration differs from the machine's defaults
    constants: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Id of the property."""
        return self.subject.property.id if isinstance(self.subject, Claim) else self.subject.id

    @property
    def statement(self) -> str:
        """What is claimed, in a sentence."""
        return self.subject.property.statement if isinstance(self.subject, Claim) else self.subject.statement

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules of RocketMQ on which it rests."""
        if isinstance(self.subject, Law):
            return ()
        return self.subject.property.rules if isinstance(self.subject, Claim) else self.subject.rules

    @property
    def engines(self) -> tuple[str, ...]:
        """Engines that can judge it, the usual one first."""
        if isinstance(self.subject, Claim):
            budgets = self.subject.machine.budgets
            unbounded = any(value == UNBOUNDED and name not in budgets for name, value in self.constants.items())
            return (PROVE,) if unbounded else _ENGINES_OF[self.subject.property.kind]
        if isinstance(self.subject, Coverage):
            return (EXPLORE,)
        if isinstance(self.subject, Law):
            return (STRATEGIES,)
        if isinstance(self.subject, RefinementClaim):
            return self._engines_of_refinement(self.subject)
        return (PROVE,) if isinstance(self.subject, Theorem) else (GROUPS,)

    def _engines_of_refinement(self, claim: RefinementClaim) -> tuple[str, ...]:
        if not claim.inductive:
            return (REFINE, PROVE)
        return (PROVE, REFINE) if lower(claim.refinement().concrete).is_finite else (PROVE,)

    @property
    def configuration(self) -> str:
        """The constants that differ from the defaults, in words."""
        return " ".join(f"{name}={value}" for name, value in self.constants.items())


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to run a suite.

    Attributes:
        engine: the engine to use; None for the usual one of each row.
        constants: values that override those of every row.
        states, seconds, bytes: limits for each search; beyond them the verdict is UNKNOWN.
        work: limit for each proof, in Z3 resource units; proofs have no time limit.
        depth: bound of ``prove`` for bounded model checking, in steps.
        runs, steps, seed: how much ``simulate`` and ``stateful`` do.
        cache: keeps compiled code between runs.
        reduce: what exhaustive searches of claims leave out; a machine without symmetry is searched without it.
        folder: where searches keep their states, each in a folder of its own; None: in memory.
        session: the session for the Spark engine; ``folder`` is then a path or URI that all workers can reach.
        jobs: number of cores to use: that many searches and proofs run at a time, each in a process of its own; if
            there are fewer of them, a search has several threads.
    """

    engine: str | None = None
    constants: Mapping[str, int | str] = field(default_factory=dict)
    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    work: int = WORK
    depth: int = 12
    runs: int = 200
    steps: int = 50
    seed: int = 0
    cache: CodeCache | None = None
    reduce: Reduction = Reduction.NONE
    folder: str | None = None
    jobs: int = 1
    session: Any = None

    @property
    def limits(self) -> Limits:
        """The limits of one exhaustive search."""
        return Limits(states=self.states, seconds=self.seconds, bytes=self.bytes)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A row with its answer."""

    row: Row
    result: Result

    @property
    def as_expected(self) -> bool:
        """Whether the answer is the expected one."""
        return self.result.verdict is self.row.expected

    @property
    def unviolated(self) -> bool:
        """Whether Hypothesis found nothing against what must hold, which is all that such a test can say."""
        unknown = self.result.engine == STATEFUL and self.result.verdict is Verdict.UNKNOWN
        return unknown and self.row.expected is Verdict.HOLDS


def claim_row(claim: Claim) -> Row:
    """The row of a claim about a machine."""
    return Row(
        subject=claim,
        machine=claim.machine.name,
        expected=claim.expected,
        lesson=claim.lesson,
        constants=claim.constants,
    )


def claim_rows(claims: Iterable[Claim]) -> list[Row]:
    """Rows for claims about machines, and for each machine the row that all its actions happen."""
    claimed = list(claims)
    rows = [claim_row(claim) for claim in claimed]
    covered = [Row(subject=item, machine=item.machine.name, expected=Verdict.HOLDS) for item in coverage(claimed)]
    return rows + covered


def run_suite(
    rows: Sequence[Row],
    options: Options | None = None,
    *,
    progress: Callable[[str, Progress | None], None] | None = None,
) -> Iterator[Outcome]:
    """Check ``rows`` one after the other; rows of one configuration share one search.

    Args:
        rows: what to check.
        options: how.
        progress: called with the name of the configuration when work on it begins and, in a long search, with its
            progress.

    Raises:
        ModelError: a machine is written wrongly, or no engine is able to judge a row.
        ConfigurationError: the options name a constant that a machine does not have.
    """
    chosen = options or Options()
    groups = list(_grouped(rows, chosen))
    answers = _answers([group for group in groups if not group.covers], chosen, progress)
    taken: dict[str, set[str]] = {}
    searched: Counter[str] = Counter()
    for group in groups:
        name = group.rows[0].machine
        if group.covers:
            results = [_check_coverage(group.covers, taken.get(name, set()), searched[name], chosen)]
        else:
            answer = next(answers)
            results = list(answer.results)
            if answer.taken and not chosen.reduce:
                taken.setdefault(name, set()).update(answer.taken)
                searched[name] += 1
        for row, result in zip(group.rows, results, strict=True):
            yield Outcome(row=row, result=result)


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Rows that one engine judges with one search, or one proof."""

    engine: str
    rows: list[Row]

    @property
    def title(self) -> str:
        return " ".join(filter(None, [self.rows[0].machine, self.rows[0].configuration]))

    @property
    def covers(self) -> Coverage | None:
        subject = self.rows[0].subject
        return subject if isinstance(subject, Coverage) else None

    @property
    def machine(self) -> Machine | None:
        subject = self.rows[0].subject
        return subject.machine if isinstance(subject, Claim) else None


def _answers(
    groups: Sequence[_Group], options: Options, progress: Callable[[str, Progress | None], None] | None
) -> Iterator[Answer]:
    """One answer for each group, in order; by several workers at once if there are that many groups."""
    show = progress or (lambda _title, _progress: None)
    jobs = min(options.jobs, len(groups))
    if jobs <= 1:
        for group in groups:
            show(group.title, None)
            yield _check(group, options, functools.partial(show, group.title) if progress is not None else None)
        return
    share = replace(options, bytes=options.bytes or half_of_memory() // jobs, jobs=options.jobs // jobs)
    answers = side_by_side(lambda number: _check(groups[number], share, None), len(groups), jobs=jobs)
    show(f"{len(groups)} searches and proofs, {jobs} at a time", None)
    for number, answer in enumerate(answers):
        yield answer
        show(f"{number + 1} of {len(groups)} searches and proofs, {jobs} at a time", None)


def engine_for(row: Row, options: Options) -> str | None:
    """The engine that will judge ``row``, or None if the selected one cannot."""
    if options.engine is None:
        return row.engines[0]
    return options.engine if options.engine in row.engines else None


def _grouped(rows: Sequence[Row], options: Options) -> Iterator[_Group]:
    groups: dict[object, _Group] = {}
    for number, row in enumerate(rows):
        if options.constants and isinstance(row.subject, Claim):
            row = replace(row, constants={**row.constants, **options.constants})
        engine = engine_for(row, options)
        if engine is None:
            raise ModelError(
                f"{row.id} of {row.configuration or row.machine} cannot be judged by {options.engine!r}; "
                f"possible: {', '.join(row.engines)}."
            )
        groups.setdefault(_work_shared_by(row, engine) or number, _Group(engine=engine, rows=[])).rows.append(row)
    yield from groups.values()


def _work_shared_by(row: Row, engine: str) -> object:
    """What rows must have in common to share one search, or one proof of their lemmas; None for no sharing."""
    if not isinstance(row.subject, Claim):
        return None
    configuration = (engine, row.machine, tuple(sorted(row.constants.items())))
    if engine in (EXPLORE, SIMULATE, STATEFUL, SPARK):
        return configuration
    if engine == PROVE and row.subject.lemmas and row.subject.property.kind is Kind.ALWAYS:
        return (*configuration, tuple(lemma.id for lemma in row.subject.lemmas))
    return None


def _check(group: _Group, options: Options, progress: Callable[[Progress], None] | None) -> Answer:
    """Judge the rows of ``group``; each result has the time of all of them."""
    started = time.perf_counter()
    if group.engine in (EXPLORE, SPARK):
        answer = _explore(group, options, progress)
    else:
        answer = Answer(results=tuple(_judge(group, options)))
    seconds = time.perf_counter() - started
    results = (replace(result, seconds=seconds) for result in answer.results)
    if group.engine == SPARK:
        results = (replace(result, engine=SPARK) for result in results)
    return replace(answer, results=tuple(results))


def _explore(group: _Group, options: Options, progress: Callable[[Progress], None] | None) -> Answer:
    configuration, properties = _configuration(group), _properties(group.rows)
    found = explore(
        configuration,
        properties,
        reduce=_possible(options.reduce, configuration, properties),
        limits=options.limits,
        idle_actions_allowed=True,
        threads=options.jobs,
        folder=None if options.folder is None else f"{options.folder}/{_folder_name(group)}",
        session=options.session if group.engine == SPARK else None,
        progress=progress,
        cache=options.cache,
    )
    return Answer(results=tuple(found.results), taken=_actions_in(found))


def _folder_name(group: _Group) -> str:
    """The name of a folder for a configuration, always the same."""
    return re.sub(r"[^\w.-]+", "-", group.title)[:200]


def _possible(asked: Reduction, configuration: Configuration, properties: Sequence[Property]) -> Reduction:
    """Which of the reductions ``asked`` can be used: symmetry needs elements that are interchangeable."""
    if not asked & Reduction.SYMMETRY:
        return asked
    from .reduction.equivariance import symmetric_domains

    lowered = lower(configuration, {item.id: item.holds for item in properties})
    return asked if symmetric_domains(lowered) else asked & ~Reduction.SYMMETRY


def _actions_in(found: Exploration) -> frozenset[str]:
    """Names of the actions that happened in a search."""
    return frozenset(label.partition("(")[0] for label, count in found.taken.items() if count)


def _configuration(group: _Group) -> Configuration:
    assert group.machine is not None
    return group.machine.configure(**group.rows[0].constants)


def _judge(group: _Group, options: Options) -> Sequence[Result]:
    subject = group.rows[0].subject
    if isinstance(subject, Theorem):
        from .theorems import prove_theorem

        return [prove_theorem(subject, work=options.work)]
    if isinstance(subject, GroupClaim):
        from .groups import search_groups

        return [search_groups(subject, max_seconds=options.seconds)]
    if isinstance(subject, RefinementClaim) and group.engine == PROVE:
        from .inductive_refinement import prove_refinement

        return [prove_refinement(subject.id, subject.refinement(), lemmas=subject.lemmas, work=options.work)]
    if isinstance(subject, RefinementClaim):
        from .refinement import check_refinement

        return [check_refinement(subject.id, subject.refinement(), limits=options.limits, cache=options.cache)]
    if not isinstance(subject, Claim):
        raise ModelError(f"{subject.id} is a law for strategies of users; 'verify --strategy' checks it.")
    configuration = _configuration(group)
    properties = _properties(group.rows)
    match group.engine:
        case "simulate" | "stateful":
            from .simulate import simulate
            from .stateful_search import search_stateful

            return (simulate if group.engine == SIMULATE else search_stateful)(
                configuration,
                properties,
                runs=options.runs,
                steps=options.steps,
                seed=options.seed,
                max_seconds=options.seconds,
            )
        case "prove":
            from .prove import prove_together

            return prove_together(
                configuration,
                properties,
                lemmas=subject.lemmas,
                search_depth=options.depth,
                work=options.work,
            )
        case _:
            from .liveness import check_eventually

            return [check_eventually(configuration, properties[0], limits=options.limits, cache=options.cache)]


def _properties(rows: Sequence[Row]) -> list[Property]:
    return [row.subject.property for row in rows if isinstance(row.subject, Claim)]


def _check_coverage(subject: Coverage, taken: Set[str], searched: int, options: Options) -> Result:
    """Whether every action of the machine happens: in the searches made already, or otherwise in further ones."""
    started = time.perf_counter()
    missing = set(subject.machine.actions) - taken
    unsearched = [subject.machine.configure(**constants) for constants in subject.configurations]
    limit = ""
    while missing and unsearched:
        configuration = max(unsearched, key=lambda item: len(missing & item.actions()))
        if not missing & configuration.actions():
            break
        unsearched.remove(configuration)
        searched += 1
        found = explore(
            configuration,
            limits=options.limits,
            idle_actions_allowed=True,
            threads=options.jobs,
            cache=options.cache,
        )
        missing -= _actions_in(found)
        limit = limit or found.limit
    verdict = Verdict.HOLDS if not missing else Verdict.UNKNOWN if limit else Verdict.VIOLATED
    bounds = f"{counted(len(subject.machine.actions), 'action')}, looked for in {counted(searched, 'configuration')}"
    return Result(
        property=subject.id,
        verdict=verdict,
        engine=EXPLORE,
        bounds=f"{bounds}; {limit}" if verdict is Verdict.UNKNOWN else bounds,
        seconds=time.perf_counter() - started,
        explanation=f"not seen in any configuration of the suite: {', '.join(sorted(missing))}" if missing else "",
    )
