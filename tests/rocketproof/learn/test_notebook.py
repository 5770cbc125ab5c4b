"""Lessons as notebooks: valid, with every command of the lesson, and they run headless."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from rocketproof import __version__
from rocketproof.learn.lessons import ENGLISH, Lesson, languages, lessons
from rocketproof.learn.notebook import notebook

from ...docs.console import fits
from ..command import run

ALL = [pytest.param(lesson, code, id=f"{code}-{lesson.name}") for code in languages() for lesson in lessons(code)]


def executed(made: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """The cells of code after a run of the notebook in a folder: source, what was shown before, and what is now."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    before = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    opened = nbformat.reads(json.dumps(made), as_version=4)
    NotebookClient(opened, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    after = [cell for cell in opened.cells if cell.cell_type == "code"]
    return [(old["source"], _text(old["outputs"]), _text(new.outputs)) for old, new in zip(before, after, strict=True)]


def _text(outputs: list[Any]) -> str:
    shown = [each["text"] if "text" in each else str(each["data"].get("image/svg+xml", "")) for each in outputs]
    return "".join(shown)


@pytest.mark.parametrize(("lesson", "language"), ALL)
def test_it_is_valid_and_has_every_command(lesson: Lesson, language: str) -> None:
    made = notebook(lesson, language)
    nbformat.validate(made)
    cells = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    commands = re.findall(r"^\$ (.*)$", lesson.text, re.MULTILINE)
    assert [source.split("\n", 1)[1] for source in cells if source.startswith("%%sh")] == commands
    assert sum(source.startswith("%%writefile") for source in cells) == lesson.text.count(" title=")
    assert any(source.endswith('.svg")') for source in cells), "the run as a picture"


def test_it_runs_headless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "# 1. Which version?\n\n```text title=some.svg\n<svg xmlns='http://www.w3.org/2000/svg'/>\n```\n\n"
        "![A picture](pictures/some.svg)\n\n```console\n$ rocketproof --version\nrocketproof 0\n"
        "$ rocketproof verify nothing-like-it\n```\n"
    )
    path = tmp_path / "01-version.md"
    path.write_text(text, encoding="utf-8")
    shown = executed(notebook(Lesson(1, "version", "Which version?", path), ENGLISH), tmp_path, monkeypatch)
    plain, file, picture, version, unknown = shown
    assert plain[2] == "env: FORCE_COLOR=\n"
    assert file[0] == "%%writefile some.svg\n<svg xmlns='http://www.w3.org/2000/svg'/>"
    assert picture[2].startswith("<svg")
    assert version[1:] == ("rocketproof 0\n", f"rocketproof {__version__}\n")
    assert "nothing-like-it" in unknown[2]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [pytest.param(each, id=each.name) for each in lessons()])
def test_every_lesson_prints_what_it_shows(lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source, shown, printed in executed(notebook(lesson, ENGLISH), tmp_path, monkeypatch):
        if source.startswith("%%sh"):
            assert fits(shown, printed), f"{source}\n{printed}"


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tags.ipynb"
    assert run(capsys, "learn", "tags", "--language", "zh-CN", "--notebook", str(out)) == (0, "", "")
    assert json.loads(out.read_text(encoding="utf-8"))["cells"][1]["source"].startswith("# 12. ")
    code, _, error = run(capsys, "learn", "--notebook", str(out))
    assert (code, error) == (
        3,
        "rocketproof: --notebook writes one lesson; name it, as in: learn push-is-pull --notebook push.ipynb.\n",
    )
