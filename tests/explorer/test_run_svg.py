"""Pictures of runs: every step in its place, and the cells of queues as they are in the end."""

import xml.etree.ElementTree as ET

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.explorer import Rerun, rerun, run_svg
from rocketproof.explorer.picture import TRAVELS, Travel, drawn, lanes
from rocketproof.explorer.subjects import known_machines, subject
from rocketproof.model.kernel import ConfigurationError, ModelError
from rocketproof.properties.theorem import Theorem

SVG = "{http://www.w3.org/2000/svg}"
THEOREM = next(row.id for row in all_rows() if isinstance(row.subject, Theorem))
STEPS = [
    "take(c0, q0)",
    "pull(c0, q0)",
    "begin(c0, q0, m0)",
    "succeed(c0, q0, m0)",
    "drop_losing_commit(c0, q0)",
    "take(c1, q0)",
]


@pytest.fixture(scope="module")
def found() -> Rerun:
    return rerun("delivery", {}, STEPS)


def test_every_step_is_drawn_between_its_lanes(found: Rerun) -> None:
    on = lanes(found.run.lowered)
    assert on == ["c0", "c1", "q0", "·"]
    steps = [drawn(found.run.lowered.instances[number], on) for number in found.run.steps]
    assert [(step.source, step.target, step.travel, step.cargo, step.fault) for step in steps] == [
        ("c0", "q0", Travel.BOTH, "", False),
        ("c0", "q0", Travel.BOTH, "", False),
        ("c0", "c0", Travel.LOCAL, "m0", False),
        ("c0", "c0", Travel.LOCAL, "m0", False),
        ("c0", "q0", Travel.LOST, "", True),
        ("c1", "q0", Travel.BOTH, "", False),
    ]


def test_the_picture_is_well_formed_and_says_every_step(found: Rerun) -> None:
    text = run_svg(found.run, title="A commit is lost & <gone>")
    root = ET.fromstring(text)
    assert root.get("aria-label") == "A commit is lost & <gone>"
    titles = [title.text for title in root.iter(f"{SVG}title")][1:]
    assert titles[0] == "1. c0 takes q0"
    assert len(titles) == len(STEPS)
    words = [item.text for item in root.iter(f"{SVG}text")]
    assert "q0 in the end, stored offset 0" in words
    assert words.count("handled") == 1
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("machine", ["assignment", "peterson", "bounded_buffer"])
def test_a_machine_without_windows_is_drawn_as_well(machine: str) -> None:
    first = rerun(machine, {}, [])
    label = first.machine.lowered.instances[first.machine.enabled(first.machine.initial)[0]].label
    ET.fromstring(run_svg(rerun(machine, {}, [label]).run))


def test_every_action_that_has_a_way_of_travelling_exists() -> None:
    actions = {name for machine in known_machines().values() for name in machine.actions}
    assert set(TRAVELS) - actions == set()


def test_a_rerun_answers_for_variables_and_properties(found: Rerun) -> None:
    assert (found["owns[c1, q0]"], found["owns[c0, q0]"], found["committed[q0]"]) == (1, 0, 0)
    assert found.holds("offset-never-past-unfinished")
    with pytest.raises(ConfigurationError, match="there is no property 'nonsense' here"):
        found.holds("nonsense")


@pytest.mark.parametrize(
    ("name", "steps", "error", "told"),
    [
        ("delivery", ["take(c0,q0)", "take(c0,q0)"], ModelError, "step 2, take.c0,q0., cannot happen"),
        ("delivery", ["fly(c0)"], ConfigurationError, "there is no step 'fly.c0.' in delivery"),
        ("nonsense", [], ConfigurationError, "there is no machine, preset, property, known bug or file 'nonsense'"),
        (THEOREM, [], ConfigurationError, f"{THEOREM} is no property of a finite machine"),
    ],
)
def test_what_cannot_be_taken_again_is_told(name: str, steps: list[str], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        rerun(name, {}, steps)


def test_a_known_bug_is_explored_with_its_bug_in_place() -> None:
    found = subject("B7")
    assert found.configuration.machine.name == "consumption~B7"
    assert found.hunt == "offset-never-past-unfinished"
    assert found.configuration.constants["listener"] == "orderly"
