"""Refinement: a machine that does no more than another, one that does, and what is not known."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rocketproof.checkers.catalogue import refinement_rows
from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.refinement import check_refinement
from rocketproof.checkers.run import story
from rocketproof.checkers.suite import Options, run_suite
from rocketproof.model.kernel import Configuration, Domain, Int, Machine, ModelError, State
from rocketproof.model.kernel.refinement import Refinement
from rocketproof.properties.refinements import refinement_claims
from rocketproof.properties.verdict import Verdict


class Lamp(Domain, size="lamps", label="l"):
    """Lamps."""


def switches(lamps: int | str = 2) -> Configuration:
    """Any lamp goes on or off at any time."""
    machine = Machine("switches")
    machine.constant("lamps", 2, low=1)
    machine.variable("lit", bool, Lamp)

    @machine.action
    def turn(s: State, l: Lamp) -> None:  # noqa: E741
        s.lit[l] = ~s.lit[l]

    return machine.configure(lamps=lamps)


def dimmers(lamps: int | str = 2, *, all_off: bool = False) -> Configuration:
    """Lamps have a brightness of 0 to 2, which goes up one at a time; perhaps all go off at once."""
    machine = Machine("dimmers")
    machine.constant("lamps", 2, low=1)
    machine.variable("level", Int(0, 2), Lamp)

    @machine.action
    def brighter(s: State, l: Lamp) -> None:  # noqa: E741
        s.require(s.level[l] < 2)
        s.level[l] = s.level[l] + 1

    @machine.action(when=lambda k: all_off)
    def dark(s: State) -> None:
        s.level = 0

    return machine.configure(lamps=lamps)


def lit(s: State) -> Mapping[str, Any]:
    return {"lit": lambda item: s.level[item] > 0}


def dimmed(lamps: int | str = 2, *, all_off: bool = False, mapping: Any = lit, steps: int = 1) -> Refinement:
    concrete = dimmers(lamps, all_off=all_off)
    return Refinement(concrete=concrete, abstract=switches(lamps), mapping=mapping, steps=steps)


def test_each_step_is_one_of_the_other_machine_or_changes_nothing_there() -> None:
    result = check_refinement("dim", dimmed())
    assert (result.verdict, result.run) == (Verdict.HOLDS, None)
    assert result.bounds == "all 9 states, 12 transitions; 4 different steps of switches"


def test_a_step_without_counterpart_is_shown_with_the_shortest_run_to_it() -> None:
    result = check_refinement("dim", dimmed(all_off=True))
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert [result.run.lowered.instances[number].label for number in result.run.steps] == [
        "brighter(l0)",
        "brighter(l1)",
        "dark",
    ]
    assert "dark" in story(result.run)
    assert result.explanation.splitlines() == [
        "step 3, dark, has no counterpart: no step of switches can do",
        "    lit[l0]: true → false",
        "    lit[l1]: true → false",
        "there it can do: turn(l0), turn(l1)",
    ]
    assert check_refinement("dim", dimmed(all_off=True, steps=2)).verdict is Verdict.HOLDS


def test_a_broken_mapping_is_violated() -> None:
    crossed = check_refinement("dim", dimmed(mapping=lambda s: {"lit": lambda _: s.level[0] > 0}))
    assert (crossed.verdict, crossed.run is not None and len(crossed.run)) == (Verdict.VIOLATED, 1)
    begins = check_refinement("dim", dimmed(mapping=lambda s: {"lit": lambda item: s.level[item] < 2}))
    assert (begins.verdict, begins.run is not None and len(begins.run)) == (Verdict.VIOLATED, 0)
    assert begins.explanation.startswith("it begins where the abstract machine does not:\n    lit[l0]: false → true")


def test_what_is_not_searched_or_says_nothing_is_unknown() -> None:
    cut = check_refinement("dim", dimmed(), limits=Limits(states=4))
    assert (cut.verdict, cut.explanation) == (Verdict.UNKNOWN, "limit of 4 states reached")
    idle = check_refinement("dim", dimmed(mapping=lambda s: {"lit": False}))
    assert (idle.verdict, idle.explanation) == (Verdict.UNKNOWN, "every step is a stutter, so the mapping says nothing")


def test_a_mapping_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError, match=r"the mapping gives 'lid', which is no variable of .*Did you mean 'lit'"):
        check_refinement("dim", dimmed(mapping=lambda s: {"lid": True}))
    with pytest.raises(ModelError, match="the mapping does not give 'lit', and dimmers"):
        check_refinement("dim", dimmed(mapping=lambda s: {}))


def test_every_search_of_the_suite_is_as_expected() -> None:
    rows = [row for row in refinement_rows() if row.engines[0] == "refine"]
    outcomes = list(run_suite(rows, Options()))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.expected for outcome in outcomes} == {Verdict.HOLDS, Verdict.VIOLATED}
    assert all(outcome.result.figures["steps"] > 20 for outcome in outcomes)


def test_a_search_of_the_suite_that_is_cut_says_unknown() -> None:
    rows = [row for row in refinement_rows() if row.id == "everything-is-consumption"][:1]
    (outcome,) = run_suite(rows, Options(engine="refine", states=100))
    assert outcome.result.verdict is Verdict.UNKNOWN


def test_without_taking_queues_real_rebalance_does_more() -> None:
    """An abstract machine in which nobody may drop a queue is refined by none in which a client dies and returns."""
    claim = next(item for item in refinement_claims() if item.id == "shares-are-any-assignment")
    still = replace(claim, abstract_constants={**claim.abstract_constants, "moves": 0})
    result = check_refinement(still.id, still.refinement())
    assert result.verdict is Verdict.VIOLATED
    assert "has no counterpart" in result.explanation
