"""Exercises: a right answer passes, a wrong one is told what it does instead, and nothing else is taken."""

import json
from pathlib import Path

import pytest

from rocketproof.commands.learn import learn
from rocketproof.errors import InputError
from rocketproof.learn import exercises
from rocketproof.learn.lessons import lessons
from rocketproof.learn.tasks import EXERCISES
from rocketproof.properties.verdict import Verdict, merge

from .answers import HALF, RIGHT, WORDS, WRONG

QUICK = ("push-is-pull", "success-or-later", "idempotence", "scaling", "incident")
"""One exercise of each kind, at least; the others run last."""

by_name = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in RIGHT]
)


def written(folder: Path, text: str) -> Path:
    path = folder / "answer.py"
    path.write_text(WORDS + text, encoding="utf-8")
    return path


def test_every_lesson_has_an_exercise() -> None:
    assert [lesson.name for lesson in lessons()] == list(EXERCISES) == list(RIGHT) == list(WRONG)


@by_name
def test_a_right_answer_passes_and_a_wrong_one_is_told_why(name: str, tmp_path: Path) -> None:
    right = EXERCISES[name].check(written(tmp_path, RIGHT[name]))
    assert [step.verdict for step in right] == [Verdict.HOLDS] * len(right)
    wrong = EXERCISES[name].check(written(tmp_path, WRONG[name]))
    assert merge(step.verdict for step in wrong) is Verdict.VIOLATED
    assert all(step.told for step in wrong if step.verdict is Verdict.VIOLATED)


@pytest.mark.slow
def test_that_an_owner_has_an_offset_need_not_be_asked_as_its_lesson_says(tmp_path: Path) -> None:
    shorter = RIGHT["offsets"].replace("s.memory[c, q] >= 0, ", "")
    assert shorter != RIGHT["offsets"]
    steps = EXERCISES["offsets"].check(written(tmp_path, shorter))
    assert [step.verdict for step in steps] == [Verdict.HOLDS] * len(steps)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in HALF.items() for text in texts])
def test_an_answer_that_does_part_of_it_is_told_where_it_goes_wrong(name: str, text: str, tmp_path: Path) -> None:
    steps = EXERCISES[name].check(written(tmp_path, text))
    assert [step.verdict for step in steps].count(Verdict.VIOLATED) == 1
    assert all(step.told for step in steps if step.verdict is Verdict.VIOLATED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"has no function parked\(s\)\.$"),
        ("async def parked(s): return True", r"has no plain function parked\(s\)\.$"),
        ("class parked: pass", r"has no plain function parked\(s\)\.$"),
        ("def parked(s): return lambda c: True", "expected a truth value, got a function"),
        ("def parkd(s): return True", r"has no function parked\(s\)\. Did you mean 'parkd'"),
        ("def parked(s, c): return True", r"parked\(s, c\) should be parked\(s\)"),
        ("def parked(s): return 1 / 0", "parked fails: ZeroDivisionError"),
        ("def parked(s): return s.nothing", "property parked: there is no variable 'nothing'"),
        ("def parked(s): pass", "it returns nothing"),
        ("def parked(s) return True", "cannot be run: SyntaxError"),
        ("raise SystemExit(0)", r"cannot be run: SystemExit: 0\."),
        ("def parked(s): raise SystemExit", r"parked fails: SystemExit\."),
        ("while True: pass", "takes longer than 1 s to run"),
        ("def parked(s):\n    while True: pass", "parked takes longer than 1 s: does it come to an end"),
    ],
)
def test_what_is_no_answer_is_told_in_a_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercises, "MOST_SECONDS", 1)
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message):
        learn(["check", "push-is-pull", str(path)], language="en")


def test_an_answer_that_is_wrong_is_wrong_whatever_could_not_be_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "def allocate(own_id, queues, ids): return None")
    assert learn(["check", "sorted-views", str(path)], language="en") == 1
    told = capsys.readouterr().out
    assert "UNKNOWN   An answer names no queue twice." in told
    assert told.endswith("does not solve the exercise of sorted-views yet.\n")


def test_an_answer_that_could_not_be_judged_is_neither_right_nor_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Unknown:
        def check(self, answer: Path) -> list[exercises.Step]:
            return [exercises.Step(asked="it holds", verdict=Verdict.UNKNOWN)]

    monkeypatch.setitem(EXERCISES, "offsets", Unknown())
    assert learn(["check", "offsets", str(tmp_path)], language="en") == 2
    assert capsys.readouterr().out.endswith("could not be judged: a limit was hit.\n")


@pytest.mark.parametrize(("language", "title"), [("en", "What happens when a listener"), ("zh-CN", "监听器")])
def test_a_lesson_opens_in_the_language_asked_for_as_a_notebook_too(
    language: str, title: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "slow.ipynb"
    assert learn(["2"], language=language) == learn(["2"], language=language, notebook=str(out)) == 0
    assert title in capsys.readouterr().out.splitlines()[0]
    assert title in "".join(json.loads(out.read_text(encoding="utf-8"))["cells"][1]["source"])


def test_a_missing_file_and_unknown_lessons_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        learn(["check", "1", str(tmp_path / "none.py")], language="en")
    with pytest.raises(InputError, match="is a folder, no file"):
        learn(["check", "1", str(tmp_path)], language="en")
    with pytest.raises(InputError, match="there is no lesson 15; they are numbered from 1 to 14"):
        learn(["15"], language="en")
    with pytest.raises(InputError, match="there is no lesson 'push'"):
        learn(["push"], language="en")
    for name, meant in (("duplicate", "idempotence"), ("死信", "retry-and-dead-letter"), ("scale-out", "scaling")):
        with pytest.raises(InputError, match=f"there is no lesson '{name}'. Did you mean '{meant}'"):
            learn([name], language="en")
    with pytest.raises(InputError, match="there are no lessons in 'de'"):
        learn([], language="de")
    with pytest.raises(InputError, match="is not possible"):
        learn(["check", "1"], language="en")
