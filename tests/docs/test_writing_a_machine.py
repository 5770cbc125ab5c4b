"""The guide to writing a machine runs as one program and prints what it shows."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "writing-a-machine.md"


def blocks() -> list[tuple[str, str, int]]:
    """Language, text and first line of each block."""
    text = GUIDE.read_text(encoding="utf-8")
    return [
        (match[1], match[2], text.count("\n", 0, match.start()) + 1)
        for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]


def test_the_guide_runs_and_prints_what_it_shows() -> None:
    scope: dict[str, Any] = {"__name__": "guide"}
    printed: list[tuple[int, str]] = []
    shown: list[tuple[int, str]] = []
    for language, text, line in blocks():
        assert language in ("python", "text"), f"line {line}: a block that nobody checks"
        if language == "text":
            shown.append((printed[-1][0], text))
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile("\n" * line + text, str(GUIDE), "exec"), scope)
        if output.getvalue():
            printed.append((line, output.getvalue()))
    assert shown == printed
    found = scope["explore"](scope["machine"].configure(managers=3))
    assert (found.states, found.transitions, found.depth) == (288, 1145, 10)


def test_the_machine_of_the_guide_stays_small() -> None:
    (machine,) = [text for _, text, _ in blocks() if text.startswith("machine = Machine(")]
    assert len([line for line in machine.splitlines() if line.strip()]) == 26
