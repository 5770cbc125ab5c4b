"""``rocketproof pipeline mine``: check every cluster of a trace table against all claims."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, date, datetime

from ..errors import InputError
from ..output.console import console_beside, interrupts
from ..output.files import write_json
from ..traces.explain.report.words import counted
from .check import CheckRequest, settings_of
from .pipeline_options import Mine
from .pipeline_table import table_of
from .preparing import preparing
from .sizes import read_time


def mine(asked: Mine) -> int:
    """Mine the requested clusters and print which run has the answers; returns exit code 0.

    Raises:
        InputError: an option is wrong.
        TraceError: there is nothing to mine, or the table cannot be read or written.
    """
    lateness, skew = read_time("--lateness", asked.lateness), read_time("--skew", asked.skew)
    console = console_beside(asked.json)
    days = (_day("--since", asked.since), _day("--until", asked.until))
    if all(days) and days[0] > days[1]:
        raise InputError(f"--since {asked.since} is after --until {asked.until}.")
    from ..spark.pipeline import mine_table

    request = CheckRequest(paths=(), skew=skew, delays=asked.delays, config=asked.config)
    with (
        interrupts(),
        preparing("the monitors", "half a minute"),
        table_of(asked.table, work=asked.work, session=asked.session, writes=True) as opened,
    ):
        done = mine_table(
            asked.session,
            opened,
            terms=lambda trace: settings_of(trace, request),
            days=days,
            lateness=lateness,
        )
    if done.is_new:
        taken = f", {len(done.taken)} as in an earlier run" if done.taken else ""
        console.say(f"{done.run}: {counted(len(done.mined), 'cluster')} mined{taken}")
    else:
        console.say(f"{done.run} has it already: nothing is new since")
    for cluster, begun in done.since.items():
        if begun.time is not None:
            console.say(f"{cluster}: carried on from {to_the_second(begun.time)}")
        elif begun.why:
            console.say(f"{cluster}: from its beginning, since {begun.why}")
    for cluster in done.empty:
        console.say(f"no events: {cluster}")
    write_json(asked.json, asdict(done))
    return 0


def to_the_second(time: int) -> str:
    """A time, ms, rounded to the second."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _day(option: str, text: str) -> str:
    try:
        if not text or (re.fullmatch(r"\d{4}-\d\d-\d\d", text) and date.fromisoformat(text)):
            return text
    except ValueError:
        pass
    raise InputError(f"{option} {text!r} is no day, such as 2026-11-22.")
