"""Commits that clients stamp although a broker was recorded are by the clocks of these clients."""

from typing import Any

import pytest

from rocketproof.traces.clocks.as_json import clocks_as_json, clocks_of_json
from rocketproof.traces.clocks.clocks import clocks_of
from rocketproof.traces.clocks.correction import in_time
from rocketproof.traces.clocks.observed import Observed
from rocketproof.traces.clocks.view import IDENTITY
from rocketproof.traces.io.events import batch_of

from .cluster import BROKER, ONE, TWO, clocks, run, seen


def stamped_by_clients(behind: int) -> list[dict[str, Any]]:
    """A minute in which clients stamp what they send, one of them by a clock that is behind, ms."""
    events = run(60)
    for event in events:
        event["recorder"] = event.get("client", "b")
        event["time"] -= behind * (event["recorder"] == "one")
    return sorted(events, key=lambda event: int(event["time"]))


@pytest.mark.parametrize("behind", [800, 5_000])
def test_the_clock_of_a_client_that_stamps_its_commits_is_corrected_and_so_are_they(behind: int) -> None:
    events = stamped_by_clients(behind)
    found = clocks(events)
    assert not found.steps
    assert found.senders == {"one", "two"}
    low = found.clocks[ONE].high
    assert low is not None
    assert low <= -(behind - 3) * 1000
    batch = batch_of(events)
    times = in_time(found, batch.select([name for name in batch.schema.names if name in {*IDENTITY}])).column("time")
    moved = {
        (event["kind"], event["recorder"]): at - event["time"]
        for event, at in zip(events, times.to_pylist(), strict=True)
    }
    assert moved["commit", "one"] == moved["deliver", "one"] >= behind - 3
    assert moved["commit", "two"] == moved["store", "b"]


def test_commits_whose_recorder_says_nothing_of_clients_are_by_the_clock_of_their_broker() -> None:
    """So they are if one recorder wrote everything, and if some of a client's are its broker's."""
    named: list[dict[str, Any]] = run(60, one=lambda _: -5_000)
    for at, event in enumerate(named):
        by_client = event["kind"] != "commit" and "client" in event
        event["recorder"] = event["client"] if by_client or (at < 100 and "client" in event) else "b"
    for events in (run(60, one=lambda _: -5_000), [{**one, "recorder": "all"} for one in run(60)], named):
        assert clocks(events).senders == set()
    assert clocks([{**event, "recorder": "all"} for event in run(60)]).clocks[TWO].pairs


def test_parts_and_what_is_stored_know_who_stamps_commits() -> None:
    events = stamped_by_clients(5_000)
    one, other = seen(events[:500]), seen(events[500:])
    one.join(other)
    again = Observed.carrying(*one.carried())
    whole = clocks(events)
    assert clocks_of(again).senders == whole.senders == {"one", "two"}
    assert clocks_of_json(clocks_as_json(whole)) == whole
    assert BROKER in whole.clocks
