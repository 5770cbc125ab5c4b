"""The command line. Heavy modules are imported where they are needed, so that ``--help`` answers at once."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterable
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from .commands.lab_commands import lab
from .commands.making_commands import making
from .commands.model_commands import model
from .commands.options import EXIT_CODES, OWN_PROCESS
from .commands.pipeline_commands import pipeline
from .commands.trace_commands import traces
from .output.progress import Interrupted
from .traces.format.printable import printable, printable_lines

AS_EXPECTED, VIOLATED, UNKNOWN, WRONG_USAGE, DEFECT = range(5)

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""The error if standard output is a file on a full disk."""

LITTLE_GARBAGE = 50_000, 20, 20
"""Setting of the garbage collector in a process for one command: imports create many objects, all of them to stay."""

PARTS = (model, traces, making, lab, pipeline)


def _door(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from . import __version__

        typer.echo(f"rocketproof {__version__}")
        raise typer.Exit(AS_EXPECTED)


def _with(parts: Iterable[typer.Typer]) -> typer.Typer:
    """The command line with some of its commands."""
    door = typer.Typer(
        name="rocketproof",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="Check what RocketMQ consumption guarantees, and what it does not." + EXIT_CODES,
    )
    door.callback(invoke_without_command=True)(_door)
    for part in parts:
        door.add_typer(part)
    return door


def _asked(arguments: list[str]) -> typer.Typer:
    """The command line with the requested command; with all commands if none is named first.

    Declaring the options of all commands takes half as long as answering a small question.
    """
    name = arguments[0] if arguments else ""
    for part in PARTS:
        if part.info.name == name:
            return _with([part])
        for command in part.registered_commands:
            if command.callback is not None and (command.name or command.callback.__name__) == name:
                alone = typer.Typer(rich_markup_mode=None)
                alone.registered_commands.append(command)
                return _with([alone])
    return app


app = _with(PARTS)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake leads to one line and exit code 3."""
    if arguments is not None:
        sys.exit(_run(arguments))
    gc.set_threshold(*LITTLE_GARBAGE)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: unfinished work is cleaned up
    sys.exit(_run(sys.argv[1:], OWN_PROCESS))


def _run(arguments: list[str], obj: object = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without arrows shows a ? for them
    try:
        asked = _asked(arguments)
        code = int(
            asked(arguments or ["--help"], prog_name="rocketproof", standalone_mode=False, obj=obj) or AS_EXPECTED
        )
        sys.stdout.flush()
        # Typer turns Ctrl-C into an exit code.
        return _complain("interrupted", code=UNKNOWN) if code == 128 + signal.SIGINT else code
    except TyperException as error:
        return _complain(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", code=UNKNOWN)
    except Interrupted as stop:
        return _complain(str(stop), code=UNKNOWN)
    except BrokenPipeError:
        # The reader of the output went away.
        _drop_output()
        return UNKNOWN
    except OSError as error:
        if error.errno not in NO_ROOM:
            return _defect()
        _drop_output()
        return _complain(f"the output cannot be written: {error.strerror}.")
    except MemoryError as error:
        told = f" ({error})" if str(error) else ""
        return _complain(
            f"out of memory{told}; take a smaller configuration, or stop a search before with --limit memory=N (MiB).",
            code=UNKNOWN,
        )
    except Exception as error:
        if _hides_an_interrupt(error):
            return _complain("interrupted", code=UNKNOWN)
        from .lab.errors import LabError

        if isinstance(error, LabError):
            return _complain(str(error), whole=True)
        if isinstance(error, _mistakes()):
            return max(_complain(line) for line in getattr(error, "problems", [str(error)]))
        return _defect()


def _hides_an_interrupt(error: Exception) -> bool:
    """Whether it is a Ctrl-C that came while arguments of a C function, such as one of Z3, were converted."""
    from ctypes import ArgumentError

    return isinstance(error, ArgumentError) and KeyboardInterrupt.__name__ in str(error)


def _defect() -> int:
    print(printable_lines(traceback.format_exc()), end="", file=sys.stderr)
    return _complain("the error above is a defect of rocketproof, please report it.", code=DEFECT)


def _drop_output() -> None:
    """Discard output that was not written yet; otherwise Python would try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _mistakes() -> tuple[type[Exception], ...]:
    """Errors whose message is for the user; anything else is a defect of the kit, and shows its traceback."""
    from .checkers.user_strategies import StrategyError
    from .errors import InputError
    from .model.kernel import ConfigurationError, ModelError
    from .traces.errors import TraceError

    return InputError, ConfigurationError, ModelError, StrategyError, TraceError


def _complain(message: str, *, code: int = WRONG_USAGE, whole: bool = False) -> int:
    """Report what went wrong in one line or, with ``whole``, with the log lines in it; returns ``code``."""
    shown = printable_lines(message) if whole else printable(" ".join(message.split()))
    print(f"rocketproof: {shown}", file=sys.stderr)
    return code
