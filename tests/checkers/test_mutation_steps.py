"""Steps under another name: a wrong step is no other behaviour where the right machine can go to the same state."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import z3

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import Ground, Setting, Wrong, settings
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.model.kernel import Int, Machine, State

machine = Machine("counting")
machine.constant("slips", 1)
machine.constant("doubts", 1)
machine.variable("number", Int(0, 9))


@machine.action(fair=True)
def increase(s: State) -> None:
    s.require(s.number < 8)
    s.number += 1


@machine.action(fair=True)
def hurry(s: State) -> None:
    s.require(s.number < 8, s.number > 5)
    s.number += 1


@machine.action(budget="slips")
def slip(s: State) -> None:
    s.require(s.number < 8, s.number > 5)
    s.number += 1


@machine.action(budget="doubts")
def doubt(s: State) -> None:
    s.require(s.number + s.doubts_left < 8, s.number > 5)
    s.number += 1


GROUND = Ground(Setting(machine=machine, constants={}, rows=(), bits=6), max_states=1000)
CELLS = {item.label: item.symbol for item in GROUND.lowered.cells}
NUMBER, SLIPS, DOUBTS = (CELLS[label] for label in ("number", "slips_left", "doubts_left"))
SLIPPING = {"slips_left": SLIPS - 1}
DOUBTING = {"doubts_left": DOUBTS - 1}


@pytest.mark.parametrize(
    ("action", "guard", "updates", "differs"),
    [
        # What increase does as well, with a slip more left to make.
        ("slip", z3.And(NUMBER < 8, SLIPS > 0), {"number": NUMBER + 1, **SLIPPING}, False),
        # Nothing but a slip is used up.
        ("slip", SLIPS > 0, {"number": z3.If(NUMBER < 8, NUMBER + 1, NUMBER), **SLIPPING}, False),
        ("slip", SLIPS > 0, {"number": NUMBER + 1, **SLIPPING}, True),
        # No slip is used up: there are more of them left than after a step of the right machine.
        ("slip", z3.And(NUMBER < 8, SLIPS < 1), {"number": NUMBER + 1, "slips_left": SLIPS + 1}, True),
        # How many doubts are left is read for itself.
        ("doubt", z3.And(NUMBER < 8, DOUBTS > 0), {"number": NUMBER + 1, **DOUBTING}, True),
        # Who is fair must come in the end, under its name.
        ("hurry", NUMBER < 8, {"number": NUMBER + 1}, True),
    ],
)
def test_steps_that_the_right_machine_makes_under_another_name(
    action: str, guard: Any, updates: dict[str, Any], differs: bool
) -> None:
    numbers = {item.label: number for number, item in enumerate(GROUND.lowered.cells)}
    (right,) = (item for item in GROUND.lowered.instances if item.label == action)
    changed = {numbers[name]: to for name, to in updates.items()}
    wrong = dataclasses.replace(right, guard=z3.simplify(guard), updates=changed)
    instances = tuple(wrong if item is right else item for item in GROUND.lowered.instances)
    assert (GROUND.difference(Wrong(instances, ((right, wrong),))) is not None) == differs


def test_a_step_that_the_wrong_machine_lacks_is_a_difference() -> None:
    (right,) = (item for item in GROUND.lowered.instances if item.label == "slip")
    instances = tuple(item for item in GROUND.lowered.instances if item is not right)
    assert GROUND.difference(Wrong(instances, ((right, None),))) is not None


@pytest.mark.parametrize(
    ("part", "text", "told", "fate"),
    [
        ("membership", "lose_notice", "without the guard s.woken[c]", Fate.EQUIVALENT),
        ("membership", "lose_notice", "without s.woken[c] = False", Fate.KILLED),
    ],
)
def test_a_fault_that_strikes_where_nothing_is_to_be_lost_is_none(part: str, text: str, told: str, fate: Fate) -> None:
    (change,) = [item for item in all_changes(part) if item.text == text and item.told == told]
    here = [item for item in settings(default_rows()) if "lost_notices=1" in item.title]
    (outcome,) = judge([change], here, Theorems([]), Effort())
    assert outcome.fate is fate


def test_a_step_that_changes_only_what_is_remembered_is_none() -> None:
    (change,) = [
        item
        for item in all_changes("orderly_lock")
        if item.text == "end_batch" and item.told == "without the guard s.runs[c, q]"
    ]
    here = [
        item for item in settings(default_rows()) if item.title == "orderly_lock watch_steps=1 consumers=1 pauses=1"
    ]
    (outcome,) = judge([change], here, Theorems([]), Effort())
    assert outcome.fate is Fate.EQUIVALENT
