"""Generated mutants: what is changed, what becomes of it; also without rows, at a limit, where nothing differs."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import Change, Sort, all_changes, parts, stratified
from rocketproof.checkers.mutation.equal import proved_equal
from rocketproof.checkers.mutation.ground import Setting, settings
from rocketproof.checkers.mutation.judge import Effort, Fate, Outcome, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.model.kernel import Int, Machine, ModelError, State, lower

LOCK = [item for item in settings(row for row in default_rows() if row.machine == "orderly_lock") if item.bits <= 24]

# Two clients and no faults, and no rows: with one client nobody else could have the lock.
(BARE,) = [dataclasses.replace(item, rows=()) for item in LOCK if item.title == "orderly_lock"]


def changes(part: str, text: str, *sorts: Sort) -> list[Change]:
    return [item for item in all_changes(part) if item.text == text and (not sorts or item.sort in sorts)]


def judged(asked: list[Change], suite: list[Setting] | None = None, **effort: int) -> list[Outcome]:
    return judge(asked, LOCK if suite is None else suite, Theorems([]), Effort(**effort))


def test_every_place_of_a_text_is_changed_in_turn() -> None:
    found = changes("orderly_lock", "take")
    assert [(item.sort, item.told) for item in found] == [
        (Sort.GUARD_DROPPED, "without the guard _may_take(s, c, q)"),
        (Sort.GUARD_NEGATED, "the guard is not _may_take(s, c, q)"),
        (Sort.UPDATE_DROPPED, "without grant(s, c, q)"),
        (Sort.UPDATE_DROPPED, "without believe(s, c, q)"),
        (Sort.UPDATE_DROPPED, "without s.window[c, q] = Window.IN"),
        (Sort.UNFAIR, "take need not happen, however long it can"),
    ]
    assert len({item.id for item in found}) == 6


def test_constants_go_up_and_down_and_branches_are_forced() -> None:
    assert [(item.sort, item.told) for item in changes("retry_policy", "retry_level")] == [
        (Sort.BRANCH_FORCED, "always FIRST_LEVEL + times, whether or not delay_level == 0"),
        (Sort.BRANCH_FORCED, "always delay_level, whether or not delay_level == 0"),
        (Sort.CONSTANT_CHANGED, "1 for 0 in delay_level == 0"),
        (Sort.CONSTANT_CHANGED, "FIRST_LEVEL + 1 for FIRST_LEVEL"),
    ]


def test_a_change_is_undone() -> None:
    change = changes("orderly_lock", "is_up")[0]
    assert change.function is not None
    right = change.function.__code__
    with change.made():
        assert change.function.__code__ is change.code
    assert change.function.__code__ is right


def test_a_lock_that_is_not_taken_is_noticed() -> None:
    (outcome,) = judged([item for item in changes("orderly_lock", "take") if "grant" in item.told])
    assert outcome.fate is Fate.KILLED
    assert outcome.how == "violated"


def test_without_rows_it_survives_and_the_run_shows_where_the_machines_part() -> None:
    (outcome,) = judged([item for item in changes("orderly_lock", "take") if "grant" in item.told], [BARE])
    assert outcome.fate is Fate.SURVIVED
    assert "then only the wrong machine can: " in outcome.run
    assert outcome.steps == 1


def test_a_limit_is_no_verdict() -> None:
    (outcome,) = judged([item for item in changes("orderly_lock", "take") if "grant" in item.told], [BARE], states=2)
    assert outcome.fate is Fate.UNKNOWN
    assert outcome.reason == "orderly_lock: more than 8 states"


def test_what_makes_no_difference_is_equivalent() -> None:
    # The age of a lock that nobody has is read by nobody, and is 0 again when somebody takes it.
    losing = [item for item in settings(default_rows()) if item.title == "orderly_lock lock_losses=1"]
    (age,) = judged([item for item in changes("lock", "forget") if "without s.holder_age" in item.told], losing)
    assert age.fate is Fate.EQUIVALENT
    assert age.compared > 0


def test_rules_are_asked_by_theorems() -> None:
    theorems = Theorems.of(default_rows())
    found = judge(changes("retry_policy", "retry_level"), [], theorems)
    assert [item.fate for item in found] == [Fate.KILLED] * 4
    (same,) = judge(changes("retry_policy", "tries_left", Sort.BOUNDARY_MOVED), [], theorems)
    assert (same.fate, same.reason) == (Fate.EQUIVALENT, "Z3 proves the rule equal")


def test_a_sample_has_of_every_part_and_is_the_same_for_the_same_seed() -> None:
    every = all_changes("orderly_lock")
    sample = stratified(every, 60, 7)
    assert len(sample) == 60
    assert sample == stratified(every, 60, 7)
    assert sample != stratified(every, 60, 8)
    assert {item.sort for item in sample} == {item.sort for item in every}
    with pytest.raises(ModelError, match="a sample of 0 is none"):
        stratified(every, 0, 7)


def test_what_changes_in_one_part_moves_a_sample_of_the_others_at_its_edge_only() -> None:
    every = all_changes()
    sample = {item.id for item in stratified(every, 200, 1)}
    without = {item.id for item in stratified([item for item in every if item.part != "orderly"], 200, 1)}
    assert {name for name in sample if not name.startswith("orderly.")} - without == set()
    assert len(without - sample) == sum(name.startswith("orderly.") for name in sample)


def test_an_unknown_part() -> None:
    with pytest.raises(ModelError, match="there is no part 'lok'"):
        all_changes("lok")
    assert "history" not in parts()


def test_a_judgement_goes_on_from_what_its_journal_knows(tmp_path: Path) -> None:
    asked = [item for item in changes("orderly_lock", "take") if "grant" in item.told]
    file = tmp_path / "known.jsonl"
    (first,) = judge(asked, LOCK, Theorems([]), Effort(), journal=file)
    lines = file.read_text().splitlines()
    assert (len(lines), lines[1::2]) == (3 + 2 * first.used, [""] * (1 + first.used))
    file.write_text("\n".join(lines[:-1]) + lines[-1][:9])  # as when the process ends in the middle of a line
    (again,) = judge(asked, LOCK, Theorems([]), Effort(), journal=file)
    assert dataclasses.replace(again, seconds=0.0) == dataclasses.replace(first, seconds=0.0)
    assert judge(asked, [], Theorems([]), Effort(), journal=file)[0].fate is Fate.NO_MACHINE


def test_what_hit_a_limit_is_asked_again_with_a_higher_one(tmp_path: Path) -> None:
    asked = [item for item in changes("orderly_lock", "take") if "grant" in item.told]
    file = tmp_path / "known.jsonl"
    fates = [
        judge(asked, [BARE], Theorems([]), Effort(states=states), journal=file)[0].fate for states in (2, 2, 100_000, 2)
    ]
    assert fates == [Fate.UNKNOWN, Fate.UNKNOWN, Fate.SURVIVED, Fate.SURVIVED]
    assert len(file.read_text().splitlines()) == 7  # the head, theorems, and the configuration twice


def test_what_hit_a_limit_in_a_few_configurations_is_asked_in_a_second_round() -> None:
    asked = [item for item in changes("orderly_lock", "take") if "grant" in item.told]
    (outcome,) = judge(asked, [BARE], Theorems([]), Effort(states=2, far=100_000))
    assert (outcome.fate, outcome.used, outcome.differs) == (Fate.SURVIVED, 1, 1)


def test_steps_are_proved_equal_where_the_claims_of_a_suite_hold() -> None:
    machine = Machine("counting")
    machine.variable("number", Int(0, 9))

    @machine.action
    def increase(s: State) -> None:
        s.require(s.number < 9)
        s.number += 1

    lowered = lower(machine.configure(), {"low": lambda s: s.number <= 5})
    (right,) = lowered.instances
    number = lowered.cells[0].symbol
    low = [lowered.predicates["low"].term]

    def equal(guard: Any, facts: list[Any], work: int = 1_000_000) -> bool:
        return proved_equal(lowered, facts, [(right, dataclasses.replace(right, guard=guard))], {0}, work=work)

    assert equal(number != 9, [])  # nothing is above 9
    assert not equal(number < 8, [])
    assert equal(number < 8, low)
    assert not equal(number < 8, low, work=0)
    assert proved_equal(lowered, low, [(None, dataclasses.replace(right, guard=number > 6))], {0})
    assert not proved_equal(lowered, low, [(right, None)], {0})
    assert proved_equal(lowered, [], [(right, None)], set())  # nothing reads the number
