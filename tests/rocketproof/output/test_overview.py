"""The overview: each guarantee once, what is unexpected in full, all rows on demand."""

import io
from dataclasses import replace

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.result import Result
from rocketproof.checkers.suite import Outcome
from rocketproof.output.console import SafeConsole
from rocketproof.output.overview import MANY, NAMED, UNEXPECTED, kind_of, print_overview
from rocketproof.properties.verdict import Verdict

from ..command import run

ROW = all_rows()[0]
H, V, U = Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN


def outcome(expected: Verdict, given: Verdict, engine: str = "explore", name: str = "p") -> Outcome:
    result = Result(property=name, verdict=given, engine=engine, bounds="all 9 states", seconds=0.0)
    subject = replace(ROW.subject, id=name)  # type: ignore[type-var]
    return Outcome(row=replace(ROW, subject=subject, expected=expected), result=result)


@pytest.mark.parametrize(
    ("outcomes", "kind"),
    [
        ([outcome(H, H, "prove"), outcome(H, H, "prove")], "holds by proof"),
        ([outcome(H, H), outcome(H, H, "prove")], "holds by proof and search"),
        ([outcome(H, H), outcome(H, H)], "holds by search"),
        ([outcome(H, H, "prove"), outcome(V, V)], "holds by proof, but not always"),
        ([outcome(H, H, "prove"), outcome(H, H), outcome(V, V)], "holds by proof and search, but not always"),
        ([outcome(H, H), outcome(V, V, "prove")], "holds by search, but not always"),
        ([outcome(V, V)], "false, as expected"),
        ([outcome(H, H), outcome(H, U)], UNEXPECTED),
        ([outcome(V, H)], UNEXPECTED),
    ],
)
def test_what_the_rows_of_a_guarantee_say_together(outcomes: list[Outcome], kind: str) -> None:
    assert kind_of(outcomes) == kind


def test_each_guarantee_once_and_the_unexpected_in_full() -> None:
    screen = io.StringIO()
    rows = [
        outcome(H, H, name="fine"),
        outcome(H, H, name="fine"),
        outcome(H, U, name="open"),
        outcome(V, V, name="no"),
    ]
    print_overview(SafeConsole(file=screen), rows)
    assert screen.getvalue().splitlines() == [
        "allocation: 3 guarantees",
        "  holds by search (1): fine×2",
        "  false, as expected (1): no",
        "  not as expected (1): open",
        "4 rows: 4 by explore; -v prints them, ×N is how many a guarantee has",
        "",
        "allocation",
        "  open  UNKNOWN  explore   0.00 s  all 9 states",
    ]


def test_more_guarantees_than_a_screen_has_lines_are_counted_and_the_false_ones_named() -> None:
    screen = io.StringIO()
    rows = [
        *(outcome(H, H, name=f"fine-{number}") for number in range(NAMED - 3)),
        outcome(H, H, "prove", name="shown"),
        *(outcome(expected, expected, name="often") for expected in (H, V)),
        outcome(H, U, name="open"),
        outcome(V, V, name="no"),
    ]
    print_overview(SafeConsole(file=screen), rows)
    assert screen.getvalue().splitlines() == [
        "              guarantees  by proof  by both  by search  not always  false  not as expected",
        "  allocation         101         1                  97           1      1                1",
        "  all                101         1                  97           1      1                1",
        "  false, as expected (1): no",
        "102 rows: 101 by explore, 1 by prove; -v prints them, --machine NAME names what holds on one machine",
        "",
        "allocation",
        "  open  UNKNOWN  explore   0.00 s  all 9 states",
    ]


def test_many_rows_are_one_screen_and_all_of_them_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "--machine", "allocation")
    assert (code, len([line for line in out.splitlines() if not line.startswith("    ")])) == (0, 7)
    code, rows, _ = run(capsys, "verify", "--machine", "allocation", "-v")
    assert code == 0
    assert len([line for line in rows.splitlines() if line.startswith("  ")]) > MANY
