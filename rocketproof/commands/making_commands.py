"""The commands that make traces. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Constants, flag, option

making = typer.Typer(rich_markup_mode=None)


@making.command(
    short_help="Make a trace of a simulated cluster.",
    help=(
        "Make a trace of any size from a simulated cluster, correct or with a known bug, and record the truth about it."
    ),
    epilog="Example: rocketproof simulate --messages 1e6 --consumers 8 --mutant B1 --out run",
)
def simulate(
    out: Annotated[str, option("DIR", "A new folder for trace and truth.")] = "",
    messages: Annotated[str | None, option("N", "Messages produced, such as 1e6; default 100,000.")] = None,
    consumers: Annotated[int | None, option("N", "Clients of the group; default 4.")] = None,
    queues: Annotated[int | None, option("N", "Queues of each topic; default 16.")] = None,
    topics: Annotated[int | None, option("N", "Topics of the group; default 1.")] = None,
    brokers: Annotated[int | None, option("N", "Brokers; default 2.")] = None,
    group_kind: Annotated[str | None, option("KIND", "concurrently (default), orderly or broadcasting.")] = None,
    strategy: Annotated[
        str | None, option("NAME", "How queues are shared: AVG (default), AVG_BY_CIRCLE, CONSISTENT_HASH.")
    ] = None,
    rate: Annotated[str | None, option("N", "Messages a second at most; default 5,000.")] = None,
    duration: Annotated[
        str | None, option("TIME", "How long messages are produced, such as 2h, at whatever rate.")
    ] = None,
    failure_rate: Annotated[float | None, option("SHARE", "First deliveries that fail; default 0.01.")] = None,
    retry_failure_rate: Annotated[float | None, option("SHARE", "Later deliveries that fail; default 0.4.")] = None,
    refusal_rate: Annotated[float | None, option("SHARE", "Send-backs that the broker refuses; default 0.05.")] = None,
    filtered_rate: Annotated[float | None, option("SHARE", "Messages that nobody asks for; default none.")] = None,
    max_attempts: Annotated[int | None, option("N", "maxReconsumeTimes; -1 is RocketMQ's default. Usually 3.")] = None,
    churn: Annotated[int | None, option("N", "How often a client leaves, dies or joins.")] = None,
    broker_restarts: Annotated[int | None, option("N", "How often a broker dies.")] = None,
    resets: Annotated[int | None, option("N", "How often an operator resets an offset.")] = None,
    corrections: Annotated[int | None, option("N", "How often a lagging replica takes a client back.")] = None,
    timeouts: Annotated[int | None, option("N", "Listener calls that take too long.")] = None,
    consume_timeout: Annotated[str | None, option("TIME", "How long is too long; default 60s.")] = None,
    mutant: Annotated[str | None, option("ID", "A known bug of the cluster, see --list.")] = None,
    mutant_places: Annotated[int | None, option("N", "At how many places it strikes; 3 by default.")] = None,
    delays: Annotated[str | None, option("LEVELS", "messageDelayLevel of the brokers, such as '1s 5s 10s'.")] = None,
    seed: Annotated[int | None, option("N", "Seed of all random choices.")] = None,
    format_: Annotated[str | None, option("NAME", "parquet (default) or jsonl.", "--format")] = None,
    keys: Annotated[bool, flag("--keys", "Write the unique keys of messages as text too.")] = False,
    list_: Annotated[bool, flag("--list", "List the known bugs a simulated cluster can have.")] = False,
) -> None:
    """Simulate what was asked for."""
    options = {name.rstrip("_"): value for name, value in locals().items() if name not in ("out", "list_")}
    from . import simulate as run

    if list_:
        run.list_mutants()
        raise typer.Exit
    raise typer.Exit(run.simulate_cluster(out, options))


@making.command(
    short_help="Record a run of the model as a trace.",
    help="Record a run of the model, random or the counterexample of a known bug, as a trace to check.",
    epilog="Example: rocketproof record --mutant B7 --out run",
)
def record(
    out: Annotated[str, option("DIR", "A new folder for trace and truth.")] = "",
    machine: Annotated[str, option("NAME", "Of a random run: consumption, everything or assignment.")] = "consumption",
    set_: Constants = None,
    steps: Annotated[int, option("N", "Length of a random run.", min=1)] = 100,
    seed: Annotated[int, option("N", "Seed of its random choices.")] = 0,
    mutant: Annotated[str, option("ID", "Record the shortest counterexample of this known bug instead.")] = "",
    picture: Annotated[str, option("FILE", "Draw the recorded run, as SVG.")] = "",
    list_: Annotated[bool, flag("--list", "List the known bugs whose counterexamples can be recorded.")] = False,
) -> None:
    """Record what was asked for."""
    from . import record as run
    from .request import read_constants

    if list_:
        run.list_mutants()
        raise typer.Exit
    request = run.RecordRequest(
        machine=machine, constants=read_constants(set_ or []), steps=steps, seed=seed, mutant=mutant
    )
    raise typer.Exit(run.record(request, out, picture=picture))
