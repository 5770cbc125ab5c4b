"""Runs of the machines as they are conform, event by event; counterexamples of known bugs do not, or it is said why."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from rocketproof.model.kernel import Machine
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.model.presets import PRESETS, Preset
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.conformance import Conformance

from ..generate.recorder.judged import continued
from ..generate.recorder.test_right_runs import CONFIGURATIONS, Constants
from ..generate.recorder.test_wrong_runs import ENTRIES, counterexample
from .recorded import Walks, followed

WITHOUT: dict[str, str] = {"requests under way": "removals"}
"""PL-19: where bytes are gone the position moves on; the machine without expressions takes it for queueOffsetMax."""


FEW = range(10)
"""Seeds of the runs of a preset that are tried every time."""

MANY = range(10, 60)
"""Seeds of the others, which are slow."""


def holds_of_all(walks: Walks, seeds: range, steps: int, folder: Path) -> None:
    found = [(seed, followed(walks.run(seed, steps), folder)) for seed in seeds]
    assert [(seed, answer.mismatches[0]) for seed, answer in found if answer.mismatches] == []
    assert all(answer.events == answer.followed + sum(answer.passed_over.values()) for _, answer in found)


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_random_runs_of_each_preset_conform(preset: Preset, seeds: range, tmp_path: Path) -> None:
    holds_of_all(Walks(preset.configuration()), seeds, 50, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_random_runs_of_every_configuration_conform(name: str, tmp_path: Path) -> None:
    machine: Machine
    constants: Constants
    machine, constants = CONFIGURATIONS[name]
    given = {key: value for key, value in constants.items() if key != WITHOUT.get(name)}
    holds_of_all(Walks(machine.configure(**given)), range(8), 80, tmp_path)


EVERYTHING = 8
"""More messages than these runs have."""


def shown_of(direct: Direct, messages: range) -> dict[str, list[int]]:
    """The state, of these messages."""
    families = direct.frame.families.values()
    sizes = {family.name: [min(dim.size, len(messages)) for dim in family.dims] for family in families}
    return {
        name: [direct.get(name, *index) for index in itertools.product(*map(range, size))]
        for name, size in sizes.items()
    }


LOOKS = {"delivery": 249, "orderly": 127}
"""Preset → how many steps its few runs take in the machine."""


@pytest.mark.parametrize("name", LOOKS)
def test_a_step_that_looks_at_few_messages_is_the_one_that_looks_at_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, focus = Direct.step, Direct.focus
    looked: dict[str, Any] = {}
    compared: list[tuple[object, object]] = []

    def noted(self: Direct, **domains: Any) -> None:
        looked.update(domains)
        focus(self, **domains)

    def both(self: Direct, action: str, **arguments: Any) -> bool:
        messages, mark = range(1 + max(looked["Message"], default=0) + EVERYTHING), self.mark()
        focus(self, Message=messages)
        taken = step(self, action, **arguments)
        everything = taken and shown_of(self, messages)
        self.undo(mark)
        focus(self, **looked)
        taken = step(self, action, **arguments)
        compared.append((everything, taken and shown_of(self, messages)))
        return taken

    monkeypatch.setattr(Direct, "focus", noted)
    monkeypatch.setattr(Direct, "step", both)
    preset = next(preset for preset in PRESETS if preset.name == name)
    holds_of_all(Walks(preset.configuration()), FEW, 50, tmp_path)
    assert [pair for pair in compared if pair[0] != pair[1]] == []
    assert len(compared) == LOOKS[name]


SEEN = {
    "B2": "the client is sent to 1",
    "B4": "the store has 1",
    "B6": "the store has none",
    "B7": "the in-memory offset is 0",
    "B7-broadcast": "the client never had this offset in memory; it has 0",
    "B8-busy": "the in-memory offset is 0",
    "B9": "the request that is under way asks from 0",
    "C2": "only a message whose listener failed is sent back",
    "C3": "only a message whose listener failed is sent back",
    "C5": "a listener has this message already",
    "D1": "the message has failed, and was not sent back",
    "D7": "only a message whose listener failed is sent back",
    "E6": "the next batch begins with 0",
    "F2": "only a message that a listener has is cleaned (PQ-9)",
}
"""Bug in the texts of one queue → what the first mismatch of its counterexample says."""

SLOW = {"D7", "F2"}


def shown(mutant: str, folder: Path) -> Conformance:
    """What following the counterexample gives; one that ends too early goes on for a while."""
    run = counterexample(mutant)
    if run.loop is None:
        run = continued(PlainMachine(run.lowered), run, 1, steps=12)
    return followed(run, folder)


@pytest.mark.parametrize(
    "mutant", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SEEN]
)
def test_the_counterexample_of_a_bug_is_no_behaviour_of_the_model(mutant: str, tmp_path: Path) -> None:
    answer = shown(mutant, tmp_path)
    assert answer.verdict is Verdict.VIOLATED
    assert answer.mismatches[0].why == SEEN[mutant]


RIGHT = {
    "A3": "the expression of each client is right by itself, and what the broker passes over is not in the window",
    "A4": "events have no tags: what a pull passes over looks alike with either expression",
    "B1": "an offset that is read as 0 is the right start of a group without one, which is all this trace has",
    "B8": "an offset that does not move is right for a while: progress is a matter of time",
    "B10": "as B8",
    "E3-orderly": "after 20 s a queue may be unlocked while its listener runs, and no event says when time counts from",
    "E7": "a queue that stands still does nothing that is wrong",
    "F1": "as E7: the counter of a window is in no event",
    "F4": "as E7",
    "G4": "what is not written leaves no sign",
}
"""Bug or wrong constant → why its counterexample is a behaviour of the model of one queue all the same."""


@pytest.mark.parametrize("mutant", RIGHT)
def test_what_is_right_step_by_step_conforms(mutant: str, tmp_path: Path) -> None:
    assert shown(mutant, tmp_path).mismatches == ()


def test_mutants_are_known() -> None:
    assert set(SEEN) | set(RIGHT) <= set(ENTRIES)
