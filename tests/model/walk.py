"""A walk through a machine: actions taken one after another by label, and the values they leave."""

from __future__ import annotations

from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.result import Result
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import Configuration, Machine, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


class Walk:
    """A run of a machine, one action after the other; ``walk["owns[c0, q0]"]`` is a variable's value now.

    Without a machine it is one of the consumption machine. Labels given at first are taken at once.
    """

    def __init__(self, *begin: Machine | str, **constants: int | str) -> None:
        machines = [item for item in begin if isinstance(item, Machine)]
        self.machine = PlainMachine(lower((machines[0] if machines else consumption).configure(**constants)))
        lowered = self.machine.lowered
        self.numbers = {instance.label: instance.number for instance in lowered.instances}
        self.labels = {cell.label: number for number, cell in enumerate(lowered.cells)}
        self.cells = {cell.key: number for number, cell in enumerate(lowered.cells)}
        self.state = self.machine.initial
        self.do(*(item for item in begin if isinstance(item, str)))

    def do(self, *labels: str) -> Walk:
        """Take the actions ``labels``, each of which must be possible."""
        for label in labels:
            assert label in self.numbers, f"{label} is none of {', '.join(self.numbers)}"
            following = self.machine.step(self.state, self.numbers[label])
            assert following is not None, f"{label} is not possible; possible are {', '.join(self.possible())}"
            self.state = following
        return self

    __call__ = do

    def may(self, label: str) -> bool:
        """Whether the action ``label`` is possible now."""
        return self.machine.step(self.state, self.numbers[label]) is not None

    def possible(self) -> list[str]:
        """The actions that can happen now."""
        instances = self.machine.lowered.instances
        return [instances[number].label for number in self.machine.enabled(self.state)]

    def enabled(self) -> set[str]:
        """The actions that can happen now, as a set."""
        return set(self.possible())

    def value(self, name: str, *index: int) -> int:
        """The value of a variable now, by name and index."""
        return int(self.state[self.cells[(name, index)]])

    def __getitem__(self, cell: str) -> int:
        return self.state[self.labels[cell]]


def judged(configuration: Configuration, subject: Property) -> Result:
    """What the usual engine says of ``subject``."""
    if subject.kind in (Kind.SETTLES, Kind.EVENTUALLY):
        return check_eventually(configuration, subject)
    return explore(configuration, [subject], idle_actions_allowed=True).results[0]


def killed(name: str, properties: dict[str, Property]) -> tuple[int, int]:
    """States of the right configuration, and steps of the run that kills the mutant ``name``; asserts both verdicts."""
    mutant = consumption.mutants[name]
    subject = properties[mutant.killed_by]
    original = judged(consumption.configure(**mutant.constants), subject)
    mutated = judged(consumption.mutated(name).configure(**mutant.wrong_constants), subject)
    assert (original.verdict, mutated.verdict) == (Verdict.HOLDS, Verdict.VIOLATED)
    assert mutated.run is not None
    return int(original.figures["states"]), len(mutated.run)
