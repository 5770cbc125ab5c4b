"""Processes that should say the same: only pairs whose relation changes are looked at, and too many are refused."""

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.clocks.clocks import Clocks
from rocketproof.traces.clocks.order import Order
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.errors import TraceError
from rocketproof.traces.monitors.groups import agreement
from rocketproof.traces.monitors.groups.agreement import Statement, disagreements, overlapping

SETTINGS = Settings()
ORDER = Order(Clocks(), SETTINGS.skew)
LONG = SETTINGS.rounds + SETTINGS.skew + 1


def said(actor: str, value: str, since: int, until: int) -> Statement:
    return Statement(Actor(actor), value, since, until, until)


def test_pairs_that_differ_on_and_on_are_one_difference() -> None:
    (found,) = disagreements(
        [said("a", "x", 0, 2 * LONG), said("b", "y", 0, LONG), said("b", "z", LONG, 2 * LONG)],
        settings=SETTINGS,
        order=ORDER,
    )
    assert (found.since, found.until, found.pairs) == (0, 2 * LONG, 1)


def test_a_pair_that_agrees_in_between_differs_twice() -> None:
    spells = [said("a", "x", 0, 4 * LONG), said("b", "y", 0, LONG), said("b", "x", LONG, 2 * LONG)]
    found = disagreements([*spells, said("b", "y", 2 * LONG, 4 * LONG)], settings=SETTINGS, order=ORDER)
    assert [(one.since, one.until) for one in found] == [(0, LONG), (2 * LONG, 4 * LONG)]


def test_the_same_said_again_changes_nothing() -> None:
    spells = [said("a", "x", 0, 2 * LONG), said("b", "y", 0, LONG), said("b", "y", LONG, 2 * LONG)]
    assert [(one.since, one.until) for one in disagreements(spells, settings=SETTINGS, order=ORDER)] == [(0, 2 * LONG)]


def test_many_that_agree_are_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MOST_COMPARED", 0)
    monkeypatch.setattr(agreement, "PAIRS_OF_A_CHANGE", 0)
    assert disagreements([said(f"c{n}", "x", n, 5 * LONG) for n in range(20_000)], settings=SETTINGS, order=ORDER) == []


def test_too_many_that_differ_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MOST_COMPARED", 1_000)
    monkeypatch.setattr(agreement, "PAIRS_OF_A_CHANGE", 2)
    spells = [said(f"c{n}", f"x{n}", n, 5 * LONG) for n in range(100)]
    with pytest.raises(TraceError, match=r"^100 processes of a group disagree too much .* more than 1,\d\d\d pairs"):
        disagreements(spells, settings=SETTINGS, order=ORDER)


def test_spells_at_overlapping_times_are_together_whichever_of_them_lasts_longest() -> None:
    spells = [(0, 9), (1, 3), (9, 10), (11, 12), (12, 12)]
    assert overlapping(spells, lambda spell: spell) == [spells[:3], spells[3:]]
