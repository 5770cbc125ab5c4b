"""What commands share: options, each with one name and one meaning, and the help texts about exit codes."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", show_default=False, help="Files and folders that together form one trace."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a constant of the configuration; repeatable."),
]
Terms = Annotated[
    str, typer.Option(metavar="FILE", help="A deployment file, rocketproof.toml: timers, delay levels and maxima.")
]
Slack = Annotated[
    str, typer.Option(metavar="TIME", help="How far in time a record may be from what it describes, such as 50ms.")
]
Master = Annotated[str, typer.Option(metavar="URL", help="With Spark: its master; default local[*].")]
Skew = Annotated[
    str, typer.Option(metavar="TIME", help="How far apart the clocks of different machines may be, such as 50ms or 2s.")
]
Delays = Annotated[
    str, typer.Option(metavar="LEVELS", help="messageDelayLevel of the brokers, if the trace does not say.")
]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="Time zone of logs, such as UTC, +08:00 or Europe/Berlin.")]
Importing = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="NAME=VALUE", help="What logs do not say: group, client or broker; repeatable."),
]
Stories = Annotated[int, typer.Option(metavar="N", min=0, help="How many findings of each claim to explain.")]
EveryClaim = Annotated[bool, typer.Option("--all", help="Print a line for each claim.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first line or file that cannot be read.")]
Json = Annotated[str, typer.Option("--json", metavar="FILE|-", help="Write the answer as JSON; - for standard output.")]
Junit = Annotated[str, typer.Option("--junit", metavar="FILE", help="Write the answer as JUnit XML.")]

OWN_PROCESS = "own process"
"""A mark in the context of commands if nothing else runs in this process, so that they may change global settings."""


class Annotations(enum.StrEnum):
    """Forms of annotations."""

    GITHUB = "github"


def exit_codes(*meanings: str, wrong_usage: str = "wrong usage or input") -> str:
    """The end of a command's help: what its exit codes from 0 on mean; an empty meaning is for a code that it never
    has.
    """
    told = [*meanings, wrong_usage, "a defect in rocketproof itself; a traceback is shown"]
    return "\n\n\b\nExit codes:\n" + "".join(f"  {code}  {what}\n" for code, what in enumerate(told) if what)


EXIT_CODES = exit_codes(
    "everything as expected",
    "a property is violated, or an expected finding was not found",
    "something is unknown: a limit was hit, a solver gave up, or Ctrl-C",
)
"""The exit codes of a command that judges properties."""
