"""Exercises: a situation, a property, a change of the model or a strategy to write, and how an answer is verified.

No answer is compared with a stored one. The model judges it: whether a situation is the intended one in every reachable
state, whether a property holds and its mutant dies, what a changed rule breaks.
"""

from __future__ import annotations

import inspect
import runpy
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..checkers.explore import explore
from ..checkers.liveness import check_eventually
from ..checkers.result import Result
from ..checkers.run import replay, story
from ..checkers.strategies import FURTHER_LAWS, REQUIRED_LAWS, check_strategy
from ..checkers.user_strategies import FunctionStrategy, StrategyError
from ..errors import InputError
from ..machine_code.code_cache import user_cache
from ..model.allocation import MessageQueue, sorted_ids
from ..model.kernel import BoolLike, Machine, ModelError, all_of, lower, nearest, not_
from ..model.kernel.plain import PlainMachine, StateTuple
from ..properties.claim import Claim
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict

Constants: TypeAlias = Mapping[str, int | str]

MANY_QUEUES, FEW_CONSUMERS = 64, 4
"""Numbers with which a strategy that spreads queues at all leaves no consumer without any."""

LARGER = ((37, 3), (MANY_QUEUES, FEW_CONSUMERS), (21, 13))
"""Numbers of queues and consumers of groups in which a strategy must do the same as in all small ones."""

MOST_SECONDS = 20
"""Time limit for one call of a learner's code, s."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One requirement on an answer, and the result."""

    asked: str  # what must be, in a sentence
    verdict: Verdict  # HOLDS if it is so; UNKNOWN if a limit was reached
    told: str = ""  # if it is not: what happens instead


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A predicate to write: ``name(s)`` must be true in exactly the intended reachable states."""

    name: str
    machine: Machine
    constants: Constants  # a small group, whose runs show mistakes in few steps
    # what differs in larger groups, in which a property of one client or queue need not hold for all
    larger: Sequence[Constants]
    meant: Callable[[Any], BoolLike]

    def check(self, answer: Path) -> list[Step]:
        """Compare it with the intended one, in every reachable state of the small group, then of the larger ones."""
        text = function_in(answer, self.name, ["s"])
        steps = self._compared(text, self.constants, "")
        for more in self.larger:
            if all(step.verdict is Verdict.HOLDS for step in steps):
                steps += self._compared(text, {**self.constants, **more}, " of a larger group")
        return steps

    def _compared(self, text: Callable[[Any], BoolLike], constants: Constants, where: str) -> list[Step]:
        def never(name: str, holds: Callable[[Any], BoolLike]) -> Property:
            return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=lambda s: not_(holds(s)))

        occurs, missed, wrong = _explored(
            self.machine,
            constants,
            [
                Property(id="occurs", statement="It occurs.", kind=Kind.SOMETIMES, holds=self.meant),
                never(self.name, lambda s: all_of(self.meant(s), not_(_truth(text(s))))),
                never("wrong", lambda s: all_of(_truth(text(s)), not_(self.meant(s)))),
            ],
        )
        if occurs.verdict is Verdict.VIOLATED:
            raise ModelError(f"exercise {self.name}: what is meant never occurs in {dict(constants)}.")
        return [
            _step(f"of {_states(missed)}{where}, {self.name}(s) is true wherever it should be", missed, missed.verdict),
            _step(f"of {_states(wrong)}{where}, {self.name}(s) is true nowhere else", wrong, wrong.verdict),
        ]


@dataclass(frozen=True, kw_only=True)
class Killer:
    """A property to write: ``name(s)`` must hold in every reachable state, and be broken by a mutant."""

    name: str
    machine: Machine
    constants: Constants  # a small group, in which the mutant shows
    larger: Constants  # what differs in a larger one, in which the property must hold as well
    mutant: str

    def check(self, answer: Path) -> list[Step]:
        """Judge it in the correct machine, and in the mutated one."""
        text = function_in(answer, self.name, ["s"])
        asked = Property(id=self.name, statement=f"{self.name}(s)", kind=Kind.ALWAYS, holds=lambda s: _truth(text(s)))
        (right,) = _explored(self.machine, self.constants, [asked])
        (wrong,) = _explored(self.machine.mutated(self.mutant), self.constants, [asked])
        killed = {Verdict.VIOLATED: Verdict.HOLDS, Verdict.HOLDS: Verdict.VIOLATED}.get(wrong.verdict, wrong.verdict)
        steps = [
            _step(f"{self.name}(s) holds in {_states(right)} of the model", right, right.verdict),
            Step(
                asked=f"the mutant {self.mutant} breaks it",
                verdict=killed,
                told="The mutant lives: it breaks nothing of this." if killed is Verdict.VIOLATED else "",
            ),
        ]
        if all(step.verdict is Verdict.HOLDS for step in steps):
            (more,) = _explored(self.machine, {**self.constants, **self.larger}, [asked])
            steps.append(_step(f"{self.name}(s) holds in {_states(more)} of a larger group", more, more.verdict))
        return steps


@dataclass(frozen=True, kw_only=True)
class Change:
    """A definition of the model to rewrite, what must hold or be broken with it, and what it must do."""

    name: str  # name of the definition
    machine: Machine
    constants: Constants
    larger: Constants  # what differs in a larger group, in which it must do the same as well
    expected: Sequence[tuple[Property, Verdict]]  # property, and the verdict that it must have with the answer in place
    meant: Callable[..., Any]  # the intended definition; an answer may be written differently, but must do the same

    def check(self, answer: Path) -> list[Step]:
        """Put the answer in place, and judge what is expected."""
        definition = self.machine.definitions[self.name]
        text = function_in(answer, self.name, list(inspect.signature(definition.function).parameters))
        yours = self._with(answer.stem, text)
        steps = []
        for item, verdict in self.expected:
            result = _judged(yours, self.constants, item)
            met = Verdict.HOLDS if result.verdict is verdict else Verdict.VIOLATED
            met = Verdict.UNKNOWN if result.verdict is Verdict.UNKNOWN else met
            must = "hold" if verdict is Verdict.HOLDS else "be violated"
            steps.append(_step(f"with your {self.name}, {item.id} must {must}", result, met))
        for constants in (self.constants, {**self.constants, **self.larger}):
            if all(step.verdict is Verdict.HOLDS for step in steps):
                steps.append(self._same(yours, constants))
        return steps

    def _with(self, name: str, text: Callable[..., Any]) -> Machine:
        replacements = {**self.machine.replacements, self.name: text}
        return replace(self.machine, name=f"{self.machine.name}~{name}", replacements=replacements)

    def _same(self, yours: Machine, constants: Constants) -> Step:
        """Whether every step has the intended effect, in every state that the intended definition reaches."""
        meant = self._with("meant", self.meant)
        here, there = (PlainMachine(lower(machine.configure(**constants), {})) for machine in (yours, meant))
        numbers = {instance.label: instance.number for instance in here.lowered.instances}
        paths: dict[StateTuple, tuple[int, ...]] = {there.initial: ()}
        waiting = deque(paths)
        while waiting:
            state = waiting.popleft()
            path = paths[state]
            for instance in there.lowered.instances:
                following = there.step(state, instance.number)
                if here.step(state, numbers[instance.label]) != following:
                    told = f"{story(replay(there, path))}\nhere your {self.name} goes wrong: {instance.tells}"
                    return Step(asked=f"your {self.name} is what is asked for", verdict=Verdict.VIOLATED, told=told)
                if following is not None and following not in paths:
                    paths[following] = (*path, instance.number)
                    waiting.append(following)
        return Step(asked=f"your {self.name} is what is asked for, in all {len(paths):,} states", verdict=Verdict.HOLDS)


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """An allocation strategy to write: ``allocate(own_id, queues, ids)``."""

    laws: Sequence[str] = ()  # ids of further laws that it must obey, besides those for every strategy
    everybody: bool = False  # whether each of a few consumers must get some of many queues

    def check(self, answer: Path) -> list[Step]:
        """Call it as every client of every small group would."""
        text = function_in(answer, "allocate", ["own_id", "queues", "ids"], may_raise=True)
        strategy = FunctionStrategy(f"{answer}:allocate", text)
        report = check_strategy(strategy, larger=LARGER)
        further = [
            (law, result) for law, result in zip(FURTHER_LAWS, report.further, strict=True) if law.id in self.laws
        ]
        steps = [
            Step(asked=law.statement, verdict=result.verdict, told=result.explanation)
            for law, result in [*zip(REQUIRED_LAWS, report.required, strict=True), *further]
        ]
        if self.everybody and all(step.verdict is Verdict.HOLDS for step in steps):
            steps.append(_everybody(strategy))
        return steps


def _everybody(strategy: FunctionStrategy) -> Step:
    asked = f"Of {MANY_QUEUES} queues, each of up to {FEW_CONSUMERS} consumers gets some."
    queues = [MessageQueue("TopicTest", "broker-a", number) for number in range(MANY_QUEUES)]
    for count in range(2, FEW_CONSUMERS + 1):
        ids = sorted_ids(f"c{number}" for number in range(count))
        for own in ids:
            try:
                share = strategy.allocate(own, queues, ids)
            except StrategyError as error:
                return Step(asked=asked, verdict=Verdict.VIOLATED, told=f"{own} gets no answer: {error}")
            if not share:
                return Step(asked=asked, verdict=Verdict.VIOLATED, told=f"with {count} consumers, {own} gets nothing")
    return Step(asked=asked, verdict=Verdict.HOLDS)


Exercise: TypeAlias = Situation | Killer | Change | Strategy


def property_of(claims: Sequence[Claim], name: str) -> Property:
    """The property called ``name`` among ``claims``."""
    return next(claim.property for claim in claims if claim.property.id == name)


def function_in(answer: Path, name: str, parameters: Sequence[str], *, may_raise: bool = False) -> Callable[..., Any]:
    """The function with that name in a learner's file; exceptions that it raises are reported, unless it may raise
    them.

    Raises:
        InputError: the file cannot be run, or has no such function with that number of parameters.
    """
    if not answer.is_file():
        raise InputError(f"{answer} is a folder, no file." if answer.is_dir() else f"there is no file {answer}.")
    try:
        with _limited(f"{answer} takes longer than {MOST_SECONDS} s to run."):
            known = runpy.run_path(str(answer))
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{answer} cannot be run: {_told(error)}.") from None
    text: Any = known.get(name)
    if not inspect.isfunction(text) or inspect.iscoroutinefunction(text):
        own = [key for key, value in known.items() if getattr(value, "__module__", "") == known["__name__"]]
        functions = [key for key in own if inspect.isfunction(known[key]) and key != name]
        wanted = f"{name}({', '.join(parameters)})"
        kind = "plain function" if callable(text) else "function"
        raise InputError(f"{answer} has no {kind} {wanted}.{nearest(name, functions) if functions else ''}")
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
    """End a learner's code with ``message`` after MOST_SECONDS, if the system has such a timer."""
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


def _truth(value: BoolLike | None) -> BoolLike:
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
        told = story(result.run) if result.run is not None else f"It holds in {result.bounds}."
    return Step(asked=asked, verdict=met, told=told)
