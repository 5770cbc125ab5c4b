"""Runs that are led: they pass through the steps asked for, in their order, and nothing else changes."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.passing import passing
from rocketproof.checkers.run import Run, glossary_lines, story
from rocketproof.model.kernel import ConfigurationError, ModelError
from rocketproof.properties.assignment import claims
from rocketproof.properties.claim import Claim
from rocketproof.properties.verdict import Verdict


def claim(name: str) -> Claim:
    return next(item for item in claims() if item.property.id == name)


def run_of(asked: Claim, *situations: str) -> tuple[Verdict, Run | None]:
    led = passing(asked, situations, asked.constants) if situations else asked
    result = explore(led.machine.configure(**led.constants), [led.property], idle_actions_allowed=True).results[0]
    assert result.run is None or isinstance(result.run, Run)
    return result.verdict, result.run


def sentences(run: Run | None) -> list[str]:
    assert run is not None
    return [run.lowered.instances[number].tells for number in run.steps]


def test_a_run_passes_through_the_steps_in_their_order() -> None:
    asked = claim("one-queue-one-consumer")
    verdict, shortest = run_of(asked)
    assert verdict is Verdict.VIOLATED
    assert len(sentences(shortest)) == 3
    verdict, led = run_of(asked, "C0 rebalances", "c1 rebalances")
    told = sentences(led)
    assert verdict is Verdict.VIOLATED
    first = next(number for number, sentence in enumerate(told) if sentence.startswith("c0 rebalances"))
    assert any(sentence.startswith("c1 rebalances") for sentence in told[first + 1 :])


def test_where_no_such_run_violates_it_holds() -> None:
    assert run_of(claim("one-queue-one-consumer"), "c1 rebalances", "c0 rebalances", "c1 starts")[0] is Verdict.HOLDS


def test_a_witness_is_led_as_well() -> None:
    verdict, run = run_of(claim("death-gap"), "c1 dies")
    assert verdict is Verdict.HOLDS
    assert "c1 dies" in sentences(run)


def test_no_story_tells_of_the_counter_and_the_glossary_explains_its_names() -> None:
    run = run_of(claim("death-gap"), "c1 dies")[1]
    assert run is not None
    assert "passed" not in story(run)
    lines = glossary_lines(run)
    assert lines[0] == "names:"
    assert any(line.lstrip().startswith("owns[c, q]") for line in lines)
    assert not any("passed" in line for line in lines)


def test_a_step_that_there_is_not_is_told_with_near_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"no step of assignment is 'c1 dyes'\. Did you mean 'c1 dies'"):
        passing(claim("death-gap"), ["c1 dyes"], claim("death-gap").constants)


def test_what_is_about_whole_runs_cannot_be_led() -> None:
    asked = claim("disagreement-ends")
    with pytest.raises(ModelError, match="is of kind settles"):
        passing(asked, ["c1 starts"], asked.constants)
