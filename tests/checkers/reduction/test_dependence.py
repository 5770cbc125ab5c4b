"""Dependence between steps: which accord, which enable what, and that walks and proofs fit together."""

from pathlib import Path

import numpy as np
import pytest
import z3

from rocketproof.checkers.reduction.dependence import Analysis, Dependence, key_of, load, store
from rocketproof.checkers.reduction.observe import observe
from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.model.kernel import Int, Lowered, Machine, State, lower, minimum
from rocketproof.model.kernel.native import compile_machine, compile_truths


def machine() -> Machine:
    result = Machine("sample")
    result.constant("faults", 2)
    result.variable("level", Int(0, 5))
    result.variable("seen", Int(0, 3))
    result.variable("flag", bool)
    result.variable("other", bool)

    @result.action
    def raise_flag(s: State) -> None:
        s.flag = True

    @result.action
    def raise_it_too(s: State) -> None:
        s.require(s.level > 0)
        s.flag = True

    @result.action
    def lower_flag(s: State) -> None:
        s.require(s.flag)
        s.flag = False

    @result.action
    def note(s: State) -> None:
        s.seen = minimum(s.seen + 1, 3)

    @result.action
    def note_twice(s: State) -> None:
        s.seen = minimum(s.seen + 2, 3)

    @result.action
    def climb(s: State) -> None:
        s.require(s.level < 3)
        s.level += 1

    @result.action
    def fall(s: State) -> None:
        s.require(s.level > 4)
        s.level -= 1

    @result.action(budget="faults")
    def fault(s: State) -> None:
        s.other = True

    @result.action(budget="faults")
    def other_fault(s: State) -> None:
        s.require(s.flag)

    return result


LOWERED = lower(machine().configure())
NUMBER = {item.label: item.number for item in LOWERED.instances}


def dependence(lowered: Lowered, atoms: list[z3.BoolRef]) -> Dependence:
    count = len(lowered.instances)
    nothing = np.zeros((count, count), np.bool_), np.zeros((len(atoms), count), np.bool_)
    return Analysis(lowered).dependence(atoms, *nothing)


@pytest.mark.parametrize(
    ("one", "other", "accord"),
    [
        ("raise_flag", "note", True),  # nothing in common
        ("raise_flag", "raise_it_too", True),  # both write the same value
        ("raise_flag", "lower_flag", False),  # the last one wins
        ("note", "note_twice", True),  # up to a limit, in either order
        ("climb", "fall", True),  # both write one cell, but never can both happen
        ("climb", "raise_it_too", True),  # what one reads the other cannot make false
        ("fault", "other_fault", False),  # the last of a budget is for one of them
        ("other_fault", "lower_flag", False),  # one makes the other impossible
    ],
)
def test_which_instances_accord(one: str, other: str, accord: bool) -> None:
    found = dependence(LOWERED, [])
    assert bool(found.disturbs[NUMBER[one], NUMBER[other]]) is not accord
    assert np.array_equal(found.disturbs, found.disturbs.T)


def test_which_instances_enable_what() -> None:
    cells = {cell.label: cell.symbol for cell in LOWERED.cells}
    atoms = [cells["flag"], z3.Not(cells["flag"]), cells["level"] > 2, cells["level"] < 5, cells["faults_left"] > 0]
    found = dependence(LOWERED, atoms)
    enablers = [[item.label for item in LOWERED.instances if row[item.number]] for row in found.enables]
    assert enablers == [["raise_flag", "raise_it_too"], ["lower_flag"], ["climb"], ["fall"], []]


def test_what_walks_have_seen_is_never_disproven() -> None:
    native = compile_machine(LOWERED)
    cells = {cell.label: cell.symbol for cell in LOWERED.cells}
    atoms = [cells["flag"], z3.Not(cells["flag"]), cells["level"] > 2, cells["seen"] == 3]
    disturbed, enabled = observe(native, compile_truths(LOWERED, atoms), len(atoms))
    proven = dependence(LOWERED, atoms)
    assert not (disturbed & ~proven.disturbs).any()
    assert not (enabled & ~proven.enables).any()
    assert disturbed[NUMBER["fault"], NUMBER["other_fault"]]
    assert enabled[:, NUMBER["note"]].tolist() == [False, False, False, True]
    seen = Analysis(LOWERED)
    together = seen.dependence(atoms, disturbed, enabled)
    assert np.array_equal(together.disturbs, proven.disturbs)
    assert np.array_equal(together.enables, proven.enables)


def test_results_are_kept_under_a_key_that_tells_configurations_apart(tmp_path: Path) -> None:
    cache = FileCodeCache(tmp_path)
    found = dependence(LOWERED, [LOWERED.cells[0].symbol > 2])
    atoms = [LOWERED.cells[0].symbol > 2]
    key = key_of(LOWERED, atoms)
    count = len(LOWERED.instances)
    assert load(cache, key, count, 1) is None
    store(cache, key, found)
    kept = load(cache, key, count, 1)
    assert kept is not None
    assert np.array_equal(kept.disturbs, found.disturbs)
    assert np.array_equal(kept.enables, found.enables)
    assert key == key_of(lower(machine().configure()), atoms)
    assert key != key_of(lower(machine().configure(faults=1)), atoms)
    assert key != key_of(LOWERED, [LOWERED.cells[0].symbol > 1])
