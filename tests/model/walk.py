"""A walk through a machine: actions taken one after another by label, and the values they leave."""

from __future__ import annotations

from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.result import Result
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import Configuration, trace
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


class Walk:
    """One run of the consumption machine, begun in a configuration and moved on by labels of actions."""

    def __init__(self, *labels: str, **constants: int | str) -> None:
        self.machine = PlainMachine(trace(consumption.configure(**constants)))
        self.numbers = {instance.label: instance.number for instance in self.machine.traced.instances}
        self.cells = {cell.key: number for number, cell in enumerate(self.machine.traced.cells)}
        self.state = self.machine.initial
        self.do(*labels)

    def do(self, *labels: str) -> Walk:
        """Take the actions ``labels``; each must be enabled."""
        for label in labels:
            following = self.machine.step(self.state, self.numbers[label])
            assert following is not None, f"{label} is not enabled"
            self.state = following
        return self

    def may(self, label: str) -> bool:
        """Whether the action ``label`` is enabled now."""
        return self.machine.step(self.state, self.numbers[label]) is not None

    def value(self, name: str, *index: int) -> int:
        """The value of a variable now."""
        return int(self.state[self.cells[(name, index)]])


def judged(configuration: Configuration, subject: Property) -> Result:
    """What the usual engine says of ``subject``."""
    if subject.kind in (Kind.SETTLES, Kind.EVENTUALLY):
        return check_eventually(configuration, subject)
    return explore(configuration, [subject], idle_actions_allowed=True).results[0]


def killed(name: str, properties: dict[str, Property]) -> tuple[int, int]:
    """States of the right configuration, steps of the run that kills the mutant ``name``; both verdicts are asserted."""
    mutant = consumption.mutants[name]
    subject = properties[mutant.killed_by]
    original = judged(consumption.configure(**mutant.constants), subject)
    mutated = judged(consumption.mutated(name).configure(**mutant.wrong_constants), subject)
    assert (original.verdict, mutated.verdict) == (Verdict.HOLDS, Verdict.VIOLATED)
    assert mutated.run is not None
    return int(original.figures["states"]), len(mutated.run)
