"""The terminal: what is printed there, and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

from rich.console import Console

from .properties.verdict import Verdict

VERDICT_STYLES = {
    Verdict.HOLDS: "green",
    Verdict.VIOLATED: "red",
    Verdict.UNKNOWN: "yellow",
    Verdict.NOT_OBSERVABLE: "yellow",
}
"""How the terminal shows each verdict."""


@contextlib.contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt at once, and again at the next call of the function given.

    An exception raised while Python frees an object is lost, and Z3 frees thousands.
    """
    pressed = False

    def press(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    def stop_if_interrupted() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, press) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop_if_interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would leave with exit code 1, which means "violated" here


def make_console(*, quiet: bool) -> Console:
    """A console on standard output, or one that prints nothing."""
    return _Console(quiet=quiet, highlight=False)
