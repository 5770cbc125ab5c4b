"""Runs that are led: they pass through the steps asked for, in their order, and nothing else changes."""

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.passing import passing
from rocketproof.checkers.run import Run, glossary_lines, story
from rocketproof.model.kernel import ConfigurationError
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


def led_liveness(asked: Claim, *situations: str) -> tuple[Verdict, list[str]]:
    led = passing(asked, situations, asked.constants)
    result = check_eventually(led.machine.configure(**led.constants), led.property)
    assert result.run is None or isinstance(result.run, Run)
    return result.verdict, sentences(result.run) if result.run is not None else []


def claimed(name: str, **constants: int | str) -> Claim:
    subjects = (row.subject for row in all_rows() if row.id == name and constants.items() <= row.constants.items())
    return next(subject for subject in subjects if isinstance(subject, Claim))


def test_runs_that_never_settle_are_led() -> None:
    asked = claimed("disagreement-ends", lost_notices=1)
    assert led_liveness(asked, "c1 rebalances") == (
        Verdict.VIOLATED,
        [
            "c1 starts",
            "the heartbeat of c1 reaches b0",
            "the notification to c0 is lost",
            "c1 rebalances with the member list of b0",
        ],
    )
    assert led_liveness(asked, "c1 rebalances", "notification to c0 is lost", "c1 starts")[0] is Verdict.HOLDS


def test_what_is_owed_since_before_the_situations_stays_owed() -> None:
    """The message is owed from its first state on; a run in which it was handled before the queue is lost is fine."""
    asked = claimed("every-message-is-handled", lost_pulls=1, pulls="whole")
    verdict, told = led_liveness(asked, "c0 drops q0", "c0 takes q0")
    assert (verdict, told) == (
        Verdict.VIOLATED,
        ["c0 takes q0", "c0 drops q0", "c0 takes q0", "c0 loses its pull request for q0"],
    )
    handled = ["listener of c0 succeeds with m0", "listener of c0 succeeds with m1", "c0 loses its pull request"]
    assert led_liveness(asked, *handled)[0] is Verdict.HOLDS


def test_a_goal_owed_from_the_start_is_not_missed_once_it_was_reached() -> None:
    asked = claimed("progress-is-stored", hangs=1)
    verdict, told = led_liveness(asked, "listener of c0 succeeds")
    assert verdict is Verdict.VIOLATED
    assert (told[4], told[-1]) == (
        "the listener of c0 succeeds with m1 of q0",
        "the listener of c0 hangs with m0 of q0",
    )
