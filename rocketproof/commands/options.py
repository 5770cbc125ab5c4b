"""What commands share: options, each with one name and one meaning, and the help texts about exit codes."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer


def option(metavar: str, help: str, *names: str, min: int | None = None, max: int | None = None) -> Any:
    """An option with a value, called like its parameter if it has no names; a number may have bounds."""
    return typer.Option(*names, metavar=metavar, help=help, min=min, max=max)


def flag(name: str, help: str, *further: str) -> Any:
    """An option without a value, and its further names."""
    return typer.Option(name, *further, help=help)


def argument(metavar: str, help: str) -> Any:
    """What a command is about."""
    return typer.Argument(metavar=metavar, show_default=False, help=help)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each field of the dataclasses among its parameters; typer knows no dataclasses.

    Those that a dataclass inherits come last.
    """
    hints = get_type_hints(command, include_extras=True)
    made = {name: hints[name] for name in inspect.signature(command).parameters if is_dataclass(hints[name])}
    by_name = inspect.Parameter.KEYWORD_ONLY

    @wraps(command)
    def spread_out(**given: Any) -> None:
        wholes = {
            name: kind(**{each.name: given.pop(each.name) for each in fields(kind)}) for name, kind in made.items()
        }
        command(**wholes, **given)

    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in made:
            parameters.append(parameter.replace(annotation=hints[name], kind=by_name))
            continue
        of_fields = get_type_hints(made[name], include_extras=True)
        every = {each.name: each for each in fields(made[name])}
        for each in ({own: every[own] for own in made[name].__annotations__} | every).values():
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            parameters.append(inspect.Parameter(each.name, by_name, default=default, annotation=of_fields[each.name]))
    spread_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return spread_out


Paths = Annotated[list[str] | None, argument("PATH", "Files and folders that together form one trace.")]
Constants = Annotated[
    list[str] | None, option("NAME=VALUE", "Change a constant of the configuration; repeatable.", "--set")
]
Terms = Annotated[str, option("FILE", "A deployment file, rocketproof.toml: timers, delay levels and maxima.")]
Slack = Annotated[str, option("TIME", "How far in time a record may be from what it describes, such as 50ms.")]
Master = Annotated[str, option("URL", "With Spark: its master; default local[*].")]
Skew = Annotated[str, option("TIME", "How far apart the clocks of different machines may be, such as 50ms or 2s.")]
Delays = Annotated[str, option("LEVELS", "messageDelayLevel of the brokers, if the trace does not say.")]
Zone = Annotated[str, option("ZONE", "Time zone of logs, such as UTC, +08:00 or Europe/Berlin.")]
Importing = Annotated[
    list[str] | None, option("NAME=VALUE", "What logs do not say: group, client or broker; repeatable.", "--import")
]
Stories = Annotated[int, option("N", "How many findings of each claim to explain.", min=0)]
EveryClaim = Annotated[bool, flag("--all", "Print a line for each claim.")]
Strict = Annotated[bool, flag("--strict", "Stop at the first line or file that cannot be read.")]
Json = Annotated[str, option("FILE|-", "Write the answer as JSON; - for standard output.", "--json")]
Junit = Annotated[str, option("FILE", "Write the answer as JUnit XML.", "--junit")]


def show_help(context: typer.Context) -> None:
    """The callback of a command with commands below it, when none of them is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


OWN_PROCESS = "own process"
"""A mark in the context of commands if nothing else runs in this process, so that they may change global settings."""


class Annotations(enum.StrEnum):
    """Forms of annotations."""

    GITHUB = "github"


def exit_codes(*meanings: str, wrong_usage: str = "wrong usage or input") -> str:
    """The end of a command's help: what its exit codes from 0 on mean; an empty meaning is for one it never has."""
    told = [*meanings, wrong_usage, "a defect in rocketproof itself; a traceback is shown"]
    return "\n\n\b\nExit codes:\n" + "".join(f"  {code}  {what}\n" for code, what in enumerate(told) if what)


EXIT_CODES = exit_codes(
    "everything as expected",
    "a property is violated, or an expected finding was not found",
    "something is unknown: a limit was hit, a solver gave up, or Ctrl-C",
)
"""The exit codes of a command that judges properties."""
