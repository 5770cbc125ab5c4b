from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rocketproof.output.console import SafeConsole
from rocketproof.output.message_report import message_as_json, print_message
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.message_story import MessageStory, message_story
from rocketproof.traces.io import open_trace

BEGIN = 1_772_366_400_000


def message_trace(folder: Path) -> Path:
    place = '"client": "c1", "group": "g", "topic": "T", "broker": "b", "queue": 0, "offset": 4, "key": "K1"'
    lines = [
        '{"rocketproof_trace": 1, "source": "test"}',
        f'{{"time": {BEGIN}, "kind": "deliver", "attempt": 0, {place}}}',
        f'{{"time": {BEGIN + 300}, "kind": "result", "result": "exception", {place}}}',
    ]
    path = folder / "run.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def told(path: Path, key: str) -> tuple[MessageStory, CheckResult]:
    trace = open_trace([path])
    return message_story(trace, key), check_locally(trace, settings=Settings())


def test_the_story_of_a_message(tmp_path: Path) -> None:
    console = SafeConsole(file=io.StringIO(), highlight=False, width=80)
    print_message(console, *told(message_trace(tmp_path), "K1"))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines == [
        "message K1: DELIVERED ONCE: waiting for retry 1 of 16, due at 12:00:10.300, after 1 delivery",
        "",
        "group g: waiting for retry 1 of 16, due at 12:00:10.300, after 1 delivery",
        "  attempt  time (UTC)               where              client  result     level  next waits  waited",
        "  0        2026-03-01 12:00:00.000  offset 4 of T@b:0  c1      exception  3      ≥ 10 s",
        "",
        "  12:00:00.000 c1 is given offset 4 of T@b:0 (attempt 0)  line 2",
        "  12:00:00.300 c1 ends offset 4 of T@b:0: exception  line 3",
    ]


def test_the_same_for_other_programs(tmp_path: Path) -> None:
    path = message_trace(tmp_path)
    answer = json.loads(message_as_json(*told(path, "K1")))
    (group,) = answer["groups"]
    assert (group["group"], group["answer"], group["deliveries"], group["because"]) == ("g", "DELIVERED ONCE", 1, [])
    assert group["attempts"] == [
        {
            "attempt": 0,
            "time": BEGIN,
            "where": "offset 4 of T@b:0",
            "client": "c1",
            "result": "exception",
            "waited": None,
        }
    ]
    assert [(one["file"], one["line"]) for one in answer["story"]] == [(str(path), 2), (str(path), 3)]


def test_an_unknown_message_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no event names the message K2"):
        told(message_trace(tmp_path), "K2")
