"""Hypothesis state machines generated from kernel machines: random runs that shrink to short ones.

``stateful(configuration, properties).TestCase`` is a test case for pytest or unittest. ``simulate`` uses the same
state machine to shrink what its faster walks have found, and the engine ``stateful`` to find.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar
from unittest.mock import patch

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ..model.kernel import Configuration, Lowered, ModelError, lower
from ..model.kernel.plain import PlainMachine, StateTuple
from ..properties.property import Kind, Property


class PropertyViolated(AssertionError):
    """An ALWAYS property does not hold at the end of a run."""

    def __init__(self, violated: Property, steps: Sequence[int], lowered: Lowered) -> None:
        labels = ", ".join(lowered.instances[number].label for number in steps)
        super().__init__(f"{violated.id} does not hold after {len(steps)} steps: {labels}")
        self.property = violated
        self.steps = tuple(steps)  # numbers of the instances taken from the initial state on


class Choice(int):
    """The number of an instance; Hypothesis prints its label."""

    label: str

    def __new__(cls, number: int, label: str) -> Choice:
        """Make the choice of instance ``number``."""
        choice = super().__new__(cls, number)
        choice.label = label
        return choice

    def __repr__(self) -> str:
        return self.label


_STUCK = Choice(-1, "nothing, since nothing can happen")


_RAREST = 4
_TRIES = 32
_PLACES = 1 << 16
_EXPLORES = st.integers(0, 3)
"""The simplest runs do not explore: three of four do, but they are hard to shrink."""
_PLACE = st.integers(0, _PLACES - 1)
"""One strategy for all draws of steps: building strategies is what takes time."""


@st.composite
def _next_choice(draw: st.DrawFn) -> Choice:
    machine: KernelStateMachine = draw(st.runner())
    return machine.choose(draw)


class KernelStateMachine(RuleBasedStateMachine):
    """The common part of all generated state machines; subclassed by :func:`stateful_machine`.

    There is one rule for all actions. With a rule for each, Hypothesis would switch some of them off for a run and
    discard the run if no other can happen, which is the case for most runs of a protocol. Here some actions are merely
    *rare* in a run, up to 256 times rarer than others.
    """

    plain: ClassVar[PlainMachine]  # the machine in its plain Python form
    always: ClassVar[tuple[Property, ...]]  # the properties checked in every state
    actions: ClassVar[tuple[tuple[Choice, ...], ...]]  # the instances of each action
    rarities: ClassVar[st.SearchStrategy[list[int]]]  # draws for each action how rare it is in a run, from 0 to 4

    def __init__(self) -> None:
        super().__init__()
        self.now: StateTuple = self.plain.initial  # the current state
        self.taken: list[int] = []  # numbers of the instances taken so far
        self._seen: set[StateTuple] = set()
        self._following: dict[int, StateTuple | None] = {}
        self._ends = list(range(1, len(self.actions) + 1))
        self._explores = False

    def choose(self, draw: st.DrawFn) -> Choice:
        """Draw an action by its weight in this run, and one of its instances.

        If it cannot happen, or leads where a run that explores has been, others are tried, in an order that depends on
        what was drawn alone. The same number therefore tends to mean the same step if steps before it are left out.
        """
        if not self.taken:
            self._explores = draw(_EXPLORES) > 0
            self._ends = list(itertools.accumulate(4 ** (_RAREST - rarity) for rarity in draw(self.rarities)))
        place = draw(_PLACE)
        for _ in range(_TRIES):
            action, share = self._at(place)
            choices = self.actions[action]
            first = int(share * len(choices))
            for choice in choices[first:] + choices[:first]:
                following = self._after(choice)
                if following is not None and following not in self._seen:
                    return choice
            place = (place * 25173 + 13849) % _PLACES
        possible = [choice for choices in self.actions for choice in choices if self._after(choice) is not None]
        return next((choice for choice in possible if self._after(choice) not in self._seen), (*possible, _STUCK)[0])

    def place_of(self, number: int) -> int:
        """What is drawn to take an instance in a run without rare actions.

        Raises:
            ValueError: no action has such an instance.
        """
        for action, choices in enumerate(self.actions):
            if number in choices:
                return int((action + (choices.index(number) + 0.5) / len(choices)) / len(self.actions) * _PLACES)
        raise ValueError(f"no action has the instance {number}; possible are {self.actions}.")

    def _at(self, place: int) -> tuple[int, float]:
        """The action at a place, and how far in its share the place is."""
        wanted = place * self._ends[-1] / _PLACES
        action = bisect.bisect(self._ends, wanted)
        begin = self._ends[action - 1] if action else 0
        return action, 1 - (self._ends[action] - wanted) / (self._ends[action] - begin)

    def _after(self, choice: Choice) -> StateTuple | None:
        """The state after an instance; None if it cannot happen."""
        if choice not in self._following:
            self._following[choice] = self.plain.step(self.now, choice)
        return self._following[choice]

    @rule(instance=_next_choice())
    def step(self, instance: Choice) -> None:
        """Take an enabled instance; a run that is stuck stays where it is."""
        if instance is not _STUCK:
            following = self.plain.step(self.now, int(instance))
            assert following is not None, f"{instance} is not enabled"
            self.now = following
            self.taken.append(int(instance))
            if self._explores:
                self._seen.add(following)
            self._following = {}

    @invariant()
    def properties_hold(self) -> None:
        """Raise :class:`PropertyViolated` if an ALWAYS property does not hold."""
        for prop in self.always:
            if not self.plain.holds(prop.id, self.now):
                raise PropertyViolated(prop, self.taken, self.plain.lowered)


def stateful(configuration: Configuration, properties: Iterable[Property]) -> type[KernelStateMachine]:
    """The Hypothesis state machine of a configuration; its ``TestCase`` is a test.

    Raises:
        ModelError: the configuration is infinite.
    """
    always = tuple(properties)
    return stateful_machine(lower(configuration, {prop.id: prop.holds for prop in always}), always)


def stateful_machine(lowered: Lowered, properties: Iterable[Property]) -> type[KernelStateMachine]:
    """A Hypothesis state machine that takes random steps of a finite configuration.

    The ALWAYS properties are invariants; ``lowered`` must have their predicates under their ids. Other kinds are not
    checked.

    Raises:
        ModelError: the configuration is infinite, or a predicate is missing.
    """
    always = tuple(prop for prop in properties if prop.kind is Kind.ALWAYS)
    for prop in always:
        if prop.id not in lowered.predicates:
            raise ModelError(f"property {prop.id} is not lowered; give its predicate to lower(…) under that name.")
    by_action: dict[str, list[Choice]] = {}
    for instance in lowered.instances:
        by_action.setdefault(instance.action.name, []).append(Choice(instance.number, instance.label))
    title = "".join(part.capitalize() for part in lowered.configuration.machine.name.split("_"))
    members = {
        "plain": PlainMachine(lowered),
        "always": always,
        "actions": tuple(tuple(choices) for choices in by_action.values()),
        "rarities": st.lists(st.integers(0, _RAREST), min_size=len(by_action), max_size=len(by_action)),
    }
    return type(title, (KernelStateMachine,), members)


def violation(
    machine: type[KernelStateMachine],
    *,
    seed: int | str,
    runs: int,
    steps: int,
    phases: Sequence[Phase] = (Phase.generate, Phase.shrink),
    database: ExampleDatabase | None = None,
) -> PropertyViolated | None:
    """What Hypothesis finds in at most that many runs, shrunk. Deterministic; nothing is stored."""
    settings = hypothesis.settings(
        database=database,
        phases=phases,
        max_examples=runs,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        derandomize=False,
        print_blob=False,
        deadline=None,
    )
    # Hypothesis also draws numbers that it reads in the source of whatever modules are loaded: without these, a run
    # depends on its arguments alone.
    providers.CONSTANTS_CACHE.cache.clear()
    with patch.object(providers, "_get_local_constants", Constants):
        try:
            run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings)
        except PropertyViolated as found:
            return found
        finally:
            providers.CONSTANTS_CACHE.cache.clear()
    return None


def shrink(lowered: Lowered, violated: Property, steps: Sequence[int]) -> tuple[int, ...]:
    """Let Hypothesis shrink a run that ends where ``violated`` does not hold."""
    machine = stateful_machine(lowered, [violated])
    start = _Start(choices_of(machine, steps))
    short = violation(
        machine, seed=0, runs=100, steps=len(steps) + 1, phases=(Phase.reuse, Phase.shrink), database=start
    )
    return tuple(steps) if short is None else short.steps


def choices_of(machine: type[KernelStateMachine], steps: Sequence[int]) -> list[bool | int]:
    """The choices with which Hypothesis makes ``machine`` take ``steps``.

    They come in the order in which Hypothesis draws: go on (False), before the first step how many rules to switch off
    (0), the only rule is not switched off (False), before the first step that it does not explore (0) and that no
    action is rare (0 for each), then the place of the step. A version of Hypothesis that draws differently would find
    nothing to shrink.
    """
    choices: list[bool | int] = []
    run = machine()
    for number in steps:
        choices.extend((False, False) if choices else (False, 0, False, 0, *(0 for _ in run.actions)))
        choices.append(run.place_of(number))
    return choices


class _Start(ExampleDatabase):
    """A database with one example for every key: the run from which Hypothesis starts shrinking."""

    def __init__(self, choices: Sequence[bool | int]) -> None:
        super().__init__()
        # The surplus choice at the end shows Hypothesis that this example was not shrunk before.
        self._example = choices_to_bytes((*choices, False))

    def fetch(self, key: bytes) -> Iterator[bytes]:
        yield self._example

    def save(self, key: bytes, value: bytes) -> None:
        """Keep nothing."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Keep nothing."""
