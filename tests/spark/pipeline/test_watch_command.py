"""``rocketproof pipeline watch``: what goes in, what is told, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ...rocketproof.command import run
from .tables import simulated, write


def test_alerts_are_told_on_the_terminal_as_json_and_to_a_sink(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, *events = simulated(tmp_path / "run", mutant="B2")
    table, inbox, lines, sink = (tmp_path / name for name in ("table", "inbox", "alerts.jsonl", "sink"))
    write(inbox / "a.jsonl", [header, *events])
    options = ("--cluster", "prod", "--watermark", "0s", "--json", lines, "--once")
    code, out, err = run(
        capsys, "pipeline", "watch", table, inbox, *options, "--to", "json", "--to-option", f"path={sink}"
    )
    assert (code, err) == (0, "")
    first, *told = out.splitlines()
    assert re.fullmatch(
        rf"batch 0: 1 file, {len(events):,} events; run=00000001; told up to [\d:\- ]+ UTC; 3 raised", first
    )
    alerts = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [(one["change"], one["claim"], one["cluster"]) for one in alerts] == [
        ("raised", "offset-never-back-without-cause", "prod")
    ] * 3
    one = alerts[0]
    where = f"{one['group']}  {one['topic']}@{one['broker']}:{one['queue']}"
    assert told[0].startswith(f"  raised  offset-never-back-without-cause  {where}  {one['actor']}  ")
    assert told[0].endswith(f" UTC  {one['id']}")
    rows = [json.loads(line) for path in sink.glob("*.json") for line in path.read_text().splitlines()]
    assert sorted(row["key"] for row in rows) == sorted(one["id"] for one in alerts)
    assert sorted((json.loads(row["value"]) for row in rows), key=str) == sorted(alerts, key=str)
    # Nothing has arrived since: nothing is told.
    assert run(capsys, "pipeline", "watch", table, inbox, *options) == (0, "", "")
    assert len(lines.read_text().splitlines()) == 3


def test_it_ends_on_sigterm_when_its_batch_is_done(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, inbox = tmp_path / "table", tmp_path / "inbox"
    write(inbox / "a.jsonl", simulated(tmp_path / "run", messages=30))

    def end() -> None:
        while not list(table.glob("batch=*")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    ender = threading.Thread(target=end, daemon=True)
    ender.start()
    code, out, err = run(capsys, "pipeline", "watch", table, inbox, "--every", "1s")
    assert (code, err) == (0, "")
    assert sorted(line.partition(":")[0] for line in out.splitlines()) == [
        "batch 0",
        "ending when the current batch is done; press again to end at once, which loses nothing",
    ]
    assert len(list(table.glob("alerts=*"))) == 1


def test_what_goes_wrong_in_a_batch_is_told_in_a_line(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, inbox = tmp_path / "table", tmp_path / "inbox"
    write(inbox / "a.jsonl", simulated(tmp_path / "run", messages=30))
    write(table / "batch=00000001/_manifest.json", ['{"version": 2}'])
    code, out, err = run(capsys, "pipeline", "watch", table, inbox, "--once")
    assert (code, out) == (3, "")
    assert err == (
        f"rocketproof: {table}/batch=00000001: written in version 2 of the table, and this kit knows 1: "
        "update rocketproof.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{}",), "watch needs folders (PATH...)"),
        (("{}", "{}", "--from", "kafka"), "or a source of lines (--from kafka)"),
        (("{}", "{}", "--option", "a=b"), "--option and --header are for a source of lines"),
        (("{}", "{}", "--to-option", "a=b"), "--to-option is for a Spark sink"),
        (("{}", "--from", "kafka", "--option", "servers"), "--option 'servers' is not NAME=VALUE"),
        (("{}", "--from", "nowhere"), "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: nowhere"),
        (("{}", "--from", "text", "--header", "{}/none"), "none: cannot be read"),
        (("{}", "{}/none", "--once"), "there is no such folder; name folders into which recordings come"),
        (("{}", "{}", "--every", "0s"), "--every 0 leaves no time to wait"),
    ],
)
def test_mistakes_are_told_in_a_line(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, "pipeline", "watch", *(each.format(tmp_path) for each in arguments))
    assert (code, out) == (3, "")
    assert message in err
    assert err.count("\n") == 1
