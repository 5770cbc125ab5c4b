"""Options that several commands have, each with one name and one meaning, and what help says of exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", show_default=False, help="Files and folders that are one trace together."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a constant of the configuration; repeatable."),
]
Terms = Annotated[
    str, typer.Option(metavar="FILE", help="A deployment file, rocketproof.toml: timers, delay levels and maxima.")
]
Slack = Annotated[
    str, typer.Option(metavar="TIME", help="How far records may be apart from what they tell, such as 50ms.")
]
Master = Annotated[str, typer.Option(metavar="URL", help="With Spark: its master; usually local[*].")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first thing that cannot be read.")]
Json = Annotated[str, typer.Option("--json", metavar="FILE|-", help="Write the answer as JSON; - for standard output.")]
Junit = Annotated[str, typer.Option("--junit", metavar="FILE", help="Write the answer as JUnit XML.")]


def exit_codes(*meanings: str, wrong_usage: str = "wrong usage or input") -> str:
    """The end of a command's help: what its exit codes from 0 on mean; an empty meaning is of one it never has."""
    told = [*meanings, wrong_usage, "a defect of rocketproof itself, told by a traceback"]
    return "\n\n\b\nExit codes:\n" + "".join(f"  {code}  {what}\n" for code, what in enumerate(told) if what)
