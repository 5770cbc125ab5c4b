"""``rocketproof mutants``: what is chosen, what is printed, what is written, and with which exit code."""

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketproof.checkers.known_bugs import KNOWN_BUGS, LEFT_OUT
from rocketproof.checkers.mutants import Answer, Entry, Trials, entries
from rocketproof.cli import main
from rocketproof.commands import mutants

from ...checkers.counter import declared, double, rows


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["mutants", *arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter in the place of the model's catalogue."""
    monkeypatch.setattr(mutants, "entries", lambda _: entries(rows(), [double]))
    monkeypatch.setattr(mutants, "all_rows", rows)
    monkeypatch.setenv("COLUMNS", "80")


def answers(*names: str) -> list[Answer]:
    trials = Trials()
    return [trials.answer(entry) for entry in declared() if entry.id in names]


@pytest.mark.parametrize(
    ("names", "interrupted", "code"),
    [
        (["K1", "K8"], False, 0),
        (["K1", "K3"], False, 1),
        (["K4"], False, 1),
        (["K1", "K5"], False, 2),
        (["K6"], False, 2),
        (["K3", "K5"], False, 1),
        (["K1"], True, 2),
        ([], False, 2),
    ],
)
def test_the_exit_code_tells_what_is_wrong(names: Sequence[str], interrupted: bool, code: int) -> None:
    assert mutants.exit_code(answers(*names), interrupted=interrupted) == code


@pytest.mark.usefixtures("counting")
def test_a_mutant_that_is_asked_for_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("k1", "K8") == 0
    printed = capsys.readouterr().out
    assert "  K1  one-too-many  killed       below-top    explore   3 steps " in printed
    assert "  K8  falls         explained    never-falls  explore   1 step  " in printed
    assert (
        """\
K1  one-too-many
  killed  below-top VIOLATED, without the bug HOLDS
  The height rises once more than it may.
  counter top=2
    start: everything at its lowest value
    1. rise
         height: 0 → 1
    2. rise
         height: 1 → 2
    3. rise
         height: 2 → 3
"""
        in printed
    )
    assert "  explained  never-falls VIOLATED, below-top HOLDS\n  It may reset.\n  counter resets=1\n" in printed
    assert printed.splitlines()[-1].startswith("1 killed, 1 explained; ")


@pytest.mark.usefixtures("counting")
def test_without_names_only_what_is_wrong_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 1
    printed = capsys.readouterr().out
    assert "\nK1  one-too-many\n" not in printed
    assert "\nK3  harmless\n  survived  below-top HOLDS, without the bug HOLDS\n" in printed
    assert "\nK4  blamed-wrongly\n  cannot tell  never-three VIOLATED, without the bug VIOLATED\n" in printed
    summary = printed.splitlines()[-1].partition(";")[0]
    left_out, missing = len(LEFT_OUT), len(KNOWN_BUGS) - len(LEFT_OUT) + 2
    assert summary == (
        f"4 killed, 1 explained, {left_out} left out, 2 survived, 1 cannot tell, 2 unknown, {missing} missing"
    )


@pytest.mark.usefixtures("counting")
def test_the_matrix_shows_who_kills(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("K1", "K2", "K3", "--matrix") == 1
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    start = lines.index("counter    1  2  3")
    assert lines[start : start + 7] == [
        "counter    1  2  3",
        "K1       erp  l",
        "K2         ·  l  l",
        "K3         ·  ·  ·",
        "   1  below-top      kills 1",
        "   2  ends-at-top    kills 2",
        "   3  ends-at-three  kills 1",
    ]
    assert (
        "Killed by: e explore, l liveness, p prove, r random runs. · survives, ? unknown, empty: not claimed there."
        in lines
    )


@pytest.mark.usefixtures("counting")
def test_junit_has_a_case_for_each_entry(tmp_path: Path) -> None:
    file = tmp_path / "rows.xml"
    assert run("K1", "K6", "--junit", str(file)) == 2
    suite = ElementTree.parse(file).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == [
        "rocketproof mutants",
        "2",
        "0",
        "1",
    ]
    killed, missing = suite
    assert (killed.get("classname"), len(killed)) == ("rocketproof.mutants.counter", 0)
    assert missing[0].get("message") == (
        "missing: no property 'below-tip' is claimed of counter. Did you mean 'below-top'?"
    )


@pytest.mark.usefixtures("counting")
def test_json_has_every_field(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("K1", "K6", "--matrix", "--json", "-") == 2
    first, missing = json.loads(capsys.readouterr().out)
    seconds = first.pop("seconds")
    assert 0 <= seconds < 60
    assert first.pop("story").startswith("start: everything at its lowest value\n1. rise\n")
    assert first.pop("matrix")[0] == {"property": "below-top", "engine": "explore", "outcome": "killed", "steps": 3}
    assert first == {
        "id": "K1",
        "slug": "one-too-many",
        "status": "killed",
        "as_expected": True,
        "property": "below-top",
        "engine": "explore",
        "verdict": "VIOLATED",
        "verdict_without": "HOLDS",
        "steps": 3,
        "machine": "counter",
        "configuration": {"top": 2},
        "explanation": "The height rises once more than it may.",
        "reason": "",
    }
    assert (missing["status"], missing["verdict"], missing["matrix"]) == ("missing", "", [])
    assert missing["reason"] == "no property 'below-tip' is claimed of counter. Did you mean 'below-top'?"
    assert run("K1", "--json", str(tmp_path / "rows.json")) == 0
    assert "matrix" not in json.loads((tmp_path / "rows.json").read_text())[0]


@pytest.mark.usefixtures("counting")
def test_the_list_says_what_each_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    printed = capsys.readouterr().out
    for line in (
        "A: assignment",
        "  K1   one-too-many                             counter with another may_rise, killed by below-top",
        "  K5   too-wild                                 counter with one more action, killed by below-top",
        "  K7   lower-top                                counter with top=2, killed by ends-at-three",
        "  K8   falls                                    counter: not never-falls, but below-top",
        "  K10  squares                                  another rule double, killed by double-is-even",
        "  A1   clientid-clash                           missing: no mutant is declared for it",
    ):
        assert line in printed.splitlines()


@pytest.mark.usefixtures("counting")
def test_a_letter_means_all_of_its_known_bugs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("H", "--list") == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["K13"], "rocketproof: there is no mutant 'K13'. Did you mean 'K3' or 'K1' or 'K12'? Possible: K1, K10, "),
        (["A1-no", "K1"], "rocketproof: there is no mutant 'A1-no'. Did you mean 'A1'"),
        (["K1", "--limit", "speed=3"], "rocketproof: --limit: there is no 'speed'."),
        (["K1", "--json", "/no/such/folder/x"], "rocketproof: cannot write /no/such/folder/x: there is no folder"),
    ],
)
@pytest.mark.usefixtures("counting")
def test_mistakes_are_told_in_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 3
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.usefixtures("counting")
def test_a_limit_makes_it_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("K3", "--limit", "states=2") == 2
    assert "unknown  below-top UNKNOWN, without the bug UNKNOWN" in capsys.readouterr().out


@pytest.mark.usefixtures("counting")
def test_an_interrupted_run_shows_what_it_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Trials.answer

    def impatient(trials: Trials, entry: Entry) -> Answer:
        if entry.id == "K2":
            raise KeyboardInterrupt
        return answer(trials, entry)

    monkeypatch.setattr(Trials, "answer", impatient)
    assert run("K1", "K2", "K3") == 2
    printed = capsys.readouterr()
    assert "1 killed; " in printed.out
    assert printed.err == "rocketproof: interrupted; not tried: 2 of 3.\n"
