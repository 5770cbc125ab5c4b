"""Messages that listeners were given where another one was stored, if keys can be compared at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recordings import Event, recorder_of, recording
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.engine import stored_elsewhere
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.engine.stored_elsewhere import OTHER_KEYS, Keys
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import settings_for


def checked(folder: Path, is_hashed: Callable[[Event], bool]) -> CheckResult:
    """The sample of dead letters, with some keys hashed."""
    whole = recording("failures-to-dead-letter-5.3.3")
    events = [
        {**event, "key": event["key"][::-1]} if event.get("key") and is_hashed(event) else event
        for event in whole.events
    ]
    (folder / "trace.jsonl").write_text(replace(whole, events=events).text())
    trace = open_trace([folder])
    return check_locally(trace, settings=settings_for(trace, {}))


def violated(result: CheckResult) -> list[str]:
    return [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED]


@pytest.mark.parametrize("of_broker", [True, False])
def test_keys_that_were_hashed_on_one_side_are_not_compared(of_broker: bool, tmp_path: Path) -> None:
    result = checked(tmp_path, lambda event: (recorder_of(event) == event.get("broker")) is of_broker)
    assert (violated(result), result.passed_over) == ([], {OTHER_KEYS: 112})
    (stores,) = (answer for answer in result.verdicts if answer.claim.id == "stores-follow-each-other")
    assert stores.verdict is Verdict.NOT_OBSERVABLE


def test_keys_that_were_hashed_on_both_sides_are_compared(tmp_path: Path) -> None:
    result = checked(tmp_path, lambda event: True)
    assert (violated(result), result.passed_over) == ([], {})


@pytest.mark.parametrize("queue", [0, 3])
def test_one_message_that_is_another_one_is_a_violation(queue: int, tmp_path: Path) -> None:
    events = recording("failures-to-dead-letter-5.3.3").events
    first = next(event for event in events if event["kind"] == "deliver" and event["queue"] == queue)
    result = checked(tmp_path, lambda event: event["kind"] == "store" and event.get("key") == first["key"])
    assert "stores-follow-each-other" in violated(result)
    assert OTHER_KEYS not in result.passed_over


def test_of_many_messages_a_sample_shows_whether_any_was_stored_and_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_elsewhere, "MOST", 100)
    apart, alike = Keys(), Keys()
    for first in range(0, 10_000, 100):
        numbers = np.arange(first, first + 100)
        apart.see(numbers, -1 - numbers)
        alike.see(numbers, numbers - 5_000)
    assert (len(apart.stored), len(apart.given), apart.are_comparable) == (79, 78, False)
    assert (len(alike.stored) <= 100, alike.are_comparable) == (True, True)
