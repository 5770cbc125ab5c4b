"""The commands below ``rocketproof lab``. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import argument, exit_codes, flag, option, show_help

EXIT_CODES = exit_codes(
    "everything as expected",
    "not as expected: a scenario shows something else, or part of the cluster does not answer",
    "interrupted",
    wrong_usage="wrong usage or input, or trouble with the lab: no JDK or Maven, a part that did not start",
)

Home = Annotated[str, option("DIR", "Folder of the cluster; by default one of yours among the temporary files.")]
Release = Annotated[str, option("VERSION", "Release of RocketMQ: 5.3.3 (default), 5.5.0 or 4.9.8.")]

lab = typer.Typer(
    name="lab",
    rich_markup_mode=None,
    short_help="Run RocketMQ itself and record what it does.",
    help="Run RocketMQ itself on this machine, capture what it does, and compare it with the model. "
    "Needs a JDK (17 or newer) and Maven." + EXIT_CODES,
)


lab.callback(invoke_without_command=True)(show_help)


@lab.command(
    short_help="Start a cluster.",
    help="Start a name server and brokers on this machine. They run until 'lab down'." + EXIT_CODES,
    epilog="Example: rocketproof lab up --brokers 2 --set messageDelayLevel='1s 2s 5s'",
)
def up(
    release: Release = "5.3.3",
    brokers: Annotated[int, option("N", "1 or 2.")] = 1,
    home: Home = "",
    set_: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Setting of the brokers, with namesrv. before of the name server.", "--set"),
    ] = None,
    capture: Annotated[str, option("DIR", "Let the brokers record what they do to a folder.")] = "",
) -> None:
    """Start what was asked for."""
    from . import lab_cluster

    raise typer.Exit(lab_cluster.up(release=release, brokers=brokers, home=home, settings=set_ or [], capture=capture))


@lab.command(
    short_help="End a cluster and remove its files.",
    help="End all processes of a cluster, clients that belong to it too, and remove its folder." + EXIT_CODES,
)
def down(home: Home = "") -> None:
    """End what was asked for."""
    from . import lab_cluster

    raise typer.Exit(lab_cluster.down(home=home))


@lab.command(
    short_help="Show whether the parts of a cluster answer.",
    help=("Ask each part of a cluster whether it answers, and show the end of the log of any that does not.")
    + EXIT_CODES,
)
def status(home: Home = "") -> None:
    """Tell what was asked for."""
    from . import lab_cluster

    raise typer.Exit(lab_cluster.status(home=home))


@lab.command(
    short_help="Run scenarios.",
    help="Run scenarios, each in its own cluster, and compare what happens with what must happen." + EXIT_CODES,
    epilog="Example: rocketproof lab run kill-9-mid-batch --out runs",
)
def run(
    names: Annotated[
        list[str] | None, argument("SCENARIO", "Names, as 'lab scenarios' shows them; all by default.")
    ] = None,
    release: Release = "5.3.3",
    out: Annotated[str, option("DIR", "Keep the trace and the outcome of each here.")] = "",
    keep: Annotated[bool, flag("--keep", "With --out: keep logs and recordings too.")] = False,
) -> None:
    """Run what was asked for."""
    from . import lab_run

    raise typer.Exit(lab_run.run(names or [], release=release, out=out, keep=keep))


@lab.command(short_help="List the scenarios.", help="List the scenarios, and what each shows.")
def scenarios() -> None:
    """List them."""
    from . import lab_run

    raise typer.Exit(lab_run.list_scenarios())


@lab.command(
    short_help="Make one trace of what was recorded so far.",
    help="Join what the agents of a cluster and of clients have recorded so far into one trace." + EXIT_CODES,
    epilog="Example: rocketproof lab capture trace.jsonl",
)
def capture(
    out: Annotated[str, argument("OUT", "The trace: .jsonl, .jsonl.zst, .jsonl.gz or .parquet.")],
    folders: Annotated[
        list[str] | None, argument("PATH", "Recordings; by default those of the running cluster.")
    ] = None,
    home: Home = "",
) -> None:
    """Join what was asked for."""
    from . import lab_capture
    from .lab_cluster import capture_folder

    raise typer.Exit(lab_capture.capture(out, [Path(folder) for folder in folders or []] or [capture_folder(home)]))


@lab.command(
    short_help="Print the table of the captured runs.",
    help="Print the table of the captured runs that come with the kit, as it is in the documents." + EXIT_CODES,
)
def table() -> None:
    """Print it."""
    from ..lab.table import table as rows

    typer.echo(rows())
