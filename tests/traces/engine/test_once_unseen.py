"""Defects that were once not seen: skips in a retry queue of which more is recorded, work after a queue was given up,
wrong answers to queries; and messages of one batch, which share a key, are several messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.io import open_trace

from ..recordings import write
from .test_ordinary_situations import HEADER, Event, at, start


def checked(folder: Path, *events: Event) -> CheckResult:
    """What is said of events, in the order of time."""
    path = write(folder / "trace.jsonl", HEADER, *sorted(events, key=lambda event: int(event["time"])))
    return check_locally(open_trace([path]), settings=Settings())


def consumed(seconds: float, *offsets: int, client: str = "one", **more: str) -> Iterator[Event]:
    """Messages are given to a listener, which succeeds with each."""
    for offset in offsets:
        yield at(seconds, "deliver", client, offset=offset, **{"key": f"K{offset}", **more}, attempt=0, count=1)
        yield at(
            seconds + 0.5, "result", client, offset=offset, **{"key": f"K{offset}", **more}, result="ok", attempt=0
        )


@pytest.mark.parametrize("more", [False, True], ids=["without stores", "with stores"])
def test_a_skip_at_the_beginning_of_a_retry_queue(more: bool, tmp_path: Path) -> None:
    events = [*start(0, "one", 0), *consumed(2, *range(3, 10)), at(8, "commit", offset=10, path="periodic")]
    events = [{**event, "topic": "%RETRY%g"} if "topic" in event else event for event in events]
    for offset in range(10 if more else 0):
        stored = at(0.5, "delay_deliver", offset=offset, key=f"K{offset}", attempt=1)
        events.append({name: value for name, value in stored.items() if name != "client"} | {"topic": "%RETRY%g"})
    found = checked(tmp_path, *events).verdict("nothing-skipped")
    assert (found.verdict, found.violated) == (Verdict.VIOLATED, 1)


def test_work_after_a_queue_was_given_up(tmp_path: Path) -> None:
    early = [*start(0, "one", 0), *consumed(2, 0, 1), at(30, "revoke", path="removal")]
    assert checked(tmp_path, *early).verdict("nothing-after-revoke").verdict is Verdict.HOLDS
    found = checked(tmp_path, *early, *consumed(200, 5)).verdict("nothing-after-revoke")
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("answer", "verdict"), [(10, Verdict.HOLDS), (2, Verdict.VIOLATED)])
def test_a_query_is_answered_with_what_is_stored(answer: int, verdict: Verdict, tmp_path: Path) -> None:
    one = [*start(0, "one", 0), *consumed(2, *range(10)), at(8, "commit", offset=10, path="periodic")]
    two = [at(30, "revoke", path="removal"), *start(60, "two", 0, offset=answer, pulled=0)]
    assert checked(tmp_path, *one, *two).verdict("query-answers-what-is-stored").verdict is verdict


def test_messages_of_a_batch_share_a_key(tmp_path: Path) -> None:
    stored = [at(0.5, "store", offset=offset, key="K") for offset in range(10)]
    for event in stored:
        del event["client"], event["group"]
    events = [
        *start(0, "one", 0),
        *stored,
        *consumed(2, *range(10), key="K"),
        at(8, "commit", offset=10, path="periodic"),
    ]
    result = checked(tmp_path, *events)
    assert result.messages == {MessageStatus.ACKNOWLEDGED: 10}
    assert not result.repeats
