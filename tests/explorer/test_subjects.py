"""What can be explored by name: also a machine with a known bug in it, as pages and copied tests name it."""

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.mutants import MachineMutant, entries
from rocketproof.explorer import rerun
from rocketproof.explorer.subjects import data_of, named, of_bug, subject
from rocketproof.model.assignment import assignment
from rocketproof.model.kernel import ConfigurationError


@pytest.mark.slow
def test_every_machine_of_a_known_bug_is_found_by_its_name() -> None:
    bugs = [bug for bug in entries(all_rows()) if isinstance(bug, MachineMutant)]
    assert len(bugs) > 50
    for bug in bugs:
        given = of_bug(bug).configuration
        changed = {
            name: value for name, value in given.constants.items() if value != given.machine.constants[name].default
        }
        assert subject(given.machine.name, changed).configuration.brief() == given.brief()


def test_constants_of_a_machine_with_a_bug_are_told_from_the_usual_ones() -> None:
    usual = subject("consumption").configuration.constants
    assert subject("consumption~B7").configuration.constants == usual
    assert subject("B7").configuration.constants != usual
    assert "offset-never-past-unfinished" in [claim.property.id for claim in subject("consumption~B7").claims]


@pytest.mark.parametrize("name", ["assignment~B7", "consumption~", "~B7", "consumption~B77"])
def test_a_machine_with_another_or_no_bug_is_unknown(name: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no machine, preset, property, known bug or file"):
        subject(name)


def test_a_group_larger_than_those_that_are_searched_can_be_stepped_through() -> None:
    constants: dict[str, int | str] = {"consumers": 9, "queues": 12, "running": 0}
    with pytest.raises(ConfigurationError, match="consumers is a whole number from 1 to"):
        assignment.configure(**constants)
    run = rerun("assignment", constants, ["start(c8)"])
    assert run.holds("one-queue-one-consumer")
    assert named("assignment", {"consumers": 12, "queues": 64}).configuration.constants["queues"] == 64


def test_a_limit_that_there_is_not_is_no_light() -> None:
    lights = {claim.property.id for claim in subject("delivery").others}
    assert "topic-threshold-kept" in lights
    shown = {told["id"] for told in data_of(subject("delivery"))[1]["properties"]}
    limits = {"size-threshold-kept", "large-message-waits-alone", "topic-threshold-kept", "topic-threshold-divided"}
    assert shown & limits == set()


def test_a_group_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="consumers is a whole number from 1 to 12"):
        named("assignment", {"consumers": 13})
