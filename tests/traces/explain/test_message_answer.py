from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.explain.message_answer import answers, first_line
from rocketproof.traces.explain.message_story import message_story
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl
from rocketproof.traces.samples import FOLDER

from .test_message_story import KEY, ME, QUEUE, delivered, ended, stored


def asked(path: Path, key: str) -> str:
    trace = open_trace([path])
    story = message_story(trace, key)
    told = first_line(story, answers(story, check_locally(trace, settings=Settings())))
    return told.removeprefix(f"message {key}: ")


def sample(name: str) -> tuple[Path, Counter[str]]:
    path = FOLDER / f"{name}.jsonl.zst"
    deliveries: Counter[str] = Counter()
    for batch in open_trace([path]).batches(["kind", "key"]):
        deliveries.update(row["key"] for row in batch.to_pylist() if row["kind"] == Kind.DELIVER)
    return path, deliveries


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kill-9-mid-batch-5.3.3", "DELIVERED TWICE because its client died before its offset was stored"),
        ("slow-listener-timeout-5.3.3", "DELIVERED TWICE because its listener took longer than consumeTimeout"),
        ("failures-to-dead-letter-5.3.3", "DEAD-LETTERED after 3 deliveries because its listener failed (2 times)"),
        (
            "broker-restart-delays-5.3.3",
            "DELIVERED 3 TIMES because its listener failed; the schedule topic delivered its retry again",
        ),
        (
            "orderly-hand-over-4.9.8",
            "DELIVERED 3 TIMES because its client stopped before its offset was stored; "
            "its listener suspended the queue",
        ),
    ],
)
def test_the_message_delivered_most_often(name: str, said: str):
    path, deliveries = sample(name)
    most = max(deliveries.values())
    assert asked(path, min(key for key, count in deliveries.items() if count == most)) == said


def trace(folder: Path, *events: dict[str, Any], evidence: frozenset[Kind] = frozenset(Kind)) -> Path:
    path = folder / "t.jsonl"
    write_jsonl(path, Header(groups={"G": Group()}, evidence=evidence, complete=True), list(events))
    return path


def assigned(time: int) -> dict[str, Any]:
    return {"time": time, "kind": "assign", **ME, **QUEUE, "offset": 0}


def pulled(time: int, offset: int, end: int) -> dict[str, Any]:
    place = {"offset": offset, "next": end, "count": end - offset}
    return {"time": time, "kind": "pull_result", **ME, **QUEUE, **place, "result": "found"}


def committed(time: int, offset: int) -> dict[str, Any]:
    return {"time": time, "kind": "commit", **ME, **QUEUE, "offset": offset, "path": "periodic"}


def test_once(tmp_path: Path):
    assert asked(trace(tmp_path, stored(0), delivered(50), ended(90, "ok")), KEY) == "DELIVERED ONCE"


def test_never(tmp_path: Path):
    assert asked(trace(tmp_path, stored(0), assigned(10), committed(5000, 18)), KEY) == "NEVER DELIVERED"


def test_what_is_missing_is_named(tmp_path: Path):
    path = trace(tmp_path, stored(0), evidence=frozenset({Kind.STORE, Kind.DELIVER, Kind.RESULT}))
    assert asked(path, KEY).startswith("NEVER DELIVERED in this trace")
    path = trace(tmp_path, stored(0), committed(5000, 18), evidence=frozenset({Kind.STORE, Kind.COMMIT}))
    assert asked(path, KEY) == "CANNOT BE TOLD: what is missing is deliver, result, pull_result events"


def test_again_for_no_reason(tmp_path: Path):
    taken = assigned(10), pulled(20, 17, 18)
    twice = [delivered(50), ended(90, "ok"), delivered(150), ended(190, "ok")]
    said = asked(trace(tmp_path, stored(0), *taken, *twice), KEY)
    assert said == "DELIVERED TWICE because of NO CAUSE THAT RocketMQ HAS"
