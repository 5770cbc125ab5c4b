"""Witnesses: from a solver's model of a run to that run in the plain Python form, or to the reason why this is
impossible.

A configuration with unbounded constants has no plain form. Its run is replayed in the finite configuration with the
numbers that the solver chose, which is an ordinary instance of the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import z3

from ...model.kernel import ConfigurationError, Lowered, ModelError, Predicate, lower
from ...model.kernel.plain import PlainMachine
from ..run import Run, replay, story
from .solving import Effort, Model, Solver
from .transition import Transition

SMALL = 4
"""Number of values of each unbounded constant, from 1 or its lowest on, that are tried to make a model small."""


class NotReplayable(Exception):
    """The run of a model cannot be replayed; the message says why."""


def small_model(solver: Solver, transition: Transition, effort: Effort) -> Model:
    """The model of a question just answered "sat", with unbounded constants made small if that is cheap."""
    model = solver.model()
    chosen = 0
    for name, low in transition.unbounded_constants().items():
        for value in range(max(1, low), max(1, low) + SMALL):
            solver.push()
            solver.add(z3.Int(name) == value)
            if effort.ask(solver, share=0.1) == z3.sat:
                model = solver.model()
                chosen += 1
                break
            solver.pop()
    if chosen:
        solver.pop(chosen)
    return model


def replay_model(
    model: Model, transition: Transition, length: int, predicates: Mapping[str, Predicate]
) -> tuple[Run, PlainMachine]:
    """Replay the run of ``length`` steps that a model describes.

    Raises:
        NotReplayable: the configuration stays infinite even with numbers for its constants.
        ModelError: the plain form disagrees with the model (an error of the engine).
    """
    machine = PlainMachine(finite_counterpart(model, transition, predicates))
    return replay(machine, _steps(model, transition, length, machine)), machine


def replay_to_outside(model: Model, transition: Transition, length: int) -> ModelError:
    """The error of a run whose step after the first ``length`` ones writes outside a declared domain, with its story.

    Raises:
        NotReplayable: as :func:`replay_model`.
        ModelError: the plain form disagrees with the model (an error of the engine).
    """
    machine = PlainMachine(finite_counterpart(model, transition, {}))
    *steps, last = _steps(model, transition, length + 1, machine)
    run = replay(machine, steps)
    try:
        machine.step(run.states[-1], last)
    except ModelError as error:
        return ModelError(f"{error}\nThe run that leads there:\n{story(run)}")
    label = machine.lowered.instances[last].label
    raise ModelError(
        f"prove: the solver lets {label} write outside a domain, the plain form does not, after:\n{story(run)}"
    )


def finite_counterpart(model: Model, transition: Transition, predicates: Mapping[str, Predicate]) -> Lowered:
    """The configuration itself if it is finite, otherwise the one with the numbers that a model gives its constants.

    Raises:
        NotReplayable: it stays infinite.
    """
    lowered = transition.lowered
    if lowered.is_finite:
        return lowered
    constants = dict(lowered.configuration.constants)
    constants.update({name: model.number(z3.Int(name)) for name in transition.unbounded_constants()})
    try:
        finite = lower(lowered.configuration.machine.configure(**constants), predicates)
    except (ModelError, ConfigurationError) as error:
        raise NotReplayable(f"with the solver's numbers, {error}") from error
    reason = finite.unbounded_reason()
    if reason is not None:
        raise NotReplayable(f"in {finite.configuration} {reason}")
    return finite


def _steps(model: Model, transition: Transition, length: int, machine: PlainMachine) -> list[int]:
    numbers = {
        (instance.action.name, tuple(instance.arguments.values())): instance.number
        for instance in machine.lowered.instances
    }
    steps = []
    for position in range(length):
        instance = transition.lowered.instances[model.number(transition.choice(position))]
        taken = (instance.action.name, transition.arguments(model, position, instance))
        if taken not in numbers:
            raise ModelError(
                f"prove: the solver takes {taken} in step {position + 1}, which the machine does not have."
            )
        steps.append(numbers[taken])
    return steps
