"""Queues that nobody pulls, as a whole check finds them, and those in which nothing waits for long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.obligations import Reason
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.io import open_trace

CLAIM = "every-queue-moves"
END = 600_000
BEATS = range(0, END, 30_000)
CLIENT = {"client": "c", "incarnation": 0, "group": "G"}


def queue(number: int, kind: str, time: int, **fields: Any) -> dict[str, Any]:
    return {"time": time, "kind": kind, "topic": "T", "broker": "b", "queue": number, **fields}


def polled(number: int) -> list[dict[str, Any]]:
    """A queue that is pulled every 20 s, with nothing in it."""
    answer = {"offset": 0, "next": 0, "min": 0, "max": 0, "count": 0, "result": "no_new_message"}
    return [queue(number, "pull_result", time, **answer, **CLIENT) for time in range(2_000, END, 20_000)]


def checked(folder: Path, *events: dict[str, Any], without: tuple[Kind, ...] = ()) -> CheckResult:
    header = {"rocketproof_trace": 1, "complete": True, "groups": {"G": {}}}
    header["evidence"] = [str(kind) for kind in Kind if kind not in without]
    alive = [
        {"time": time, "kind": "heartbeat", "subscriptions": ["T=*@1"], **CLIENT} for time in range(0, END, 30_000)
    ]
    taken = [queue(number, "assign", 1_000, offset=0, **CLIENT) for number in (0, 1)]
    path = folder / "trace.jsonl"
    lines = [header, *sorted([*alive, *taken, *polled(0), *events], key=lambda each: each["time"])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return check_locally(open_trace([path]), settings=Settings())


STORED = [queue(1, "store", 5_000 + n, offset=n) for n in range(50)]


def test_messages_in_a_queue_that_its_owner_never_pulls(tmp_path: Path) -> None:
    result = checked(tmp_path, *STORED)
    answer = result.verdict(CLAIM)
    assert (answer.verdict, answer.violated, answer.judged) == (Verdict.VIOLATED, 1, 2)
    (row,) = result.violations
    assert (row["value"], row["offset"], row["until"], row["since"]) == (Reason.NO_PULLS, 0, 50, 5_000)
    assert result.messages == {MessageStatus.WAITING: 50}


def test_a_queue_that_is_pulled(tmp_path: Path) -> None:
    assert checked(tmp_path, *polled(1)).verdict(CLAIM).verdict is Verdict.HOLDS


@pytest.mark.parametrize("stored", [[], [queue(1, "store", END - 100_000, offset=0)]])
def test_nothing_that_waits_for_long(stored: list[dict[str, Any]], tmp_path: Path) -> None:
    result = checked(tmp_path, *stored)
    assert result.verdict(CLAIM).verdict is Verdict.HOLDS
    assert result.messages[MessageStatus.WAITING] == len(stored)


def test_without_pulls_nobody_knows(tmp_path: Path) -> None:
    result = checked(tmp_path, *STORED, without=(Kind.PULL, Kind.PULL_RESULT))
    assert result.verdict(CLAIM).violated == 0


def test_an_owner_that_died_pulls_nothing(tmp_path: Path) -> None:
    died = {"time": 100_000, "kind": "client_crash", "client": "c", "incarnation": 0}
    assert checked(tmp_path, *STORED, died).verdict(CLAIM).violated == 0


@pytest.mark.parametrize(("group", "violated"), [("G", 0), ("other", 1)])
def test_only_an_owner_that_stopped_in_its_own_group_pulls_nothing(tmp_path: Path, group: str, violated: int) -> None:
    """ST-8: others of its process go on."""
    stopped = {**CLIENT, "time": 100_000, "kind": "client_stop", "group": group}
    assert checked(tmp_path, *STORED, stopped).verdict(CLAIM).violated == violated
