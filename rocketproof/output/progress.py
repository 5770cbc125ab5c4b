"""The progress of a long run: a bar if a terminal is watched, and a sentence when it is interrupted."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(Exception):
    """Ctrl-C, with the progress of the run as its message."""


class Progress:
    """Counts what has been done; called with the kind of work, such as ``checked``, and how many more things."""

    def __init__(self, *, total: int | None, thing: str, bar: Any = None) -> None:
        self.done: dict[str, int] = {}  # number of things for which the work was done
        self.total = total  # total number; None if it is not known
        self.thing = thing  # what is counted, such as ``event``
        self._bar = bar
        self._tasks: dict[str, Any] = {}

    def __call__(self, what: str, more: int) -> None:
        """Record that ``what`` was done to ``more`` things."""
        self.done[what] = self.done.get(what, 0) + more
        if self._bar is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=self.total)
        self._bar.advance(self._tasks[what], more)

    def __str__(self) -> str:
        of = f" of {self.total:,}" if self.total is not None else ""
        parts = [f"{count:,}{of} {self.thing}s {what}" for what, count in self.done.items()]
        return ", ".join(parts) or f"no {self.thing} yet"


@contextmanager
def told_if_long(text: str, *, after: float = 5.0) -> Iterator[None]:
    """Print ``text`` on standard error, once, if the block takes longer than ``after`` seconds."""
    teller = threading.Timer(after, print, [text], {"file": sys.stderr})
    teller.daemon = True
    teller.start()
    try:
        yield
    finally:
        teller.cancel()


@contextmanager
def progress_of(total: int | None, thing: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Count things; with a bar on the terminal unless standard error is not watched, or ``quiet`` is set."""
    if quiet or not sys.stderr.isatty():
        yield Progress(total=total, thing=thing)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Progress(total=total, thing=thing, bar=bar)
