"""``rocketproof learn``: list the lessons, open one, verify the answer to its exercise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.markdown import Markdown
from rich.text import Text

from ..errors import InputError
from ..learn.lessons import lesson_called, lessons
from ..learn.notebook import notebook as as_notebook
from ..output.console import VERDICT_STYLES, SafeConsole, make_console, print_columns
from ..output.files import check_writable, write
from ..properties.verdict import Verdict, merge

CHECK = "check"


def learn(words: Sequence[str], *, language: str, notebook: str = "") -> int:
    """Without words, list the lessons; open a named lesson; with ``check LESSON FILE``, verify an answer.

    With ``notebook`` (``-`` for standard output), a lesson is written as a notebook instead.

    Returns:
        The exit code: 0; for an answer, 1 if it is not right yet, and 2 if it could not be judged.

    Raises:
        InputError: there is no such lesson, or the words do not fit together.
    """
    console = make_console(quiet=False)
    if notebook:
        check_writable(notebook)
    match list(words):
        case [name] if notebook and name != CHECK:
            made = as_notebook(lesson_called(name, language), language)
            write(notebook, json.dumps(made, ensure_ascii=False, indent=1) + "\n")
        case _ if notebook:
            raise InputError("--notebook writes one lesson; name it, as in: learn push-is-pull --notebook push.ipynb.")
        case []:
            _list(console, language)
        case [name] if name != CHECK:
            _open(console, lesson_called(name, language).text)
        case [first, name, file] if first == CHECK:
            return _check(console, lesson_called(name).name, Path(file))
        case _:
            raise InputError(f"{' '.join(words)!r} is not possible; write LESSON, or {CHECK} LESSON FILE.")
    return 0


def _list(console: SafeConsole, language: str) -> None:
    known = lessons(language)
    lines = [(f"{lesson.number:>2}", lesson.name, lesson.title) for lesson in known]
    print_columns(console, ("", lines), indent="")
    console.print()
    console.print(Text(f"Open one: rocketproof learn {known[0].name}"))


def _open(console: SafeConsole, text: str) -> None:
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.print(Text(text), soft_wrap=True)  # it has many lines


def _check(console: SafeConsole, name: str, answer: Path) -> int:
    from ..learn.tasks import EXERCISES
    from ..model.kernel import ModelError

    try:
        steps = EXERCISES[name].check(answer)
    except ModelError as error:
        raise InputError(f"{answer}: {error}") from None
    for step in steps:
        console.say(Text.assemble((f"{step.verdict:8}", VERDICT_STYLES[step.verdict]), f"  {step.asked}"))
        for line in step.told.splitlines():
            console.say("    " + line)
    # If one thing is wrong, the answer is wrong, whatever could not be judged for that reason.
    verdicts = [step.verdict for step in steps]
    whole = Verdict.VIOLATED if Verdict.VIOLATED in verdicts else merge(verdicts)
    console.print()
    said = {
        Verdict.HOLDS: f"{answer} solves the exercise of {name}.",
        Verdict.VIOLATED: f"{answer} does not solve the exercise of {name} yet.",
    }
    console.say(said.get(whole, f"{answer} could not be judged: a limit was hit."))
    return {Verdict.HOLDS: 0, Verdict.VIOLATED: 1}.get(whole, 2)
