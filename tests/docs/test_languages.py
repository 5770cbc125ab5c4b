"""What is said in Chinese is what is said in English: the same commands, ids, rules and figures."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .console import ROOT

ENGLISH = sorted((ROOT / "docs" / "learn").glob("[0-9]*.md"))
CHINESE = ROOT / "docs" / "learn" / "zh-CN"
PAIRS = [(path, CHINESE / path.name) for path in ENGLISH] + [(ROOT / "README.md", ROOT / "README.zh-CN.md")]

_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)

both = pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda path: path.stem)


def shown(text: str) -> list[str]:
    """The blocks of code, in their order."""
    return _BLOCK.findall(text)


def prose(text: str) -> str:
    return _BLOCK.sub("", text)


def code_words(text: str) -> set[str]:
    """What is set as code."""
    return set(re.findall(r"`([^`\n]+)`", prose(text)))


def rules(text: str) -> set[str]:
    return set(re.findall(r"\b[A-Z]{2}-\d+\b", prose(text)))


def figures(text: str) -> set[str]:
    """Every number that is written in digits."""
    return set(re.findall(r"\d[\d.,]*\d|\d", re.sub(r"`[^`\n]+`|\]\([^)]*\)", "", prose(text))))


def links(text: str) -> list[str]:
    """Where links lead, but for the language and the folder."""
    return [Path(link).name for link in re.findall(r"\]\(([^)\s#]+)", prose(text)) if "README" not in link]


def headings(text: str) -> list[int]:
    return [len(level) for level in re.findall(r"^(#+) ", prose(text), re.MULTILINE)]


def test_every_lesson_is_there_in_chinese() -> None:
    assert sorted(path.name for path in CHINESE.glob("*.md")) == [path.name for path in ENGLISH]


@both
@pytest.mark.parametrize("said", [shown, code_words, rules, figures, links, headings])
def test_both_languages_say_the_same(english: Path, chinese: Path, said: Callable[[str], object]) -> None:
    assert said(chinese.read_text(encoding="utf-8")) == said(english.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "lesson", [*ENGLISH, *(CHINESE / path.name for path in ENGLISH)], ids=lambda path: str(path.name)
)
def test_a_lesson_has_all_its_parts(lesson: Path) -> None:
    question, predict, run, change, rule, production, exercise = re.split(
        r"^## .*$", lesson.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert re.search("[?？]", question)
    assert predict.strip()
    assert "```console\n$ rocketproof " in run
    assert ".svg)" in run
    assert "```console\n$ rocketproof " in change
    assert re.search(r"^\|.*\b[A-Z]{2}-\d+.*\| `\w+", rule, re.MULTILINE), "rules with their Java source"
    assert production.count("\n* ") >= 2
    assert "$ rocketproof learn check " in exercise
