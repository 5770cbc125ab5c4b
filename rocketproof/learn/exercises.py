"""Exercises: a situation, a property, a change of the model or a strategy to write, and how an answer is verified.

No answer is compared with a stored one. What is asked for is asked of the model: whether a situation is the one meant
in every reachable state, whether a property holds and its mutant dies, what a changed rule breaks.
"""

from __future__ import annotations

import inspect
import runpy
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..checkers.explore import explore
from ..checkers.liveness import check_eventually
from ..checkers.result import Result
from ..checkers.run import story
from ..checkers.strategies import FURTHER_LAWS, REQUIRED_LAWS, check_strategy
from ..checkers.user_strategies import FunctionStrategy
from ..errors import InputError
from ..model.kernel import BoolLike, Machine, ModelError, State, all_of, nearest, not_
from ..properties.claim import Claim
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from ..traces.machine_code.code_cache import user_cache

Constants: TypeAlias = Mapping[str, int | str]

MOST_SECONDS = 20
"""How long one call of what a learner has written may take."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that an answer was asked for, and how it did.

    Attributes:
        asked: what must be, in a sentence.
        verdict: HOLDS if it is so; UNKNOWN if a limit was hit.
        told: where it is not: what happens instead.
    """

    asked: str
    verdict: Verdict
    told: str = ""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A predicate to write: ``name(s)`` must be true in exactly the reachable states that are meant."""

    name: str
    machine: Machine
    constants: Constants
    meant: Callable[[State], BoolLike]

    def check(self, answer: Path) -> list[Step]:
        """Compare it with what is meant, in every reachable state."""
        text = function_in(answer, self.name, ["s"])

        def never(name: str, holds: Callable[[State], BoolLike]) -> Property:
            return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=lambda s: not_(holds(s)))

        occurs, missed, wrong = _explored(
            self.machine,
            self.constants,
            [
                Property(id="occurs", statement="It occurs.", kind=Kind.SOMETIMES, holds=self.meant),
                never("missed", lambda s: all_of(self.meant(s), not_(_truth(text(s))))),
                never("wrong", lambda s: all_of(_truth(text(s)), not_(self.meant(s)))),
            ],
        )
        if occurs.verdict is Verdict.VIOLATED:
            raise ModelError(f"exercise {self.name}: what is meant never occurs in {dict(self.constants)}.")
        return [
            _step(f"of {_states(missed)}, {self.name}(s) is true wherever it should be", missed, missed.verdict),
            _step(f"of {_states(wrong)}, {self.name}(s) is true nowhere else", wrong, wrong.verdict),
        ]


@dataclass(frozen=True, kw_only=True)
class Killer:
    """A property to write: ``name(s)`` must hold in every reachable state, and be broken by a mutant."""

    name: str
    machine: Machine
    constants: Constants
    mutant: str

    def check(self, answer: Path) -> list[Step]:
        """Ask it of the right machine, and of the mutated one."""
        text = function_in(answer, self.name, ["s"])
        asked = Property(id=self.name, statement=f"{self.name}(s)", kind=Kind.ALWAYS, holds=lambda s: _truth(text(s)))
        (right,) = _explored(self.machine, self.constants, [asked])
        (wrong,) = _explored(self.machine.mutated(self.mutant), self.constants, [asked])
        killed = {Verdict.VIOLATED: Verdict.HOLDS, Verdict.HOLDS: Verdict.VIOLATED}.get(wrong.verdict, wrong.verdict)
        return [
            _step(f"{self.name}(s) holds in {_states(right)} of the model", right, right.verdict),
            Step(
                asked=f"the mutant {self.mutant} breaks it",
                verdict=killed,
                told="The mutant lives: it breaks nothing of this." if killed is Verdict.VIOLATED else "",
            ),
        ]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A definition or action of the model to write anew, and what must hold, or be broken, with it.

    Attributes:
        name: what is written anew.
        expected: property, and the verdict it must have with the answer in place.
    """

    name: str
    machine: Machine
    constants: Constants
    expected: Sequence[tuple[Property, Verdict]]

    def check(self, answer: Path) -> list[Step]:
        """Put the answer into its place, and ask what is expected."""
        definition = self.machine.definitions[self.name]
        text = function_in(answer, self.name, list(inspect.signature(definition.function).parameters))
        name = f"{self.machine.name}~{answer.stem}"
        changed = replace(self.machine, name=name, replacements={**self.machine.replacements, self.name: text})
        steps = []
        for item, verdict in self.expected:
            result = _judged(changed, self.constants, item)
            met = Verdict.HOLDS if result.verdict is verdict else Verdict.VIOLATED
            met = Verdict.UNKNOWN if result.verdict is Verdict.UNKNOWN else met
            becomes = "holds still" if verdict is Verdict.HOLDS else "is violated"
            steps.append(_step(f"with your {self.name}, {item.id} {becomes}", result, met))
        return steps


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """An allocation strategy to write: ``allocate(own_id, queues, ids)``.

    Attributes:
        laws: ids of further laws it must keep, besides those that every strategy must.
    """

    laws: Sequence[str] = ()

    def check(self, answer: Path) -> list[Step]:
        """Ask it what every client of every small group would ask."""
        text = function_in(answer, "allocate", ["own_id", "queues", "ids"], may_raise=True)
        report = check_strategy(FunctionStrategy(f"{answer}:allocate", text))
        further = [
            (law, result) for law, result in zip(FURTHER_LAWS, report.further, strict=True) if law.id in self.laws
        ]
        return [
            Step(asked=law.statement, verdict=result.verdict, told=result.explanation)
            for law, result in [*zip(REQUIRED_LAWS, report.required, strict=True), *further]
        ]


Exercise: TypeAlias = Situation | Killer | Change | Strategy


def property_of(claims: Sequence[Claim], name: str) -> Property:
    """The property called ``name`` among ``claims``."""
    return next(claim.property for claim in claims if claim.property.id == name)


def function_in(answer: Path, name: str, parameters: Sequence[str], *, may_raise: bool = False) -> Callable[..., Any]:
    """The function that a file of the learner's has under that name; what it raises is told, unless it may.

    Raises:
        InputError: the file cannot be run, or has no such function with as many parameters.
    """
    if not answer.is_file():
        raise InputError(f"there is no file {answer}.")
    try:
        with _limited(f"{answer} takes longer than {MOST_SECONDS} s to run."):
            known = runpy.run_path(str(answer))
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{answer} cannot be run: {_told(error)}.") from None
    text: Any = known.get(name)
    if not callable(text):
        functions = [key for key, value in known.items() if inspect.isfunction(value)]
        wanted = f"{name}({', '.join(parameters)})"
        raise InputError(f"{answer} has no function {wanted}.{nearest(name, functions)}")
    given = list(inspect.signature(text).parameters)
    if len(given) != len(parameters):
        raise InputError(f"{answer}: {name}({', '.join(given)}) should be {name}({', '.join(parameters)}).")

    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            with _limited(f"{answer}: {name} takes longer than {MOST_SECONDS} s: does it come to an end?"):
                return text(*args, **kwargs)
        except (ModelError, InputError):
            raise
        except (Exception, SystemExit) as error:
            if may_raise and isinstance(error, Exception):
                raise
            raise InputError(f"{answer}: {name} fails: {_told(error)}.") from None

    return guarded


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@contextmanager
def _limited(message: str) -> Iterator[None]:
    """End what a learner has written with ``message`` after MOST_SECONDS, where the system has such a timer."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise InputError(message)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _truth(value: object) -> BoolLike:
    if value is None:
        raise ModelError("it returns nothing; return a truth value, such as all_of(…)")
    return value


def _explored(machine: Machine, constants: Constants, properties: Sequence[Property]) -> Sequence[Result]:
    configuration = machine.configure(**constants)
    return explore(configuration, properties, idle_actions_allowed=True, cache=user_cache()).results


def _judged(machine: Machine, constants: Constants, item: Property) -> Result:
    if item.kind in (Kind.ALWAYS, Kind.SOMETIMES):
        return _explored(machine, constants, [item])[0]
    return check_eventually(machine.configure(**constants), item, cache=user_cache())


def _states(result: Result) -> str:
    return f"all {result.figures['states']:,} states"


def _step(asked: str, result: Result, met: Verdict) -> Step:
    told = ""
    if met is Verdict.VIOLATED:
        told = story(result.run) if result.run is not None else f"{result.property}: {result.bounds}"
    return Step(asked=asked, verdict=met, told=told)
