"""The lessons: Markdown files of ``docs/learn``, which come with the package."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..commands.meaning import Entry, find
from ..errors import InputError
from ..model.kernel import nearest

FOLDER = Path(__file__).parent / "text"
"""The folder of the lessons: in English there, in other languages in subfolders named after their codes."""
ENGLISH = "en"


@dataclass(frozen=True)
class Lesson:
    """One lesson."""

    number: int  # its position, from 1 on
    name: str  # its name on the command line, such as ``push-is-pull``
    title: str  # the question that it answers
    path: Path  # path of its text

    @property
    def text(self) -> str:
        """The whole lesson, as Markdown."""
        return self.path.read_text(encoding="utf-8")


def languages() -> list[str]:
    """The languages in which there are lessons."""
    return [ENGLISH, *sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and list(path.glob("[0-9]*.md")))]


def lessons(language: str = ENGLISH) -> list[Lesson]:
    """All lessons in a language, in their order.

    Raises:
        InputError: there are none in that language.
    """
    if language not in languages():
        raise InputError(f"there are no lessons in {language!r}.{nearest(language, languages())}")
    folder = FOLDER if language == ENGLISH else FOLDER / language
    return [_lesson(path) for path in sorted(folder.glob("[0-9]*.md"))]


def lesson_called(name: str, language: str = ENGLISH) -> Lesson:
    """The lesson with that number or name.

    Raises:
        InputError: there is none.
    """
    known = lessons(language)
    for lesson in known:
        if name in (lesson.name, str(lesson.number)):
            return lesson
    if name.lstrip("-").isdigit():
        raise InputError(f"there is no lesson {name}; they are numbered from 1 to {len(known)}.")
    meant = [entry.name for entry in find(name.replace("-", " "), _titles())[:3]]
    near = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else nearest(name, [each.name for each in known])
    raise InputError(f"there is no lesson {name!r}.{near}")


def _titles() -> list[Entry]:
    """The topic of each lesson, in every language."""
    told = zip(*map(lessons, languages()), strict=True)
    return [Entry(same[0].name, " ".join(lesson.title for lesson in same)) for same in told]


def _lesson(path: Path) -> Lesson:
    number, name = path.stem.split("-", 1)
    with path.open(encoding="utf-8") as text:
        title = re.sub(r"^# (\d+\. )?", "", text.readline()).strip()
    return Lesson(int(number), name, title, path)
