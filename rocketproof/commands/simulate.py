"""``rocketproof simulate``: make a trace of a simulated cluster, with the truth beside it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..model.delay import DelayTable
from ..model.kernel import ConfigurationError
from ..output.console import interrupts, make_console, print_columns
from ..output.files import check_folder_writable
from ..output.progress import Interrupted, Progress, progress_of
from ..traces.errors import TraceError
from ..traces.generate.simulation import MUTANTS, Plan, simulate
from .preparing import preparing
from .sizes import read_count, read_time

_READ: Mapping[str, Callable[[str, str], int]] = {
    "messages": read_count,
    "rate": read_count,
    "duration": read_time,
    "consume_timeout": read_time,
}
"""Options that people write as 1e6 or 2h."""


def simulate_cluster(out: str, options: Mapping[str, Any]) -> int:
    """Simulate a cluster and write its trace; returns the exit code. The options are values of a :class:`Plan`, with
    counts and times as people write them; None stands for the default.

    Raises:
        InputError: a value is impossible, or the folder is not empty.
    """
    folder = new_folder(out)
    plan = _plan(folder, options)
    console = make_console(quiet=False)
    with (
        interrupts(),
        preparing("the simulated cluster", "a minute"),
        emptied_unless_complete(folder),
        progress_of(plan.messages, "message") as progress,
    ):
        try:
            summary = simulate(plan, progress=_step_of(progress))
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted, nothing is left in {out}: {progress}") from None
        except OSError as error:
            raise InputError(f"cannot write to {out}: {error.strerror}.") from None
    console.say(
        f"{summary.events:,} events of {summary.messages:,} messages, {summary.span / 1000:,.0f} s of the cluster "
        f"(seed {plan.seed}): {summary.trace}"
    )
    if not summary.finished:
        console.say("messages were still being processed when it ended")
    for fact, count in summary.facts.items():
        console.say(f"  {count:>9,}  {fact}")
    console.say(f"what was injected: {summary.truth}")
    console.say(f"check it: rocketproof check {summary.trace}")
    return 0


def _plan(folder: Path, options: Mapping[str, Any]) -> Plan:
    given = {name: value for name, value in options.items() if value is not None}
    given |= {name: read(f"--{name.replace('_', '-')}", given[name]) for name, read in _READ.items() if name in given}
    try:
        plan = Plan(out=folder, **given)
        DelayTable.parse(plan.delays)
    except TraceError as error:
        raise InputError(_as_option(str(error))) from None
    except ConfigurationError as error:
        raise InputError(f"--delays: {error}") from None
    known = MUTANTS.get(plan.mutant)
    if plan.mutant and known is None:
        raise InputError(f"there is no mutant {plan.mutant!r} of a simulated cluster. 'simulate --list' shows all.")
    if known is not None and plan.group_kind not in known.kinds:
        raise InputError(f"mutant {plan.mutant} needs --group-kind {' or '.join(known.kinds)}.")
    return plan


def _as_option(message: str) -> str:
    """Turn a message about a value of a plan, which begins with its name, into one about an option."""
    name, space, rest = message.partition(" ")
    known = name in {field.name for field in fields(Plan)}
    return f"--{name.replace('_', '-')}{space}{rest}" if known else message


def _step_of(progress: Progress) -> Any:
    """The progress of a simulation: how many messages have been produced so far."""

    def produced(done: int, _total: int) -> None:
        progress("produced", done - progress.done.get("produced", 0))

    return produced


def list_mutants() -> None:
    """Print the known bugs that a simulated cluster can have, one per line."""
    lines = [(name, mutant.what) for name, mutant in MUTANTS.items()]
    print_columns(make_console(quiet=False), ("", lines), indent="")


def new_folder(out: str) -> Path:
    """A folder that does not exist or is empty.

    Raises:
        InputError: it is not empty, or is a file.
    """
    if not out:
        raise InputError("--out is missing: name a new folder for the trace.")
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"--out {out} exists already and is not an empty folder; name a new one.")
    check_folder_writable(out)
    return folder


@contextmanager
def emptied_unless_complete(folder: Path) -> Iterator[None]:
    """Remove what a block that does not end normally wrote to a new folder: half a trace looks like a whole one."""
    existed = folder.exists()
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if existed:
            folder.mkdir()
        raise
