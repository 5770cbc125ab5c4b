"""Suites: which engine judges a row, rows that share a search, and the row that every action happens."""

from dataclasses import replace
from typing import Any

import pytest

from rocketproof.checkers.catalogue import all_rows, default_rows
from rocketproof.checkers.engines import ENGINES
from rocketproof.checkers.suite import Options, Row, claim_rows, engine_for, run_suite
from rocketproof.model.kernel import UNBOUNDED, ConfigurationError, Int, Machine, ModelError, State, implies, maximum
from rocketproof.properties.claim import Claim
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


def counting(*, stuck_at: int) -> Machine:
    """Counts to 9; starting over is possible at ``stuck_at`` only, which may lie beyond."""
    machine = Machine("counting")
    machine.constant("steps", 1, low=1, high=3)
    machine.variable("number", Int(0, 9))

    @machine.action
    def increase(s: State) -> None:
        s.require(s.number + s.steps <= 9)
        s.number += s.steps

    @machine.action
    def start_over(s: State) -> None:
        s.require(s.number * s.number == stuck_at)
        s.number = 0

    return machine


def claim(machine: Machine, name: str, holds: Any, *, expected: Verdict = Verdict.HOLDS, **constants: int) -> Claim:
    item = Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)
    return Claim(property=item, machine=machine, constants=constants, expected=expected)


def below(limit: int) -> Any:
    return lambda s: s.number < limit


def test_answers_are_held_against_what_was_expected() -> None:
    machine = counting(stuck_at=81)
    rows = claim_rows(
        [
            claim(machine, "fine", below(10)),
            claim(machine, "finding", below(5), expected=Verdict.VIOLATED),
            claim(machine, "wrong", below(5)),
            claim(machine, "not-found", below(10), expected=Verdict.VIOLATED),
        ]
    )
    outcomes = list(run_suite(rows))
    assert [(outcome.row.id, outcome.as_expected) for outcome in outcomes] == [
        ("fine", True),
        ("finding", True),
        ("wrong", False),
        ("not-found", False),
        ("every-action-happens", True),
    ]


def test_rows_of_one_configuration_share_one_search() -> None:
    machine = counting(stuck_at=81)
    rows = claim_rows(
        [claim(machine, "a", below(10)), claim(machine, "b", below(10), steps=3), claim(machine, "c", below(10))]
    )
    titles: list[str] = []
    outcomes = list(run_suite(rows, progress=lambda title, found: titles.append(title) if found is None else None))
    assert titles == ["counting", "counting steps=3"]  # whether every action happens is known by then
    assert [outcome.row.id for outcome in outcomes] == ["a", "c", "b", "every-action-happens"]


def test_an_action_that_never_happens_is_a_violation() -> None:
    (row,) = claim_rows([claim(counting(stuck_at=7), "fine", below(10))])[1:]
    (outcome,) = run_suite([row])
    assert outcome.result.verdict is Verdict.VIOLATED
    assert outcome.result.explanation == "not seen in any configuration of the suite: start_over"
    assert outcome.result.bounds == "2 actions, looked for in 1 configuration"


def test_an_action_not_seen_before_a_limit_is_unknown() -> None:
    (row,) = claim_rows([claim(counting(stuck_at=7), "fine", below(10))])[1:]
    (outcome,) = run_suite([row], Options(states=3))
    assert outcome.result.verdict is Verdict.UNKNOWN
    assert outcome.result.bounds.endswith("limit of 3 states reached")


def test_an_action_may_happen_in_any_of_the_configurations() -> None:
    machine = counting(stuck_at=64)
    seen_at_two = [claim(machine, "a", below(10), steps=3), claim(machine, "b", below(10), steps=2)]
    *_, outcome = run_suite(claim_rows(seen_at_two))
    assert outcome.result.verdict is Verdict.HOLDS


def climbing() -> Machine:
    """Climbs to any height, and may slip as often as the budget says."""
    machine = Machine("climbing")
    machine.constant("top", 3, low=1)
    machine.constant("slips", 0)
    machine.variable("height", Int(0, "top"))
    machine.variable("best", Int(0, "top"))

    @machine.action
    def climb(s: State) -> None:
        s.require(s.height < s.top)
        s.height = s.height + 1
        s.best = maximum(s.best, s.height + 1)

    @machine.action(budget="slips")
    def slip(s: State) -> None:
        s.require(s.height > 0)
        s.height = s.height - 1

    return machine


def test_rows_with_the_same_lemmas_share_one_proof() -> None:
    machine = climbing()
    any_height: dict[str, int | str] = {"top": UNBOUNDED, "slips": UNBOUNDED}
    lemma = Property(id="best", statement="best", kind=Kind.ALWAYS, holds=lambda s: s.height <= s.best)
    rows = claim_rows(
        replace(claim(machine, name, holds), constants=any_height, lemmas=(lemma,))
        for name, holds in (
            ("inside", lambda s: s.height <= s.top),
            ("up-is-seen", lambda s: implies(s.height > 0, s.best > 0)),
            ("never-seen", lambda s: s.best < 2),
        )
    )
    outcomes = list(run_suite(rows))
    assert [outcome.result.verdict for outcome in outcomes] == [Verdict.HOLDS, Verdict.HOLDS, Verdict.VIOLATED]
    together = list(run_suite(rows[:2]))
    assert {outcome.result.bounds for outcome in together} == {
        "all runs, for all top ≥ 1, any number of slips; inductive together with 1 lemma"
    }
    assert len({outcome.result.seconds for outcome in together}) == 1


def test_a_budget_without_limit_leaves_a_configuration_to_every_engine() -> None:
    machine = climbing()
    unlimited, unbounded = (
        claim_rows([replace(claim(machine, "up", lambda s: s.height <= s.best), constants=constants)])[0]
        for constants in ({"slips": UNBOUNDED}, {"top": UNBOUNDED})
    )
    assert unlimited.engines == ("explore", "prove", "simulate", "stateful", "spark")
    assert unbounded.engines == ("prove",)
    (outcome,) = run_suite([unlimited])
    assert (outcome.result.verdict, outcome.result.bounds) == (
        Verdict.HOLDS,
        "all 10 states, 15 transitions, depth 6",
    )


def test_constants_of_the_options_replace_those_of_the_rows() -> None:
    machine = counting(stuck_at=81)
    row = claim_rows([claim(machine, "low", below(9), steps=2)])[0]
    (as_declared,) = run_suite([row])
    (changed,) = run_suite([row], Options(constants={"steps": 3}))
    assert as_declared.as_expected
    assert not changed.as_expected
    assert changed.row.configuration == "steps=3"


def test_unknown_constants_and_unable_engines_are_errors() -> None:
    row = claim_rows([claim(counting(stuck_at=81), "low", below(9))])[0]
    with pytest.raises(ConfigurationError, match="no constant 'step'"):
        list(run_suite([row], Options(constants={"step": 3})))
    assert engine_for(row, Options(engine="liveness")) is None
    with pytest.raises(ModelError, match="low of counting cannot be judged by 'liveness'; possible: explore, prove"):
        list(run_suite([row], Options(engine="liveness")))


def test_every_row_has_an_engine_and_an_unbounded_one_is_proven() -> None:
    for row in all_rows():
        assert row.engines
        if UNBOUNDED in row.constants.values():
            assert row.engines[0] == "prove"
    assert {engine for row in all_rows() for engine in row.engines} == set(ENGINES)


def test_the_default_suite_is_part_of_the_catalogue() -> None:
    def names(rows: list[Row]) -> list[tuple[str, str, str]]:
        return [(row.machine, row.id, row.configuration) for row in rows]

    assert names(all_rows())[: len(default_rows())] == names(default_rows())
    assert 600 < len(default_rows()) < len(all_rows())
