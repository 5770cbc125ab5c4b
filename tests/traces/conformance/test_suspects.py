"""Suspects: bugs in the texts of one queue explain their own recordings, and what the right model allows needs none."""

from pathlib import Path

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.presets import PRESETS
from rocketproof.traces.conformance.streams import Place
from rocketproof.traces.conformance.suspects import explained, possible
from rocketproof.traces.format.schema import Group
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

from ..generate.recorder.test_wrong_runs import counterexample
from .recorded import Walks

PLACE = Place(group="billing", topic="Orders", broker="broker-0", queue=0)

WHOLLY = {
    "B2": ("B2",),
    "B7": ("B7",),
    "B8-busy": ("B8-busy",),
    "C5": ("C5",),
    "E6": ("E6",),
    "B9": ("B9",),
}
"""Bug → the bugs with which the whole queue of its counterexample is a behaviour of the model."""


@pytest.mark.parametrize("mutant", WHOLLY)
def test_which_bugs_explain_a_counterexample(mutant: str, tmp_path: Path) -> None:
    recording = record_run(counterexample(mutant))
    path = tmp_path / "trace.jsonl"
    write_jsonl(path, recording.header, recording.events)
    (one,) = explained(open_trace([path]), [PLACE])
    assert (one.place, one.wholly, one.cut) == (PLACE, WHOLLY[mutant], False)


def test_what_the_right_model_allows_is_asked_of_no_bug(tmp_path: Path) -> None:
    preset = next(preset for preset in PRESETS if preset.name == "delivery")
    run = Walks(preset.configuration()).run(1, 50)
    recording = record_run(run)
    path = tmp_path / "trace.jsonl"
    write_jsonl(path, recording.header, recording.events)
    assert explained(open_trace([path]), [PLACE]) == ()
    assert explained(open_trace([path]), []) == ()


def test_which_bugs_a_group_may_have() -> None:
    def ids(group: Group, *, filtered: bool = False) -> set[str]:
        return {one.id for one in consumption.mutants.values() if possible(one, group, filtered=filtered)}

    assert "E6" in ids(Group(listener="orderly")) - ids(Group())
    assert "G4" in ids(Group(mode="broadcasting")) - ids(Group())
    assert "B8" in ids(Group(), filtered=True) - ids(Group())
