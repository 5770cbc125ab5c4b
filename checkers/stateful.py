"""Hypothesis state machines generated from kernel machines: random runs that shrink to short ones.

``stateful(configuration, properties).TestCase`` is a test case for pytest or unittest. ``simulate`` uses the same
state machine to shrink what its faster walks have found, and the engine ``stateful`` to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ..model.kernel import Configuration, Lowered, ModelError, lower
from ..model.kernel.plain import PlainMachine, StateTuple
from ..properties.property import Kind, Property


class PropertyViolated(AssertionError):
    """An ALWAYS property does not hold at the end of a run.

    Attributes:
        property: the property.
        steps: numbers of the instances taken from the initial state on.
    """

    def __init__(self, violated: Property, steps: Sequence[int], lowered: Lowered) -> None:
        labels = ", ".join(lowered.instances[number].label for number in steps)
        super().__init__(f"{violated.id} does not hold after {len(steps)} steps: {labels}")
        self.property = violated
        self.steps = tuple(steps)


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


@st.composite
def _next_choice(draw: st.DrawFn) -> Choice:
    machine: KernelStateMachine = draw(st.runner())
    return machine.choose(draw)


class KernelStateMachine(RuleBasedStateMachine):
    """The common part of all generated state machines; subclassed by :func:`stateful_machine`.

    There is one rule for all actions. With a rule for each, Hypothesis would switch some of them off for a run and
    discard the run if no other can happen, which is the case for most runs of a protocol. Here a run merely *avoids*
    some actions.

    Attributes:
        plain: the machine in its plain Python form.
        always: the properties checked in every state.
        actions: the instances of each action.
        now: the current state.
        taken: numbers of the instances taken so far.
    """

    plain: ClassVar[PlainMachine]
    always: ClassVar[tuple[Property, ...]]
    actions: ClassVar[tuple[tuple[Choice, ...], ...]]

    def __init__(self) -> None:
        super().__init__()
        self.now: StateTuple = self.plain.initial
        self.taken: list[int] = []
        self._enabled: dict[int, bool] = {}
        self._avoided: frozenset[int] | None = None

    def possible(self) -> list[int]:
        """Positions in ``actions`` of the actions that can happen now."""
        return [number for number, instances in enumerate(self.actions) if any(map(self._can, instances))]

    def choose(self, draw: st.DrawFn) -> Choice:
        """Draw an action and then one of its instances, so that many instances of one action do not drown another."""
        if self._avoided is None:
            flags = draw(st.lists(st.booleans(), max_size=len(self.actions)))
            self._avoided = frozenset(number for number, flag in enumerate(flags) if flag)
        possible = self.possible()
        if not possible:
            return _STUCK
        wanted = [number for number in possible if number not in self._avoided] or possible
        return draw(st.sampled_from(self.actions[draw(st.sampled_from(wanted))]).filter(self._can))

    @rule(instance=_next_choice())
    def step(self, instance: Choice) -> None:
        """Take an enabled instance; a run that is stuck stays where it is."""
        if instance is not _STUCK:
            following = self.plain.step(self.now, int(instance))
            assert following is not None, f"{instance} is not enabled"
            self.now = following
            self.taken.append(int(instance))
            self._enabled = {}

    @invariant()
    def properties_hold(self) -> None:
        """Raise :class:`PropertyViolated` if an ALWAYS property does not hold."""
        for prop in self.always:
            if not self.plain.holds(prop.id, self.now):
                raise PropertyViolated(prop, self.taken, self.plain.lowered)

    def _can(self, number: int) -> bool:
        if number not in self._enabled:
            self._enabled[number] = self.plain.step(self.now, number) is not None
        return self._enabled[number]


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
    }
    return type(title, (KernelStateMachine,), members)


def violation(
    machine: type[KernelStateMachine],
    *,
    seed: int,
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
    try:
        run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings)
    except PropertyViolated as found:
        return found
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
    (0), the only rule is not switched off (False), before the first step no action is avoided (False), then the action
    and the instance if there are several. A version of Hypothesis that draws differently would find nothing to shrink.
    """
    choices: list[bool | int] = []
    run = machine()
    for number in steps:
        choices.extend((False, False) if choices else (False, 0, False, False))
        possible = run.possible()
        action, place, instance = next(
            (action, place, instance)
            for action, instances in enumerate(run.actions)
            for place, instance in enumerate(instances)
            if instance == number
        )
        if len(possible) > 1:
            choices.append(possible.index(action))
        if len(run.actions[action]) > 1:
            choices.append(place)
        run.step(instance)
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
