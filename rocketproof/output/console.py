"""The terminal: output and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from ..properties.verdict import Verdict
from ..traces.format.printable import printable_lines
from .files import STANDARD_OUTPUT, check_writable

PROBLEMS_SHOWN = 10
"""Number of reading problems that the terminal shows; further ones are only counted."""

VERDICT_STYLES = {
    Verdict.HOLDS: "green",
    Verdict.VIOLATED: "red",
    Verdict.UNKNOWN: "yellow",
    Verdict.NOT_OBSERVABLE: "yellow",
}
"""How the terminal shows each verdict."""


@contextlib.contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt at once, and again at the next call of the given function.

    An exception raised while Python frees an object is lost, and Z3 frees thousands. Its message is not shown: the
    object that was being made when the user stopped is freed half made.
    """
    pressed = False

    def press(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    def stop_if_interrupted() -> None:
        if pressed:
            raise KeyboardInterrupt

    show = sys.unraisablehook

    def show_unless_interrupted(lost: sys.UnraisableHookArgs) -> None:
        if not pressed:
            show(lost)

    sys.unraisablehook = show_unless_interrupted
    try:
        with pressing(press):
            yield stop_if_interrupted
    finally:
        sys.unraisablehook = show


@contextlib.contextmanager
def pressing(press: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM call a function."""
    before = {number: signal.signal(number, press) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class SafeConsole(Console):
    """A console on which nothing that is shown can have an effect, see :mod:`..traces.format.printable`."""

    def say(self, text: str | Text = "", style: str = "") -> None:
        """Print exactly one line: a line feed in a name does not begin another one."""
        self.print(_one_line(text if isinstance(text, Text) else Text(text, style=style)), soft_wrap=True)

    def status(self, *args: Any, **kwargs: Any) -> Status:
        """A spinner, if a terminal is watched: none for a pipe or a file, whatever colours are requested."""
        watched = self.file.isatty()
        return super().status(*args, **kwargs) if watched else Console(quiet=True).status(*args, **kwargs)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is to be shown, in pieces of one style."""
        begin = True  # beginning of a line, where CI servers look for commands
        for segment in super().render(renderable, options):
            if segment.control or not segment.text:
                yield segment
                continue
            before = "" if begin else "."
            yield Segment(printable_lines(before + segment.text)[len(before) :], segment.style)
            begin = segment.text.endswith("\n")

    def on_broken_pipe(self) -> None:
        """Raise the error, as rich would exit with code 1, which means "violated" here."""
        raise BrokenPipeError


def make_console(*, quiet: bool) -> SafeConsole:
    """A console on standard output, or one that prints nothing."""
    return SafeConsole(quiet=quiet, highlight=False)


def console_beside(*files: str) -> SafeConsole:
    """The console for output besides answers in files: one that prints nothing if one of them is standard output.

    Raises:
        InputError: a file cannot be written, which is better reported before a long run than after it.
    """
    for file in filter(None, files):
        check_writable(file)
    return make_console(quiet=STANDARD_OUTPUT in files)


Cells = Sequence[str | Text]


def print_columns(console: SafeConsole, *sections: tuple[str, Iterable[Cells]], indent: str = "  ") -> None:
    """Print sections, each with its title (none if empty), with columns as wide as their widest cell anywhere.

    The last column is not padded. If a terminal is too narrow for it, it is printed below its row.
    """
    texts = [(title, [[_one_line(cell) for cell in row] for row in rows]) for title, rows in sections]
    widths: dict[int, int] = {}
    for row in (row for _, rows in texts for row in rows):
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(cell.cell_len, widths.get(place, 0))
    for title, rows in texts:
        if title:
            console.say(title, "bold")
        for *first, last in rows:
            line = Text(indent)
            for place, cell in enumerate(first):
                line.append_text(cell).append(" " * (widths[place] - cell.cell_len + 2))
            if console.is_terminal and first and line.cell_len + last.cell_len > console.width:
                line.rstrip()
                line.append(f"\n{indent}    ")
            line.append_text(last)
            line.rstrip()
            console.print(line, soft_wrap=True)  # it may have two lines


def _one_line(cell: str | Text) -> Text:
    """A line feed in a name begins no new line."""
    text = Text(cell) if isinstance(cell, str) else cell
    return Text("\\n").join(text.split("\n")) if "\n" in text.plain else text
