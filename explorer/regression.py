"""Runs by the labels of their steps: for regression tests that the explorer writes, and for pictures of a given run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..checkers.run import Run, replay
from ..model.kernel import ConfigurationError, ModelError, nearest, readable
from ..model.kernel.plain import PlainMachine, StateTuple
from .model_data import traced_with
from .subjects import claims_about, named


@dataclass(frozen=True)
class Rerun:
    """A run that was repeated in the plain Python form, with the claims about its configuration."""

    machine: PlainMachine
    run: Run

    @property
    def states(self) -> tuple[StateTuple, ...]:
        """The states passed, the initial one first."""
        return self.run.states

    def holds(self, property: str, *, at: int = -1) -> bool:
        """Whether a property of states holds in the last state, or in the one after ``at`` steps.

        Raises:
            ConfigurationError: the property cannot be evaluated in the configuration.
        """
        return self._asked(property).holds(property, self.states[at])

    def _asked(self, property: str) -> PlainMachine:
        """The machine with a property; one that is claimed about another configuration is evaluated in this one."""
        if property in self.machine.lowered.predicates:
            return self.machine
        configuration = self.machine.lowered.configuration
        known = claims_about(configuration.machine)
        if property not in known or not readable(configuration, {property: known[property].property.holds}):
            raise ConfigurationError(f"there is no property {property!r} here.{nearest(property, known)}")
        return PlainMachine(traced_with(configuration, [known[property]]))

    def __getitem__(self, label: str) -> int:
        """The value of a variable in the last state, by its label, such as ``committed[q0]``; truth values as 0 and 1.

        Raises:
            KeyError: there is no such variable in this configuration.
        """
        cells = {cell.label: value for cell, value in zip(self.machine.lowered.cells, self.states[-1], strict=True)}
        return cells[label]


def rerun(name: str, constants: Mapping[str, int | str], steps: Sequence[str], *, loop: int | None = None) -> Rerun:
    """Repeat a run.

    Args:
        name: a machine, preset, property or known bug, as for ``rocketproof explore``.
        constants: where the configuration differs from the named one.
        steps: labels of the actions, such as ``take(c0, q0)``, with or without spaces.
        loop: for a run that never ends: the state to which the last step returns.

    Raises:
        ConfigurationError: there is no such subject, or no step with that label.
        ModelError: a step is not enabled where it is taken.
    """
    found = named(name, constants)
    lowered = traced_with(found.configuration, found.claims)
    numbers = {_short(instance.label): instance.number for instance in lowered.instances}
    for step in steps:
        if _short(step) not in numbers:
            raise ConfigurationError(f"there is no step {step!r} in {name}.{nearest(_short(step), numbers)}")
    machine = PlainMachine(lowered)
    taken = [numbers[_short(step)] for step in steps]
    state = machine.initial
    for position, number in enumerate(taken):
        following = machine.step(state, number)
        if following is None:
            raise ModelError(f"step {position + 1}, {steps[position]}, cannot happen after those before it.")
        state = following
    return Rerun(machine, replay(machine, taken, loop=loop))


def _short(label: str) -> str:
    return label.replace(" ", "")
