"""Processes of one client id in broadcasting: one after the other they are one member, at a time they are two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rocketproof.model.history import Cause
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.measured import measure
from rocketproof.traces.explain.message_story import message_story
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.io import open_trace
from rocketproof.traces.recorders.members import members_of
from rocketproof.traces.samples import FOLDER

from ...agents import split_into_recordings

TWIN = "10.0.0.9@DEFAULT"


def life(number: int, first: int, last: int, *, ends: bool = True) -> list[dict[str, Any]]:
    who = {"client": TWIN, "incarnation": number}
    end = [{"time": last, "kind": "client_crash", **who}] if ends else [{"time": last, "kind": "heartbeat", **who}]
    return [{"time": first, "kind": "client_start", **who}, *end]


def members(*lives: list[dict[str, Any]]) -> list[int]:
    found = members_of(ContextEvents.of(event for one in lives for event in one))
    return [found[Actor(TWIN, number)] for number in range(len(lives))]


def test_one_after_the_other_is_one_member() -> None:
    assert members(life(0, 10, 20), life(1, 20, 30, ends=False), life(2, 31, 40)) == [0, 0, 0]


def test_two_at_a_time_are_two_and_so_is_who_comes_after_them() -> None:
    assert members(life(0, 10, 20), life(1, 15, 30), life(2, 31, 40), life(3, 50, 60)) == [0, 1, 2, 3]


def test_before_there_were_two_the_places_are_known() -> None:
    assert members(life(0, 10, 20), life(1, 21, 40), life(2, 30, 60)) == [0, 0, 2]


def twins(folder: Path, mode: str) -> Path:
    """The files of two consumers of a broadcasting group that get one client id; the header says another mode."""
    split_into_recordings(FOLDER / "broadcast-5.3.3.jsonl.zst", folder)
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8").replace("127.0.0.1@one", TWIN).replace("127.0.0.1@two", TWIN)
        path.write_text(text.replace('"mode": "broadcasting"', f'"mode": "{mode}"'), encoding="utf-8")
    return folder


def test_two_broadcasting_processes_on_a_host_get_everything_each(tmp_path: Path) -> None:
    trace = open_trace([twins(tmp_path, "broadcasting")])
    result = check_locally(trace, settings=Settings())
    assert [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED] == []
    numbers = measure(result)
    assert (numbers.statuses, numbers.duplicates) == ({"ACKNOWLEDGED": 190, "DROPPED": 10}, {})
    assert result.verdict("one-process-for-each-client-id").verdict is Verdict.NOT_OBSERVABLE


def test_in_clustering_they_clash(tmp_path: Path) -> None:
    trace = open_trace([twins(tmp_path, "clustering")])
    result = check_locally(trace, settings=Settings())
    assert result.verdict("one-process-for-each-client-id").verdict is Verdict.VIOLATED
    assert result.repeats[Cause.OVERLAP] == 100


def test_the_story_of_a_message_tells_both(tmp_path: Path) -> None:
    trace = open_trace([twins(tmp_path, "broadcasting")])
    deliveries = [e for b in trace.batches() for e in b.to_pylist() if e["kind"] == "deliver"]
    outcomes = message_story(trace, deliveries[0]["key"]).outcomes
    assert [(one.client, one.status) for one in outcomes if one.group == "lab"] == [
        (TWIN, MessageStatus.ACKNOWLEDGED),
        (f"{TWIN}#1", MessageStatus.ACKNOWLEDGED),
    ]
