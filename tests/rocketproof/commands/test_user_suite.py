"""``rocketproof verify --module``: suites of users, on the command line, from a file, and in pytest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocketproof import Claim, Kind
from rocketproof.checkers.catalogue import preset_rows
from rocketproof.commands.request import Request
from rocketproof.commands.verify import select
from rocketproof.model.presets import PRESETS

from ..command import run

pytest_plugins = ["pytester"]

OUTBOX = Path(__file__).parents[3] / "examples" / "outbox"

WRONG = """
from rocketproof import Claim, Machine, State, always
from rocketproof.terms import not_, variable

machine = Machine("lamp")


@machine.state
class Lamp(State):
    on = variable(bool)


@machine.action(tells="somebody switches it on")
def switch(s):
    s.require(not_(s.on))
    s.on = True


@always("dark")
def dark(s):
    '''It stays dark.'''
    return not_(s.on)


CLAIMS = [Claim(property=dark, machine=machine)]
"""


@pytest.fixture
def outbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(OUTBOX, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_the_example_is_as_expected_by_name_and_by_file(
    capsys: pytest.CaptureFixture[str], outbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(capsys, "verify", "--module", "outbox")
    assert (code, err) == (0, "")
    assert out.count("all 337 states, 809 transitions") == 3
    assert "7 of 7 as expected, among them 2 expected findings" in out
    monkeypatch.chdir(outbox.parent)
    code, out, _ = run(capsys, "verify", "nothing-twice", "--config", outbox / "rocketproof.toml")
    assert (code, out.count("nothing-twice  ")) == (0, 6)  # three rows, and a story each


@pytest.mark.parametrize(
    ("module", "text", "said"),
    [
        ("outbx", None, "there is no module 'outbx' (of --module) in "),
        ("mine.py", None, "--module 'mine.py' is a file; write the module as it is imported"),
        ("mine", "", "module 'mine' has no CLAIMS; write a tuple of rocketproof.Claim objects"),
        ("mine", "CLAIMS = ()", "CLAIMS of module 'mine' is empty; it must hold rocketproof.Claim objects."),
        ("mine", WRONG.replace("@machine.action", "@staticmethod #"), "machine lamp has no actions, so nothing"),
        ("mine", "CLAIMS = [3]", "CLAIMS of module 'mine' holds int objects; it must hold"),
        ("mine", "1 / 0", "importing 'mine' failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_module_that_is_no_suite_is_refused_in_a_sentence(
    module: str,
    text: str | None,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
    code, out, err = run(capsys, "verify", "--module", module)
    assert (code, out) == (3, "")
    assert said in err
    assert err.count("\n") == 1


def test_claims_are_tests_and_a_false_one_fails_with_its_story(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(lamp=WRONG)
    (pytester.path / "rocketproof.toml").write_text('[verify]\nmodule = "lamp"\n')
    result = pytester.runpytest_inprocess("rocketproof.toml")
    result.assert_outcomes(passed=1, failed=1)  # every action happens
    result.stdout.fnmatch_lines(
        [
            "VIOLATED, and HOLDS was expected (1 step*",
            "*1. somebody switches it on*",
            "*on: false → true*",
            "Look at the run: rocketproof verify * --config *toml --report *.html",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_machine_that_is_written_wrongly_fails_in_a_sentence(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(lamp=WRONG.replace("s.on = True", "s.on = 7"))
    (pytester.path / "rocketproof.toml").write_text('[verify]\nmodule = "lamp"\n')
    result = pytester.runpytest_inprocess("rocketproof.toml")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["machine lamp, action switch: 'on' holds a truth value, but is given 7."])


def test_with_the_engine_stateful_a_test_passes_where_nothing_is_found(pytester: pytest.Pytester) -> None:
    right = WRONG.replace("return not_(s.on)", "return True")
    for text, expected in ((WRONG, {"failed": 1}), (right, {"passed": 1})):
        pytester.makepyfile(lamp=text)
        (pytester.path / "rocketproof.toml").write_text('[verify]\nmodule = "lamp"\nengine = "stateful"\n')
        pytester.runpytest_subprocess("rocketproof.toml").assert_outcomes(**expected)


def test_the_engine_stateful_alone_asks_about_every_preset() -> None:
    rows = select(Request(engine="stateful"))
    assert {(row.machine, row.configuration) for row in rows} == {
        (row.machine, row.configuration) for preset in PRESETS for row in preset_rows(preset.name)
    }
    assert {row.subject.property.kind for row in rows if isinstance(row.subject, Claim)} == {Kind.ALWAYS}
