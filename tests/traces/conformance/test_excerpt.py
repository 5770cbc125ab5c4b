"""The part of a queue's recording that a finding is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.conformance.excerpt import excerpt, recorded
from rocketproof.traces.conformance.streams import Place
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

PLACE = Place(group="G", topic="T", broker="b", queue=0)
AT = {"group": "G", "topic": "T", "broker": "b", "queue": 0}


def at(time: int, kind: str, client: str = "one", **fields: Any) -> dict[str, Any]:
    return {"time": time, "kind": kind, "client": client, **AT, **fields}


EVENTS = [
    at(10, "assign"),
    at(20, "assign", "two", offset=4),
    at(30, "pull_result", "two", offset=4, next=7, count=3, result="found"),
    at(40, "deliver", "two", offset=4, attempt=0),
    at(41, "deliver", "two", offset=5, attempt=0),
    at(42, "deliver", "two", offset=6, attempt=0),
]


@pytest.mark.parametrize(
    ("row", "messages"),
    [
        ({"offset": 5, "until": 6}, (5,)),
        ({"offset": 4, "until": 7}, (4, 6)),
        ({"offset": -1, "until": 0}, (4, 5)),
        ({"offset": -1, "until": 0, "since": 41}, (5, 6)),
        ({"offset": -1, "until": 0, "since": 43}, (4,)),
        ({"offset": -1, "until": 0, "time": 35}, (4,)),
    ],
)
def test_the_messages_that_a_finding_is_about(row: dict[str, int], messages: tuple[int, ...], tmp_path: Path) -> None:
    write_jsonl(tmp_path / "t.jsonl", Header(groups={"G": Group()}), EVENTS)
    stream = recorded(open_trace([tmp_path / "t.jsonl"]), [PLACE])[PLACE]
    named = [actor for actor in stream.actors if actor[0] == "two"]
    found = excerpt(stream, {"since": 0, "time": 100, **row}, named)
    assert found is not None
    assert found.messages == messages
