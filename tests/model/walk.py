"""Walks: take named actions of a configuration in the plain form, and look at single variables in between."""

from __future__ import annotations

from rocketproof.model.kernel import Machine, trace
from rocketproof.model.kernel.plain import PlainMachine


class Walk:
    """A run of a machine, one named action after the other; ``walk["owns[c0, q0]"]`` is a variable's value now."""

    def __init__(self, machine: Machine, **constants: int | str) -> None:
        self._plain = PlainMachine(trace(machine.configure(**constants)))
        self._numbers = {instance.label: instance.number for instance in self._plain.traced.instances}
        self._cells = {cell.label: number for number, cell in enumerate(self._plain.traced.cells)}
        self._state = self._plain.initial

    def __call__(self, *labels: str) -> Walk:
        """Take the actions ``labels``, each of which must be possible."""
        for label in labels:
            assert label in self._numbers, f"{label} is none of {', '.join(self._numbers)}"
            following = self._plain.step(self._state, self._numbers[label])
            assert following is not None, f"{label} is not possible; possible are {', '.join(self.possible())}"
            self._state = following
        return self

    def __getitem__(self, cell: str) -> int:
        return self._state[self._cells[cell]]

    def possible(self) -> list[str]:
        """The actions that can happen now."""
        instances = self._plain.traced.instances
        return [instances[number].label for number in self._plain.enabled(self._state)]
