"""Suites: rows of things to check, run by the engines that can judge them, answers held against what was expected."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..model.kernel import UNBOUNDED, ModelError
from ..model.kernel.native import CodeCache
from ..properties.claim import Claim, Coverage, coverage
from ..properties.property import Kind, Property
from ..properties.theorem import Theorem
from ..properties.unequal_views import GroupClaim
from ..properties.verdict import Verdict
from .explore import Limits, Progress, explore
from .groups import ENGINE as GROUPS
from .groups import search_groups
from .liveness import check_eventually
from .prove import prove
from .result import Result
from .run import counted
from .simulate import simulate
from .strategies import ENGINE as STRATEGIES
from .strategies import Law
from .theorems import prove_theorem

ENGINES = ("explore", "prove", "simulate", "liveness", GROUPS)
_ENGINES_OF: Mapping[Kind, tuple[str, ...]] = {
    Kind.ALWAYS: ("explore", "prove", "simulate"),
    Kind.SOMETIMES: ("explore", "prove", "simulate"),
    Kind.EVENTUALLY: ("liveness",),
    Kind.SETTLES: ("liveness",),
    Kind.THEOREM: ("prove",),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a suite.

    Attributes:
        subject: what is checked.
        machine: name of the machine, or of the group of rules, it belongs to.
        expected: the verdict it must have; VIOLATED marks an expected finding.
        lesson: what a user learns from it.
        constants: how the configuration differs from the machine's defaults.
    """

    subject: Claim | Coverage | Theorem | GroupClaim | Law
    machine: str
    expected: Verdict
    lesson: str = ""
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
        """Rules of RocketMQ it rests on."""
        if isinstance(self.subject, Law):
            return ()
        return self.subject.property.rules if isinstance(self.subject, Claim) else self.subject.rules

    @property
    def engines(self) -> tuple[str, ...]:
        """Engines that can judge it, the usual one first."""
        if isinstance(self.subject, Claim):
            unbounded = UNBOUNDED in self.constants.values()
            return ("prove",) if unbounded else _ENGINES_OF[self.subject.property.kind]
        if isinstance(self.subject, Coverage):
            return ("explore",)
        if isinstance(self.subject, Law):
            return (STRATEGIES,)
        return ("prove",) if isinstance(self.subject, Theorem) else (GROUPS,)

    @property
    def configuration(self) -> str:
        """The constants that differ from the defaults, in words."""
        return " ".join(f"{name}={value}" for name, value in self.constants.items())


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to run a suite.

    Attributes:
        engine: the engine to use; None for the usual one of each row.
        constants: values that replace those of every row.
        states, seconds, bytes: limits for each search; beyond them the verdict is UNKNOWN.
        depth: bound of ``prove`` for bounded model checking, in steps.
        runs, steps, seed: how much ``simulate`` does.
        cache: keeps compiled code between runs.
    """

    engine: str | None = None
    constants: Mapping[str, int | str] = field(default_factory=dict)
    states: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    depth: int = 12
    runs: int = 200
    steps: int = 50
    seed: int = 0
    cache: CodeCache | None = None

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


def claim_rows(claims: Iterable[Claim]) -> list[Row]:
    """Rows for claims about machines, and for each machine the row that all its actions happen."""
    claimed = list(claims)
    rows = [
        Row(
            subject=claim,
            machine=claim.machine.name,
            expected=claim.expected,
            lesson=claim.lesson,
            constants=claim.constants,
        )
        for claim in claimed
    ]
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
        progress: called with the name of the configuration when work on it begins and, in a long search, with how
            far it is.

    Raises:
        ModelError: a machine is written wrongly, or no engine is able to judge a row.
        ConfigurationError: the options name a constant that a machine does not have.
    """
    chosen = options or Options()
    for engine, group in _grouped(rows, chosen):
        started = time.perf_counter()
        title = " ".join(filter(None, [group[0].machine, group[0].configuration]))
        if progress is not None:
            progress(title, None)
        results = _check(engine, group, chosen, functools.partial(progress, title) if progress is not None else None)
        seconds = time.perf_counter() - started
        for row, result in zip(group, results, strict=True):
            yield Outcome(row=row, result=replace(result, seconds=seconds))


def engine_for(row: Row, options: Options) -> str | None:
    """The engine that will judge ``row``, or None when the one asked for cannot."""
    if options.engine is None:
        return row.engines[0]
    return options.engine if options.engine in row.engines else None


def _grouped(rows: Sequence[Row], options: Options) -> Iterator[tuple[str, list[Row]]]:
    groups: dict[object, tuple[str, list[Row]]] = {}
    for number, row in enumerate(rows):
        if options.constants and isinstance(row.subject, Claim):
            row = replace(row, constants={**row.constants, **options.constants})
        engine = engine_for(row, options)
        if engine is None:
            raise ModelError(
                f"{row.id} of {row.configuration or row.machine} cannot be judged by {options.engine!r}; "
                f"possible: {', '.join(row.engines)}."
            )
        shared = isinstance(row.subject, Claim) and engine in ("explore", "simulate")
        key = (engine, row.machine, tuple(sorted(row.constants.items()))) if shared else number
        groups.setdefault(key, (engine, []))[1].append(row)
    yield from groups.values()


def _check(
    engine: str, rows: Sequence[Row], options: Options, progress: Callable[[Progress], None] | None
) -> Sequence[Result]:
    subject = rows[0].subject
    if isinstance(subject, Theorem):
        return [prove_theorem(subject, timeout_seconds=options.seconds or 30.0)]
    if isinstance(subject, GroupClaim):
        return [search_groups(subject, timeout_seconds=options.seconds or 30.0)]
    if isinstance(subject, Coverage):
        return [_check_coverage(subject, options)]
    if not isinstance(subject, Claim):
        raise ModelError(f"{rows[0].id} is a law for strategies of users; 'verify --strategy' checks it.")
    configuration = subject.machine.configure(**rows[0].constants)
    properties = _properties(rows)
    match engine:
        case "explore":
            return explore(
                configuration,
                properties,
                limits=options.limits,
                idle_actions_allowed=True,
                progress=progress,
                cache=options.cache,
            ).results
        case "simulate":
            return simulate(
                configuration,
                properties,
                runs=options.runs,
                steps=options.steps,
                seed=options.seed,
                max_seconds=options.seconds,
            )
        case "prove":
            return [
                prove(
                    configuration,
                    properties[0],
                    lemmas=subject.lemmas,
                    search_depth=options.depth,
                    timeout_seconds=options.seconds or 60.0,
                )
            ]
        case _:
            return [
                check_eventually(
                    configuration,
                    properties[0],
                    max_states=options.states,
                    max_seconds=options.seconds,
                    max_bytes=options.bytes,
                    cache=options.cache,
                )
            ]


def _properties(rows: Sequence[Row]) -> list[Property]:
    return [row.subject.property for row in rows if isinstance(row.subject, Claim)]


def _check_coverage(subject: Coverage, options: Options) -> Result:
    started = time.perf_counter()
    missing = set(subject.machine.actions)
    unsearched = [subject.machine.configure(**constants) for constants in subject.configurations]
    searched = 0
    limit = ""
    while missing and unsearched:
        configuration = max(unsearched, key=lambda item: len(missing & item.actions()))
        if not missing & configuration.actions():
            break
        unsearched.remove(configuration)
        searched += 1
        found = explore(configuration, limits=options.limits, idle_actions_allowed=True, cache=options.cache)
        missing -= {label.partition("(")[0] for label, count in found.taken.items() if count}
        limit = limit or found.limit
    verdict = Verdict.HOLDS if not missing else Verdict.UNKNOWN if limit else Verdict.VIOLATED
    bounds = f"{counted(len(subject.machine.actions), 'action')}, looked for in {counted(searched, 'configuration')}"
    return Result(
        property=subject.id,
        verdict=verdict,
        engine="explore",
        bounds=f"{bounds}; {limit}" if verdict is Verdict.UNKNOWN else bounds,
        seconds=time.perf_counter() - started,
        explanation=f"not seen in any configuration of the suite: {', '.join(sorted(missing))}" if missing else "",
    )
