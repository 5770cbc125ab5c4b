"""``rocketproof pipeline``: what goes in, what comes out, and with which exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ...rocketproof.command import run
from .tables import simulated, write

SAMPLE = str(Path(__file__).parents[3] / "traces" / "samples" / "steady-5.3.3.jsonl.zst")


def test_from_files_to_a_report(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table"
    path = write(tmp_path / "in/a.jsonl", simulated(tmp_path / "run", mutant="B2"))
    code, out, err = run(capsys, "pipeline", "ingest", table, path, "--cluster", "prod")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"batch=00000001: 1 file, [\d,]+ events\n", out)
    assert run(capsys, "pipeline", "ingest", table, path, "--cluster", "prod") == (
        0,
        "nothing new; 1 file known already\n",
        "",
    )
    assert run(capsys, "pipeline", "mine", table)[:2] == (0, "run=00000001: 1 cluster mined\n")
    assert run(capsys, "pipeline", "mine", table)[1] == "run=00000001 has it already: nothing is new since\n"

    code, out, _ = run(
        capsys, "pipeline", "report", table, "--report", tmp_path / "page", "--json", tmp_path / "a.json"
    )
    checked = run(capsys, "check", path, "--json", tmp_path / "b.json")
    assert (code, checked[0]) == (1, 1)
    first, *shown = out.splitlines()
    assert first == "run=00000001, cluster prod"
    # Where an event stands is its number in the file, and the last line has a time.
    assert [re.sub(r"  (line|event) \d+$", "", line) for line in shown if not line.startswith("report:")][:-1] == [
        re.sub(r"  line \d+$", "", line) for line in checked[1].splitlines()
    ][:-1]
    assert "offset-never-back-without-cause" in (tmp_path / "page/index.html").read_text()
    given, expected = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    for name in ("verdict", "events", "begin", "end", "clocks", "problems"):
        assert given[name] == expected[name], name

    other = write(tmp_path / "in/b.jsonl", simulated(tmp_path / "right", messages=30))
    run(capsys, "pipeline", "ingest", table, other, "--cluster", "test")
    assert run(capsys, "pipeline", "mine", table)[1] == "run=00000002: 1 cluster mined, 1 as in an earlier run\n"
    code, out, _ = run(capsys, "pipeline", "report", table, "--json", tmp_path / "c.json")
    assert code == 1
    assert out.splitlines()[0] == "run=00000002: 2 clusters"
    assert out.splitlines()[1].startswith("  VIOLATED  prod: ")
    said = json.loads((tmp_path / "c.json").read_text())
    assert [one["cluster"] for one in said["clusters"]] == ["prod", "test"]
    assert sum(one["count"] for one in said["violations"]) == 3
    code, _, err = run(capsys, "pipeline", "report", table, "--report", tmp_path / "page")
    assert (code, err) == (
        3,
        "rocketproof: --report is of one cluster: name it with --cluster; there are prod, test.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", "{}", "--since", "yesterday"), "--since 'yesterday' is no day, such as 2026-11-22."),
        (("mine", "{}", "--since", "2026-11-22", "--until", "2026-11-21"), "is after --until"),
        (("mine", "{}"), "there is no trace table"),
        (("report", "{}"), "there is no trace table"),
        (("copy", "{}", "lake.rocketmq"), "there is no trace table"),
        (("ingest", "{}", "none"), "there is no such file or folder"),
        (("ingest", "s3a://bucket/table", "none"), "mount the store"),
        (("ingest", SAMPLE, SAMPLE), f"{SAMPLE}: cannot hold a trace table: File exists."),
        (("ingest", "{}", "none", "--conf", "memory"), "is not NAME=VALUE"),
    ],
)
def test_mistakes_are_told_in_a_line(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, "pipeline", *(each.format(tmp_path / "table") for each in arguments))
    assert (code, out) == (3, "")
    assert message in err
    assert err.count("\n") == 1
